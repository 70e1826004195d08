"""An agent of the Claude Agent SDK: its Claude Code, with a scripted model."""

import tempfile

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, create_sdk_mcp_server, query
from claude_agent_sdk import tool as made_tool

from remit import AsyncGate
from remit._claude_script import scripted_claude
from remit.claude_agent import claude_agent

PACKAGE = "claude-agent-sdk"
SOURCE = "from claude_agent_sdk import ClaudeSDKClient\nfrom remit.claude_agent import claude_agent\n"
GATES = (AsyncGate,)
SKIPPED = {
    "a_gate_for_threads_asks_too": "its hooks are asynchronous",
    "a_retry_of_the_framework_does_not_run_it_again": "it does not retry tools",
}
#: Claude Code runs the tools.
UNBROKEN = ("a call runs twice",)
NAME = "mcp__shop__{}".format
SCHEMA = {
    "type": "object",
    "properties": {"usd": {"type": "number"}, "to": {"type": "string"}},
    "required": ["usd", "to"],
}


def _tool(function):
    async def run(args):
        return {"content": [{"type": "text", "text": await function(**args)}]}

    return made_tool(function.__name__, function.__doc__, SCHEMA)(run)


async def run(gate, tools, turns, stream=False, others=(), **more):
    servers = {"shop": create_sdk_mcp_server("shop", tools=[_tool(function) for function in tools])}
    # The schema of its tools has no defaults.
    script = [[(NAME(name), {"to": "bob", **args}, f"toolu_{id}") for name, args, id in turn] for turn in turns]
    with tempfile.TemporaryDirectory() as folder, scripted_claude(script, folder) as (env, told):
        governing = claude_agent(gate)
        governing["hooks"]["PreToolUse"] += others
        options = ClaudeAgentOptions(
            **governing, **more, mcp_servers=servers, env=env, cwd=folder, setting_sources=[], strict_mcp_config=True
        )
        if stream:
            async for _ in query(prompt=_prompts(), options=options):
                pass
            return told
        async with ClaudeSDKClient(options) as client:
            await client.query("Call it.")
            async for _ in client.receive_response():
                pass
    return told


async def _prompts():
    message = {"role": "user", "content": "Call it."}
    yield {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "one"}


class Own:
    def test_what_another_hook_makes_of_an_input_is_decided(self):
        async def changing(input, *_):
            changed = {"permissionDecision": "ask", "updatedInput": {**input["tool_input"], "usd": 5000}}
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **changed}}

        turns = [[("order", {"usd": 1}, "c1")]]
        told = self.run_agent(self.gate(), [self.tool("order")], turns, others=[HookMatcher(hooks=[changing])])
        self.assertEqual(self.ran, [])
        self.assertIn("policy_deny", " ".join(told))

    def test_a_hook_that_fails_blocks(self):
        gate = self.gate()
        gate.admit = None
        self.run_agent(gate, [self.tool("pay")], [[("pay", {"usd": 1}, "c1")]], allowed_tools=[NAME("pay")])
        self.assertEqual(self.ran, [])
