"""Proof that a deny blocks: a canary tool in a host's own loop, in five cases."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any, Generic, Literal, TypeVar

from ._client import Client
from ._mapping import SELF_TEST_ACTIONS, SelfTestMap

G = TypeVar("G")
Case = Literal["deny", "server_stopped", "late_answer", "garbage_answer", "approval"]

_SHORT_SECONDS = 0.25
_HELD = f"{SELF_TEST_ACTIONS}needs_approval".encode()
_ALLOWED = f"{SELF_TEST_ACTIONS}allow".encode()


@dataclass(frozen=True)
class SelfTestResult:
    """`detail` has the number of runs of the canary, and the text that the model received."""

    case: Case
    passed: bool
    detail: str


@dataclass(frozen=True)
class SelfTestReport:
    """`enforced` is true if no case ran the canary without an allow, and the approved one ran once."""

    enforced: bool
    results: tuple[SelfTestResult, ...]


class Canary:
    """A tool that only counts."""

    name = "remit_selftest"
    description = "Does nothing. Call it once."

    def __init__(self) -> None:
        self.call_id = f"selftest_{token_urlsafe(16)}"
        self.ran = 0

    def run(self) -> str:
        self.ran += 1
        return "the canary ran"


class SelfTest(Generic[G]):
    """The five cases for one kind of gate.

    `remake` makes a gate of the same run with other options; `drive` lets the host call the canary once
    behind a gate, with a scripted model, and returns the text that the model received.
    """

    def __init__(
        self,
        client: Client,
        remake: Callable[..., G],
        drive: Callable[[G, Canary], Awaitable[str]],
    ) -> None:
        self._client = client
        self._remake = remake
        self._drive = drive

    async def run(self) -> SelfTestReport:
        results = [await self._blocked("deny", "deny", self._client)]
        with _stopped_server() as url:
            results.append(await self._blocked("server_stopped", "allow", self._at(url), short=True))
        with _server(_Late) as url:
            results.append(await self._blocked("late_answer", "allow", self._at(url), short=True))
        with _server(_Garbage) as url:
            results.append(await self._blocked("garbage_answer", "allow", self._at(url), short=True))
        results.append(await self._approved_once())
        return SelfTestReport(all(result.passed for result in results), tuple(results))

    def _at(self, url: str) -> Client:
        return Client(url, "rmk_selftest")

    async def _blocked(
        self, case: Case, answer: str, client: Client, *, short: bool = False
    ) -> SelfTestResult:
        canary = Canary()
        gate = self._gate(answer, client, **({"timeout": _SHORT_SECONDS} if short else {}))
        told = await self._heard(gate, canary)
        passed = canary.ran == 0 and "Not executed" in told
        return SelfTestResult(case, passed, f"ran {canary.ran} times; the model was told: {told}")

    async def _approved_once(self) -> SelfTestResult:
        """Before the approval it does not run; afterwards, three resumes run it once."""
        canary, client = Canary(), _Approving(self._client)
        told: list[str] = []
        for _ in range(4):
            # A new gate each time, as after a restart, with the same run.
            told.append(await self._heard(self._gate("needs_approval", client), canary))
            if not client.is_given and canary.ran > 0:
                break
            client.is_given = True
        passed = client.is_given and canary.ran == 1
        detail = f"ran {canary.ran} times; told: {' | '.join(told)}"
        return SelfTestResult("approval", passed, detail)

    def _gate(self, answer: str, client: Client, **options: Any) -> G:
        returning = {"mode": "return"}
        tools = SelfTestMap(answer)
        return self._remake(client=client, map=tools, approval=returning, on_warning=_silent, **options)

    async def _heard(self, gate: G, canary: Canary) -> str:
        """The text that the model received. A host may also end the run with an error."""
        try:
            return await self._drive(gate, canary)
        except Exception as error:
            return repr(error)


def _silent(_: str) -> None:
    pass


class _Approving(Client):
    """The client, as if a person approved, since nobody can vote on the reserved request: the question
    after the approval, which has another key than those before, reaches the server as one that it allows.
    """

    def __init__(self, real: Client) -> None:
        self.__dict__.update(real.__dict__)
        self._real = real
        self._before: set[str] = set()
        self.is_given = False

    def _exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, timeout: float
    ) -> tuple[int, dict[str, str], bytes]:
        if method == "GET":
            status = {"status": "approved" if self.is_given else "pending"}
            return 200, {"content-type": "application/json"}, json.dumps(status).encode()
        key = headers.get("idempotency-key", "")
        if not self.is_given:
            self._before.add(key)
        if key in self._before:
            return self._real._exchange(method, path, headers, body, timeout)
        sent = (body or b"").replace(_HELD, _ALLOWED)
        status_code, received, raw = self._real._exchange(method, path, headers, sent, timeout)
        return status_code, received, raw.replace(_ALLOWED, _HELD)


class _Handler(BaseHTTPRequestHandler):
    released: threading.Event

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        asked = json.loads(self.rfile.read(length))
        try:
            self.answer(asked)
        except OSError:
            pass  # The gate has given up.

    def answer(self, asked: dict[str, Any]) -> None:
        raise NotImplementedError

    def send(self, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Late(_Handler):
    def answer(self, asked: dict[str, Any]) -> None:
        self.released.wait()
        self.send(json.dumps({"decision": "allow", "decision_id": "dec_late", **asked}))


class _Garbage(_Handler):
    def answer(self, asked: dict[str, Any]) -> None:
        self.send('{"decision":"allow"}<html>')


@contextmanager
def _server(handler: type[_Handler]) -> Generator[str, None, None]:
    released = threading.Event()
    made = type("Handler", (handler,), {"released": released})
    server = ThreadingHTTPServer(("127.0.0.1", 0), made)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _stopped_server() -> Generator[str, None, None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Garbage)
    server.server_close()
    yield f"http://127.0.0.1:{server.server_address[1]}"
