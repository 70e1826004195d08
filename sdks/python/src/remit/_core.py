"""The common part of both gates: decide, run at most once, settle."""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import token_urlsafe
from typing import Any, Generic, Literal, TypeVar, cast

from ._ask import Answer, Question, approval_status, ask
from ._errors import NotExecuted, RemitError, Unmappable
from ._io import IO
from ._json import digest
from ._mapping import request_for
from ._options import Options
from ._plain import name_of
from ._settle import Outcome, Settlement, append, settle
from ._snapshot import is_unchanged, snapshot
from ._verdict import Allow, Deny, Pending, Verdict

T = TypeVar("T")
_MAX_KEPT = 1_000


@dataclass(frozen=True)
class Ran(Generic[T]):
    """The tool ran."""

    result: T
    verdict: Allow
    kind: Literal["ran"] = "ran"


@dataclass
class _Call:
    verdict: Future[Verdict]
    is_taken: bool = False


@dataclass(frozen=True)
class _Prepared:
    #: The input that is decided, a copy.
    input: Any
    request: dict[str, Any]
    hash: str


class _Abandoned(Exception):
    """The caller that asked was cancelled; another one asks."""


class Core:
    def __init__(self, io: IO, options: Options) -> None:
        self.io = io
        self.options = options
        self._lock = threading.Lock()
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._warned: set[str] = set()

    async def check(
        self, tool: str, input: Any, call_id: str | None, traceparent: str | None
    ) -> Verdict:
        return (await self._check(tool, input, call_id or token_urlsafe(16), traceparent))[0]

    async def admit(
        self, tool: str, input: Any, call_id: str | None, traceparent: str | None
    ) -> Verdict:
        call = call_id or token_urlsafe(16)
        return self._take(await self._check(tool, input, call, traceparent), input, call)

    async def run(
        self,
        tool: str,
        input: Any,
        execute: Callable[[Any], Awaitable[T]],
        *,
        call_id: str | None,
        traceparent: str | None,
        cost_of: Callable[[T], float] | None,
        is_failure: Callable[[T], bool] | None = None,
        is_copied: bool = False,
    ) -> Ran[T] | Deny | Pending:
        """`is_copied`: `execute` uses nothing but the copy of the input that it receives."""
        call = call_id or token_urlsafe(16)
        checked = await self._check(tool, input, call, traceparent)
        decided = checked[1].input if checked[1] is not None else None
        # Without a pause before it runs.
        verdict = self._take(checked, decided if is_copied else input, call)
        if not isinstance(verdict, Allow):
            return verdict
        try:
            result = await execute(decided)
        except BaseException as error:
            outcome, release = self._outcome_of(error)
            await self.settle(verdict, outcome=outcome, release=release)
            raise
        if is_failure is not None and self._told("is_failure", lambda: is_failure(result)) is True:
            await self.settle(verdict, outcome="failure")
        else:
            await self.settle(verdict, cost_usd=self._cost(cost_of, result))
        return Ran(result, verdict)

    def _take(
        self, checked: tuple[Verdict, _Prepared | None, _Call | None], used: Any, call: str
    ) -> Verdict:
        """The one execution of an allowed call, if `used` is still what was decided."""
        verdict, prepared, kept = checked
        if not isinstance(verdict, Allow):
            return verdict
        decided = prepared.input if prepared is not None else None
        if used is not decided and not is_unchanged(decided, used):
            message = "The input changed after it was decided."
            return Deny("input_changed", message, call, verdict.decision_id)
        with self._lock:
            if kept is None or kept.is_taken:
                return already_decided(call, verdict.decision_id)
            kept.is_taken = True
        return verdict

    def assert_tool(self, tool: str) -> None:
        """Raises `ValueError` for the name of a tool whose calls would all be denied."""
        if callable(self.options.map):
            return
        try:
            name_of(tool, f"the tool {tool!r}")
        except Unmappable as error:
            raise ValueError(str(error)) from error

    async def settle(
        self,
        verdict: Verdict,
        *,
        cost_usd: float | None = None,
        amounts: Mapping[str, float] | None = None,
        outcome: Outcome = "success",
        release: bool = False,
    ) -> Settlement:
        client, agent = self.options.client, self.options.agent_id
        ending = {
            "cost_usd": cost_usd,
            "amounts": amounts,
            "outcome": outcome,
            "release": release,
        }
        return await settle(self.io, client, agent, self._warn, verdict, **ending)  # type: ignore[arg-type]

    async def report_gap(self, tool: str, call_id: str, outcome: Outcome) -> None:
        entry: dict[str, Any] = {
            "action": tool,
            "decision_id": None,
            "metadata": {"call_id": call_id},
            "outcome": outcome,
        }
        if self.options.agent_id is not None:
            entry["agent_id"] = self.options.agent_id
        await append(self.io, self.options.client, entry)

    async def _check(
        self, tool: str, input: Any, call: str, traceparent: str | None
    ) -> tuple[Verdict, _Prepared | None, _Call | None]:
        prepared = self._prepare(tool, input)
        if isinstance(prepared, str):
            return Deny("unmappable", prepared, call), None, None
        key = self._key(call, prepared, None)
        while True:
            try:
                return await self._shared(key, call, prepared, traceparent)
            except _Abandoned:
                continue

    async def _shared(
        self, key: str, call: str, prepared: _Prepared, traceparent: str | None
    ) -> tuple[Verdict, _Prepared, _Call | None]:
        """One question for all who ask at the same time; an allow is given out until it is taken."""
        with self._lock:
            known = self._calls.get(key)
            if known is not None and known.is_taken:
                return already_decided(call, None), prepared, None
            kept = known or _Call(Future())
            self._calls[key] = kept
            if len(self._calls) > _MAX_KEPT:
                self._calls.popitem(last=False)
        if known is not None:
            return await self.io.result(known.verdict), prepared, known
        try:
            verdict = await self._decide(call, prepared, traceparent)
        except BaseException:
            self._forget(key, kept)
            kept.verdict.set_exception(_Abandoned())
            raise
        if not isinstance(verdict, Allow):
            self._forget(key, kept)
        kept.verdict.set_result(verdict)
        return verdict, prepared, kept

    def _forget(self, key: str, kept: _Call) -> None:
        with self._lock:
            if self._calls.get(key) is kept:
                del self._calls[key]

    def _prepare(self, tool: str, input: Any) -> _Prepared | str:
        options = self.options
        try:
            decided = snapshot(input)
            request = request_for(options.agent_id, options.map, self._secret, tool, decided)
            return _Prepared(decided, request, digest(request))
        except Exception as error:  # A mapping of the user can raise anything.
            return str(error)

    def _secret(self) -> str:
        return self.options.omit_key or self.options.client.key

    def _key(self, call: str, prepared: _Prepared, approval: str | None) -> str:
        agent, run = self.options.agent_id, self.options.run_id
        step = {"agent": agent, "call": call, "request": prepared.hash, "run": run}
        return digest({**step, "approval": approval})

    async def _decide(self, call: str, prepared: _Prepared, traceparent: str | None) -> Verdict:
        options = self.options
        mode = options.approval.get("mode", "wait")
        seconds = options.approval.get("max_seconds", 240.0) if mode == "wait" else 0.0
        deadline = time.monotonic() + seconds
        followed: set[str] = set()
        approval_id: str | None = None
        while True:
            key = self._key(call, prepared, approval_id)
            question = Question(prepared.request, key, traceparent)
            answer = await ask(self.io, options.client, question, options.timeout, options.retries)
            if answer.kind != "pending":
                return _verdict(answer, call, prepared.request["action"], approval_id)
            pending = _pending(answer.body, call)
            if mode == "refuse":
                message = f"{pending.message} (approval {pending.approval_id})"
                return Deny("approval_required", message, call, pending.decision_id)
            if pending.approval_id in followed:
                return pending
            approval_id = pending.approval_id
            followed.add(approval_id)
            try:
                left = max(0.0, deadline - time.monotonic()) if seconds > 0 else 0.0
                status, comment = await approval_status(self.io, options.client, approval_id, left)
            except RemitError as error:
                reason = "remit_refused" if error.is_refusal else "remit_unavailable"
                detail = str(error) if error.is_refusal else error.code
                message = f"Approval {approval_id} cannot be read: {detail}"
                return Deny(reason, message, call, pending.decision_id)
            if status == "pending":
                return pending
            if status == "consumed":
                return already_decided(call, pending.decision_id)
            if status != "approved":
                why = "." if comment is None else f", because: {comment}"
                message = f"Approval {approval_id} is {status}{why}"
                return Deny(f"approval_{status}", message, call, pending.decision_id)

    def _outcome_of(self, error: BaseException) -> tuple[Outcome, bool]:
        release_on = self.options.release_on
        if isinstance(error, NotExecuted):
            return "failure", True
        if release_on is not None and self._told("release_on", lambda: release_on(error)) is True:
            return "failure", True
        # Cancelled or timed out: nobody knows what was done.
        is_known = isinstance(error, Exception) and not isinstance(error, TimeoutError)
        return ("failure" if is_known else "unknown"), False

    def _cost(self, cost_of: Callable[[T], float] | None, result: T) -> Any:
        return None if cost_of is None else self._told("cost_of", lambda: cost_of(result))

    def _told(self, name: str, question: Callable[[], Any]) -> Any:
        """The tool has run: a question of its owner that fails must not look as if it had not."""
        try:
            return question()
        except Exception as error:
            self._warn(f"{name} failed, and its answer was left out: {type(error).__name__}")
            return None

    def _warn(self, message: str) -> None:
        if len(self._warned) >= 100 or message in self._warned:
            return
        self._warned.add(message)
        # A warning must not end what it is about.
        with suppress(Exception):
            if self.options.on_warning is not None:
                self.options.on_warning(message)
            else:
                warnings.warn(f"remit: {message}", stacklevel=2)

    def changed(self, **options: Any) -> Options:
        return replace(self.options, **options)


