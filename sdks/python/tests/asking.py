"""A gate for another process, REMIT_URL: `asking.py MAP` reads a line of JSON for each call, `{"tool", "input"}`, and
prints how it ended and what the tool received, `{"kind", "ran"}`. Run by the repository's tests."""

import json
import os
import sys

from remit import Client, Gate

gate = Gate(
    Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"]),
    agent_id="payer",
    map=json.loads(sys.argv[1]),
    approval={"mode": "return"},
    on_warning=lambda _: None,
)
for line in sys.stdin:
    call = json.loads(line)
    done = gate.run(call["tool"], call["input"], lambda decided: decided)
    ran = {"ran": done.result} if done.kind == "ran" else {}
    print(json.dumps({"kind": done.kind, **ran}), flush=True)
