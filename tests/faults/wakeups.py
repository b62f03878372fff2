"""Messages arrive all at once at one ticket: `python -m tests.faults.wakeups`.

    --store sqlite|postgresql|both
    --rounds N             tickets, one after the other (default: 100)
    --arrivals N           messages of a ticket (default: 64)
    --workers N            workers, each with its own store (default: 8)
    --jobs N               processes at a time (default: 2)
    --folder DIR           where SQLite stores are kept (default: the usual place for
                           temporary files; /dev/shm is faster for the same race)

The first message opens a ticket; the others arrive at the same time, each through one
of the workers' stores, so that they meet a run at any of its steps while the workers
race for the ticket. A round is over when nobody waits for an answer and nobody holds
the ticket; it must be over soon, since a lost wake-up would leave a message lying.

A hundred rounds share a store and a process; after each hundred stderr says how far it
is.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import (
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from console.wiring import RandomIds, worker
from core.flows.house import House
from core.flows.intake import receive
from core.flows.serve import serve
from core.history import History
from core.journal import Message, RunChanged
from core.ticket import Arrival, TicketId
from store.transaction import SqlStore
from tests.faults.kill import Stores, stores
from tests.flows.world import BrainModel, world_on
from tests.worlds.brains import Reply, text_of
from tests.worlds.letters import letter

_SOON = 20.0
_TOGETHER = 100


def echo(body: dict[str, Any]) -> Reply:
    """Answers with how much it has seen."""
    return Reply(text=f"Seen: {text_of(body).count('message number')}.")


@asynccontextmanager
async def workers(
    url: str, count: int, folder: Path
) -> AsyncIterator[tuple[SqlStore, Sequence[SqlStore]]]:
    """So many workers on a store; gives a store of one's own, and the workers'."""
    mine = SqlStore.open(url)
    stopping = asyncio.Event()
    async with world_on(mine, folder, echo) as world, asyncio.TaskGroup() as together:
        opened = [SqlStore.open(url) for _ in range(count)]
        for store in opened:
            house: House = replace(
                world.house, store=store, model=BrainModel(echo), ids=RandomIds()
            )
            serving = serve(
                house, worker(), concurrency=2, drain=False, stopping=stopping
            )
            together.create_task(serving)
        yield mine, opened
        stopping.set()
    for store in (*opened, mine):
        await store.close()


async def one_round(
    store: SqlStore, ways: Sequence[SqlStore], number: int, arrivals: int
) -> Sequence[str]:
    """One ticket's messages; every rule that their end breaks."""
    by_chance = random.Random(number)
    first = await receive(store, RandomIds(), message(number, 0, None))
    ticket = first.ticket
    async with asyncio.TaskGroup() as together:
        for n in range(1, arrivals):
            arrival = message(number, n, ticket)
            way = by_chance.choice(ways)
            together.create_task(receive(way, RandomIds(), arrival))
    until = time.monotonic() + _SOON
    while True:
        standing = await store.read(lambda tx: tx.standing(ticket))
        over = not standing.unanswered and standing.run is None and not standing.due
        if over or time.monotonic() > until:
            break
        await asyncio.sleep(0.002)
    history = await store.read(lambda tx: tx.history(ticket))
    found = [] if over else ["a message was left lying (rule 3)"]
    return found + _wrong(history, arrivals)


def message(number: int, n: int, ticket: TicketId | None) -> Arrival:
    text = f"This is message number {n}."
    return letter(f"<{number}.{n}@example.com>", text, ticket, subject="Many at once")


def _wrong(history: History, arrivals: int) -> list[str]:
    found = [*_answers(history, arrivals), *_runs(history)]
    inward = [e.body for e in history.journal if isinstance(e.body, Message)]
    texts = Counter(m.text for m in inward if m.direction == "in")
    if len(texts) != arrivals or set(texts.values()) != {1}:
        found.append(f"messages lost or doubled: {len(texts)} of {arrivals}")
    return found


