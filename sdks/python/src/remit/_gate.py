"""The gate for threads and the gate for asyncio."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from secrets import token_urlsafe
from typing import Any, TypeVar, Union

from ._client import Client
from ._core import Core, Options, Ran
from ._errors import RemitDenied, RemitPending
from ._io import Asyncio, Blocking, run_blocking
from ._mapping import ToolMap
from ._self_test import Canary, SelfTest, SelfTestReport
from ._settle import Outcome, Settlement
from ._verdict import Allow, Deny, Pending, Verdict, tool_message

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["AsyncGate", "Gate", "Ran"]

_WAIT: Mapping[str, Any] = {"mode": "wait", "max_seconds": 240.0}


def _options(
    client: Client,
    *,
    agent_id: str | None = None,
    run_id: str | None = None,
    approval: Mapping[str, Any] = _WAIT,
    map: ToolMap | None = None,
    timeout: float = 10.0,
    retries: int = 3,
    release_on: Callable[[BaseException], bool] | None = None,
    on_warning: Callable[[str], None] | None = None,
) -> Options:
    run = run_id or token_urlsafe(16)
    return Options(client, agent_id, run, approval, map, timeout, retries, release_on, on_warning)


class Gate:
    """A gate in front of the tools of one agent run, for threads.

    Options: `agent_id` (may be left out with a credential of the agent), `run_id` (random unless given),
    `approval` (`{"mode": "wait", "max_seconds": 240}`, `{"mode": "return"}` or `{"mode": "refuse"}`),
    `map`, `timeout` (seconds for a decision with all attempts), `retries`, `release_on`, `on_warning`.
    """

    def __init__(self, client: Client, **options: Any) -> None:
        self._core = Core(Blocking(), _options(client, **options))

    def check(
        self, tool: str, input: Any = None, *, call_id: str | None = None, traceparent: str | None = None
    ) -> Verdict:
        """The verdict on a call, recorded in the ledger. A failure is a deny."""
        return run_blocking(self._core.check(tool, input, call_id, traceparent))

    def run(
        self,
        tool: str,
        input: Any,
        execute: Callable[[], T],
        *,
        call_id: str | None = None,
        traceparent: str | None = None,
        cost_of: Callable[[T], float] | None = None,
    ) -> Union[Ran[T], Deny, Pending]:
        """Checks a call, runs it at most once, and reports its outcome."""

        async def executed() -> T:
            return execute()

        call = {"call_id": call_id, "traceparent": traceparent}
        return run_blocking(self._core.run(tool, input, executed, cost_of=cost_of, **call))

    def settle(
        self,
        verdict: Allow,
        *,
        cost_usd: float | None = None,
        outcome: Outcome = "success",
        release: bool = False,
    ) -> Settlement:
        """Reports the outcome of an allowed call and ends its hold. Never raises `RemitError`."""
        ending = self._core.settle(verdict, cost_usd=cost_usd, outcome=outcome, release=release)
        return run_blocking(ending)

    def report_gap(self, tool: str, call_id: str, outcome: Outcome) -> None:
        """Reports a call that ran without an allow: an entry `enforcement.gap`."""
        run_blocking(self._core.report_gap(tool, call_id, outcome))

    def tool(
        self,
        function: F | None = None,
        *,
        name: str | None = None,
        cost_of: Callable[[Any], float] | None = None,
    ) -> Any:
        """Decorates a function: it asks first. Raises `RemitDenied` or `RemitPending`.

        The decorated function takes `call_id` besides its own parameters.
        """
        if function is None:
            return lambda decorated: self.tool(decorated, name=name, cost_of=cost_of)
        title, signature = name or function.__name__, inspect.signature(function)

        @functools.wraps(function)
        def asking(*args: Any, call_id: str | None = None, **kwargs: Any) -> Any:
            input = _input_of(signature, args, kwargs)
            done = self.run(
                title, input, lambda: function(*args, **kwargs), call_id=call_id, cost_of=cost_of
            )
            return _result_of(done)

        return asking

    def self_test(self, drive: Callable[[Gate, Canary], str] | None = None) -> SelfTestReport:
        """Proves that a deny blocks: lets a host's loop call a canary tool through the gate.

        `drive` calls the canary once behind the gate that it is given, and returns the text that the model
        received. The loop is that of `run` unless an adapter gives another.
        """
        loop = drive or _drive

        async def driven(gate: Gate, canary: Canary) -> str:
            return loop(gate, canary)

        client = self._core.options.client
        return run_blocking(SelfTest(client, self.restarted, driven).run())

    def restarted(self, **options: Any) -> Gate:
        """The same run with other options and none of this gate's memory, as after a restart."""
        gate = Gate.__new__(Gate)
        gate._core = Core(Blocking(), self._core.changed(**options))
        return gate


