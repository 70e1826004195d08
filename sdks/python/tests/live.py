"""Checks of the gate against a running server: REMIT_URL, REMIT_KEY. Run by the repository's tests."""

import asyncio
import importlib.util
import io
import json
import multiprocessing
import os
import tempfile
import threading
import unittest
import uuid

from remit import AsyncGate, Client, Gate, NotExecuted, RemitDenied
from remit._doctor import main

CLIENT = Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"])
PAY = {"pay": {"amount": "/usd"}, "held.pay": {"amount": "/usd"}}


def new_agent():
    agent = f"py-{uuid.uuid4()}"
    CLIENT.request("POST", f"/v1/spend-limits/{agent}", body={"daily_usd": 1000})
    return agent


def day_of(agent):
    return CLIENT.request("GET", f"/v1/spend-limits/{agent}").data["spent"]["day"]


def entries(agent, kind):
    return CLIENT.request("GET", f"/v1/ledger?agent_id={agent}&kind={kind}").data["data"]


def approve(approval_id):
    vote = {"decision": "approve", "approver": "ada@example.org"}
    CLIENT.request("POST", f"/v1/approvals/{approval_id}/decide", body=vote)


def run_once(agent, queue):
    """One process of a restarted run."""
    gate = Gate(CLIENT, agent_id=agent, run_id="run", map=PAY)
    queue.put(gate.run("pay", {"usd": 2}, lambda: "ran", call_id="c").kind)