def _answers(history: History, arrivals: int) -> list[str]:
    """Each message is covered first by one reply, and no reply covers nothing."""
    found, waiting, answered, covered = [], [], 0, 0
    for entry in history.journal:
        match entry.body:
            case Message(direction="in"):
                waiting.append(entry.seq)
            case Message(covers=int(upto)):
                left = [seq for seq in waiting if seq > upto]
                if len(left) == len(waiting) or upto < covered:
                    found.append(f"reply #{entry.seq} answers nothing")
                answered += len(waiting) - len(left)
                waiting, covered = left, upto
            case _:
                pass
    if answered != arrivals:
        found.append(f"answered once: {answered} of {arrivals}")
    return found


def _runs(history: History) -> list[str]:
    """One at a time, and none is cut off."""
    changes = [e.body.change for e in history.journal if isinstance(e.body, RunChanged)]
    held = [c for c in changes if c in {"started", "ended"}]
    found = []
    if held != ["started", "ended"] * (len(held) // 2):
        found.append("two runs at once (rule 1)")
    crashed = [r.id for r in history.runs if r.stop and r.stop.value == "crashed"]
    return [*found, *(f"{run} crashed" for run in crashed)]


async def soak(
    url: str, folder: Path, numbers: Sequence[int], *, arrivals: int, count: int
) -> list[str]:
    """Plays rounds on one store; every rule that one of them breaks."""
    found: list[str] = []
    async with workers(url, count, folder) as (store, ways):
        for number in numbers:
            wrong = await one_round(store, ways, number, arrivals)
            found += [f"round {number}: {w}" for w in wrong]
    return found


def _hundred(
    url: str, folder: str, numbers: Sequence[int], arrivals: int, count: int
) -> list[str]:
    """Some rounds, in a process of their own."""
    rounds = soak(url, Path(folder), numbers, arrivals=arrivals, count=count)
    return asyncio.run(rounds)


def soaked(
    kept: Stores, *, rounds: int, arrivals: int, count: int, jobs: int
) -> Iterator[tuple[int, list[str]]]:
    """Plays all rounds, some at a time: how many are over, and what was found."""
    context = multiprocessing.get_context("forkserver")
    parts = [
        range(start, min(start + _TOGETHER, rounds))
        for start in range(0, rounds, _TOGETHER)
    ]
    with (
        ProcessPoolExecutor(jobs, mp_context=context) as processes,
        ThreadPoolExecutor(jobs) as pool,
    ):

        def part(numbers: Sequence[int]) -> list[str]:
            with tempfile.TemporaryDirectory(dir=kept.folder) as folder:
                url = kept.new(Path(folder))
                given = (url, folder, numbers, arrivals, count)
                found = processes.submit(_hundred, *given).result()
                kept.drop(url)
            return found

        playing = {pool.submit(part, numbers): len(numbers) for numbers in parts}
        over = 0
        for played in as_completed(playing):
            over += playing[played]
            yield over, played.result()


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.wakeups")
    parser.add_argument("--store", default="both")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--arrivals", type=int, default=64)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    kinds = ["sqlite", "postgresql"] if asked.store == "both" else [asked.store]
    bad = 0
    for kind in kinds:
        begun, violations = time.monotonic(), 0
        with stores(kind, asked.folder) as kept:
            for over, found in soaked(
                kept,
                rounds=asked.rounds,
                arrivals=asked.arrivals,
                count=asked.workers,
                jobs=asked.jobs,
            ):
                violations += len(found)
                print(*found, sep="\n", end="\n" if found else "", flush=True)
                took = time.monotonic() - begun
                print(
                    f"{kind}: {over} of {asked.rounds} rounds, "
                    f"{violations} violations, {took:.0f} s",
                    file=sys.stderr,
                )
        print(
            f"{kind}: {asked.rounds} rounds of {asked.arrivals} arrivals at "
            f"{asked.workers} workers, {violations} violations, "
            f"{time.monotonic() - begun:.0f} s",
            flush=True,
        )
        bad += bool(violations)
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