class AsyncGate:
    """A gate in front of the tools of one agent run, for asyncio. Options as of `Gate`."""

    def __init__(self, client: Client, **options: Any) -> None:
        self._core = Core(Asyncio(), _options(client, **options))

    async def check(
        self, tool: str, input: Any = None, *, call_id: str | None = None, traceparent: str | None = None
    ) -> Verdict:
        """The verdict on a call, recorded in the ledger. A failure is a deny."""
        return await self._core.check(tool, input, call_id, traceparent)

    async def run(
        self,
        tool: str,
        input: Any,
        execute: Callable[[], Awaitable[T]],
        *,
        call_id: str | None = None,
        traceparent: str | None = None,
        cost_of: Callable[[T], float] | None = None,
    ) -> Union[Ran[T], Deny, Pending]:
        """Checks a call, runs it at most once, and reports its outcome."""
        call = {"call_id": call_id, "traceparent": traceparent}
        return await self._core.run(tool, input, execute, cost_of=cost_of, **call)

    async def settle(
        self,
        verdict: Allow,
        *,
        cost_usd: float | None = None,
        outcome: Outcome = "success",
        release: bool = False,
    ) -> Settlement:
        """Reports the outcome of an allowed call and ends its hold. Never raises `RemitError`."""
        return await self._core.settle(
            verdict, cost_usd=cost_usd, outcome=outcome, release=release
        )

    async def report_gap(self, tool: str, call_id: str, outcome: Outcome) -> None:
        """Reports a call that ran without an allow: an entry `enforcement.gap`."""
        await self._core.report_gap(tool, call_id, outcome)

    def tool(
        self,
        function: F | None = None,
        *,
        name: str | None = None,
        cost_of: Callable[[Any], float] | None = None,
    ) -> Any:
        """Decorates a coroutine function: it asks first. Raises `RemitDenied` or `RemitPending`.

        The decorated function takes `call_id` besides its own parameters.
        """
        if function is None:
            return lambda decorated: self.tool(decorated, name=name, cost_of=cost_of)
        title, signature = name or function.__name__, inspect.signature(function)

        @functools.wraps(function)
        async def asking(*args: Any, call_id: str | None = None, **kwargs: Any) -> Any:
            input = _input_of(signature, args, kwargs)
            done = await self.run(
                title, input, lambda: function(*args, **kwargs), call_id=call_id, cost_of=cost_of
            )
            return _result_of(done)

        return asking

    async def self_test(
        self, drive: Callable[[AsyncGate, Canary], Awaitable[str]] | None = None
    ) -> SelfTestReport:
        """Proves that a deny blocks, as `Gate.self_test` does."""
        client = self._core.options.client
        return await SelfTest(client, self.restarted, drive or _drive_async).run()

    def restarted(self, **options: Any) -> AsyncGate:
        """The same run with other options and none of this gate's memory, as after a restart."""
        gate = AsyncGate.__new__(AsyncGate)
        gate._core = Core(Asyncio(), self._core.changed(**options))
        return gate


def _drive(gate: Gate, canary: Canary) -> str:
    """The loop of a program that runs its tools itself."""
    done = gate.run(canary.name, {}, canary.run, call_id=canary.call_id)
    return done.result if isinstance(done, Ran) else tool_message(done)


async def _drive_async(gate: AsyncGate, canary: Canary) -> str:
    async def run() -> str:
        return canary.run()

    done = await gate.run(canary.name, {}, run, call_id=canary.call_id)
    return done.result if isinstance(done, Ran) else tool_message(done)


def _input_of(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _result_of(done: Union[Ran[T], Deny, Pending]) -> T:
    if isinstance(done, Deny):
        raise RemitDenied(done)
    if isinstance(done, Pending):
        raise RemitPending(done)
    return done.result
