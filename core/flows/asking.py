"""While the model thinks: the call, its retries, and what may end it early.

A model call has no side effect, so it is cancelled the moment an operator wants the
ticket, the hold is lost or the worker is to stop. The lease is kept beside it, and
beside everything else the run does, by a task of its own.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import TypeAlias

from core.errors import ModelFailed, StaleHold, StoreUnreachable
from core.flows.house import House
from core.lock import Hold, Lease, Lost, is_current, renew
from core.ports import Feed, Transaction
from core.ticket import TicketId
from core.turn import ModelResponse, Request

log = logging.getLogger("handoff.worker")


class Interrupted:
    """The call was cancelled before its answer: nothing happened."""


Answer: TypeAlias = ModelResponse | ModelFailed | Interrupted

_TRIED_AGAIN = {"rate_limited", "overloaded", "unreachable", "garbage"}
_GARBAGE_TRIES = 3


async def ask_model(
    house: House, hold: Hold, request: Request, feed: Feed, stopping: asyncio.Event
) -> Answer:
    """The model's answer, its failure, or that there was no waiting for it."""
    async with asyncio.TaskGroup() as together:
        asking = together.create_task(_patiently(house, hold.ticket, request))
        watching = [
            together.create_task(_until_unwelcome(house, hold, feed)),
            together.create_task(_until_set(stopping)),
        ]
        await asyncio.wait([asking, *watching], return_when=asyncio.FIRST_COMPLETED)
        for task in (asking, *watching):
            task.cancel()
    return Interrupted() if asking.cancelled() else asking.result()


async def _patiently(
    house: House, ticket: TicketId, request: Request
) -> ModelResponse | ModelFailed:
    """Asks again, with growing pauses, as long as that can help."""
    patience = house.limits.model_patience.total_seconds()
    clock = asyncio.get_running_loop()
    deadline = clock.time() + patience
    pause, failures = 0.5, 0
    while True:
        left = deadline - clock.time()
        try:
            async with asyncio.timeout(max(left, 0.01)):
                return await house.model.respond(request)
        except ModelFailed as failed:
            last = failed
        except TimeoutError:
            why = f"the model gave no answer within {patience:.0f} s"
            return ModelFailed(why, kind="unreachable")
        failures += last.kind == "garbage"
        wait = max(last.retry_after or 0.0, pause)
        hopeless = last.kind not in _TRIED_AGAIN or failures >= _GARBAGE_TRIES
        if hopeless or clock.time() + wait > deadline:
            return last
        log.warning(
            "%s: %s; asking again in %.0f s, for %.0f s more at most",
            ticket,
            last,
            wait,
            deadline - clock.time(),
        )
        await house.clock.sleep(wait)
        pause = min(pause * 2, 30.0)


async def _until_unwelcome(house: House, hold: Hold, feed: Feed) -> None:
    """Returns once the run is to let go: somebody asked for the ticket, or has it."""
    with feed.watch(hold.ticket) as changed:
        while True:
            changed.clear()
            if await house.store.read(lambda tx: _is_unwelcome(tx, hold)):
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await changed.wait()


_LOOK_AGAIN = 1.0
"""Seconds: a pause of everything changes no ticket, so the feed does not tell it."""


def _is_unwelcome(tx: Transaction, hold: Hold) -> bool:
    lock, standing = tx.lock_of(hold.ticket), tx.standing(hold.ticket)
    return (
        not is_current(lock, hold)
        or lock.wanted_by is not None
        or standing.with_people is not None
        or standing.paused is not None
        or tx.pause() is not None
    )


async def _until_set(stopping: asyncio.Event) -> None:
    await stopping.wait()


async def keep_lease(house: House, hold: Hold) -> None:
    """Renews the hold at a third of its lease for as long as the run lives.

    Raises:
        StaleHold: The hold was lost, or could not be renewed before the lease ended
            by this machine's measure: the run must not do anything more (rule 11).
    """
    lease = Lease(length=house.limits.lease)
    pause = lease.length / 3
    clock = asyncio.get_running_loop()
    good_until = clock.time() + lease.length.total_seconds()
    while True:
        await house.clock.sleep(pause.total_seconds())
        asked = clock.time()
        try:
            kept = await house.store.write(lambda tx: _renew(tx, hold, lease))
        except StoreUnreachable:
            kept = None
        if kept:
            good_until = asked + lease.length.total_seconds()
        elif kept is False or clock.time() > good_until - pause.total_seconds():
            raise StaleHold(f"{hold.ticket}: the lease could not be renewed")
        pause = lease.length / 3 if kept else min(pause, timedelta(seconds=1))


def _renew(tx: Transaction, hold: Hold, lease: Lease) -> bool:
    outcome = renew(tx.lock_of(hold.ticket), hold, tx.now, lease)
    if isinstance(outcome, Lost):
        return False
    tx.save_lock(outcome.lock)
    return True
