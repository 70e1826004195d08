"""CrewAI: tools that ask before they run. Imports nothing of it until used."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from ._gate import Gate
from ._repeats import repeat_of
from ._self_test import Canary, SelfTestReport
from ._verdict import tool_message

if TYPE_CHECKING:
    from crewai.tools import BaseTool


def governed(gate: Gate, tool: BaseTool) -> BaseTool:
    """Returns a tool for `Agent(tools=…)` or `Task(tools=…)` that asks first; a denial becomes its result.

    An error of the tool becomes its result too: the framework would run a tool that raises up to six times.
    Raises `TypeError` for what is no tool of CrewAI.
    """
    from crewai.tools import BaseTool
    from crewai.tools.base_tool import Tool

    if not isinstance(tool, BaseTool):
        raise TypeError("tool: a tool of CrewAI is needed, such as a function with the decorator tool")
    gate.assert_tool(tool.name)
    base = Tool if isinstance(tool, Tool) else BaseTool
    changed = [name for name in ("run", "arun") if getattr(type(tool), name, None) is not getattr(base, name, None)]
    if changed:
        raise ValueError(f"the tool {tool.name!r} cannot be governed: its class has an own {changed[0]}")

    def asking(**input: Any) -> Any:
        with repeat_of(gate, tool.name, input) as repeat:

            def execute(decided: dict[str, Any]) -> Any:
                repeat.is_spent = True
                result = tool._run(**decided)
                return asyncio.run(result) if inspect.iscoroutine(result) else result

            try:
                done = gate.run(tool.name, input, execute, call_id=repeat.call_id)
            except Exception as error:
                return _failure(f"Error executing tool: {error}", "exception")
            repeat.ended(done)
        return done.result if done.kind == "ran" else _failure(tool_message(done), "tool_reported")

    class Governed(Tool):
        async def _arun(self, **input: Any) -> Any:
            return await asyncio.to_thread(asking, **input)

    return Governed(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        func=asking,
        result_as_answer=tool.result_as_answer,
        max_usage_count=tool.max_usage_count,
        # A denial is no result to keep, and a kept result would answer a call that nobody decided.
        cache_function=_never,
    )


def _never(*_: Any) -> bool:
    return False


def _failure(message: str, reason: str) -> Any:
    """The result of a tool that failed: a text before CrewAI had one."""
    try:
        from crewai.tools.tool_failure import ToolFailure
    except ImportError:
        return message
    return ToolFailure(message=message, reason=reason)


def self_test(gate: Gate) -> SelfTestReport:
    """Drives the canary through a `Crew` with a scripted model."""
    return gate.self_test(_drive)


def _drive(gate: Gate, canary: Canary) -> str:
    from crewai import Agent, Crew, Task
    from crewai.llms.base_llm import BaseLLM
    from crewai.tools import tool

    call = {"id": canary.call_id, "type": "function", "function": {"name": canary.name, "arguments": "{}"}}
    told: list[str] = []

    class ScriptedModel(BaseLLM):
        def supports_function_calling(self) -> bool:
            return True

        def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            told[:] = [str(message.get("content")) for message in messages if message.get("role") == "tool"]
            return "done" if told else [call]

    def run() -> str:
        """Does nothing. Call it once."""
        return canary.run()

    model = ScriptedModel(model="scripted")
    agent = Agent(role="selftest", goal="none", backstory="none", llm=model, tools=[governed(gate, tool(canary.name)(run))])
    task = Task(description="Call it.", expected_output="none", agent=agent)
    Crew(agents=[agent], tasks=[task], tracing=False).kickoff()
    return " | ".join(told)
