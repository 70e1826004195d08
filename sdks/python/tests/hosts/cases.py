"""What every adapter must hold, in a real agent of its framework, against a running server: REMIT_URL, REMIT_KEY.
REMIT_HOST names the driver. Prints the result of each case as one line of JSON, and that of cases while the gate is broken. Run by the repository's tests."""

import asyncio
import importlib
import inspect
import io
import json
import os
import platform
import sys
import tempfile
import threading
import time
import unittest
import uuid
from importlib import metadata
from unittest import mock

from remit import AsyncGate, Client, Gate
from remit._core import Core, Ran
from remit._doctor import main as doctor
from remit._settle import Settlement
from remit._verdict import Allow

HOST = importlib.import_module(f"host_{os.environ['REMIT_HOST']}")
CLIENT = Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"])
MAP = {"pay": {"amount": "/usd"}, "held_pay": {"amount": "/usd"}}
if hasattr(HOST, "NAME"):
    # The framework gives its tools another name.
    MAP = {HOST.NAME(tool): {"action": tool, **MAP.get(tool, {})} for tool in ("pay", "held_pay", "denied_pay", "order")}
IS_ASYNC = AsyncGate in HOST.GATES


class Cases(*filter(None, [getattr(HOST, "Own", None)]), unittest.TestCase):
    def setUp(self):
        self.agent = f"py-{uuid.uuid4()}"
        CLIENT.request("POST", f"/v1/spend-limits/{self.agent}", body={"daily_usd": 1000})
        self.ran = []

    def gate(self, client=CLIENT, kind=None, **options):
        make = kind or (AsyncGate if IS_ASYNC else Gate)
        options = {"map": MAP, "on_warning": lambda _: None, "approval": {"mode": "wait", "max_seconds": 60}, **options}
        return make(client, agent_id=self.agent, **options)

    def tool(self, name, error=None, is_async=IS_ASYNC):
        def body(usd, to):
            self.ran.append({"usd": usd, "to": to})
            if error is not None:
                raise error
            return f"paid {usd} to {to}"

        if is_async:

            async def call(usd: float, to: str = "bob") -> str:
                """Pays an amount."""
                return body(usd, to)
        else:

            def call(usd: float, to: str = "bob") -> str:
                """Pays an amount."""
                return body(usd, to)

        call.__name__ = call.__qualname__ = name
        return call

    def run_agent(self, gate, tools, turns, **options):
        """The texts that the model received. `turns` has the calls of each turn of the model, in parallel."""
        made = HOST.run(gate, tools, turns, **options)
        return asyncio.run(made) if inspect.isawaitable(made) else made

    def entries(self, kind):
        return CLIENT.request("GET", f"/v1/ledger?agent_id={self.agent}&kind={kind}").data["data"]

    def spent(self):
        day = CLIENT.request("GET", f"/v1/spend-limits/{self.agent}").data["spent"]["day"]
        return day["usd"], day["held_usd"]

    def vote(self, before):
        """Approves what the agent waits for; `before` receives what ran until then."""
        for _ in range(600):
            path = f"/v1/approvals?agent_id={self.agent}&status=pending"
            for one in CLIENT.request("GET", path).data["data"]:
                before.extend(self.ran)
                decision = {"decision": "approve", "approver": "ada@example.org"}
                CLIENT.request("POST", f"/v1/approvals/{one['id']}/decide", body=decision)
                return
            time.sleep(0.1)

    def test_a_denied_call_does_not_run(self):
        told = self.run_agent(self.gate(), [self.tool("denied_pay")], [[("denied_pay", {"usd": 1}, "c1")]])
        self.assertEqual(self.ran, [])
        self.assertIn("denied by Remit (policy_deny)", " ".join(told))

    def test_an_allowed_call_runs_and_its_hold_is_settled(self):
        told = self.run_agent(self.gate(), [self.tool("pay")], [[("pay", {"usd": 40, "to": "ada"}, "c1")]])
        self.assertEqual(self.ran, [{"usd": 40, "to": "ada"}])
        self.assertIn("paid 40", " ".join(told))
        self.assertEqual(self.spent(), (40, 0))

    def test_a_held_call_runs_after_the_vote(self):
        before = []
        voter = threading.Thread(target=self.vote, args=(before,))
        voter.start()
        self.run_agent(self.gate(), [self.tool("held_pay")], [[("held_pay", {"usd": 7}, "c1")]])
        voter.join()
        self.assertEqual((before, self.ran), ([], [{"usd": 7, "to": "bob"}]))

    def test_a_paused_run_resumes_after_the_vote(self):
        if not hasattr(HOST, "resume"):
            self.skipTest("its adapter does not pause a run")
        before, gate = [], self.gate(approval={"mode": "return"})
        turns = [[("held_pay", {"usd": 7}, "c1")]]
        told = HOST.resume(gate, [self.tool("held_pay")], turns, lambda: self.vote(before))
        told = asyncio.run(told) if inspect.isawaitable(told) else told
        self.assertEqual((before, self.ran), ([], [{"usd": 7, "to": "bob"}]))
        self.assertIn("paid 7", " ".join(told))
        self.assertEqual(self.spent(), (7, 0))

    def test_a_pending_call_does_not_run(self):
        gate = self.gate(approval={"mode": "refuse"})
        told = self.run_agent(gate, [self.tool("held_pay")], [[("held_pay", {"usd": 7}, "c1")]])
        self.assertEqual(self.ran, [])
        self.assertIn("approval_required", " ".join(told))

    def test_parallel_calls_are_decided_one_by_one(self):
        calls = [("pay", {"usd": n}, f"c{n}") for n in range(1, 5)]
        self.run_agent(self.gate(), [self.tool("pay"), self.tool("denied_pay")], [[*calls, ("denied_pay", {"usd": 9}, "c9")]])
        self.assertEqual(sorted(one["usd"] for one in self.ran), [1, 2, 3, 4])
        self.assertEqual(len(self.entries("authorization.decided")), 5)
        self.assertEqual(self.spent(), (10, 0))

    def test_a_call_that_is_repeated_runs_once(self):
        call = ("pay", {"usd": 3}, "same")
        self.run_agent(self.gate(), [self.tool("pay")], [[call], [call]])
        self.assertEqual(len(self.ran), 1)
        self.assertEqual(self.spent(), (3, 0))

    def test_what_runs_is_what_was_decided(self):
        self.run_agent(self.gate(), [self.tool("pay")], [[("pay", {"usd": 2}, "c1")]])
        (entry,) = self.entries("authorization.decided")
        self.assertEqual(self.ran, [entry["data"]["context"]["args"]])

    def test_a_stream_asks_too(self):
        tools = [self.tool("pay"), self.tool("denied_pay")]
        turns = [[("denied_pay", {"usd": 1}, "c1")], [("pay", {"usd": 2}, "c2")]]
        told = self.run_agent(self.gate(), tools, turns, stream=True)
        self.assertEqual(self.ran, [{"usd": 2, "to": "bob"}])
        self.assertIn("policy_deny", " ".join(told))

    def test_a_gate_for_threads_asks_too(self):
        gate = self.gate(kind=Gate)
        tools = [self.tool("pay", is_async=False), self.tool("denied_pay", is_async=False)]
        self.run_agent(gate, tools, [[("denied_pay", {"usd": 1}, "c1"), ("pay", {"usd": 2}, "c2")]])
        self.assertEqual(self.ran, [{"usd": 2, "to": "bob"}])

    def test_a_tool_that_raises_is_settled_as_a_failure(self):
        try:
            self.run_agent(self.gate(), [self.tool("pay", ValueError("broke"))], [[("pay", {"usd": 5}, "c1")]])
        except Exception as error:
            self.assertIn("broke", str(error))
        self.assertEqual(len(self.ran), 1)
        self.assertEqual([one["data"]["outcome"] for one in self.entries("entry.appended")], ["failure"])
        self.assertEqual(self.spent()[1], 5)

    def test_a_retry_of_the_framework_does_not_run_it_again(self):
        try:
            self.run_agent(self.gate(), [self.tool("pay", ValueError("broke"))], [[("pay", {"usd": 5}, "c1")]], retries=2)
        except Exception as error:
            self.assertIn("broke", str(error))
        self.assertEqual(len(self.ran), 1)

    def test_nothing_runs_while_the_server_is_away(self):
        gate = self.gate(Client("http://127.0.0.1:9", "k"), retries=0)
        told = self.run_agent(gate, [self.tool("pay")], [[("pay", {"usd": 1}, "c1")]])
        self.assertEqual(self.ran, [])
        self.assertIn("remit_unavailable", " ".join(told))

    def test_the_doctor_proves_it(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "agent.py"), "w") as file:
                file.write(HOST.SOURCE)
            out, err = io.StringIO(), io.StringIO()
            code = doctor(["doctor", folder, "--json"], os.environ, out, err)
        findings = [one for one in json.loads(out.getvalue())["findings"] if one["package"] == HOST.PACKAGE]
        self.assertEqual([(one["enforcement"], len(one["cases"])) for one in findings], [("enforced", 5)], out.getvalue())
        self.assertEqual(code, 0)


