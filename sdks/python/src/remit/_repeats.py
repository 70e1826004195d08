"""Call ids where a framework gives none to its tools: the number of the call among equal ones of the run."""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ._gate import AsyncGate, Gate

_LOCK = threading.Lock()
_MAX_INPUTS = 10_000


class _Taken:
    """The numbers of the last inputs of a run."""

    def __init__(self) -> None:
        #: Of each input: how many inputs were forgotten when it was first seen, and its numbers.
        self.inputs: OrderedDict[str, tuple[int, set[int]]] = OrderedDict()
        self.forgotten = 0

    def numbers_of(self, key: str) -> tuple[int, set[int]]:
        found = self.inputs.setdefault(key, (self.forgotten, set()))
        self.inputs.move_to_end(key)
        if len(self.inputs) > _MAX_INPUTS:
            # An input that comes again gets other ids than before.
            self.inputs.popitem(last=False)
            self.forgotten += 1
        return found


_TAKEN: weakref.WeakKeyDictionary[Any, _Taken] = weakref.WeakKeyDictionary()


class Repeat:
    """One call. Its number is free again unless it is spent: a call that waited for an approval is asked for again
    with the same id."""

    def __init__(self, call_id: str) -> None:
        self.call_id = call_id
        self.is_spent = False

    def ended(self, verdict: Any) -> None:
        """A call that a process before this one ran is spent as well."""
        self.is_spent = self.is_spent or getattr(verdict, "reason", None) == "already_decided"


@contextmanager
def repeat_of(gate: Gate | AsyncGate, tool: str, input: Any) -> Generator[Repeat, None, None]:
    """The call of a tool as one of the equal calls of the gate's run."""
    # The key of the gate has the whole request: a text that two inputs share costs a number, nothing else.
    text = json.dumps([tool, input], default=str, sort_keys=True, skipkeys=True)
    key = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
    with _LOCK:
        era, taken = _TAKEN.setdefault(gate, _Taken()).numbers_of(key)
        number = next(number for number in itertools.count() if number not in taken)
        taken.add(number)
    repeat = Repeat(f"{key}:{era}:{number}")
    try:
        yield repeat
    finally:
        if not repeat.is_spent:
            with _LOCK:
                taken.discard(number)
