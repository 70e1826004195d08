"""Google ADK: tools that ask before they run. Imports nothing of it until used."""

from __future__ import annotations

import copy
import functools
import inspect
import json
from typing import TYPE_CHECKING, Any

from ._gate import AsyncGate
from ._self_test import Canary, SelfTestReport
from ._verdict import Pending, tool_message

if TYPE_CHECKING:
    from google.adk.tools import BaseTool


def governed(gate: AsyncGate, tool: Any) -> BaseTool:
    """Returns a tool for `LlmAgent(tools=…)` that asks first; a denial becomes its result, for the model.

    Takes a function or a tool of the framework. With the approval mode `return`, a pending call requests the
    framework's confirmation with `approval_id` and `until` as payload; confirm once the approval is given.
    Raises `ValueError` for a tool that would run where nobody can ask: at the provider of the model, or after
    it returned.
    """
    from google.adk.tools import BaseTool, FunctionTool

    asked = tool if isinstance(tool, BaseTool) else FunctionTool(tool)
    gate.assert_tool(asked.name)
    is_function = isinstance(asked, FunctionTool)
    _check(asked, is_function and type(asked).run_async is not FunctionTool.run_async)
    made = copy.copy(asked)

    async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
        if not is_function:
            return await ask(args, lambda decided: asked.run_async(args=decided, tool_context=tool_context), tool_context)
        # The function of this one call, as the framework checks and converts the arguments before it.
        once = copy.copy(asked)

        @functools.wraps(asked.func)
        async def function(**given: Any) -> Any:
            hidden = {name: given[name] for name in asked._ignore_params if name in given}
            bound = inspect.signature(asked.func).bind(**given)
            bound.apply_defaults()
            shown = {name: value for name, value in bound.arguments.items() if name not in hidden}

            async def execute(decided: dict[str, Any]) -> Any:
                bound.arguments.update({**decided, **hidden})
                result = asked.func(*bound.args, **bound.kwargs)
                return await result if inspect.isawaitable(result) else result

            return await ask(shown, execute, tool_context)

        once.func = function
        return await once.run_async(args=args, tool_context=tool_context)

    async def ask(input: Any, execute: Any, context: Any) -> Any:
        confirmation = getattr(context, "tool_confirmation", None)
        if confirmation is not None and not confirmation.confirmed:
            return {"error": "Not executed: a person rejected this call."}
        done = await gate.run(asked.name, input, execute, call_id=context.function_call_id)
        if done.kind == "ran":
            return done.result
        if isinstance(done, Pending) and gate.does_return:
            payload = {"approval_id": done.approval_id, "until": done.until}
            context.request_confirmation(hint=done.message, payload=payload)
        return {"error": tool_message(done)}

    made.run_async = run_async
    return made


def _check(tool: Any, is_changed: bool) -> None:
    function = getattr(tool, "func", None)
    target = function if inspect.isroutine(function) else type(function).__call__
    problem = None
    if is_changed:
        problem = "it may run something else than its function; give the function itself"
    elif tool._get_declaration() is None:
        problem = "the provider of the model runs it"
    elif inspect.isasyncgenfunction(target) or inspect.isgeneratorfunction(target):
        problem = "a generator runs after it was called"
    elif function is None and getattr(tool, "_require_confirmation", False):
        problem = "it has require_confirmation; use an approval rule"
    if problem is not None:
        raise ValueError(f"the tool {tool.name!r} cannot be governed: {problem}")


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through `Runner` with a scripted model."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    call = types.FunctionCall(id=canary.call_id, name=canary.name, args={})
    turns = [types.Part(function_call=call), types.Part(text="done")]

    class ScriptedModel(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            yield LlmResponse(content=types.Content(role="model", parts=[turns.pop(0)]))

    def remit_selftest() -> str:
        """Does nothing. Call it once."""
        return canary.run()

    agent = LlmAgent(
        name="selftest", model=ScriptedModel(model="scripted"), tools=[governed(gate, remit_selftest)]
    )
    runner = InMemoryRunner(agent=agent, app_name="selftest")
    session = await runner.session_service.create_session(app_name="selftest", user_id="selftest")
    message = types.Content(role="user", parts=[types.Part(text="Call it.")])
    told = []
    async for event in runner.run_async(user_id="selftest", session_id=session.id, new_message=message):
        told += [json.dumps(response.response) for response in event.get_function_responses()]
    return " | ".join(told)
