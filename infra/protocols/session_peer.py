#!/usr/bin/env python3
"""Says one thing to a /jsonrpc, as session peers do, and prints every text of the answer.

    python3 session_peer.py URL TOKEN CONTEXT TEXT
"""
import json
import sys
import urllib.request

url, token, context, text = sys.argv[1:5]
call = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "SendMessage",
    "params": {"message": {"role": "user", "parts": [{"text": text}], "contextId": context}},
}
request = urllib.request.Request(
    url,
    json.dumps(call).encode(),
    {"content-type": "application/json", "authorization": f"Bearer {token}"},
)
answer = json.load(urllib.request.urlopen(request, timeout=60))
if "error" in answer:
    sys.exit(f"{answer['error']['code']}: {answer['error']['message']}")
for part in answer["result"]["message"]["parts"]:
    print(part["text"])
