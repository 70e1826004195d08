"""One gate for threads and for asyncio: the logic is written once, as coroutines over an `IO`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class IO(Protocol):
    async def call(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """Runs blocking work."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def result(self, future: Future[T]) -> T:
        """Waits for a future that another caller settles."""
        ...


class Blocking:
    """Every step blocks, so a coroutine over it never suspends."""

    async def call(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        return work(*args, **kwargs)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251

    async def result(self, future: Future[T]) -> T:
        return future.result()


class Asyncio:
    async def call(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        return await asyncio.to_thread(work, *args, **kwargs)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def result(self, future: Future[T]) -> T:
        return await asyncio.wrap_future(future)


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine over `Blocking` to its end."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("a blocking coroutine was suspended")
