"""Calls behind a faulty proxy, REMIT_URL: `faulty.py CALLS` prints the decisions under which a tool ran, and
the calls that ran without one. Run by the repository's tests."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from remit import Client, Gate

gate = Gate(
    Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"]),
    agent_id="py-faults",
    map={"pay": {"amount": "/usd"}},
    timeout=120.0,
    on_warning=lambda _: None,
)
wrongly = []


def call(number):
    tool = "denied.pay" if number % 4 == 0 else "pay"

    def execute():
        if tool != "pay":
            wrongly.append(number)

    done = gate.run(tool, {"usd": 0.01, "n": number}, execute, call_id=f"call-{number}")
    return done.verdict.decision_id if done.kind == "ran" else None


with ThreadPoolExecutor(32) as pool:
    used = [decision for decision in pool.map(call, range(int(sys.argv[1]))) if decision]
print(json.dumps({"used": used, "wrongly": wrongly}))
