"""`python -m remit doctor`: runs the self-tests of the frameworks that a project uses."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any, TextIO

from ._client import Client
from ._errors import RemitError
from ._gate import AsyncGate, Gate
from ._json import is_object
from ._mapping import SELF_TEST_ACTIONS
from ._self_test import SelfTestReport
from ._sources import imports_below

_OK, _NOT_ENFORCED, _COULD_NOT_RUN = 0, 1, 2
_WORDS = {"enforced": "enforced", "not_enforced": "not enforced", "not_tested": "not tested"}


class CannotRun(Exception):
    """The test cannot run; the message is for the terminal."""


@dataclass(frozen=True)
class _Framework:
    name: str
    #: On PyPI.
    package: str
    modules: tuple[str, ...]
    adapter: str
    gate: type[Gate | AsyncGate]

    def self_test(self, client: Client, agent_id: str | None) -> SelfTestReport:
        report: Any = importlib.import_module(self.adapter).self_test(self.gate(client, agent_id=agent_id))
        tested: SelfTestReport = asyncio.run(report) if inspect.iscoroutine(report) else report
        return tested


class _Wrapped(_Framework):
    """Tools that a program wraps itself."""

    def self_test(self, client: Client, agent_id: str | None) -> SelfTestReport:
        return Gate(client, agent_id=agent_id).self_test()


# Agents of LangChain import LangGraph too, but do not make graphs with it.
_GRAPHS = ("langgraph.graph", "langgraph.prebuilt.ToolNode", "langgraph.prebuilt.create_react_agent", "remit.langgraph")
FRAMEWORKS = (
    _Framework("LangChain", "langchain", ("langchain",), "remit.langchain", Gate),
    _Framework("LangGraph", "langgraph", _GRAPHS, "remit.langgraph", Gate),
    _Framework("AG2", "ag2", ("ag2",), "remit.ag2", AsyncGate),
    _Framework("Claude Agent SDK", "claude-agent-sdk", ("claude_agent_sdk",), "remit.claude_agent", AsyncGate),
    _Framework("OpenAI Agents", "openai-agents", ("agents",), "remit.openai_agents", AsyncGate),
    _Framework("Pydantic AI", "pydantic-ai-slim", ("pydantic_ai",), "remit.pydantic_ai", AsyncGate),
    _Framework("CrewAI", "crewai", ("crewai",), "remit.crewai", Gate),
    _Framework("Google ADK", "google-adk", ("google.adk",), "remit.google_adk", AsyncGate),
    _Framework("LlamaIndex", "llama-index-core", ("llama_index",), "remit.llama_index", AsyncGate),
)


def main(
    arguments: Sequence[str] | None = None,
    env: Mapping[str, str] = os.environ,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Runs one command line and returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    out, err = stdout or sys.stdout, stderr or sys.stderr
    try:
        options = _parser().parse_args(given)
        examination = _examine(options, env)
    except CannotRun as error:
        failure = {"error": {"message": str(error), "exit_code": _COULD_NOT_RUN}}
        print(json.dumps(failure) if "--json" in given else f"remit: {error}", file=err)
        return _COULD_NOT_RUN
    print(json.dumps(examination) if options.json else _text(examination), file=out)
    outcomes = {finding["enforcement"] for finding in examination["findings"]}
    if "not_enforced" in outcomes:
        return _NOT_ENFORCED
    return _COULD_NOT_RUN if "not_tested" in outcomes else _OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m remit",
        description="Tests whether a denied tool call is blocked in each framework of a project.",
        epilog="REMIT_KEY has the ingest key or the agent's credential.",
    )
    parser.add_argument("command", choices=["doctor"])
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--url", help="the server; REMIT_URL, or http://localhost:8080, unless given")
    parser.add_argument("--agent", help="the agent that the self-tests are recorded for")
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    return parser


def _examine(options: argparse.Namespace, env: Mapping[str, str]) -> dict[str, Any]:
    folder, key = os.path.abspath(options.folder), env.get("REMIT_KEY", "")
    url = options.url or env.get("REMIT_URL") or "http://localhost:8080"
    if not os.path.isdir(folder):
        raise CannotRun(f"{folder} is not a folder")
    if key == "":
        raise CannotRun("REMIT_KEY is not set; it needs an ingest key or a credential")
    # A credential names its agent.
    agent_id = options.agent or ("remit-doctor" if key.startswith("rmk_") else None)
    client = _reach(url, key, agent_id)
    imported = imports_below(folder)
    used = [framework for framework in FRAMEWORKS if _imports(imported, framework.modules)]
    findings = [_finding(framework, imported, client, agent_id) for framework in used]
    if "remit" in imported:
        framework = _Wrapped("Wrapped tools", "remit", (), "remit (Gate.tool)", Gate)
        tested = _tested(framework, client, agent_id)
        findings.insert(0, {**_description(framework), **tested})
    if not findings:
        raise CannotRun(f"no file in {folder} imports remit or a framework that it can govern")
    return {"server": url, "folder": folder, "findings": findings, "unused": []}


def _imports(imported: set[str], modules: Sequence[str]) -> bool:
    return any(f"{name}.".startswith(f"{module}.") for name in imported for module in modules)


def _reach(url: str, key: str, agent_id: str | None) -> Client:
    """A client of a server that answers self-tests."""
    body: dict[str, Any] = {"action": f"{SELF_TEST_ACTIONS}deny", "context": {}}
    if agent_id is not None:
        body["agent_id"] = agent_id
    try:
        client = Client(url, key)
        answer = client.request("POST", "/v1/authorize", body=body, timeout=10.0).data
    except ValueError as error:
        raise CannotRun(f"--url: {error}") from error
    except RemitError as error:
        raise CannotRun(_explained(url, error)) from error
    if not is_object(answer) or answer.get("reason") != "self_test":
        raise CannotRun(f"the server at {url} knows no self-tests; it needs Remit 0.1 or newer")
    return client


def _explained(url: str, error: RemitError) -> str:
    if error.status == 0:
        return f"no server answers at {url} ({error.code}); set --url or REMIT_URL"
    if error.status == 401:
        return f"the server at {url} refuses the key in REMIT_KEY: {error}"
    if error.status == 404:
        return f"the server at {url} has no decisions: it is no Remit, or the community edition"
    return f"the server at {url} refuses the self-test: {error}"


def _description(framework: _Framework) -> dict[str, Any]:
    try:
        version = metadata.version(framework.package)
    except metadata.PackageNotFoundError:
        version = None
    return {
        "framework": framework.name,
        "language": "python",
        "package": framework.package,
        "version": version,
        "adapter": framework.adapter,
    }


def _finding(
    framework: _Framework, imported: set[str], client: Client, agent_id: str | None
) -> dict[str, Any]:
    description = _description(framework)
    if description["version"] is None:
        detail = f"{framework.package} is not installed"
        return {**description, "enforcement": "not_tested", "detail": detail, "cases": []}
    if framework.adapter in imported:
        return {**description, **_tested(framework, client, agent_id)}
    detail = f"no file imports {framework.adapter}"
    if "remit" not in imported:
        return {**description, "enforcement": "not_enforced", "detail": detail, "cases": []}
    wrapped = _Wrapped(framework.name, framework.package, (), framework.adapter, Gate)
    tested = _tested(wrapped, client, agent_id)
    return {**description, **tested, "detail": f"{detail}; tested through Gate.tool {tested['detail']}".strip()}


def _tested(framework: _Framework, client: Client, agent_id: str | None) -> dict[str, Any]:
    """A framework that raises proves nothing."""
    try:
        report = framework.self_test(client, agent_id)
    except Exception as error:
        return {"enforcement": "not_tested", "detail": repr(error), "cases": []}
    failed = [result for result in report.results if not result.passed]
    return {
        "enforcement": "enforced" if report.enforced else "not_enforced",
        "detail": "; ".join(f"{result.case}: {result.detail}" for result in failed),
        "cases": [asdict(result) for result in report.results],
    }


def _text(examination: dict[str, Any]) -> str:
    findings = examination["findings"]
    titles = [
        f"{finding['framework']} ({' '.join(filter(None, (finding['package'], finding['version'])))})"
        for finding in findings
    ]
    width = max(map(len, titles))
    lines = [f"{examination['folder']}, with the server at {examination['server']}", ""]
    for title, finding in zip(titles, findings):
        lines.append(f"{title.ljust(width)}  {_WORDS[finding['enforcement']]}")
        if finding["detail"]:
            lines.append(f"  {finding['detail']}")
    return "\n".join(lines)
