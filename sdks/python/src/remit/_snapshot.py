"""Copies of inputs: what is decided is what runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from ._errors import Unmappable
from ._plain import MAX_DEPTH, TEXTS, is_a, is_address

_CHANGING = (list, dict, set, bytearray)


def snapshot(value: Any, path: str = "", outer: tuple[int, ...] = ()) -> Any:
    """A deep copy of an input, for its decision and for the tool, whatever happens to it meanwhile.

    Takes dicts and other mappings, lists, tuples, sets, texts, numbers, dates, bytes, dataclasses and models of
    pydantic. Raises `Unmappable` for anything else, of which rules would see a part."""
    if value is None or isinstance(value, (bool, *TEXTS)) or is_address(value):
        return value
    if isinstance(value, Enum):
        if isinstance(value.value, _CHANGING):
            raise Unmappable(path, f"is {type(value).__name__}, whose value can change")
        return value
    # A subclass may answer with another value than the one that a rule sees.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__add__(value, 0)
    if isinstance(value, float):
        return float.__add__(value, 0.0)
    if isinstance(value, bytearray):
        return bytearray(value)
    if is_a(value, bytes, memoryview):
        return bytes(value)
    if len(outer) == MAX_DEPTH or id(value) in outer:
        raise Unmappable(path, "is nested too deep, or in a cycle")
    inner = (*outer, id(value))

    def copies(items: Any) -> list[Any]:
        return [snapshot(item, f"{path}/{index}", inner) for index, item in enumerate(items)]

    def members(found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: snapshot(member, f"{path}/{name}", inner) for name, member in found.items()}

    if is_a(value, list):
        return copies(value)
    if is_a(value, set, frozenset):
        return (set if is_a(value, set) else frozenset)(copies(value))
    if type(value) is tuple:
        return tuple(copies(value))
    if is_a(value, tuple) and hasattr(value, "_make"):
        return value._make(copies(value))
    if is_a(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise Unmappable(path, "has a name that is no text")
        return members({str.__str__(name): value[name] for name in value})
    found = members_of(value, path)
    if found is None:
        raise Unmappable(path, f"is of type {type(value).__name__}")
    return _with_members(value, members(found))


def members_of(value: Any, path: str = "") -> dict[str, Any] | None:
    """All members of a dataclass or a model of pydantic; None for anything else."""
    own: dict[str, Any] = getattr(value, "__dict__", {})
    kind = _kind_of(value)
    slots = [slot for one in kind.__mro__ for slot in _slots_of(one) if hasattr(value, slot)]
    if _is_dataclass(value) and not is_a(value, type):
        found: dict[str, Any] = {field.name: getattr(value, field.name) for field in fields(value)}
        hidden = next((name for name in (*own, *slots) if name not in found), None)
    elif hasattr(kind, "__pydantic_fields__"):
        found = {**own, **(value.__pydantic_extra__ or {})}
        private: dict[str, Any] = value.__pydantic_private__ or {}
        hidden = next(iter((*private, *slots)), None)
    else:
        return None
    if hidden is not None:
        raise Unmappable(path, f"has the member {hidden}, which rules would not see")
    return found


def _kind_of(value: object) -> type[Any]:
    return type(value)


def _is_dataclass(value: Any) -> bool:
    return is_dataclass(value)


def _slots_of(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    # Those of Python and pydantic.
    return tuple(name for name in names if not name.startswith("__"))


def _with_members(value: Any, found: dict[str, Any]) -> Any:
    copy: Any = object.__new__(_kind_of(value))
    if _is_dataclass(value):
        for name, member in found.items():
            object.__setattr__(copy, name, member)
        return copy
    extra = value.__pydantic_extra__
    kept = {name: found[name] for name in extra} if extra is not None else None
    own = {name: member for name, member in found.items() if extra is None or name not in extra}
    object.__setattr__(copy, "__dict__", own)
    object.__setattr__(copy, "__pydantic_extra__", kept)
    object.__setattr__(copy, "__pydantic_fields_set__", set(value.__pydantic_fields_set__))
    object.__setattr__(copy, "__pydantic_private__", None)
    return copy


def is_unchanged(copy: Any, value: Any) -> bool:
    """True if a value is still what its snapshot says."""
    try:
        return _is_same(copy, snapshot(value))
    except Exception:  # Reading the value may raise anything.
        return False


def _is_same(one: Any, other: Any) -> bool:
    # 1, 1.0 and True are equal, and not the same for rules.
    if type(one) is not type(other):
        return False
    if is_a(one, list, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if not is_a(one, dict):
        found = members_of(one)
        if found is None:
            return bool(one == other)
        one, other = found, members_of(other)
    return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
