"""The adapters' hooks in stand-ins for the loops of their frameworks, against a running server: REMIT_URL,
REMIT_KEY. Run by the repository's tests. The frameworks themselves are tested in live.py, where installed."""

import asyncio
import dataclasses
import json
import os
import sys
import types
import unittest
from typing import Any
from unittest import mock

from remit import AsyncGate, Client, Gate
from remit.langchain import remit_middleware
from remit.openai_agents import governed

CLIENT = Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"])


class Interrupted(Exception):
    """As LangGraph ends a node until it is resumed."""


class Graph:
    """Runs a node again from its start after an interrupt, as LangGraph does."""

    def __init__(self):
        self.is_resumed = False

    def interrupt(self, value):
        if not self.is_resumed:
            raise Interrupted(value)

    def modules(self):
        parts = {
            "langchain.agents.middleware": {"AgentMiddleware": object},
            "langchain_core.messages": {"ToolMessage": ToolMessage},
            "langgraph.types": {"interrupt": self.interrupt},
        }
        made = {name: types.ModuleType(name) for name in parts}
        for name, members in parts.items():
            vars(made[name]).update(members)
            while "." in name:
                name = name.rpartition(".")[0]
                made.setdefault(name, types.ModuleType(name))
        return mock.patch.dict(sys.modules, made)

    async def drive(self, gate, canary):
        call = {"name": canary.name, "args": {}, "id": canary.call_id}
        tool = types.SimpleNamespace(invoke=canary.run, ainvoke=canary.run)
        request = Request(call, tool)

        def run(decided):
            return ToolMessage(decided.tool.invoke(), call["name"], call["id"], "success")

        async def run_later(decided):
            return run(decided)

        with self.modules():
            middleware = remit_middleware(gate)
            for self.is_resumed in (False, True):
                try:
                    if isinstance(gate, AsyncGate):
                        return (await middleware.awrap_tool_call(request, run_later)).content
                    return middleware.wrap_tool_call(request, run).content
                except Interrupted:
                    continue
        raise AssertionError("the node was interrupted after it was resumed")


@dataclasses.dataclass
class Request:
    """A request of LangGraph."""

    tool_call: dict[str, Any]
    tool: Any

    def override(self, **changed):
        return dataclasses.replace(self, **changed)


@dataclasses.dataclass
class ToolMessage:
    content: str
    name: str
    tool_call_id: str
    status: str


@dataclasses.dataclass
class FunctionTool:
    """The members of the SDK's own that an adapter sees."""

    name: str
    on_invoke_tool: Any
    params_json_schema: Any = None


def agents():
    """The functions of the SDK about errors, for a tool that lets them pass."""

    async def told(**_):
        return None

    tool = types.ModuleType("agents.tool")
    tool.maybe_invoke_function_tool_failure_error_function = told
    tool.set_function_tool_failure_error_function = lambda function_tool, _: function_tool
    package = types.ModuleType("agents")
    return mock.patch.dict(sys.modules, {"agents": package, "agents.tool": tool})


class Adapters(unittest.TestCase):
    def assert_enforced(self, report):
        self.assertEqual([result for result in report.results if not result.passed], [])
        self.assertEqual(len(report.results), 5)

    def test_a_deny_blocks_in_the_middleware_for_langchain(self):
        gate = Gate(CLIENT, agent_id="py-langchain")
        self.assert_enforced(gate.self_test(lambda *call: asyncio.run(Graph().drive(*call))))

    def test_a_deny_blocks_in_the_asynchronous_middleware_for_langchain(self):
        gate = AsyncGate(CLIENT, agent_id="py-langchain-async")
        self.assert_enforced(asyncio.run(gate.self_test(lambda *call: Graph().drive(*call))))

    def test_a_deny_blocks_in_a_governed_tool_of_openai_agents(self):
        async def drive(gate, canary):
            async def invoke(context, arguments):
                return f"{canary.run()} with {json.loads(arguments)}"

            with agents():
                tool = governed(gate, FunctionTool(canary.name, invoke))
            context = types.SimpleNamespace(tool_call_id=canary.call_id)
            return await tool.on_invoke_tool(context, "{}")

        gate = AsyncGate(CLIENT, agent_id="py-openai-agents")
        self.assert_enforced(asyncio.run(gate.self_test(drive)))


if __name__ == "__main__":
    unittest.main()
