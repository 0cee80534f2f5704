"""A worker of the session handshake: takes a TASK_DISPATCH, answers with its findings and with what should be done next.

    python3 analyst.py PORT TOKEN
"""
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, TOKEN = int(sys.argv[1]), sys.argv[2]

ANNOUNCE = {
    "type": "SESSION_ANNOUNCE",
    "protocol_version": "2.0",
    "worker": {"agent_id": "analyst", "model": None, "model_tier": "haiku", "context_window": 100000},
    "capabilities": {"tools": [], "mcp_servers": []},
    "mcp_health": {},
    "session": {"context_id": None, "active_tasks": 0, "repo_state": None, "session_fresh": True},
}


def analyse(text):
    """Until it has been announced to, Baton dispatches by a header block; from then on by JSON."""
    if text.startswith("{"):
        task_id = json.loads(text)["task"]["task_id"]
    else:
        task_id = next(line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("task_id: "))
    return {
        "type": "TASK_RESULT",
        "protocol_version": "2.0",
        "task_id": task_id,
        "status": "done",
        "tokens_spent": 2 * len(text),
        "artifacts": {"findings": ["tokens are compared with =="]},
        "next_steps": ["Check the finding in src/auth.py, line 42"],
    }


class Worker(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not hmac.compare_digest(self.headers.get("authorization", ""), f"Bearer {TOKEN}"):
            return self.send_error(401)
        asked = call["params"]["message"]
        result = analyse(asked["parts"][0]["text"])
        print("analyst: dispatched", result["task_id"], "in", self.headers["traceparent"], flush=True)
        print(asked["parts"][0]["text"], flush=True)
        reply = {
            "role": "agent",
            "contextId": asked["contextId"],
            "parts": [{"text": json.dumps(ANNOUNCE)}, {"text": json.dumps(result)}],
        }
        body = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {"kind": "message", "message": reply}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", PORT), Worker)
print("listening", server.server_address[1], flush=True)
server.serve_forever()
