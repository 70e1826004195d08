"""The gate for threads and the gate for asyncio."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeVar, cast

from ._client import Client
from ._core import Core, Ran
from ._errors import NotExecuted, RemitDenied, RemitPending
from ._io import Asyncio, Blocking, run_blocking
from ._options import options_of
from ._self_test import Canary, SelfTest, SelfTestReport
from ._settle import Outcome, Settlement
from ._verdict import Deny, Pending, Verdict, tool_message

T = TypeVar("T")
OnDeny = Literal["raise", "return"]

__all__ = ["AsyncGate", "Gate", "Ran"]

class Gate:
    """A gate in front of the tools of one agent run, for threads.

    Options: `agent_id` (may be left out with a credential of the agent), `run_id` (random unless given),
    `approval` (`{"mode": "wait", "max_seconds": 240}`, `{"mode": "return"}` or `{"mode": "refuse"}`),
    `map`, `omit_key` (a secret of at least 32 characters for the digests of omitted members; the key of the
    client unless given), `timeout` (seconds for a decision with all attempts), `retries`, `release_on`,
    `on_warning`.
    """

    def __init__(self, client: Client, **options: Any) -> None:
        self._core = Core(Blocking(), options_of(client, **options))

    def check(
        self, tool: str, input: Any = None, *, call_id: str | None = None, traceparent: str | None = None
    ) -> Verdict:
        """The verdict on a call, recorded in the ledger. A failure is a deny."""
        return run_blocking(self._core.check(tool, input, call_id, traceparent))

    def run(
        self,
        tool: str,
        input: Any,
        execute: Callable[..., T],
        *,
        call_id: str | None = None,
        traceparent: str | None = None,
        cost_of: Callable[[T], float] | None = None,
        is_failure: Callable[[T], bool] | None = None,
    ) -> Ran[T] | Deny | Pending:
        """Checks a call, runs it at most once, and reports its outcome.

        `execute` receives the input that was decided, a copy, if it has a required parameter. Without one, it
        must use `input`, which must not change meanwhile: the call is denied if it does.
        """
        takes = _takes_input(execute)

        async def executed(decided: Any) -> T:
            return _result(execute(decided) if takes else execute())

        call: Any = {"call_id": call_id, "traceparent": traceparent, "is_copied": takes}
        ending: Any = {"cost_of": cost_of, "is_failure": is_failure}
        return run_blocking(self._core.run(tool, input, executed, **call, **ending))

    def admit(
        self, tool: str, input: Any = None, *, call_id: str | None = None, traceparent: str | None = None
    ) -> Verdict:
        """Checks a call and takes its one execution, for hosts that run the tool themselves.

        After an allow the call is denied from then on; report its outcome with `settle`.
        """
        return run_blocking(self._core.admit(tool, input, call_id, traceparent))

    def wrap(
        self,
        tool: str,
        execute: Callable[[Any], T],
        *,
        cost_of: Callable[[T], float] | None = None,
        is_failure: Callable[[T], bool] | None = None,
        on_deny: OnDeny = "raise",
    ) -> Callable[..., Any]:
        """A tool of one input that asks first; it receives the input that was decided, a copy.

        The result takes the input, and `call_id` and `traceparent`. Raises `RemitDenied` or `RemitPending`;
        with `on_deny="return"`, it returns the verdict.
        """
        self._core.assert_tool(tool)
        _check_function(execute)
        _check_on_deny(on_deny)

        async def executed(decided: Any) -> T:
            return _result(execute(decided))

        def asking(
            input: Any, *, call_id: str | None = None, traceparent: str | None = None
        ) -> Any:
            call: Any = {"call_id": call_id, "traceparent": traceparent, "is_copied": True}
            ending: Any = {"cost_of": cost_of, "is_failure": is_failure}
            return _result_of(run_blocking(self._core.run(tool, input, executed, **call, **ending)), on_deny)

        return asking

    def settle(
        self,
        verdict: Verdict,
        *,
        cost_usd: float | None = None,
        amounts: Mapping[str, float] | None = None,
        outcome: Outcome = "success",
        release: bool = False,
    ) -> Settlement:
        """Reports the outcome of an allowed call and ends its hold. Never raises; another verdict has none."""
        ending = self._core.settle(
            verdict, cost_usd=cost_usd, amounts=amounts, outcome=outcome, release=release
        )
        return run_blocking(ending)

    def report_gap(self, tool: str, call_id: str, outcome: Outcome) -> None:
        """Reports a call that ran without an allow: an entry `enforcement.gap`."""
        run_blocking(self._core.report_gap(tool, call_id, outcome))

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        cost_of: Callable[[Any], float] | None = None,
        on_deny: OnDeny = "raise",
    ) -> Any:
        """Decorates a function: it asks first. Raises `RemitDenied` or `RemitPending`; with
        `on_deny="return"`, it returns the verdict.

        The decorated function takes `call_id` besides its own parameters. It runs with copies of the arguments
        that were decided, defaults included.
        """
        if function is None:
            return functools.partial(self.tool, name=name, cost_of=cost_of, on_deny=on_deny)
        title, signature = name or function.__name__, inspect.signature(function)
        self._core.assert_tool(title)
        _check_function(function)
        _check_parameters(signature)
        _check_on_deny(on_deny)

        @functools.wraps(function)
        def asking(*args: Any, call_id: str | None = None, **kwargs: Any) -> Any:
            bound = _bound(signature, args, kwargs)

            def execute(decided: Any) -> Any:
                return _called(function, bound, decided)

            done = self.run(title, dict(bound.arguments), execute, call_id=call_id, cost_of=cost_of)
            return _result_of(done, on_deny)

        return asking

    @property
    def does_return(self) -> bool:
        """True with the approval mode `return`: the host resumes a pending call."""
        return self._core.options.approval.get("mode") == "return"

    def assert_tool(self, tool: str) -> None:
        """Raises `ValueError` for the name of a tool whose calls would all be denied."""
        self._core.assert_tool(tool)

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
        self._core = Core(Asyncio(), options_of(client, **options))

    async def check(
        self, tool: str, input: Any = None, *, call_id: str | None = None, traceparent: str | None = None
    ) -> Verdict:
        """The verdict on a call, recorded in the ledger. A failure is a deny."""
        return await self._core.check(tool, input, call_id, traceparent)

    async def run(
        self,
        tool: str,
        input: Any,
        execute: Callable[..., Awaitable[T]],
        *,
        call_id: str | None = None,
        traceparent: str | None = None,
        cost_of: Callable[[T], float] | None = None,
        is_failure: Callable[[T], bool] | None = None,
    ) -> Ran[T] | Deny | Pending:
        """Checks a call, runs it at most once, and reports its outcome, as `Gate.run` does."""
        takes = _takes_input(execute)

        async def executed(decided: Any) -> T:
            return await _awaited(execute(decided) if takes else execute())

        call: Any = {"call_id": call_id, "traceparent": traceparent, "is_copied": takes}
        ending: Any = {"cost_of": cost_of, "is_failure": is_failure}
        return await self._core.run(tool, input, executed, **call, **ending)

    async def admit(
        self, tool: str, input: Any = None, *, call_id: str | None = None, traceparent: str | None = None
    ) -> Verdict:
        """Checks a call and takes its one execution, as `Gate.admit` does."""
        return await self._core.admit(tool, input, call_id, traceparent)

    def wrap(
        self,
        tool: str,
        execute: Callable[[Any], Awaitable[T]],
        *,
        cost_of: Callable[[T], float] | None = None,
        is_failure: Callable[[T], bool] | None = None,
        on_deny: OnDeny = "raise",
    ) -> Callable[..., Awaitable[Any]]:
        """A tool of one input that asks first, as `Gate.wrap` makes it."""
        self._core.assert_tool(tool)
        _check_function(execute, is_async=True)
        _check_on_deny(on_deny)

        async def executed(decided: Any) -> T:
            return await _awaited(execute(decided))

        async def asking(
            input: Any, *, call_id: str | None = None, traceparent: str | None = None
        ) -> Any:
            call: Any = {"call_id": call_id, "traceparent": traceparent, "is_copied": True}
            ending: Any = {"cost_of": cost_of, "is_failure": is_failure}
            return _result_of(await self._core.run(tool, input, executed, **call, **ending), on_deny)

        return asking

    async def settle(
        self,
        verdict: Verdict,
        *,
        cost_usd: float | None = None,
        amounts: Mapping[str, float] | None = None,
        outcome: Outcome = "success",
        release: bool = False,
    ) -> Settlement:
        """Reports the outcome of an allowed call and ends its hold. Never raises; another verdict has none."""
        return await self._core.settle(
            verdict, cost_usd=cost_usd, amounts=amounts, outcome=outcome, release=release
        )

    async def report_gap(self, tool: str, call_id: str, outcome: Outcome) -> None:
        """Reports a call that ran without an allow: an entry `enforcement.gap`."""
        await self._core.report_gap(tool, call_id, outcome)

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        cost_of: Callable[[Any], float] | None = None,
        on_deny: OnDeny = "raise",
    ) -> Any:
        """Decorates a coroutine function: it asks first, as a function that `Gate.tool` decorates."""
        if function is None:
            return functools.partial(self.tool, name=name, cost_of=cost_of, on_deny=on_deny)
        title, signature = name or function.__name__, inspect.signature(function)
        self._core.assert_tool(title)
        _check_function(function, is_async=True)
        _check_parameters(signature)
        _check_on_deny(on_deny)

        @functools.wraps(function)
        async def asking(*args: Any, call_id: str | None = None, **kwargs: Any) -> Any:
            bound = _bound(signature, args, kwargs)

            def execute(decided: Any) -> Any:
                return _called(function, bound, decided)

            done = await self.run(title, dict(bound.arguments), execute, call_id=call_id, cost_of=cost_of)
            return _result_of(done, on_deny)

        return asking

    @property
    def does_return(self) -> bool:
        """True with the approval mode `return`: the host resumes a pending call."""
        return self._core.options.approval.get("mode") == "return"

    def assert_tool(self, tool: str) -> None:
        """Raises `ValueError` for the name of a tool whose calls would all be denied."""
        self._core.assert_tool(tool)

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


def _takes_input(execute: Callable[..., Any]) -> bool:
    """True for a required parameter: a lambda's default is a variable that it keeps."""
    try:
        parameters = inspect.signature(execute).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(one.kind in positional and one.default is one.empty for one in parameters)


