"""A whole agent: counts words until it is stopped. Run: python3 worker.py http://127.0.0.1:8420 bk_..."""

import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).parent.parent))
from baton import Baton, Execution, Outcome, complete

baton = Baton(sys.argv[1], sys.argv[2])


def count_words(execution: Execution) -> Outcome:
    words = len(str(execution.state["text"]).split())
    return complete({"words": words}, cost_usd=0.0001)


print("waiting for work; Ctrl-C ends it", flush=True)
baton.work("word-count", "1.0.0", count_words, requires=["text"],
           on_settled=lambda execution, settled: print(execution.handoff_id, settled.state, flush=True))
