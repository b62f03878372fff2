"""A worker: runs agents on due tickets, delivers, and keeps time for the store.

It follows the store's change feed and looks for due tickets whenever something has
changed, and at least once a second, since a lease that runs out changes nothing.
Nobody calls the agent; several workers on one store share the work by the lock alone.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from core.context import Voice
from core.errors import HandoffError, ModelFailed, StoreUnreachable
from core.flows.amend import wake
from core.flows.deliver import deliver_due, requeue_for_channels
from core.flows.ending import Over
from core.flows.house import House
from core.flows.people import free_absent
from core.flows.run import work
from core.flows.supervise import expire
from core.ports import Worker
from core.ticket import TicketId

log = logging.getLogger("handoff.worker")

_LOOK_AGAIN = 1.0
_REPORT = 5.0
_EXPIRY = 2.0
_STORE_PAUSE = 2.0


class StoreFeed:
    """The change feed, fanned out to the runs of one worker."""

    def __init__(self) -> None:
        self._watching: dict[TicketId, set[asyncio.Event]] = {}
        self._watching_all: set[asyncio.Event] = set()

    @contextmanager
    def watch(self, ticket: TicketId) -> Iterator[asyncio.Event]:
        """An event that is set whenever the ticket may have changed."""
        event = asyncio.Event()
        self._watching.setdefault(ticket, set()).add(event)
        try:
            yield event
        finally:
            self._watching[ticket].discard(event)
            if not self._watching[ticket]:
                del self._watching[ticket]

    @contextmanager
    def watch_all(self) -> Iterator[asyncio.Event]:
        """An event that is set whenever any ticket may have changed."""
        event = asyncio.Event()
        self._watching_all.add(event)
        try:
            yield event
        finally:
            self._watching_all.discard(event)

    def tell(self, tickets: frozenset[TicketId]) -> None:
        """Wakes whoever watches these tickets; an empty set wakes everybody."""
        for ticket in tickets or frozenset(self._watching):
            for event in self._watching.get(ticket, ()):
                event.set()
        for event in self._watching_all:
            event.set()


@dataclass(slots=True)
class _Desk:
    """What a worker's tasks share."""

    house: House
    worker: Worker
    concurrency: int
    stopping: asyncio.Event
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    feed: StoreFeed = field(default_factory=StoreFeed)
    running: dict[TicketId, asyncio.Task[None]] = field(default_factory=dict)
    on_end: Callable[[TicketId, Over], None] | None = None
    key_refused: str | None = None


async def serve(
    house: House,
    worker: Worker,
    *,
    concurrency: int,
    drain: bool,
    stopping: asyncio.Event,
    on_end: Callable[[TicketId, Over], None] | None = None,
) -> None:
    """Works until told to stop, or until nothing is left to do.

    Args:
        house: The ports and numbers.
        worker: Who this is.
        concurrency: Runs at a time.
        drain: Return once nothing is runnable, no run holds a ticket (a dead one's
            lease included) and nothing deliverable waits.
        stopping: Set it to stop: runs give back at their next boundary.
        on_end: Told of every run that ends.

    Raises:
        ModelFailed: The provider refuses our key. The ticket it was seen on is with
            people; the others wait for a worker with a good key.
    """
    worker = replace(worker, channels=tuple(house.channels))
    await _patiently(lambda: requeue_for_channels(house))
    desk = _Desk(
        house=house,
        worker=worker,
        concurrency=concurrency,
        stopping=stopping,
        on_end=on_end,
    )
    async with asyncio.TaskGroup() as together:
        beside = [
            together.create_task(_follow(desk)),
            together.create_task(_again(desk, _REPORT, _report)),
            together.create_task(_again(desk, _EXPIRY, _expire)),
            together.create_task(_send(desk)),
        ]
        try:
            async with asyncio.TaskGroup() as runs:
                await _dispatch(desk, runs, drain=drain)
        finally:
            for task in beside:
                task.cancel()
    await _patiently(lambda: house.store.write(lambda tx: tx.retire(worker.id)))
    if desk.key_refused is not None:
        raise ModelFailed(desk.key_refused, kind="refused_key")