class Live(unittest.TestCase):
    def setUp(self):
        self.agent = new_agent()
        self.gate = Gate(CLIENT, agent_id=self.agent, map=PAY, on_warning=lambda _: None)

    def test_runs_and_settles(self):
        @self.gate.tool(cost_of=lambda result: result)
        def pay(usd):
            return usd - 1.5

        self.assertEqual(pay(40), 38.5)
        self.assertEqual((day_of(self.agent)["usd"], day_of(self.agent)["held_usd"]), (38.5, 0))

    def test_does_not_run_what_is_denied(self):
        ran = []
        tool = self.gate.tool(lambda: ran.append(1), name="denied.tool")
        with self.assertRaises(RemitDenied):
            tool()
        self.assertEqual(ran, [])

    def test_keeps_the_hold_of_an_error_and_releases_that_of_not_executed(self):
        def failing(error):
            def raises():
                raise error

            return raises

        with self.assertRaisesRegex(ValueError, "broke"):
            self.gate.run("pay", {"usd": 7}, failing(ValueError("broke")))
        with self.assertRaises(NotExecuted):
            self.gate.run("pay", {"usd": 5}, failing(NotExecuted("no funds")))
        self.assertEqual(day_of(self.agent)["held_usd"], 7)

    def test_fifty_threads_with_one_call_id_are_one_run(self):
        ran, results = [], []

        def work():
            done = self.gate.run("pay", {"usd": 9}, lambda: ran.append(1), call_id="one")
            results.append(done.kind)

        threads = [threading.Thread(target=work) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(ran), 1)
        self.assertEqual(sorted(set(results)), ["deny", "ran"])
        self.assertEqual(len(entries(self.agent, "authorization.decided")), 1)

    def test_fifty_tasks_with_one_call_id_are_one_run(self):
        ran = []

        async def pay():
            ran.append(1)

        async def all_of_them():
            gate = AsyncGate(CLIENT, agent_id=self.agent, map=PAY)
            calls = (gate.run("pay", {"usd": 9}, pay, call_id="one") for _ in range(50))
            await asyncio.gather(*calls)

        asyncio.run(all_of_them())
        self.assertEqual(len(ran), 1)
        self.assertEqual(len(entries(self.agent, "authorization.decided")), 1)

    def test_processes_of_one_run_are_one_run(self):
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        processes = [context.Process(target=run_once, args=(self.agent, queue)) for _ in range(4)]
        for process in processes:
            process.start()
        kinds = [queue.get(timeout=60) for _ in processes]
        for process in processes:
            process.join()
        self.assertEqual(kinds.count("ran"), 1)
        self.assertEqual(day_of(self.agent)["usd"], 2)

    def test_runs_once_in_twenty_resumes_after_an_approval(self):
        ran = []
        returning = {"mode": "return"}
        gate = Gate(CLIENT, agent_id=self.agent, run_id="run", map=PAY, approval=returning)

        def resume():
            again = gate.restarted()
            return again.run("held.pay", {"usd": 3}, lambda: ran.append(1), call_id="c")

        first = resume()
        self.assertEqual(first.kind, "pending")
        approve(first.approval_id)
        for _ in range(20):
            resume()
        self.assertEqual(len(ran), 1)

    def test_denies_when_the_server_is_down(self):
        gate = Gate(Client("http://127.0.0.1:9", "k"), agent_id="a", retries=0)
        self.assertEqual(gate.check("pay").reason, "remit_unavailable")

    def test_reports_a_gap(self):
        self.gate.report_gap("pay", "c", "success")
        self.assertEqual(len(entries(self.agent, "enforcement.gap")), 1)

    def test_proves_that_it_is_obeyed(self):
        reports = [
            self.gate.self_test(),
            asyncio.run(AsyncGate(CLIENT, agent_id=self.agent, map=PAY).self_test()),
        ]
        for report in reports:
            self.assertEqual([result for result in report.results if not result.passed], [])
            self.assertTrue(report.enforced)
            self.assertEqual(len(report.results), 5)
        self.assertEqual(entries(self.agent, "authorization.decided"), [])

    def test_sees_a_host_that_does_not_obey(self):
        def careless(gate, canary):
            gate.check(canary.name, {}, call_id=canary.call_id)
            return canary.run()

        report = self.gate.self_test(careless)
        self.assertFalse(report.enforced)
        self.assertEqual([result for result in report.results if result.passed], [])

    def test_a_changed_argument_needs_a_new_approval(self):
        gate = Gate(CLIENT, agent_id=self.agent, map=PAY, approval={"mode": "return"})

        def ask(usd):
            return gate.check("held.pay", {"usd": usd}, call_id="c")

        first = ask(3)
        approve(first.approval_id)
        changed = ask(4)
        self.assertEqual(changed.kind, "pending")
        self.assertNotEqual(changed.approval_id, first.approval_id)
        self.assertEqual(ask(3).kind, "allow")

    @unittest.skipUnless(importlib.util.find_spec("langchain"), "langchain is not installed")
    def test_a_deny_blocks_in_langchain(self):
        from remit.langchain import self_test

        report = self_test(self.gate)
        self.assertEqual([result for result in report.results if not result.passed], [])

    @unittest.skipUnless(importlib.util.find_spec("agents"), "openai-agents is not installed")
    def test_a_deny_blocks_in_openai_agents(self):
        from remit.openai_agents import self_test

        report = asyncio.run(self_test(AsyncGate(CLIENT, agent_id=self.agent)))
        self.assertEqual([result for result in report.results if not result.passed], [])

    def test_the_doctor_tests_wrapped_tools_and_refuses_to_vouch_for_what_is_not_installed(self):
        def doctor(source):
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "agent.py"), "w") as file:
                    file.write(source)
                out, err = io.StringIO(), io.StringIO()
                return main(["doctor", folder, "--json"], os.environ, out, err), out.getvalue(), err.getvalue()

        code, out, _ = doctor("from remit import Gate")
        (finding,) = json.loads(out)["findings"]
        self.assertEqual((code, finding["enforcement"], len(finding["cases"])), (0, "enforced", 5))
        code, out, _ = doctor("from langchain.agents import create_agent")
        (finding,) = json.loads(out)["findings"]
        self.assertEqual(code, 1 if finding["version"] else 2)
        self.assertNotEqual(finding["enforcement"], "enforced")
        code, _, err = doctor("print()")
        self.assertEqual(code, 2)
        self.assertIn("imports remit", json.loads(err)["error"]["message"])


if __name__ == "__main__":
    unittest.main()
