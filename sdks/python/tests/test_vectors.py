"""The gate gives the verdicts of vectors.json and sends its requests, byte for byte in the headers."""

import asyncio
import dataclasses
import json
import pathlib
import re
import unittest

from remit import AsyncGate, Client, Gate

VECTORS = pathlib.Path(__file__).parents[3] / "packages" / "sdk" / "vectors.json"
COMPARED = ("authorization", "content-type", "idempotency-key", "traceparent")


class ScriptedClient(Client):
    """Answers as a vector says, and keeps what was sent."""

    def __init__(self, exchanges):
        super().__init__("http://remit.example", "rmk_vector")
        self.exchanges = exchanges
        self.sent = []
        self._ids = {}

    def _exchange(self, method, path, headers, body, timeout):
        request_id, key = headers.get("x-request-id"), headers.get("idempotency-key")
        is_same = request_id is not None and self._ids.setdefault(key, request_id) == request_id
        sent = {
            "method": method,
            "path": path,
            "headers": {
                **{name: headers[name] for name in COMPARED if name in headers},
                **({"x-request-id": "$request-id"} if is_same else {}),
            },
        }
        if body is not None:
            sent["body"] = json.loads(body)
        index = len(self.sent)
        self.sent.append(sent)
        response = self.exchanges[index]["response"] if index < len(self.exchanges) else None
        if response is None:
            from remit import RemitError

            raise RemitError("unreachable", "the connection broke")
        received = {"content-type": "application/json", **response.get("headers", {})}
        filled = {
            name: request_id if value == "$request-id" else value
            for name, value in received.items()
        }
        text = response["text"] if "text" in response else json.dumps(response["body"])
        return response["status"], filled, text.encode()


def snake(name):
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


def camel(verdict):
    members = dataclasses.asdict(verdict)
    told = {re.sub("_([a-z])", lambda found: found[1].upper(), name): v for name, v in members.items()}
    if told.pop("neverPasses", False):
        return {**told, "retryAt": None}
    # Members that the answer lacks are None.
    return {name: v for name, v in told.items() if v is not None or name not in ("budgets", "retryAt")}


def options_of(gate):
    options = {snake(name): value for name, value in gate.items()}
    approval = options["approval"]
    if "maxMs" in approval:
        options["approval"] = {"mode": approval["mode"], "max_seconds": approval["maxMs"] / 1000}
    return options


def unfolded(value):
    """Large values of the file are texts of JSON: `inputJson` and `bodyJson`."""
    return {name.removesuffix("Json"): json.loads(v) if name.endswith("Json") else v for name, v in value.items()}


class Vectors(unittest.TestCase):
    maxDiff = None

    def test_all(self):
        vectors = json.loads(VECTORS.read_text(), object_hook=unfolded)["vectors"]
        self.assertGreater(len(vectors), 50)
        for vector in vectors:
            for kind in ("Gate", "AsyncGate"):
                with self.subTest(vector["name"], gate=kind):
                    self.play(vector, kind)

    def play(self, vector, kind):
        client = ScriptedClient(vector["exchanges"])
        call, options = vector["call"], options_of(vector["gate"])
        args = {"call_id": call["callId"], "traceparent": call.get("traceparent")}
        if kind == "Gate":
            verdict = Gate(client, **options).check(call["tool"], call["input"], **args)
        else:
            gate = AsyncGate(client, **options)
            verdict = asyncio.run(gate.check(call["tool"], call["input"], **args))
        self.assertEqual(client.sent, [exchange["request"] for exchange in vector["exchanges"]])
        self.assertEqual(camel(verdict), vector["verdict"])


if __name__ == "__main__":
    unittest.main()
