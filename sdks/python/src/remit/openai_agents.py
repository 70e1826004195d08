"""OpenAI Agents SDK: function tools that ask before they run. Imports nothing of it until used."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from ._gate import AsyncGate
from ._verdict import tool_message

if TYPE_CHECKING:
    from agents import FunctionTool


def governed(gate: AsyncGate, tool: FunctionTool) -> FunctionTool:
    """Returns the tool such that it asks first; a denial becomes its result, for the model."""
    invoke = tool.on_invoke_tool

    async def asking(context: Any, arguments: str) -> Any:
        try:
            input = json.loads(arguments) if arguments else {}
        except ValueError:
            input = {"arguments": arguments}
        call_id = getattr(context, "tool_call_id", None)
        done = await gate.run(tool.name, input, lambda: invoke(context, arguments), call_id=call_id)
        return done.result if done.kind == "ran" else tool_message(done)

    return dataclasses.replace(tool, on_invoke_tool=asking)
