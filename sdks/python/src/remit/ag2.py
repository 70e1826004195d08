"""AG2 1.x: tools that ask before they run. Imports nothing of it until used."""

from __future__ import annotations

import copy
import functools
import inspect
from typing import TYPE_CHECKING, Any

from ._gate import AsyncGate
from ._self_test import Canary, SelfTestReport
from ._verdict import tool_message

if TYPE_CHECKING:
    from ag2.tools.final import FunctionTool


def governed(gate: AsyncGate, tool: Any) -> FunctionTool:
    """Returns a tool for `Agent(tools=…)` that asks first; a denial becomes its result, for the model.

    Takes a function or a `FunctionTool`. Raises `TypeError` for another tool, which runs elsewhere or has tools of its
    own, and `ValueError` for a generator and for a name that Remit does not take.

    Example: `Agent("payer", config=config, tools=[governed(gate, transfer)])`.
    """
    from ag2.tools.final import FunctionTool

    asked = FunctionTool.ensure_tool(tool)
    if type(asked) is not FunctionTool:
        raise TypeError(f"the tool {asked.name!r} is no FunctionTool; give the functions that it calls")
    gate.assert_tool(asked.name)
    if asked.model.is_generator:
        raise ValueError(f"the tool {asked.name!r} cannot be governed: a generator runs after it was called")

    # What the framework adds to the arguments. It takes them from the model where that gives them.
    hidden = frozenset((*asked.model.custom_fields, *asked.model.dependencies))

    # Without attributes: the framework copies tools with all that they have, and one gate must decide for all copies.
    class Governed(FunctionTool):
        async def __call__(self, event: Any, context: Any) -> Any:
            # The function of this one call, as the framework checks and converts the arguments before it.
            chosen = hidden.intersection(event.serialized_arguments)
            if chosen:
                raise ValueError(f"Not executed: a model must not choose {', '.join(sorted(chosen))}.")
            once = copy.copy(self)
            once.model = copy.copy(self.model)
            once.model.call = _asking(gate, self, hidden, event.id)
            return await FunctionTool.__call__(once, event, context)

    options = {"name": asked.name, "description": asked.schema.function.description}
    schema = asked.schema.function.parameters
    return Governed(asked.model, **options, schema=schema, middleware=asked._middleware)


def _asking(gate: AsyncGate, tool: FunctionTool, hidden: frozenset[str], call_id: str) -> Any:
    function = tool.model.call

    @functools.wraps(function)
    async def asking(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        shown = {name: value for name, value in bound.arguments.items() if name not in hidden}

        async def execute(decided: dict[str, Any]) -> Any:
            bound.arguments.update(decided)
            return await function(*bound.args, **bound.kwargs)

        done = await gate.run(tool.name, shown, execute, call_id=call_id)
        return done.result if done.kind == "ran" else tool_message(done)

    return asking


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through an `Agent` with the scripted model of the framework."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from ag2 import Agent, tool
    from ag2.events import ToolCallEvent, ToolResultEvent
    from ag2.testing import TestConfig

    async def run() -> str:
        return canary.run()

    made = governed(gate, tool(run, name=canary.name, description=canary.description))
    config = TestConfig(ToolCallEvent(canary.name, id=canary.call_id), "done")
    reply = await Agent("selftest", config=config, tools=[made]).ask("Call it.")
    events = await reply.history.get_events()
    parts = [part for event in events if isinstance(event, ToolResultEvent) for part in event.result.parts]
    return " | ".join(str(getattr(part, "content", part)) for part in parts)
