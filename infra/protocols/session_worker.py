#!/usr/bin/env python3
"""A session worker in the standard library: it announces itself, takes a TASK_DISPATCH and answers a TASK_RESULT.

    python3 session_worker.py PORT TOKEN
"""
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, TOKEN = int(sys.argv[1]), sys.argv[2]

ANNOUNCE = {
    "type": "SESSION_ANNOUNCE",
    "protocol_version": "2.0",
    "worker": {"agent_id": "python-worker", "model": None, "model_tier": "haiku", "context_window": 100000},
    "capabilities": {"tools": ["terminal"], "mcp_servers": ["memory"]},
    "mcp_health": {"memory": "ok"},
    "session": {"context_id": None, "active_tasks": 0, "repo_state": None, "session_fresh": True},
}


def work(text):
    """The result of a dispatch; of its brief only the length matters here."""
    task = json.loads(text) if text.startswith("{") else inline(text)
    return {
        "type": "TASK_RESULT",
        "protocol_version": "2.0",
        "task_id": task["task"]["task_id"],
        "status": "done",
        "tokens_spent": len(text),
        "next_steps": [],
        "blocked_reason": None,
        "artifacts": {"characters": len(task["brief"])},
    }


def inline(text):
    header, _, brief = text.partition("\n\n")
    hints = dict(line.split(": ", 1) for line in header.splitlines()[1:])
    return {"task": hints, "brief": brief}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not hmac.compare_digest(self.headers.get("authorization", ""), f"Bearer {TOKEN}"):
            return self.answer(401, {})
        call = json.loads(body)
        message = call["params"]["message"]
        text = message["parts"][0]["text"]
        said = [json.dumps(ANNOUNCE), "```json\n" + json.dumps(work(text)) + "\n```"]
        reply = {"role": "agent", "parts": [{"text": one} for one in said], "contextId": message["contextId"]}
        self.answer(200, {"jsonrpc": "2.0", "id": call["id"], "result": {"kind": "message", "message": reply}})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print("listening", server.server_address[1], flush=True)
server.serve_forever()
