"""Sends a text to be counted and waits for what came of it. Run: python3 send.py http://127.0.0.1:8420 bk_... "a text" """

import sys
import time

sys.path.insert(0, str(__import__("pathlib").Path(__file__).parent.parent))
from baton import Baton

baton = Baton(sys.argv[1], sys.argv[2])
sent = baton.send("word-count", {"text": sys.argv[3]})
print("durable as", sent.handoff_id, flush=True)
while (handoff := baton.handoff(sent.handoff_id))["state"] in ("QUEUED", "DISPATCHED", "ACCEPTED", "EXECUTING"):
    time.sleep(0.2)
print(handoff["state"], handoff["result"] or handoff["reason"], flush=True)
