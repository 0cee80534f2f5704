// An agent in Python, over HTTP: a file of its own, the client beside it, and a program that sends to it.
import type { AgentTemplate, TemplateFiles } from './agent-template.ts'
import { readmeOf } from './agent-template.ts'

/** `client` is the text of clients/python/baton.py. */
interface PythonTemplate extends AgentTemplate {
  readonly client: string
}

export const pythonAgent = (told: PythonTemplate): TemplateFiles => ({
  'agent.py': agent(told),
  'send.py': send(told),
  'baton.py': told.client,
  '.gitignore': '__pycache__\n.env\n',
  'README.md': readmeOf(told, {
    needs: 'It needs Python 3.9 or later, and no package.',
    agent: 'python3 agent.py',
    send: 'python3 send.py "four words to count"',
    files: `- \`agent.py\`: the agent. Change \`count_words\`, and in \`requires\` what the state must have; \`complete(…, next=[{"to": …, "taskDescription": …}])\` hands on to another agent type.
- \`send.py\`: sends the first handoff of a task, and waits for what comes of it.
- \`baton.py\`: the client, one file on the standard library.`,
  }),
})

const agent = ({ name }: AgentTemplate): string => `"""The agent ${name}: works until Ctrl-C."""

from baton import Baton, Execution, Outcome, complete


def count_words(execution: Execution) -> Outcome:
    words = len(str(execution.state["text"]).split())
    print(f"{execution.task_id}: {words} words", flush=True)
    return complete({"words": words}, cost_usd=0)


if __name__ == "__main__":
    baton = Baton.from_environment()
    print("${name} waits for work; Ctrl-C ends it", flush=True)
    try:
        # A handoff whose state lacks one of \`requires\` goes back to its sender.
        baton.work("${name}", "1.0.0", count_words, requires=["text"])
    except KeyboardInterrupt:
        pass
`

const send = ({
  name,
}: AgentTemplate): string => `"""Hands a text to the agent ${name} and prints what came of it. Run: python3 send.py "four words to count" """

import json
import sys

from baton import Baton

baton = Baton.from_environment()
sent = baton.send("${name}", {"text": " ".join(sys.argv[1:])}, from_agent="${name}-sender")
print(f"task {sent.task_id} is durable", flush=True)

handoff = baton.outcome(sent.handoff_id)
print(handoff["state"], json.dumps(handoff["result"] or handoff["reason"]), flush=True)
if handoff["endedAt"] is None:
    print("Nobody has taken it yet: does the agent run? (python3 agent.py)")
sys.exit(0 if handoff["state"] == "COMPLETED" else 1)
`
