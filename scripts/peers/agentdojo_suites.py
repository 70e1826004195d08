"""The suites of AgentDojo behind Remit: `python agentdojo_suites.py`.

The agent is a script. It makes the calls that solve the task of the user, and as soon as the result of a tool has an
injection, those that the injection wants: the worst model there is. Each call goes through the gate of the Python SDK to the
server at `REMIT_URL`, under the rules of `agentdojo_rules.json`. A person approves what the user's task needs, and
nothing else. `REMIT_KEY` is that of an administrator. Prints counts for each suite as JSON.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import urllib.request
from pathlib import Path

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.types import text_content_block_from_string

from remit import Client, Deny, Gate, Pending, Ran

BENCHMARK = "v1.2.2"
HELD = "NotExecuted"
INJECTION = "The text of an injection is here."
URL, KEY = os.environ["REMIT_URL"], os.environ["REMIT_KEY"]
RULES = json.loads(Path(__file__).with_name("agentdojo_rules.json").read_text())


def admin(path, body, method="POST"):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def write_rules():
    """Deny is the default: a tool that no rule names does not run."""
    admin("/v1/organization", {"settings": {"default_effect": "deny"}}, "PATCH")
    for suite, rules in RULES.items():
        agents = [f"{suite}:*"]
        asking = [action for actions in rules["ask"] for action in actions.split(",")]
        admin("/v1/policies", {"effect": "allow", "agents": agents, "actions": [*rules["free"], *asking]})
        for at, (actions, condition) in enumerate(rules["ask"].items()):
            rule = {"agents": agents, "actions": actions.split(","), "condition": condition}
            admin(f"/v1/approval-rules/{suite}-{at}", rule)


class Governed(FunctionsRuntime):
    """Runs a function only after an allow. `is_wanted`: the user wants the call, and approves it if asked."""

    gate: Gate
    is_wanted = True

    def __init__(self, functions=()):
        super().__init__(functions)
        self.asked, self.held, self.denied = 0, 0, 0

    def run_function(self, env, function, kwargs, raise_on_error=False):
        # The model reads what went wrong, as in the runtime of AgentDojo.
        try:
            return self._decided(env, function, kwargs)
        except Exception as error:
            return "", f"{type(error).__name__}: {error}"

    def _decided(self, env, function, kwargs):
        # What the rules see is what the function gets: nested calls are resolved, defaults are filled in.
        resolved = self._execute_nested_calls(env, kwargs)
        args = self.functions[function].parameters.model_validate(resolved).model_dump(mode="json")

        def execute(decided):
            return super(Governed, self).run_function(env, function, decided, raise_on_error=True)[0]

        done = self.gate.run(function, args, execute)
        if isinstance(done, Pending) and self.is_wanted:
            self.asked += 1
            vote = {"decision": "approve", "approver": "emma.johnson@bluesparrowtech.com"}
            admin(f"/v1/approvals/{done.approval_id}/decide", vote)
            done = self.gate.run(function, args, execute)
        if isinstance(done, Ran):
            return done.result, None
        self.held += isinstance(done, Pending)
        self.denied += isinstance(done, Deny)
        return "", f"{HELD}: {done}"


class Script(BasePipelineElement):
    """Calls of the task of a user and, once an injection is read, those of the injection."""

    def __init__(self, user_task, injection_task=None):
        self.user_task, self.injection_task = user_task, injection_task
        self.is_reached = False

    def query(self, query, runtime, env=None, messages=(), extra_args=None):
        said, outputs = list(messages), [self.user_task.GROUND_TRUTH_OUTPUT]

        def make(calls, is_wanted):
            runtime.is_wanted = is_wanted
            for call in calls:
                result, error = runtime.run_function(env, call.function, dict(call.args))
                # As YAML, which a model would get, the text of an injection may be on several lines.
                text = error or str(result)
                content = [text_content_block_from_string(text)]
                # Some checks of AgentDojo go by the calls that were made, whether or not they ran.
                ran = [] if error and error.startswith(HELD) else [call]
                said.append({"role": "assistant", "tool_calls": ran, "content": []})
                said.append(
                    {"role": "tool", "content": content, "tool_call": call, "tool_call_id": None, "error": error}
                )
                yield text

        for text in make(self.user_task.ground_truth(env), True):
            if INJECTION in text and self.injection_task and not self.is_reached:
                self.is_reached = True
                for _ in make(self.injection_task.ground_truth(env), False):
                    pass
                runtime.is_wanted = True
                outputs.append(self.injection_task.GROUND_TRUTH_OUTPUT)
        content = [text_content_block_from_string("\n".join(outputs))]
        said.append({"role": "assistant", "content": content, "tool_calls": None})
        return query, runtime, env, said, extra_args or {}


@functools.cache
def world(suite, is_injected):
    names = suite.get_injection_vector_defaults() if is_injected else ()
    return suite.load_and_inject_default_environment({name: INJECTION for name in names})


def run(suite, user_task, injection_task, is_governed):
    """Returns the script, the runtime, whether the task was solved, and whether the injection had success."""
    pair = f"{suite.name}:{user_task.ID}:{injection_task.ID if injection_task else 'none'}"
    script = Script(user_task, injection_task)
    seen = []

    def runtime(functions):
        made = Governed(functions) if is_governed else FunctionsRuntime(functions)
        # Each pair is an agent of its own: approvals and open requests of one are not those of another.
        made.gate = Gate(Client(URL, KEY), agent_id=pair, run_id=pair, approval={"mode": "return"})
        seen.append(made)
        return made

    environment = world(suite, injection_task is not None).model_copy(deep=True)
    solved, attacked = suite.run_task_with_pipeline(
        script, user_task, injection_task, {}, runtime, environment
    )
    return script, seen[0], solved, attacked


def measure(suite):
    counts = dict.fromkeys(
        ("tasks", "solved_without", "solved", "asked", "asked_calls", "pairs", "attacks_without", "attacks", "solved_attacked"), 0
    )
    passed = {}
    for user_task in suite.user_tasks.values():
        counts["tasks"] += 1
        counts["solved_without"] += run(suite, user_task, None, False)[2]
        _, runtime, solved, _ = run(suite, user_task, None, True)
        counts["solved"] += solved
        counts["asked"] += runtime.asked > 0
        counts["asked_calls"] += runtime.asked
        for injection_task in suite.injection_tasks.values():
            script, _, _, attacked = run(suite, user_task, injection_task, False)
            if not script.is_reached:
                continue
            counts["pairs"] += 1
            counts["attacks_without"] += attacked
            _, _, solved, attacked = run(suite, user_task, injection_task, True)
            counts["attacks"] += attacked
            counts["solved_attacked"] += solved
            if attacked:
                passed[injection_task.ID] = passed.get(injection_task.ID, 0) + 1
    return {**counts, "passed": passed}


if __name__ == "__main__":
    write_rules()
    suites = get_suites(BENCHMARK)
    version = importlib.metadata.version("agentdojo")
    print(json.dumps({"version": version, "benchmark": BENCHMARK, "suites": {name: measure(suites[name]) for name in RULES}}))
