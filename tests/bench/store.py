"""How fast the store is, beside a raw driver that does the same with the same care.

    python -m tests.bench.store [--store sqlite|postgresql|both] [--turns N] [--dir D]

Everything is measured in one run, since the machine drifts: medians, and ratios to a
raw driver (`sqlite3` in WAL with synchronous=FULL, `psycopg` with one statement a
turn). A turn here is a tool call and its result with the model's response, four rows
of about 3,600 bytes in all; its request and the ledger's commits are counted apart.
"""

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg

from core.journal import Message, ToolCalled, ToolReturned
from core.lock import (
    Hold,
    Holder,
    HolderKind,
    Lease,
    Released,
    acquire_for_run,
    release,
)
from core.ticket import Origin, RunId, Ticket, TicketId, agent, buyer
from core.turn import ModelResponse, Turn, Usage
from store.transaction import SqlStore
from tests.core.building import run_of
from tests.worlds.postgres import Cluster

TEXT = "y" * 870
LEASE = Lease(length=timedelta(hours=1))


def open_ticket(name: str) -> Callable[..., Hold]:
    """A transaction that opens a ticket and gives it to a run."""
    ticket, run = TicketId(name), RunId(f"R-{name}")

    def opening(tx) -> Hold:  # type: ignore[no-untyped-def]
        tx.open_ticket(
            Ticket(
                id=ticket,
                subject="A parcel",
                channel="mail",
                claim="a@example.com",
                origin=Origin.LIVE,
                created_at=tx.now,
            )
        )
        said = Message(direction="in", text=TEXT, channel="mail")
        tx.append(ticket, buyer("a@example.com"), said)
        holder = Holder(kind=HolderKind.RUN, name=run)
        lock = acquire_for_run(tx.lock_of(ticket), holder, tx.now, LEASE).lock  # type: ignore[union-attr]
        tx.save_lock(lock)
        tx.start_run(lock.hold, replace(run_of(run), ticket=ticket))
        return lock.hold

    return opening


def a_request(hold: Hold, n: int) -> Callable[..., None]:
    """Stores a small request, so that there is a turn to answer."""
    run = RunId(f"R-{hold.ticket}")

    def asking(tx) -> None:  # type: ignore[no-untyped-def]
        seq = tx.standing(hold.ticket).last_seq
        turn = Turn(number=n, built_at=seq, upto=1, requested_at=tx.now)
        tx.store_request(hold, run, turn, [b'{"role":"user","content":"?"}'])

    return asking


def a_turn(hold: Hold, n: int) -> Callable[..., None]:
    """Stores what a turn leaves: the response, a call and its result."""
    run = RunId(f"R-{hold.ticket}")
    call = f"toolu_{n}"
    block = {"type": "tool_use", "id": call, "name": "find", "input": {"q": TEXT}}
    response = ModelResponse(
        id=f"msg_{n}",
        model="claude-sonnet-5-5",
        content=(block,),
        stop_reason="tool_use",
        usage=Usage(in_tokens=10, out_tokens=10),
        request_id=None,
    )

    def persisting(tx) -> None:  # type: ignore[no-untyped-def]
        tx.store_response(hold, run, n, response, applied=True)
        asked = ToolCalled(id=call, name="find", input={"q": TEXT})
        tx.append_as(hold, agent(run), asked)
        tx.append_as(hold, agent(run), ToolReturned(id=call, content=TEXT * 2))

    return persisting


def payload(n: int) -> list[str]:
    """The same bytes as four plain rows, for the raw drivers."""
    return [json.dumps({"n": n, "i": i, "text": TEXT}) for i in range(4)]


# Raw drivers


