"""Claude Agent SDK: hooks that decide before every tool. Imports nothing of it until used."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ._claude_script import Turn, scripted_claude
from ._errors import RemitError
from ._gate import AsyncGate
from ._json import digest
from ._self_test import Canary, SelfTestReport
from ._settle import Outcome
from ._verdict import Allow, tool_message

_MAX_RUNNING = 1_000
_SECONDS = 300.0


@dataclass
class _Running:
    allow: Allow
    is_given: bool = False


def claude_agent(gate: AsyncGate) -> dict[str, Any]:
    """Returns options for `ClaudeAgentOptions`: `hooks` that decide before every tool, those of Claude Code too, and
    settle after it, and `can_use_tool`, which decides what another hook made of the input.

    A denied call is blocked, with the message for the model. What the gate allows, the permission rules of Claude Code
    decide as well. Needs a version with `on_failure` of hooks: without it, a hook that fails lets the tool run.

    Example: `ClaudeAgentOptions(**claude_agent(gate), mcp_servers=servers)`.
    """
    from claude_agent_sdk import HookMatcher, PermissionResultAllow, PermissionResultDeny

    # By the call and its input: with another input, it is another call.
    running: OrderedDict[str, _Running] = OrderedDict()

    async def admit(tool: str, input: Any, call_id: str) -> str | None:
        """None for an allow, else the message for the model."""
        verdict = await gate.admit(tool, input, call_id=call_id)
        if not isinstance(verdict, Allow):
            return tool_message(verdict)
        running[digest([call_id, tool, input])] = _Running(verdict)
        if len(running) > _MAX_RUNNING:
            running.popitem(last=False)
        return None

    async def before(input: Any, call_id: str | None, _: Any) -> Any:
        told = await admit(input["tool_name"], input["tool_input"], input["tool_use_id"])
        answer = {"permissionDecision": "deny", "permissionDecisionReason": told}
        # Silence lets the host's own permission rules decide as well.
        return {} if told is None else {"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}

    async def after(input: Any, *_: Any) -> Any:
        tool, call_id = input["tool_name"], input["tool_use_id"]
        outcome: Outcome = "success" if input["hook_event_name"] == "PostToolUse" else "failure"
        known = running.pop(digest([call_id, tool, input["tool_input"]]), None)
        if known is not None:
            await gate.settle(known.allow, outcome=outcome)
        else:
            with suppress(RemitError):
                await gate.report_gap(tool, call_id, outcome)
        return {}

    async def can_use_tool(tool: str, input: dict[str, Any], context: Any) -> Any:
        """The host asks twice about one call: its hook, then here. Another hook may change the input in between."""
        known = running.get(digest([context.tool_use_id, tool, input]))
        if known is not None and not known.is_given:
            known.is_given = True
            return PermissionResultAllow()
        told = await admit(tool, input, context.tool_use_id)
        return PermissionResultAllow() if told is None else PermissionResultDeny(message=told)

    blocking = HookMatcher(hooks=[before], timeout=_SECONDS, on_failure="block")
    reporting = [HookMatcher(hooks=[after])]
    hooks = {"PreToolUse": [blocking], "PostToolUse": reporting, "PostToolUseFailure": reporting}
    return {"can_use_tool": can_use_tool, "hooks": hooks}


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through Claude Code itself, with a scripted model and no settings of the user."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool

    async def run(_: Any) -> Any:
        return {"content": [{"type": "text", "text": canary.run()}]}

    made: Any = tool(canary.name, canary.description, {"type": "object", "properties": {}})(run)
    servers = {"selftest": create_sdk_mcp_server("selftest", tools=[made])}
    turns: list[Turn] = [[(f"mcp__selftest__{canary.name}", {}, canary.call_id)]]
    with tempfile.TemporaryDirectory() as folder, scripted_claude(turns, folder) as (env, told):
        options = ClaudeAgentOptions(
            **claude_agent(gate), mcp_servers=servers, env=env, cwd=folder, setting_sources=[], strict_mcp_config=True
        )
        async with ClaudeSDKClient(options) as client:
            await client.query("Call it.")
            async for _ in client.receive_response():
                pass
    return " | ".join(told)