def _bound(signature: inspect.Signature, args: Any, kwargs: Any) -> inspect.BoundArguments:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound


def _called(function: Callable[..., Any], bound: inspect.BoundArguments, decided: Any) -> Any:
    copies = inspect.BoundArguments(bound.signature, decided)
    return function(*copies.args, **copies.kwargs)


def _check_function(function: Callable[..., Any], is_async: bool = False) -> None:
    """Refuses what would run after its outcome was reported."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ValueError("a generator runs after it was called; return the result of a tool instead")
    if not is_async and inspect.iscoroutinefunction(function):
        raise ValueError("a coroutine function needs an AsyncGate")


def _check_parameters(signature: inspect.Signature) -> None:
    if "call_id" in signature.parameters:
        raise ValueError("the parameter call_id of a tool is that of the gate; give yours another name")


def _result(result: T) -> T:
    """A result that is none yet. Nothing of a coroutine has run."""
    if inspect.iscoroutine(result):
        result.close()
        raise NotExecuted("a coroutine needs an AsyncGate")
    return result


async def _awaited(result: Awaitable[T]) -> T:
    # A function may return its result at once, whatever its type says.
    plain: Any = result
    return await result if inspect.isawaitable(result) else cast(T, plain)


def _check_on_deny(on_deny: str) -> None:
    if on_deny not in ("raise", "return"):
        raise ValueError("on_deny must be raise or return")


def _result_of(done: Ran[T] | Deny | Pending, on_deny: OnDeny) -> Any:
    if isinstance(done, Ran):
        return done.result
    if on_deny == "return":
        return done
    raise RemitDenied(done) if isinstance(done, Deny) else RemitPending(done)
