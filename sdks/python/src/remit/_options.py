"""Settings of a gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any

from ._client import Client
from ._mapping import ToolMap, check_map


@dataclass(frozen=True)
class Options:
    client: Client
    agent_id: str | None
    run_id: str
    approval: Mapping[str, Any]
    map: ToolMap | None
    omit_key: str | None
    timeout: float
    retries: int
    release_on: Callable[[BaseException], bool] | None
    on_warning: Callable[[str], None] | None


_WAIT: Mapping[str, Any] = {"mode": "wait", "max_seconds": 240.0}


_MODES = ("wait", "return", "refuse")
_MIN_SECRET = 32


def _check(options: Options) -> None:
    """Refuses what would wait for another time, or hide less, than it says."""
    approval = options.approval
    mode = approval.get("mode", "wait")
    if mode not in _MODES:
        raise ValueError(f"approval['mode'] must be one of {', '.join(_MODES)}")
    known = ("mode", "max_seconds") if mode == "wait" else ("mode",)
    for member in approval:
        if member not in known:
            raise ValueError(f"approval[{member!r}] is unknown with mode {mode}; known are {', '.join(known)}")
    seconds = approval.get("max_seconds", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise ValueError("approval['max_seconds'] must be a number of seconds")
    if options.map is not None:
        check_map(options.map)
    if options.omit_key is not None and len(options.omit_key) < _MIN_SECRET:
        raise ValueError(f"omit_key must have at least {_MIN_SECRET} characters")


def options_of(
    client: Client,
    *,
    agent_id: str | None = None,
    run_id: str | None = None,
    approval: Mapping[str, Any] = _WAIT,
    map: ToolMap | None = None,
    omit_key: str | None = None,
    timeout: float = 10.0,
    retries: int = 3,
    release_on: Callable[[BaseException], bool] | None = None,
    on_warning: Callable[[str], None] | None = None,
) -> Options:
    run = run_id or token_urlsafe(16)
    told = (timeout, retries, release_on, on_warning)
    options = Options(client, agent_id, run, approval, map, omit_key, *told)
    _check(options)
    return options