def raw_sqlite(path: Path) -> Callable[[int], None]:
    """A turn as four rows in one BEGIN IMMEDIATE … COMMIT, synced."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE m(t TEXT, s INTEGER, b TEXT, UNIQUE(t, s))")

    def turn(n: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        rows = [("T", 4 * n + i, b) for i, b in enumerate(payload(n))]
        connection.executemany("INSERT INTO m VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")

    return turn


def raw_postgres(url: str) -> Callable[[int], None]:
    """A turn as four rows in one statement, committed by itself."""
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("CREATE TABLE m(t text, s bigint, b text, UNIQUE(t, s))")

    def turn(n: int) -> None:
        values = [v for i, b in enumerate(payload(n)) for v in ("T", 4 * n + i, b)]
        row = ", ".join(["(%s, %s, %s)"] * 4)
        connection.execute(f"INSERT INTO m VALUES {row}", values)  # type: ignore[arg-type]

    return turn


# What is measured


async def persist(store: SqlStore, raw: Callable[[int], None], turns: int) -> None:
    """One ticket, one turn after the other."""
    hold = await store.write(open_ticket("T-ONE"))
    ours: list[float] = []
    theirs: list[float] = []
    for n in range(1, turns + 1):
        await store.write(a_request(hold, n))
        began = time.perf_counter()
        await store.write(a_turn(hold, n))
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        raw(n)
        theirs.append(time.perf_counter() - began)
    for at in [t for t in (10, 50, 200, 1000) if t <= turns]:
        one, other = ms(ours[:at]), ms(theirs[:at])
        print(
            f"  persist a turn, T={at:<5} {one:7.2f} ms  raw {other:6.2f} ms  "
            f"ratio {one / other:4.2f}"
        )
    tenth = max(turns // 10, 1)
    first, last = ms(ours[:tenth]), ms(ours[-tenth:])
    print(f"  last tenth / first tenth  {last / first:4.2f}")


async def at_once(store: SqlStore, tickets: int, turns: int) -> None:
    """Many tickets, each persisting its turns as fast as it can."""
    holds = [await store.write(open_ticket(f"T-{i:04}")) for i in range(tickets)]
    waits: list[float] = []

    async def work(hold: Hold) -> None:
        for n in range(1, turns + 1):
            await store.write(a_request(hold, n))
            began = time.perf_counter()
            await store.write(a_turn(hold, n))
            waits.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(work(h) for h in holds))
    took = time.perf_counter() - began
    waits.sort()
    print(
        f"  {tickets} tickets at once  {len(waits) / took:7.0f} turns/s (request and "
        f"turn)  p95 {waits[int(len(waits) * 0.95)] * 1e3:5.0f} ms  "
        f"longest {waits[-1] * 1e3:5.0f} ms"
    )


async def claims(store: SqlStore, workers: int, rounds: int) -> None:
    """Take a lock and give it back: two commits a ticket."""
    for i in range(workers):
        await store.write(open_ticket(f"T-C{i:03}"))
        await store.write(_free(TicketId(f"T-C{i:03}")))

    async def work(ticket: TicketId) -> None:
        for _ in range(rounds):
            await store.write(_claim(ticket))
            await store.write(_free(ticket))

    began = time.perf_counter()
    names = [TicketId(f"T-C{i:03}") for i in range(workers)]
    await asyncio.gather(*(work(t) for t in names))
    took = time.perf_counter() - began
    print(f"  claim and complete, {workers} workers  {workers * rounds / took:7.0f} /s")


def _claim(ticket: TicketId) -> Callable[..., None]:
    def claiming(tx) -> None:  # type: ignore[no-untyped-def]
        holder = Holder(kind=HolderKind.RUN, name="R-C")
        tx.save_lock(acquire_for_run(tx.lock_of(ticket), holder, tx.now, LEASE).lock)  # type: ignore[union-attr]

    return claiming


def _free(ticket: TicketId) -> Callable[..., None]:
    def freeing(tx) -> None:  # type: ignore[no-untyped-def]
        lock = tx.lock_of(ticket)
        outcome = release(lock, lock.hold, tx.now)
        if isinstance(outcome, Released):
            tx.save_lock(outcome.lock)

    return freeing


def load(url: str) -> None:
    """Reads the long ticket in fresh processes, imports done."""
    code = (
        "import asyncio, sys, time\n"
        "from store.transaction import SqlStore\n"
        "async def main():\n"
        "    store = SqlStore.open(sys.argv[1])\n"
        "    await store.read(lambda tx: tx.now)\n"
        "    began = time.perf_counter()\n"
        "    found = await store.read(lambda tx: tx.history('T-ONE'))\n"
        "    print(len(found.journal), time.perf_counter() - began)\n"
        "    await store.close()\n"
        "asyncio.run(main())\n"
    )
    took = []
    for _ in range(5):
        said = subprocess.run(
            [sys.executable, "-c", code, url],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        ).stdout.split()
        took.append(float(said[1]))
    print(f"  load the whole ticket ({said[0]} entries)  {ms(took):6.1f} ms")


async def hand_over(store: SqlStore, other: SqlStore, rounds: int) -> None:
    """A change by one store until another one's follower knows."""
    await store.write(open_ticket("T-HAND"))
    seen: asyncio.Queue[float] = asyncio.Queue()

    async def follow() -> None:
        async for _ in other.follow():
            seen.put_nowait(time.perf_counter())

    waits = []
    async with asyncio.TaskGroup() as together:
        following = together.create_task(follow())
        await seen.get()
        for _ in range(rounds):
            await asyncio.sleep(0.03)
            while not seen.empty():
                seen.get_nowait()
            await store.write(_free(TicketId("T-HAND")))
            await store.write(_said)
            began = time.perf_counter()
            waits.append(max(await seen.get() - began, 0.0))
        following.cancel()
    waits.sort()
    print(
        f"  told to another store  median {ms(waits):5.2f} ms  "
        f"p95 {waits[int(len(waits) * 0.95)] * 1e3:5.2f} ms"
    )


def _said(tx) -> None:  # type: ignore[no-untyped-def]
    said = Message(direction="in", text="hello", channel="mail")
    tx.append(TicketId("T-HAND"), buyer("a@example.com"), said)


def ms(seconds: list[float]) -> float:
    """The median in milliseconds."""
    return statistics.median(seconds) * 1e3


async def measure(url: str, raw: Callable[[int], None], turns: int) -> None:
    """All of it on one store."""
    store = SqlStore.open(url)
    other = SqlStore.open(url)
    try:
        await persist(store, raw, turns)
        load(url)
        await at_once(store, 64, 20)
        await claims(store, 64, 20)
        await hand_over(store, other, 40)
    finally:
        await store.close()
        await other.close()


@contextmanager
def databases(wanted: str, folder: Path) -> Iterator[Iterator[tuple[str, str]]]:
    """The databases that were asked for, as kind and URL."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        cluster = Cluster(fsync=True) if wanted != "sqlite" else None
        if cluster is not None:
            cluster.start()

        def each() -> Iterator[tuple[str, str]]:
            if wanted != "postgresql":
                yield "sqlite", f"sqlite:///{Path(name) / 'handoff.db'}"
            if cluster is not None:
                yield "postgresql", cluster.create_database()

        try:
            yield each()
        finally:
            if cluster is not None:
                cluster.stop()


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.store")
    parser.add_argument(
        "--store", choices=["sqlite", "postgresql", "both"], default="both"
    )
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()))
    said = parser.parse_args()
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    with databases(said.store, said.dir) as found:
        for kind, url in found:
            print(kind)
            if kind == "sqlite":
                raw = raw_sqlite(Path(url.removeprefix("sqlite:///")).with_name("raw"))
            else:
                raw = raw_postgres(url)
            asyncio.run(measure(url, raw, said.turns))


if __name__ == "__main__":
    main()
