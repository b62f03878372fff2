"""Transactions that wait for a thread of the store, and the tasks that wait for them.

Both databases commit several waiting transactions as one. Their threads hand out
together what came of them: each event loop is woken once, since a wake-up costs more
than a transaction.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Waiting(Generic[T]):
    """A transaction that waits to be run, and who waits for it."""

    work: Callable[[sa.Connection], T]
    future: "asyncio.Future[T]"
    result: tuple[T] | None = None
    error: BaseException | None = None

    def run(self, connection: sa.Connection) -> None:
        """Keeps what the function returns, or raises."""
        self.result = (self.work(connection),)

    def settle(self) -> None:
        """Gives the waiting task what came of it, in the task's own loop."""
        if self.future.done():  # it was cancelled meanwhile
            return
        if self.result is not None and self.error is None:
            self.future.set_result(self.result[0])
        else:
            self.future.set_exception(self.error or RuntimeError("nothing was run"))


def waiting_for(work: Callable[[sa.Connection], T]) -> Waiting[T]:
    """A transaction for which the running task is going to wait."""
    return Waiting(work, asyncio.get_running_loop().create_future())


def hand_out(done: Iterable[Waiting[Any]]) -> None:
    """Wakes the tasks of transactions that are over, from any thread."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Waiting[Any]]] = {}
    for one in done:
        by_loop.setdefault(one.future.get_loop(), []).append(one)
    for loop, its in by_loop.items():
        with suppress(RuntimeError):  # it has ended, and all who waited with it
            loop.call_soon_threadsafe(_settle, its)


def _settle(done: Iterable[Waiting[Any]]) -> None:
    for one in done:
        one.settle()
