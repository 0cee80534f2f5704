"""An agent that Baton calls. Run: python3 push.py 9000 whsec_..."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, str(__import__("pathlib").Path(__file__).parent.parent))
from baton import Execution, PushRefused, complete, verify_push


class Agent(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            execution = Execution.read(verify_push(sys.argv[2], dict(self.headers), body))
        except PushRefused:
            return self.send_error(401)
        answer = json.dumps(complete({"words": len(execution.state["text"].split())}).body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Agent).serve_forever()
