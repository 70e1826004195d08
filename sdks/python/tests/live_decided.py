"""What is decided is what runs, against a running server: REMIT_URL, REMIT_KEY. Run by the repository's tests."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import importlib.util
import json
import os
import pathlib
import unittest
import uuid

from frameworks import run_ag2, run_langchain, scripted

from remit import AsyncGate, Client, Gate, NotExecuted, RemitDenied

CLIENT = Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"])
MAP = {
    "pay": {"amount": "/usd"},
    "held.pay": {"amount": "/usd", "omit": ["/iban"]},
}


def installed(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"{name} is not installed")


@dataclasses.dataclass
class Order:
    usd: float


class Changing:
    """A client during whose questions something happens."""

    def __init__(self, change):
        self.change = change

    def __enter__(self):
        client = Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"])
        asked = client.request

        def request(*args, **kwargs):
            self.change()
            return asked(*args, **kwargs)

        client.request = request
        return client

    def __exit__(self, *_):
        pass


class Decided(unittest.TestCase):
    def setUp(self):
        self.agent = f"py-{uuid.uuid4()}"
        CLIENT.request("POST", f"/v1/spend-limits/{self.agent}", body={"daily_usd": 1000})
        self.warnings = []
        self.options = {"agent_id": self.agent, "map": MAP, "on_warning": self.warnings.append}
        self.gate = Gate(CLIENT, **self.options)

    def day(self):
        spent = CLIENT.request("GET", f"/v1/spend-limits/{self.agent}").data["spent"]["day"]
        return spent["usd"], spent["held_usd"]

    def outcomes(self):
        path = f"/v1/ledger?agent_id={self.agent}&kind=entry.appended"
        return [entry["data"]["outcome"] for entry in CLIENT.request("GET", path).data["data"]]

    def test_an_input_that_changes_while_it_is_decided_does_not_run(self):
        ran, input, order = [], {"usd": 1, "lines": [{"usd": 1}]}, Order(1)

        def change():
            input["usd"] = order.usd = 5000
            input["lines"].append(5000)

        with Changing(change) as client:
            gate = Gate(client, **self.options)
            gate.wrap("order", ran.append)(input)
            gate.run("order", {"usd": 1, "order": Order(1)}, lambda decided: ran.append(decided))

            @gate.tool(name="order")
            def place(usd, order, lines=()):
                ran.append((usd, order, lines))

            order.usd = 1
            place(1, order)
            input["usd"] = 1
            denied = gate.run("order", input, lambda: ran.append(input))
            input["usd"] = 1
            kept = gate.run("order", input, lambda input=input: ran.append(input))
        self.assertEqual(denied.reason, "input_changed")
        self.assertEqual(kept.reason, "input_changed")
        one, two, three = ran
        self.assertEqual(one, {"usd": 1, "lines": [{"usd": 1}]})
        self.assertEqual(two, {"usd": 1, "order": Order(1)})
        self.assertEqual(three, (1, Order(1), ()))

    def test_a_default_argument_is_decided(self):
        ran = []

        @self.gate.tool(name="order")
        def order(usd=5000):
            ran.append(usd)

        with self.assertRaises(RemitDenied):
            order()
        order(5)
        self.assertEqual(ran, [5])

    def test_an_input_of_which_rules_would_see_a_part_is_denied(self):
        class Hidden:
            usd = 5000

        class Listed(Hidden):
            def __init__(self):
                self.__dict__["usd"] = 5000

        extra = Order(1)
        extra.fee = 5000
        for input in (Hidden(), Listed(), extra, {"a": [Hidden()]}, {1: 5000}, object, iter([1])):
            verdict = self.gate.check("order", input)
            self.assertEqual((verdict.kind, verdict.reason), ("deny", "unmappable"), input)

        class Text(str):
            def __str__(self):
                return "bob"

        class Usd(float):
            def __float__(self):
                return 1.0

        for input in ({"to": Text("mallory")}, {"usd": Usd(5000)}):
            self.assertEqual(self.gate.check("order", input).reason, "policy_deny")

    def test_a_value_is_decided_as_it_is_and_not_as_its_type_describes_it(self):
        class Usd(decimal.Decimal):
            def __str__(self):
                return "1"

        class Day(datetime.date):
            def isoformat(self):
                return "2000-01-01"

        class File(pathlib.PurePosixPath):
            def __str__(self):
                return "/srv/ok"

        class Id(uuid.UUID):
            def __str__(self):
                return "ok"

        class Rate(int, enum.Enum):
            def __new__(cls, value):
                made = int.__new__(cls, 5000)
                made._value_ = value
                return made

            LOW = 1

        one = "00000000-0000-0000-0000-000000000001"
        for value, seen in (
            (Usd("5000"), "5000"),
            (Day(2026, 1, 2), "2026-01-02"),
            (datetime.datetime(2026, 1, 2, 3), "2026-01-02T03:00:00"),
            (File("/etc/passwd"), "/etc/passwd"),
            (Id(one), one),
            (Rate.LOW, 5000),
        ):
            with self.subTest(seen):
                self.assertEqual(self.gate.check("seen", {"value": value}).kind, "allow")
                path = f"/v1/ledger?agent_id={self.agent}&kind=authorization.decided&limit=1"
                data = CLIENT.request("GET", path).data["data"][0]["data"]
                self.assertEqual(data["context"]["args"], {"value": seen})

    def test_what_a_subclass_or_an_enum_hides_is_denied(self):
        @dataclasses.dataclass(slots=True)
        class Line:
            usd: float

        class Hiding(Line):
            __slots__ = ("fee",)

        class Kinds(enum.Enum):
            ANY = [1]

        hiding = Hiding(1)
        self.assertEqual(self.gate.check("order", {"line": Line(1)}).kind, "allow")
        hiding.fee = 5000
        for input in ({"line": hiding}, {"kind": Kinds.ANY}):
            self.assertEqual(self.gate.check("order", input).reason, "unmappable")

    def test_nothing_runs_after_its_outcome_was_reported(self):
        ran = []

        async def later(usd=1):
            ran.append(usd)
            return "paid"

        def generated(usd=1):
            yield ran.append(usd)

        async def generated_later(usd=1):
            yield ran.append(usd)

        def named(call_id):
            ran.append(call_id)

        gate, later_gate = self.gate, AsyncGate(CLIENT, **self.options)
        for by, function in (
            (gate, later),
            (gate, generated),
            (gate, generated_later),
            (later_gate, generated),
            (later_gate, generated_later),
            (gate, named),
            (later_gate, named),
        ):
            with self.assertRaises(ValueError):
                by.tool(function, name="pay")
            if function is not named:
                with self.assertRaises(ValueError):
                    by.wrap("pay", function)
        with self.assertRaises(NotExecuted):
            gate.run("pay", {"usd": 40}, lambda input: later(input["usd"]))
        self.assertEqual((ran, self.outcomes(), self.day()), ([], ["failure"], (0, 0)))

        # A function that is no coroutine has run when it returns.
        tool = later_gate.wrap("pay", lambda input: ran.append(input["usd"]) or "paid")
        self.assertEqual(asyncio.run(tool({"usd": 2})), "paid")
        self.assertEqual((ran, self.outcomes(), self.day()), ([2], ["success", "failure"], (2, 0)))

    @installed("pydantic")
    def test_a_model_of_pydantic_is_decided_with_all_members(self):
        import pydantic

        class Inner(pydantic.BaseModel):
            usd: float = pydantic.Field(1, exclude=True)

        class Model(pydantic.BaseModel):
            model_config = {"extra": "allow"}
            usd: float = pydantic.Field(1, exclude=True)
            inner: Inner | None = None

            def model_dump(self, **_):
                return {"usd": 1}

        class Secret(pydantic.BaseModel):
            key: pydantic.SecretStr

        class Private(pydantic.BaseModel):
            _usd: float = pydantic.PrivateAttr(5000)

        ran = []
        tool = self.gate.wrap("order", ran.append, on_deny="return")
        self.assertEqual(tool(Model(usd=5000)).reason, "policy_deny")
        for hidden in (Secret(key="x"), Private()):
            self.assertEqual(tool(hidden).reason, "unmappable")
        model = Model(usd=5, more=[1], inner=Inner(usd=2))
        tool(model)
        self.assertEqual(ran, [model])
        self.assertIsNot(ran[0].inner, model.inner)
        self.assertIsNot(ran[0].more, model.more)

    def test_an_approval_does_not_pay_somebody_else_by_an_omitted_member(self):
        returning = {"mode": "return"}
        gate = Gate(CLIENT, **self.options, approval=returning)

        def ask(by, **more):
            return by.check("held.pay", {"usd": 5, **more}, call_id="c")

        first = ask(gate, iban="GOOD")
        vote = {"decision": "approve", "approver": "ada@example.org"}
        CLIENT.request("POST", f"/v1/approvals/{first.approval_id}/decide", body=vote)
        for other in ({"iban": "EVIL"}, {}, {"iban": None}):
            self.assertEqual(ask(gate, **other).kind, "pending")
        rotated = gate.restarted(omit_key="another-secret-of-thirty-two-chars")
        self.assertEqual(ask(rotated, iban="GOOD").kind, "pending")
        self.assertEqual(ask(gate.restarted(), iban="GOOD").kind, "allow")

    def test_a_cost_of_any_type_settles_the_amount_held_with_a_warning(self):
        class Textless:
            def __str__(self):
                raise ValueError("no text")

            __repr__ = __str__

        for cost in ("x", "", "5", True, float("nan"), -1, 1e10, 5j, Textless(), lambda: 5):
            self.warnings.clear()
            done = self.gate.run("pay", {"usd": 1}, lambda: "paid", cost_of=lambda _, cost=cost: cost)
            self.assertEqual(done.kind, "ran")
            self.assertEqual(len(self.warnings), 1, cost)
            self.gate = self.gate.restarted()
        self.gate.run("pay", {"usd": 1}, lambda: "paid", cost_of=lambda _: decimal.Decimal("0.5"))
        self.assertEqual(self.day(), (10.5, 0))

    def test_settle_never_raises(self):
        for verdict in (self.gate.check("denied.tool"), self.gate.restarted(approval={"mode": "return"}).check("held.x")):
            self.assertEqual(self.gate.settle(verdict).settled, False)

    def test_admits_a_call_once_and_returns_verdicts(self):
        admitted = self.gate.admit("pay", {"usd": 1}, call_id="c")
        self.assertEqual(admitted.kind, "allow")
        self.assertEqual(self.gate.admit("pay", {"usd": 1}, call_id="c").reason, "already_decided")
        denied = self.gate.wrap("denied.tool", lambda _: "ran", on_deny="return")
        self.assertEqual(denied({}).kind, "deny")

        @self.gate.tool(name="denied.tool", on_deny="return")
        def tool():
            return "ran"

        self.assertEqual(tool().kind, "deny")

        async def asynchronous():
            gate = AsyncGate(CLIENT, **self.options)

            async def pay(input):
                return input["usd"]

            self.assertEqual(await gate.wrap("pay", pay)({"usd": 2}), 2)
            self.assertEqual((await gate.admit("denied.tool")).kind, "deny")

        asyncio.run(asynchronous())

    def test_refuses_options_and_names_with_a_mistake(self):
        for options, told in (
            ({"approval": {"mode": "wait", "max_ms": 8000}}, "max_ms"),
            ({"approval": {"mode": "return", "max_seconds": 8}}, "max_seconds"),
            ({"approval": {"mode": "ask"}}, "mode"),
            ({"approval": {"mode": "wait", "max_seconds": "8"}}, "max_seconds"),
            ({"map": {"pay": {"ommit": []}}}, "ommit"),
            ({"map": {"pay": {"omit": ["iban"]}}}, "iban"),
            ({"omit_key": "short"}, "omit_key"),
        ):
            with self.assertRaisesRegex(ValueError, told):
                Gate(CLIENT, **options)
        for name in ("pay ", "pay\u200b", "pay.*", "e\u0301", "x" * 257):
            with self.assertRaises(ValueError):
                self.gate.wrap(name, lambda _: "ran")
            with self.assertRaises(ValueError):
                self.gate.tool(lambda: "ran", name=name)
            self.assertEqual(self.gate.check(name).reason, "unmappable")

    @installed("agents")
    def test_a_tool_of_openai_agents_ends_as_it_ended(self):
        from agents import Agent, FunctionTool, RunConfig, Runner, function_tool

        from remit.openai_agents import governed

        def failing(error):
            @function_tool(name_override="pay")
            def pay(usd: float) -> str:
                raise error

            return pay

        async def raising(context, arguments):
            raise NotExecuted("no funds")

        schema = {"type": "object", "properties": {"usd": {"type": "number"}}, "additionalProperties": False}
        own = FunctionTool("pay", "Pays.", schema, raising)

        def run(tool):
            gate = AsyncGate(CLIENT, **self.options)
            agent = Agent(name="a", model=scripted("pay", {"usd": 40}), tools=[governed(gate, tool)])
            config = RunConfig(tracing_disabled=True)
            result = asyncio.run(Runner.run(agent, "Pay.", run_config=config))
            return json.dumps(result.to_input_list(), default=str)

        self.assertIn("error occurred", run(failing(ValueError("the line broke"))))
        self.assertEqual((self.outcomes(), self.day()), (["failure"], (0, 40)))
        self.assertIn("error occurred", run(failing(NotExecuted("no funds"))))
        self.assertEqual((self.outcomes(), self.day()), (["failure"] * 2, (0, 40)))
        try:
            run(own)
        except NotExecuted:
            pass  # As the framework has it.
        self.assertEqual((self.outcomes(), self.day()), (["failure"] * 3, (0, 40)))

    @installed("agents")
    def test_a_tool_of_openai_agents_is_decided_with_defaults_and_refuses_what_it_would_convert(self):
        from typing import Optional

        from agents import Agent, RunConfig, Runner, function_tool
        from pydantic import BaseModel

        from remit.openai_agents import governed

        class Part(BaseModel):
            size: int = 3
            inner: Optional["Part"] = None

        ran = []

        def run(is_strict, args):
            @function_tool(name_override="order", strict_mode=is_strict)
            def order(
                to: str, usd: float = 5000, force: bool = False, note: str | None = None, part: Part = Part()
            ) -> str:
                ran.append((to, usd, force, note, part.size, part.inner and part.inner.size))
                return "paid"

            gate = AsyncGate(CLIENT, agent_id=self.agent)
            agent = Agent(name="a", model=scripted("order", args), tools=[governed(gate, order)])
            asyncio.run(Runner.run(agent, "Order.", run_config=RunConfig(tracing_disabled=True)))

        for is_strict in (True, False):
            ran.clear()
            for more in (
                {},
                {"usd": "7"},
                {"usd": 1, "force": "yes"},
                {"usd": 1, "force": 1},
                {"usd": 1, "note": 5},
                {"usd": 1, "part": {"inner": {"size": "5"}}},
            ):
                run(is_strict, {"to": "bob", **more})
            run(is_strict, {"usd": 1})
            self.assertEqual(ran, [])
            run(is_strict, {"to": "bob", "usd": 7, "part": {"inner": {"size": 5}}})
            run(is_strict, {"to": "bob", "usd": 7})
            self.assertEqual(ran, [("bob", 7.0, False, None, 3, 5), ("bob", 7.0, False, None, 3, None)])

    @installed("agents")
    def test_a_tool_of_openai_agents_has_one_name_for_each_argument(self):
        from agents import Agent, RunConfig, Runner, function_tool
        from pydantic import BaseModel, ConfigDict, Field

        from remit.openai_agents import governed

        class Payee(BaseModel):
            model_config = ConfigDict(populate_by_name=True)
            account: str = Field("none", alias="iban")
            usd: float = 5000

        ran = []

        def run(args):
            @function_tool(name_override="order", strict_mode=False)
            def order(to: Payee, more: dict[str, Payee] = {}, pair: tuple[int, Payee] = (1, Payee(usd=1))) -> str:
                ran.append((to.account, more, pair[1].usd))
                return "paid"

            gate = AsyncGate(CLIENT, agent_id=self.agent)
            agent = Agent(name="a", model=scripted("order", args), tools=[governed(gate, order)])
            asyncio.run(Runner.run(agent, "Order.", run_config=RunConfig(tracing_disabled=True)))
            path = f"/v1/ledger?agent_id={self.agent}&kind=authorization.decided&limit=1"
            return CLIENT.request("GET", path).data["data"]

        good = {"iban": "GOOD", "usd": 1}
        # The tool takes the account by its own name too, which the schema does not have.
        self.assertEqual(run({"to": {**good, "account": "EVIL"}}), [])
        self.assertEqual(run({"to": {"account": "EVIL", "usd": 1}}), [])
        self.assertEqual(run({"to": good, "More": {}}), [])
        self.assertEqual(ran, [])
        (entry,) = run({"to": good, "more": {"b": {"iban": "B"}}, "pair": [1, {"iban": "C"}]})
        args = entry["data"]["context"]["args"]
        self.assertEqual((args["more"]["b"]["usd"], args["pair"][1]["usd"]), (5000, 5000))

    @installed("langchain")
    def test_a_tool_of_langchain_runs_with_what_its_schema_made_and_ends_as_it_ended(self):
        from typing import Annotated

        from langchain_core.tools import StructuredTool
        from pydantic import BaseModel, StringConstraints

        from remit.langchain import remit_middleware

        class Input(BaseModel):
            to: Annotated[str, StringConstraints(strip_whitespace=True)]
            usd: float = 5000

        ran = []

        def order(to: str, usd: float) -> str:
            ran.append((to, usd))
            if usd == 6:
                raise NotExecuted("no funds")
            return "paid"

        tool = StructuredTool.from_function(order, name="order", description="Orders.", args_schema=Input)
        gate = Gate(CLIENT, **{**self.options, "map": {"order": {"amount": "/usd"}}})
        for args in ({"to": "bob"}, {"to": " mallory ", "usd": 1}, {"to": "bob", "usd": "5000"}):
            run_langchain([remit_middleware(gate)], [tool], args)
        self.assertEqual(ran, [])
        run_langchain([remit_middleware(gate)], [tool], {"to": " bob ", "usd": "7"})
        self.assertEqual(ran, [("bob", 7.0)])
        with self.assertRaises(NotExecuted):
            run_langchain([remit_middleware(gate)], [tool], {"to": "bob", "usd": 6})
        self.assertEqual(self.day(), (7, 0))

    @installed("langchain")
    def test_a_tool_of_langchain_that_takes_more_than_the_model_gives_runs_with_what_was_decided(self):
        from typing import Annotated, Any

        from langchain.agents import AgentState
        from langchain_core.tools import InjectedToolCallId, tool
        from langgraph.prebuilt import InjectedState
        from pydantic import BaseModel, field_validator

        from remit.langchain import remit_middleware

        class State(AgentState):
            user: str

        class Input(BaseModel):
            to: str
            user: Annotated[str, InjectedState("user")]
            call: Annotated[str, InjectedToolCallId]
            all: Annotated[Any, InjectedState]
            usd: float = 5000
            force: bool = False

            @field_validator("to", mode="before")
            @classmethod
            def clean(cls, text: Any) -> Any:
                return text.strip().lower()

        ran = []

        @tool("order", args_schema=Input)
        def order(to, user, call, all, usd, force):
            """Orders."""
            ran.append((to, user, call != "mine", len(all["messages"]), usd, force))
            return "paid"

        def run(args):
            gate = Gate(CLIENT, agent_id=self.agent)
            run_langchain([remit_middleware(gate)], [order], args, State, user="ada")

        for args in ({}, {"usd": "5000"}, {"to": " MALLORY ", "usd": 1}, {"usd": 1, "force": "yes"}):
            run({"to": "bob", **args})
        self.assertEqual(ran, [])
        run({"to": "Bob", "usd": "7", "user": "root", "call": "mine", "all": {"messages": []}})
        self.assertEqual(ran, [("bob", "ada", True, 2, 7.0, False)])

    @installed("langchain")
    def test_a_tool_of_langchain_runs_once_with_what_was_decided_whatever_a_later_middleware_does(self):
        from langchain.agents.middleware import ToolRetryMiddleware, wrap_tool_call
        from langchain_core.tools import tool

        from remit.langchain import remit_middleware

        ran = []

        @tool("order")
        def order(usd: float = 5000) -> str:
            """Orders."""
            ran.append(usd)
            raise ValueError("the line broke")

        @wrap_tool_call
        def giving(request, handler):
            return handler(request.override(tool=order))

        @wrap_tool_call
        def changing(request, handler):
            return handler(request.override(tool_call={**request.tool_call, "args": {"usd": 5000}}))

        def run(args, tools, *others):
            middleware = [remit_middleware(Gate(CLIENT, agent_id=self.agent)), *others]
            try:
                return str(run_langchain(middleware, tools, args))
            except (ValueError, RemitDenied):
                return ""

        repeating = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
        run({"usd": 1}, [order], repeating)
        self.assertEqual(ran, [1])
        run({"usd": 2}, [order], changing)
        self.assertEqual(ran, [1, 2])
        self.assertIn("must come before remit_middleware", run({}, [], giving))
        self.assertEqual(ran, [1, 2])

    @installed("ag2")
    def test_a_model_does_not_choose_what_ag2_adds_to_its_arguments(self):
        from ag2 import Depends, Inject

        ran = []

        def order(usd: float = 5000, bank: str = Inject(default="own"), user: str = Depends(lambda: "ada")) -> None:
            ran.append((usd, bank, user))

        gate = AsyncGate(CLIENT, agent_id=self.agent)
        for args in ({"usd": "7"}, {}, {"usd": 7, "bank": "mine"}, {"usd": 7, "user": "root"}):
            run_ag2(gate, order, args)
        self.assertEqual(ran, [(7.0, "own", "ada")])


if __name__ == "__main__":
    unittest.main()