async def run_anyway(self, tool, input, execute, **options):
    done = await RUN(self, tool, input, execute, **options)
    return done if isinstance(done, Ran) else Ran(await execute(input), done)


async def run_twice(self, tool, input, execute, **options):
    async def twice(decided):
        await execute(decided)
        return await execute(decided)

    return await RUN(self, tool, input, twice, **options)


async def admit_anyway(self, tool, input, call_id, traceparent):
    verdict = await ADMIT(self, tool, input, call_id, traceparent)
    return verdict if isinstance(verdict, Allow) else Allow("dec_none", verdict.call_id, tool, "", None)


async def lose(self, verdict, **_):
    return Settlement(False, None)


RUN, ADMIT = Core.run, Core.admit
#: What breaks in the gate, and the case that must fail then.
BREAKS = {
    "a denied call runs": ({"run": run_anyway, "admit": admit_anyway}, "test_a_denied_call_does_not_run"),
    "a call runs twice": ({"run": run_twice}, "test_an_allowed_call_runs_and_its_hold_is_settled"),
    "nothing is settled": ({"settle": lose}, "test_an_allowed_call_runs_and_its_hold_is_settled"),
}


def broken(what):
    """The result of a case while the gate is broken."""
    replacements, case = BREAKS[what]
    results = Results()
    with mock.patch.multiple(Core, **replacements):
        Cases(case).run(results)
    (result,) = results.cases.values()
    return result


class Results(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.cases = {}

    def _keep(self, test, result):
        self.cases[test._testMethodName.removeprefix("test_").replace("_", " ")] = result

    def addSuccess(self, test):
        self._keep(test, "passed")

    def addFailure(self, test, error):
        self._keep(test, f"failed: {self._exc_info_to_string(error, test)[-3000:]}")

    addError = addFailure

    def addSkip(self, test, reason):
        self._keep(test, f"skipped: {reason}")


if __name__ == "__main__":
    for name, reason in HOST.SKIPPED.items():
        setattr(Cases, f"test_{name}", unittest.skip(reason)(getattr(Cases, f"test_{name}")))
    results = Results()
    unittest.defaultTestLoader.loadTestsFromTestCase(Cases).run(results)
    breaks = {what: broken(what) for what in BREAKS if what not in getattr(HOST, "UNBROKEN", ())}
    made = {"version": metadata.version(HOST.PACKAGE), "cases": results.cases, "breaks": breaks}
    sys.stdout.write(json.dumps({**made, "python": platform.python_version()}) + "\n")
