"""A PostgreSQL primary dies, its standby steps in: `python -m tests.faults.failover`.

    --every K              each K-th point of the story (default: 8)
    --bursts N             times that a primary dies under a burst (default: 3)

First a worker is stopped at a point of a story, the primary dies, the standby is
promoted, and the worker goes on: its story must end as it would have. Then messages
are stored as fast as they can be while the primary dies: none that was acknowledged may
be missing, and each that was handed in until it was acknowledged is there once.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence

from console.wiring import RandomIds
from core.errors import StoreUnreachable
from core.flows.intake import receive
from core.journal import Message
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.faults import kill
from tests.faults.story import OVERRIDDEN
from tests.faults.wakeups import message

_WRITERS = 4


def story(cut: kill.Cut, requests: Sequence[str] | None) -> kill.Played:
    """Plays a story whose primary dies at a point."""
    with kill.stores("pair") as kept:
        return kill.play(OVERRIDDEN, kept, cut, requests, way=kill.Way.LOSE)


def points() -> kill.Played:
    """The story without a cut."""
    with kill.stores("postgresql") as kept:
        return kill.play(OVERRIDDEN, kept, None, None)


def burst(seed: int) -> tuple[list[str], int]:
    """What is missing after the primary died, and how many were acknowledged."""
    with kill.stores("pair") as kept:
        return asyncio.run(_burst(kept, random.Random(seed)))


async def _burst(kept: kill.Stores, dice: random.Random) -> tuple[list[str], int]:
    assert kept.cluster is not None
    store = SqlStore.open(kept.template)
    first = await receive(store, RandomIds(), message(0, 0, None))
    over, acknowledged = asyncio.Event(), {0}

    async def write(number: int) -> None:
        n = number
        while not over.is_set():
            n += _WRITERS
            await _handed_in(store, n, first.ticket)
            acknowledged.add(n)

    async with asyncio.TaskGroup() as together:
        for number in range(_WRITERS):
            together.create_task(write(number))
        await asyncio.sleep(dice.uniform(1, 2))
        before = len(acknowledged)
        await asyncio.to_thread(kept.cluster.cut)
        await asyncio.to_thread(kept.cluster.again)
        until = time.monotonic() + 20
        while len(acknowledged) < before + 50 and time.monotonic() < until:
            await asyncio.sleep(0.01)
        over.set()
    history = await store.read(lambda tx: tx.history(first.ticket))
    await store.close()
    there = [e.body.text for e in history.journal if isinstance(e.body, Message)]
    wanted = [message(0, n, None).text for n in acknowledged]
    found = [f"lost: {text}" for text in set(wanted) - set(there)]
    found += ["stored twice"] if len(set(there)) != len(there) else []
    went_on = len(acknowledged) >= before + 50
    return [*found, *([] if went_on else ["it did not go on"])], len(acknowledged)


async def _handed_in(store: SqlStore, n: int, ticket: TicketId) -> None:
    """Hands a message in until it is acknowledged, as a channel does."""
    while True:
        try:
            await receive(store, RandomIds(), message(0, n, ticket))
        except StoreUnreachable:
            await asyncio.sleep(0.05)
        else:
            return


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.failover")
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--bursts", type=int, default=3)
    said = parser.parse_args()
    whole = points()
    chosen = kill.choose(whole.points, said.every)
    bad = 0
    for cut in chosen:
        played = story(cut, whole.requests)
        bad += bool(played.found)
        if played.found:
            print(cut, *played.found, sep="\n  ")
    print(f"{len(chosen)} fail-overs in a story, {bad} violations", flush=True)
    total = 0
    for seed in range(said.bursts):
        found, count = burst(seed)
        total += count
        bad += bool(found)
        print(*found[:10], sep="\n", end="\n" if found else "")
    print(f"{said.bursts} bursts, {total} acknowledged, {bad} violations in all")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