async def _dispatch(desk: _Desk, runs: asyncio.TaskGroup, *, drain: bool) -> None:
    """Starts runs on due tickets as they come."""
    with desk.feed.watch_all() as changed:
        while not desk.stopping.is_set():
            changed.clear()
            desk.ended.clear()
            try:
                left = await _start_due(desk, runs)
                if drain and not left and not desk.running and await _idle(desk):
                    return
            except StoreUnreachable as lost:
                log.warning("%s", lost)
                await desk.house.clock.sleep(_STORE_PAUSE)
            await _woken(changed, desk.ended, desk.stopping)


async def _start_due(desk: _Desk, runs: asyncio.TaskGroup) -> int:
    free = desk.concurrency - len(desk.running)
    limit = desk.concurrency + len(desk.running)
    due = await desk.house.store.read(lambda tx: tx.due(limit))
    fresh = [t for t in due if t not in desk.running]
    for ticket in fresh[: max(free, 0)]:
        desk.running[ticket] = runs.create_task(_run(desk, ticket))
    return len(fresh)


async def _idle(desk: _Desk) -> bool:
    return not await desk.house.store.read(lambda tx: tx.busy() or bool(tx.due(1)))


async def _woken(*events: asyncio.Event) -> None:
    """Returns when one of the events is set, or after a second."""
    async with asyncio.TaskGroup() as together:
        tasks = [together.create_task(_set(event)) for event in events]
        await asyncio.wait(
            tasks, timeout=_LOOK_AGAIN, return_when=asyncio.FIRST_COMPLETED
        )
        for task in tasks:
            task.cancel()


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _run(desk: _Desk, ticket: TicketId) -> None:
    try:
        over = await work(desk.house, ticket, desk.feed, desk.stopping)
        if over is not None and desk.on_end is not None:
            desk.on_end(ticket, over)
        if over is not None and over.voice_refused:
            desk.house = replace(desk.house, voice=Voice.MARKED)
        if over is not None and over.key_refused:
            desk.key_refused = over.why
            desk.stopping.set()
    except Exception as error:  # noqa: BLE001 # one ticket's trouble must not stop the rest
        log.warning("%s: the run was cut off: %s", ticket, _plainly(error))
        await desk.house.clock.sleep(_STORE_PAUSE)
    finally:
        desk.running.pop(ticket, None)
        desk.ended.set()


def _plainly(error: BaseException) -> str:
    """The cause in one line: our own errors speak, others may hold a buyer's words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, HandoffError):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {frame.name}, line {frame.lineno}"


# What runs beside the runs


async def _follow(desk: _Desk) -> None:
    while True:
        try:
            async for changed in desk.house.store.follow():
                desk.feed.tell(changed)
        except StoreUnreachable:
            await desk.house.clock.sleep(_STORE_PAUSE)


async def _again(
    desk: _Desk, pause: float, act: Callable[[_Desk], Awaitable[None]]
) -> None:
    while True:
        try:
            await act(desk)
        except StoreUnreachable as lost:
            log.warning("%s", lost)
        await desk.house.clock.sleep(pause)


async def _report(desk: _Desk) -> None:
    await desk.house.store.write(lambda tx: tx.report_alive(desk.worker))


async def _expire(desk: _Desk) -> None:
    await expire(desk.house.store)
    await wake(desk.house.store)
    await free_absent(desk.house.store)


async def _send(desk: _Desk) -> None:
    """Delivers what waits, whenever something has changed."""
    with desk.feed.watch_all() as changed:
        while True:
            changed.clear()
            try:
                await requeue_for_channels(desk.house)
                if await deliver_due(desk.house):
                    continue
            except StoreUnreachable as lost:
                log.warning("%s", lost)
            try:
                async with asyncio.timeout(_LOOK_AGAIN):
                    await changed.wait()
            except TimeoutError:
                pass


async def _patiently(act: Callable[[], Awaitable[object]]) -> None:
    try:
        await act()
    except StoreUnreachable as lost:
        log.warning("%s", lost)
