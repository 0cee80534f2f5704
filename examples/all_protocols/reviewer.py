"""An agent that pulls: takes one handoff, says what it found and cost, and hands the task on to the archivist.

    python3 reviewer.py http://127.0.0.1:8420 bk_...
"""
import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).parents[2] / "clients" / "python"))
from baton import Baton, Execution, Outcome, complete

baton = Baton(sys.argv[1], sys.argv[2])


def review(execution: Execution) -> Outcome:
    step = execution.message["remainingSubtasks"][0]
    findings = execution.message["completedSubtasks"][-1]["result"]["artifacts"]["findings"]
    asked = execution.message["conversationHistoryVerbatim"][0]["content"]
    print("reviewer: claimed", execution.handoff_id, "in", execution.traceparent, "asked:", asked, flush=True)
    return complete(
        subtask={**step, "result": {"confirmed": findings}},
        state={**execution.state, "confirmed": findings},
        cost_usd=0.0125,
        tokens=(900, 120),
        next=[{"to": "archivist", "taskDescription": "Keep the review"}],
    )


for execution in baton.claim("reviewer", "1.0.0"):
    print("reviewer:", baton.execute(execution, review).state, flush=True)