def already_decided(call: str, decision_id: str | None) -> Deny:
    return Deny(
        "already_decided",
        "This call was allowed before and may have run; it needs a new call id to run again.",
        call,
        decision_id,
    )


def _pending(body: dict[str, Any], call: str) -> Pending:
    approval = body["approval"]
    until, message = approval.get("expires_at"), body.get("message") or ""
    return Pending(approval["id"], until, message, call, body["decision_id"])


def _verdict(answer: Answer, call: str, action: str, approval_id: str | None) -> Verdict:
    if answer.kind == "failed":
        what = "refused the request" if answer.reason == "remit_refused" else "could not be asked"
        return Deny(answer.reason, f"Remit {what}: {answer.detail}", call)
    decision_id, reason = answer.body["decision_id"], answer.body.get("reason") or ""
    if answer.kind == "already_decided":
        return already_decided(call, decision_id)
    listed = answer.body.get("budgets")
    budgets = cast(list[dict[str, Any]], listed) if isinstance(listed, list) else None
    if answer.kind == "deny":
        message, retry_at = answer.body.get("message") or "", answer.body.get("retry_at")
        # Null means never; an answer without the member leaves it open.
        never_passes = "retry_at" in answer.body and retry_at is None
        return Deny(reason, message, call, decision_id, budgets, retry_at, never_passes)
    approval: dict[str, Any] = answer.body.get("approval") or {}
    return Allow(decision_id, call, action, reason, approval.get("id") or approval_id, budgets)
