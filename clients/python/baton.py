"""Baton for Python: send work, take part as an agent, check what is pushed to you.

One file, standard library only, Python 3.9 or later. Copy it beside your program.

    from baton import Baton, Execution, Outcome, complete

    baton = Baton.from_environment()                          # after `baton env`; or Baton(url, "bk_...")
    baton.send("summarise", {"text": "..."})                  # scope handoffs:send

    def summarise(execution: Execution) -> Outcome:           # scope executions:claim
        return complete({"summary": execution.state["text"][:20]})

    baton.work("summarise", "1.0.0", summarise)               # until Ctrl-C

What was sent is durable when `send` returns. What is settled is durable when `settle` returns. Both may be repeated: the
same idempotency key, or the same fencing token, never takes effect twice.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import logging
import os
import random
import ssl
import threading
import time
import traceback
import urllib.parse
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

__all__ = [
    "Baton", "BatonError", "Canceled", "Execution", "Outcome", "Sent", "Settled", "PushRefused",
    "blocked", "complete", "fail", "partial", "reject", "verify_push",
]

Json = Any
Headers = Mapping[str, str]

TRIES_MAX = 6
"""How often a request is tried that Baton could not answer: overload, restart, a lost connection."""
WAIT_MAX_S = 20.0
CLAIM_WAIT_MS = 20_000
WORK_WAIT_MS = 5_000
"""How long `work` waits at once: so soon it notices that it shall stop."""
HEARTBEATS_PER_LEASE = 3
FOLLOW_WAIT_S = 0.2
ANSWER_BYTES_MAX = 64 * 1024 * 1024
PUSH_TOLERANCE_S = 300
PUSH_SECRET_BYTES_MIN = 24
NOT_JOINED = (
    "the environment names no Baton: start one (`npm run up` in its folder), and in the shell of this program run: "
    'eval "$(npm --prefix FOLDER_OF_BATON run --silent baton -- env)"'
)
REFUSED_STATUSES = (400, 413, 422)
"""What is sent again as it is will be refused again."""


LOGGER = logging.getLogger("baton")


class BatonError(Exception):
    """What Baton refused: `code` is stable, `fix` says how to mend it, `errors` name places as JSON pointers."""

    def __init__(self, status: int, problem: Mapping[str, Any]):
        self.status = status
        self.code = str(problem.get("code", "BATON_UNREADABLE_ANSWER"))
        self.detail = str(problem.get("detail", ""))
        self.fix = str(problem.get("fix", ""))
        self.errors: Sequence[Mapping[str, Any]] = problem.get("errors") or []
        super().__init__(": ".join(part for part in (self.code, self.detail) if part) + (f". {self.fix}" if self.fix else ""))


class GatewayUnavailable(BatonError, ConnectionError):
    """No gateway answered, however often it was asked: nothing says whether the last request arrived. Repeating is safe."""

    def __init__(self, base: str, cause: Exception):
        problem = {
            "code": "BATON_GATEWAY_UNAVAILABLE",
            "detail": f"{base} did not answer ({cause})",
            "fix": "Check BATON_GATEWAY_URL and that the gateway runs; repeating is safe.",
        }
        super().__init__(0, problem)


class Canceled(Exception):
    """The execution is canceled, or no longer yours: stop. Raised by `Execution.check`."""


@dataclass(frozen=True)
class Sent:
    """A handoff that is durable. `repeated`: an earlier request had sent it."""

    handoff_id: str
    task_id: str
    traceparent: str
    repeated: bool
    branches: tuple[Mapping[str, Any], ...] = ()
    """Of several receivers: branch, handoffId and toAgent of each copy."""


@dataclass(frozen=True)
class Outcome:
    """How an execution ended; made by `complete`, `partial`, `fail`, `reject` and `blocked`."""

    body: Mapping[str, Any]


def complete(
    result: Json = None,
    *,
    state: Optional[Mapping[str, Any]] = None,
    cost_usd: float = 0,
    tokens: Optional[tuple[int, int]] = None,
    model: Optional[str] = None,
    next: Sequence[Mapping[str, Any]] = (),
    join: Optional[Mapping[str, Any]] = None,
    subtask: Optional[Mapping[str, Any]] = None,
    conversation: Sequence[Mapping[str, Any]] = (),
    tool_calls: Sequence[Mapping[str, Any]] = (),
    personal_data: Optional[Mapping[str, Any]] = None,
    chunks: int = 0,
) -> Outcome:
    """Done. Result, cost and what is handed on (`next`: `{"to": type, "taskDescription": ...}`) commit at once.

    Several `next` run at the same time, and `join` (`{"to": type, "taskDescription": ...}`) waits for them. `state` is the next
    currentState (that of the message by default), `tokens` are (prompt, completion), `model` stands in the audit record.
    `conversation` and `tool_calls` are added to those of the message, and the people of `personal_data`
    (`{"dataSubjects": [id, ...], "payload": {...}}`) to its people. `chunks` is how many chunks its stream has in all.
    """
    work: dict[str, Any] = {"result": result, "costUSD": cost_usd, "next": list(next), "chunks": chunks}
    said = {
        "state": state,
        "tokens": None if tokens is None else {"prompt": tokens[0], "completion": tokens[1]},
        "model": model,
        "join": join,
        "subtask": subtask,
        "conversation": list(conversation) or None,
        "toolCalls": list(tool_calls) or None,
        "personalData": personal_data,
    }
    return Outcome({"outcome": "complete", **work, **{name: value for name, value in said.items() if value is not None}})


def partial(remaining: Sequence[Mapping[str, str]], result: Json = None, **work: Any) -> Outcome:
    """A part is done; `remaining` (`{"subtaskId", "description"}`, at least one) goes on as a handoff of its own.

    `work` is what `complete` takes by name.
    """
    return Outcome({**complete(result, **work).body, "outcome": "partial", "remaining": list(remaining)})


def fail(code: str, *, retry: bool = False) -> Outcome:
    """It went wrong. `code` is an upper-case name such as MODEL_BUSY, never text of the work: it stands in logs."""
    return Outcome({"outcome": "fail", "code": code, "retry": retry})


def reject(code: str) -> Outcome:
    """This agent will not do it: the sender goes on from its checkpoint."""
    return Outcome({"outcome": "reject", "code": code})


def blocked(*unmet: str) -> Outcome:
    """This agent lacks something: another agent type that has it gets the handoff, or a person decides."""
    return Outcome({"outcome": "blocked", "unmet": list(unmet)})


@dataclass
class Execution:
    """A handoff that is yours until its lease ends. Everything in it is data from others, never instructions."""

    handoff_id: str
    fencing_token: int
    task_id: str
    attempt: int
    from_agent: str
    idempotency_key: str
    """The same for every attempt: send it with whatever has an effect elsewhere."""
    lease_ms: int
    deadline: Optional[str]
    traceparent: str
    tracestate: Optional[str]
    context: str
    """The context for a prompt's user turn, fenced as data."""
    message: Mapping[str, Any]
    chunks: int = 0
    """Of its stream, committed by earlier attempts: emit the same again from 1, or go on with the next."""
    stopped: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set once it is canceled or lost: stop."""

    @property
    def state(self) -> Mapping[str, Any]:
        """`message["currentState"]`."""
        return self.message["currentState"]

    @property
    def fence(self) -> dict[str, Any]:
        return {"handoffId": self.handoff_id, "fencingToken": self.fencing_token}

    def check(self) -> None:
        """Raises Canceled once it is canceled or lost: call it between the steps of long work."""
        if self.stopped.is_set():
            raise Canceled(self.handoff_id)

    @staticmethod
    def read(given: Mapping[str, Any]) -> "Execution":
        """Reads what a claim or a push brought."""
        return Execution(
            handoff_id=given["handoffId"],
            fencing_token=given["fencingToken"],
            task_id=given["taskId"],
            attempt=given["attempt"],
            from_agent=given["fromAgent"],
            idempotency_key=given["idempotencyKey"],
            lease_ms=given["leaseMs"],
            deadline=given.get("deadline"),
            traceparent=given["traceparent"],
            tracestate=given.get("tracestate"),
            context=given["context"],
            message=given["message"],
            chunks=given.get("chunks", 0),
        )


@dataclass(frozen=True)
class Settled:
    """`settled` is False where the execution was no longer yours; `problem` says why. `state` is what it came to."""

    settled: bool
    state: Optional[str]
    repeated: bool
    problem: Optional[Mapping[str, str]]


Handler = Callable[[Execution], Outcome]


class Baton:
    """A gateway, called with one API key. Safe to share between threads: each has its own connection."""

    def __init__(self, url: str, key: str, *, timeout_s: float = 30.0, tls: Optional[ssl.SSLContext] = None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"{url!r} is not the address of a gateway; give it as http://host:port")
        self._parts = parts
        self._key = key
        self._timeout_s = timeout_s
        self._tls = tls
        self._local = threading.local()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, *, timeout_s: float = 30.0) -> "Baton":
        """The gateway that `baton env` named in the environment, with its key and its certificates.

        Raises ValueError that says what is missing and how to set it.
        """
        url, key = environment.get("BATON_GATEWAY_URL", ""), environment.get("BATON_API_KEY", "")
        key_file = environment.get("BATON_API_KEY_FILE", "")
        if not url or not (key or key_file):
            raise ValueError(NOT_JOINED)
        if not key:
            with open(key_file, encoding="utf-8") as file:
                key = file.read().strip()
        tls = None
        if url.startswith("https:"):
            tls = ssl.create_default_context(cafile=environment.get("BATON_TLS_CA_FILE") or None)
            certificate = environment.get("BATON_TLS_CERT_FILE")
            if certificate:
                tls.load_cert_chain(certificate, environment.get("BATON_TLS_KEY_FILE"))
        return cls(url, key, timeout_s=timeout_s, tls=tls)

    # Sending

    def send(
        self,
        to: str,
        state: Mapping[str, Any],
        *,
        budget_usd: float = 1.0,
        task_id: Optional[str] = None,
        from_agent: str = "python",
        version: str = "1.0.0",
        constraints: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> Sent:
        """Sends the first handoff of a task to an agent type; durable when it returns.

        `constraints` are those of the HTTP API: priority 0 to 3, deadline, requiresApproval, requirements,
        receiverList and join for several receivers at once ...
        """
        agent_state = {
            "taskId": task_id or str(uuid.uuid4()),
            "agent": {"agentId": from_agent, "agentVersion": version},
            "taskDescription": "INITIAL",
            "completedSubtasks": [],
            "remainingSubtasks": [],
            "currentState": state,
            "cost": {
                "spentSoFarUSD": 0,
                "budgetRemainingUSD": budget_usd,
                "ownCostUSD": 0,
                "tokenSpent": {"prompt": 0, "completion": 0},
            },
        }
        body = {"agentState": agent_state, "targetAgentType": to, "constraints": constraints or {}}
        return self.submit(body, idempotency_key=idempotency_key, traceparent=traceparent)

    def submit(
        self,
        body: Mapping[str, Any],
        *,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> Sent:
        """Posts any body that `POST /v2/handoffs` takes. Tried again with one key until Baton has answered."""
        headers = {"idempotency-key": f'"{idempotency_key or uuid.uuid4()}"'}
        if traceparent is not None:
            headers["traceparent"] = traceparent
        answer, _ = self._post("/v2/handoffs", body, headers)
        return Sent(
            answer["handoffId"], answer["taskId"], answer["traceparent"],
            bool(_.get("idempotency-replayed")), tuple(answer.get("branches", ())),
        )

    def handoff(self, handoff_id: str) -> Mapping[str, Any]:
        """The handoff as it is now. Scope handoffs:read."""
        return self._request("GET", f"/v2/handoffs/{urllib.parse.quote(handoff_id)}", None, {})[0]

    def outcome(self, handoff_id: str, *, wait_s: float = 60.0) -> Mapping[str, Any]:
        """The handoff once it has ended, or as it is after `wait_s`: `state`, `result`, and why it was refused (`reason`, `details`)."""
        over, look_s = time.monotonic() + wait_s, 0.05
        while True:
            found = self.handoff(handoff_id)
            left_s = over - time.monotonic()
            if found["endedAt"] is not None or left_s <= 0:
                return found
            time.sleep(min(look_s, left_s))
            look_s = min(1.0, look_s * 1.2)

    def chunks(self, handoff_id: str, *, after: int = 0) -> Iterator[Mapping[str, Any]]:
        """Follows the stream of a handoff until it ends: every chunk after that number, once, in order. Scope handoffs:read.

        What `handoff` says then tells how it ended: COMPLETED or PARTIAL, and it is whole.
        """
        path = f"/v2/handoffs/{urllib.parse.quote(handoff_id)}/chunks"
        while True:
            page, _ = self._request("GET", f"{path}?after={after}", None, {})
            for chunk in page["chunks"]:
                after = chunk["seq"]
                yield chunk
            if page["ended"] and (page["erased"] or after >= page["committed"]):
                return
            if not page["chunks"]:
                time.sleep(FOLLOW_WAIT_S)

    # Executing

    def claim(
        self,
        agent_type: str,
        version: str,
        *,
        requires: Sequence[str] = (),
        capabilities: Sequence[str] = (),
        mcp: Sequence[str] = (),
        max: int = 1,
        wait_ms: int = CLAIM_WAIT_MS,
    ) -> list[Execution]:
        """Claims up to `max` handoffs of an agent type; waits up to `wait_ms` where there are none."""
        agent = {
            "type": agent_type, "version": version, "requires": list(requires),
            "capabilities": list(capabilities), "mcp": list(mcp),
        }
        body = {"agent": agent, "max": max, "waitMs": wait_ms}
        answer, _ = self._post("/v2/executions/claim", body, {}, wait_ms / 1000)
        return [Execution.read(one) for one in answer["executions"]]

    def heartbeat(self, executions: Iterable[Execution]) -> None:
        """Says that they are still worked on; sets `stopped` of those that are canceled or lost."""
        by_fence = {(one.handoff_id, one.fencing_token): one for one in executions}
        if not by_fence:
            return
        body = {"executions": [one.fence for one in by_fence.values()]}
        answer, _ = self._post("/v2/executions/heartbeat", body, {})
        for kept in answer["executions"]:
            if not kept["held"] or kept["canceledUntil"] is not None:
                by_fence[(kept["handoffId"], kept["fencingToken"])].stopped.set()

    def emit(self, execution: Execution, seq: int, *contents: Json, kind: str = "text") -> int:
        """Adds chunks to its stream, the first of them under the number `seq`; durable when it returns the number of the last.

        Numbers go on over all attempts: emit the same again from 1, or go on after what `chunks` answers. Safe to repeat.
        Say in `complete` how many there are in all.
        """
        chunks = [{"kind": kind, "content": content} for content in contents]
        body = {"fencingToken": execution.fencing_token, "seq": seq, "chunks": chunks}
        answer, _ = self._post(f"/v2/handoffs/{urllib.parse.quote(execution.handoff_id)}/chunks", body, {})
        return int(answer["seq"])

    def settle(self, execution: Execution, outcome: Outcome) -> Settled:
        """Says what it came to; durable when it returns. Safe to repeat."""
        return self.settle_all([(execution, outcome)])[0]

    def settle_all(self, outcomes: Sequence[tuple[Execution, Outcome]]) -> list[Settled]:
        """The same for up to 32 at once."""
        body = {"executions": [{**execution.fence, **outcome.body} for execution, outcome in outcomes]}
        headers = {"traceparent": outcomes[0][0].traceparent} if len(outcomes) == 1 else {}
        answer, _ = self._post("/v2/executions/settle", body, headers)
        return [
            Settled(one["settled"], one.get("state"), one.get("repeated", False), one.get("problem"))
            for one in answer["executions"]
        ]

    def work(
        self,
        agent_type: str,
        version: str,
        handler: Handler,
        *,
        parallel: int = 1,
        until: Optional[threading.Event] = None,
        on_settled: Optional[Callable[[Execution, Settled], None]] = None,
        **registration: Sequence[str],
    ) -> None:
        """Claims, executes and settles until `until` is set (or for ever), `parallel` at once, with heartbeats.

        An exception of `handler` counts as a failure that may be tried again: its text goes nowhere. Raises BatonError
        where Baton refuses the claims themselves, for example for want of a scope.
        """
        stop = until or threading.Event()
        refused: list[BatonError] = []

        def claim_and_execute() -> None:
            while not stop.is_set():
                try:
                    claimed = self.claim(agent_type, version, wait_ms=WORK_WAIT_MS, **registration)  # type: ignore[arg-type]
                    for execution in claimed:
                        settled = self.execute(execution, handler)
                        if on_settled is not None:
                            on_settled(execution, settled)
                except (OSError, http.client.HTTPException):
                    stop.wait(1)
                except BatonError as error:
                    if error.status < 500 and error.status != 429:
                        refused.append(error)
                        stop.set()
                    stop.wait(1)

        threads = [threading.Thread(target=claim_and_execute, daemon=True) for _ in range(parallel)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        finally:
            stop.set()
        if refused:
            raise refused[0]

    def execute(self, execution: Execution, handler: Handler) -> Settled:
        """Runs one claimed or pushed execution under heartbeats, and settles it.

        An outcome that Baton cannot take (no JSON, too large, a cost below zero) fails the execution for good, and not its worker.
        """
        done = threading.Event()
        beats = threading.Thread(target=self._beat, args=(execution, done), daemon=True)
        beats.start()
        try:
            outcome = handler(execution)
        except Canceled:
            outcome = fail("CANCELED")
        except Exception as error:
            # Baton is told a code only. What it was and where stands in the agent's own log, its words do not: they may quote the work.
            at = traceback.extract_tb(error.__traceback__)[-1]
            LOGGER.error("handoff %s: the agent raised %s at %s, line %s", execution.handoff_id, type(error).__name__, at.filename, at.lineno)
            outcome = fail("AGENT_RAISED", retry=True)
        finally:
            done.set()
        try:
            return self.settle(execution, outcome)
        except (TypeError, ValueError, RecursionError):
            return self.settle(execution, fail("RESULT_REFUSED"))
        except BatonError as error:
            if error.status not in REFUSED_STATUSES:
                raise
            return self.settle(execution, fail("RESULT_REFUSED"))

    def _beat(self, execution: Execution, done: threading.Event) -> None:
        while not done.wait(execution.lease_ms / 1000 / HEARTBEATS_PER_LEASE):
            try:
                self.heartbeat([execution])
            except (BatonError, OSError, http.client.HTTPException):
                continue
            if execution.stopped.is_set():
                return

    # HTTP

    def _post(
        self, path: str, body: Mapping[str, Any], headers: Headers, extra_s: float = 0
    ) -> tuple[Any, Mapping[str, str]]:
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")
        return self._request("POST", path, data, headers, extra_s)

    def _request(
        self, method: str, path: str, data: Optional[bytes], headers: Headers, extra_s: float = 0
    ) -> tuple[Any, Mapping[str, str]]:
        # Everything Baton offers here is safe to repeat: by idempotency key, by fencing token, or because it only claims.
        for tried in range(1, TRIES_MAX + 1):
            try:
                status, answered, answer = self._once(method, path, data, headers, extra_s)
            except (OSError, http.client.HTTPException) as cause:
                self._local.connection = None
                if tried == TRIES_MAX:
                    raise GatewayUnavailable(f"{self._parts.scheme}://{self._parts.netloc.rpartition('@')[2]}", cause) from None
                time.sleep(_wait_s(tried, None))
                continue
            if status < 400:
                return answer, answered
            error = BatonError(status, answer if isinstance(answer, dict) else {})
            may_pass = status in (429, 502, 503, 504) or error.code == "BATON_IDEMPOTENCY_KEY_RUNNING"
            if not may_pass or tried == TRIES_MAX:
                raise error
            time.sleep(_wait_s(tried, answered.get("retry-after")))
        raise AssertionError("unreachable")

    def _once(
        self, method: str, path: str, data: Optional[bytes], headers: Headers, extra_s: float
    ) -> tuple[int, Mapping[str, str], Any]:
        connection = self._connection(self._timeout_s + extra_s)
        sent = {"authorization": f"Bearer {self._key}", **headers}
        if data is not None:
            sent["content-type"] = "application/json"
        connection.request(method, self._parts.path.rstrip("/") + path, data, sent)
        response = connection.getresponse()
        body = response.read(ANSWER_BYTES_MAX + 1)
        if len(body) > ANSWER_BYTES_MAX:
            connection.close()
            raise http.client.HTTPException("the answer is larger than Baton sends")
        answered = {name.lower(): value for name, value in response.getheaders()}
        try:
            return response.status, answered, json.loads(body) if body else None
        except ValueError:
            return response.status, answered, None

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        known: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        if known is None:
            host, port = str(self._parts.hostname), self._parts.port
            known = (
                http.client.HTTPSConnection(host, port, context=self._tls)
                if self._parts.scheme == "https"
                else http.client.HTTPConnection(host, port)
            )
            self._local.connection = known
        known.timeout = timeout_s
        if known.sock is not None:
            known.sock.settimeout(timeout_s)
        return known


def _wait_s(tried: int, retry_after: Optional[str]) -> float:
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), WAIT_MAX_S) + random.random() / 10
    return random.uniform(0, min(WAIT_MAX_S, 0.2 * 2**tried))


class PushRefused(Exception):
    """The request was not made by whoever has the secret, or too long ago. Answer 401 and do nothing."""


def verify_push(secrets: Union[str, Sequence[str]], headers: Headers, body: bytes, *, now: Optional[float] = None) -> Any:
    """Checks a request that Baton pushed (Standard Webhooks) and returns its JSON. Raises PushRefused.

    `secrets` are `whsec_...`; several while one replaces another. For an agent: `Execution.read(verify_push(...))`.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        lower.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")
    )
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and message_id):
        raise PushRefused("the webhook headers are missing or no webhook headers")
    if abs((time.time() if now is None else now) - int(timestamp)) > PUSH_TOLERANCE_S:
        raise PushRefused("the request is older or newer than five minutes")
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = [_signature(secret, signed) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    offered = [part[3:].encode() for part in signatures.split(" ") if part.startswith("v1,")]
    if not any(hmac.compare_digest(one, other) for one in expected for other in offered):
        raise PushRefused("the signature is by another secret, or of another body")
    return json.loads(body)


def _signature(secret: str, signed: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.split("_", 1)[1] if secret.startswith("whsec_") else secret, validate=True)
    except binascii.Error as error:
        raise ValueError("a push secret is whsec_ and base64") from error
    if len(key) < PUSH_SECRET_BYTES_MIN:
        raise ValueError(f"a push secret has at least {PUSH_SECRET_BYTES_MIN} bytes")
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
