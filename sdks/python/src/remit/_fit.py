"""A context within the limits of Remit. The result is that of the SDK for TypeScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._json import canonical, in_order, is_list, pointer_of, sha256_hex, utf8
from ._plain import KEPT_BYTES, Stub, shortened

_MAX_BYTES = 64 * 1024
_MAX_NAMES = 2_000
_MAX_DEPTH = 32
_MAX_REPLACED = 100
_MAX_POINTER = 1_024

# The most bytes of `{"length":...,"sha256":"..."}`, and those of the member `start` without its value.
_STUB_BYTES = 96
_START_BYTES = 9
_STUB_NAMES = 2
# Parts of one list or object that are replaced, before it is replaced itself.
_MAX_TOGETHER = 16
# Long texts of which the start is kept; no more than these fit.
_MAX_SHORTENED = 32
# A replaced place adds names or bytes where it saves the other, and then another one has to go.
_ROUNDS = 3


def fitted(context: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A context within 64 KiB, 2,000 names and 32 levels, and JSON Pointers to the places whose values it
    lacks: what is too deep or too large is `{length, sha256}`, a long text `{length, sha256, start}`. Where
    nothing can be kept, the whole context is replaced, and the only pointer is empty."""
    root = _measured(context, "", None, 1)
    if root.within and not root.touched:
        return context, []
    for _ in range(_ROUNDS):
        if root.within:
            break
        if root.names > _MAX_NAMES:
            _shed(root, root.names - _MAX_NAMES, _names_saved)
        over = root.bytes - _MAX_BYTES
        if over > 0 and not _shorten(root, over):
            _shed(root, over, _bytes_saved)
    places: list[_Part] = []
    made = _rebuilt(root, places)
    replaced = _pointers(places) if root.within else None
    if replaced is None:
        return _digest(context), [""]
    return made, replaced


class _Part:
    """An object, a list or a longer text."""

    def __init__(self, value: Any, step: Any, outer: _Part | None) -> None:
        self.value = value
        self.step = step
        self.outer = outer
        self.inner: list[_Part] = []
        self.bytes = 0
        self.names = 0
        self.stub: Stub | None = None
        self.touched = False

    @property
    def within(self) -> bool:
        return self.names <= _MAX_NAMES and self.bytes <= _MAX_BYTES

    def stand_in(self, stub: Stub, size: int, names: int) -> _Part:
        self.stub, self.bytes, self.names = stub, size, names
        outer = self.outer
        while outer is not None and not outer.touched:
            outer.touched = True
            outer = outer.outer
        return self

    def replace(self, stub: Stub, size: int, names: int) -> None:
        outer = self.outer
        while outer is not None:
            outer.bytes -= self.bytes - size
            outer.names -= self.names - names
            outer = outer.outer
        self.stand_in(stub, size, names)

    def replace_whole(self) -> None:
        self.replace(_digest(self.value), _STUB_BYTES, _STUB_NAMES)


def _digest(value: Any) -> Stub:
    content = utf8(value if isinstance(value, str) else canonical(value))
    return Stub(length=len(content), sha256=sha256_hex(content))


def _size(value: Any) -> int:
    return len(utf8(canonical(value)))


def _measured(value: Any, step: Any, outer: _Part | None, depth: int) -> _Part:
    part = _Part(value, step, outer)
    if isinstance(value, Stub):
        return part.stand_in(value, _size(value), len(value))
    part.bytes = 1 + max(len(value), 1)
    names = range(len(value)) if is_list(value) else sorted(value, key=in_order)
    for name in names:
        found = value[name]
        if isinstance(name, str):
            part.names += 1
            part.bytes += _size(name) + 1
        if isinstance(found, (dict, list)):
            if depth == _MAX_DEPTH:
                return part.stand_in(_digest(value), _STUB_BYTES, _STUB_NAMES)
            inner = _measured(found, name, part, depth + 1)
            part.inner.append(inner)
            part.bytes += inner.bytes
            part.names += inner.names
            continue
        size = _size(found)
        part.bytes += size
        if isinstance(found, str) and size > _STUB_BYTES:
            text = _Part(found, name, part)
            text.bytes = size
            part.inner.append(text)
    return part


def _names_saved(part: _Part) -> int:
    return 0 if part.stub is not None else part.names - _STUB_NAMES


def _bytes_saved(part: _Part) -> int:
    return 0 if part.stub is not None else part.bytes - _STUB_BYTES


def _shed(root: _Part, excess: int, saved: Callable[[_Part], int]) -> None:
    """Replaces the smallest part that saves enough; where it takes several, the largest ones that lie side by
    side, if they are few."""
    part = root
    while True:
        most = sorted((one for one in part.inner if saved(one) > 0), key=saved, reverse=True)
        enough = [one for one in most if saved(one) >= excess]
        if enough:
            part = enough[-1]
            continue
        left, count = excess, 0
        while left > 0 and count < len(most):
            left -= saved(most[count])
            count += 1
        if part is not root and (left > 0 or count > _MAX_TOGETHER):
            part.replace_whole()
        elif count <= _MAX_REPLACED:
            for one in most[:count]:
                one.replace_whole()
        return


def _shorten(root: _Part, excess: int) -> bool:
    """Keeps only the start of the longest texts; false if that does not save enough."""
    longest = sorted(_long_texts(root), key=lambda part: part.bytes, reverse=True)
    left = excess
    taken: list[tuple[_Part, Stub, int]] = []
    for part in longest[:_MAX_SHORTENED]:
        if left <= 0:
            break
        stub = shortened(part.value)
        size = _STUB_BYTES + _START_BYTES + _size(stub["start"])
        if size < part.bytes:
            left -= part.bytes - size
            taken.append((part, stub, size))
    if left > 0:
        return False
    for part, stub, size in taken:
        part.replace(stub, size, _STUB_NAMES + 1)
    return True


def _long_texts(part: _Part) -> list[_Part]:
    texts: list[_Part] = []
    for one in part.inner:
        if one.stub is not None:
            continue
        if not isinstance(one.value, str):
            texts += _long_texts(one)
        elif len(utf8(one.value)) > KEPT_BYTES:
            texts.append(one)
    return texts


def _rebuilt(part: _Part, places: list[_Part]) -> Any:
    if part.stub is not None:
        places.append(part)
        return part.stub
    if not part.touched:
        return part.value
    copy = part.value.copy()
    for one in part.inner:
        if one.stub is not None or one.touched:
            copy[one.step] = _rebuilt(one, places)
    return copy


def _pointers(places: list[_Part]) -> list[str] | None:
    """Where they are too many, they are named by what contains them."""
    every: list[list[str]] = []
    for place in places:
        steps: list[str] = []
        one = place
        while one.outer is not None:
            steps.append(str(one.step))
            one = one.outer
        every.append(steps[::-1])
    for depth in range(_MAX_DEPTH, 0, -1):
        pointers = {pointer_of(steps[:depth]) for steps in every}
        lengths = (len(in_order(pointer)) // 2 for pointer in pointers)
        if len(pointers) <= _MAX_REPLACED and max(lengths, default=0) <= _MAX_POINTER:
            return sorted(pointers, key=in_order)
    return None
