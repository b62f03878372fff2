"""How fast the console is: keys, first paint, arrivals and memory at a full store.

    python -m tests.bench.console [--store sqlite|postgresql] [--tickets N]
                                  [--entries N] [--rate N] [--keys N] [--dir D]

The console runs in a real pseudo-terminal on a store with 100,000 tickets, while
another process changes 200 tickets a second; one ticket has 10,000 entries and a tool
result of 1 MB. Everything is measured in one run, since the machine drifts; first paint
also as a ratio to an empty program of the same library, and on SQLite alone: it is
before any store is opened. `--dir` keeps the store of SQLite for the next run.

The console paints before it loads anything but the screen library, so there are two
figures: the first paint, of the desk's frame, and the tickets. Both are measured as a
person has them who starts it the second time, with what Python compiled the first
time. On two cores that other programs keep busy every figure doubles or triples:
compare within one run only.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from textual import events

from console.app import HandoffApp
from console.screens.desk import Desk
from console.screens.pace import Pace
from core.decision import Operator, Role
from core.journal import Message, Note, ToolCalled, ToolReturned
from core.ports import Transaction
from core.ticket import Origin, RunId, Ticket, TicketId, agent, buyer, operator, system
from store.transaction import SqlStore
from tests.console.shown import ME
from tests.console.steps import services_on
from tests.console.terminal import Terminal, terminal
from tests.worlds.postgres import Cluster

SIZE = (160, 45)
LONG = TicketId("T-LONG")
BATCH = 500
FIRST = 6
_COMPILED = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")


class Timed(HandoffApp):
    """A console that notes how long each key took until it was painted."""

    key_at = 0.0
    times: list[float]

    async def on_event(self, event: events.Event) -> None:
        await super().on_event(event)
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.key_at = event.time

    def _display(self, screen: Any, renderable: Any) -> None:
        super()._display(screen, renderable)
        if self.key_at:
            self.times.append(time.perf_counter() - self.key_at)
            self.key_at = 0.0


async def show(url: str) -> list[float]:
    """Runs the timed console; how many seconds each key took."""
    store = SqlStore.open(url)
    app = Timed(Desk(services_on(store)), Pace())
    app.times = []
    await app.run_async()
    await store.close()
    return app.times


# The store


async def fill(url: str, tickets: int, entries: int) -> None:
    """Makes the store."""
    store = SqlStore.open(url)
    await store.write(lambda tx: tx.save_operator(ME))
    other = Operator(name="Mira", role=Role.AGENT)
    await store.write(lambda tx: tx.save_operator(other))
    for start in range(0, tickets, BATCH):
        await store.write(partial(_open, range(start, min(start + BATCH, tickets))))
    await store.write(partial(_long, entries))
    await store.close()


def _open(numbers: range, tx: Transaction) -> None:
    for n in numbers:
        ticket = TicketId(f"T-{n:06d}")
        _ticket(tx, ticket, f"Where is parcel {n}?")
        said = Message(direction="in", text=f"It is late, {n}.", channel="mail")
        tx.append(ticket, buyer(f"buyer{n}@example.com"), said)


def _ticket(tx: Transaction, ticket: TicketId, subject: str) -> None:
    tx.open_ticket(
        Ticket(
            id=ticket,
            subject=subject,
            channel="mail",
            claim="a@example.com",
            origin=Origin.LIVE,
            created_at=tx.now,
        )
    )


def _long(entries: int, tx: Transaction) -> None:
    _ticket(tx, LONG, "The long one")
    run = agent(RunId("R-LONG"))
    for n in range(entries // 4):
        call = f"C-{n}"
        said = Message(direction="in", text=f"Word {n}. " * 12, channel="mail")
        tx.append(LONG, buyer("a@example.com"), said)
        asked = ToolCalled(id=call, name="get_order", input={"order_id": f"SU-{n}"})
        tx.append(LONG, run, asked)
        size = 1_000_000 if n % 1000 == 999 else 400
        tx.append(
            LONG,
            system("tools"),
            ToolReturned(id=call, content="x" * size, is_error=False),
        )
        tx.append(LONG, operator("Mira"), Note(text=f"Note {n}", for_agent=False))


async def change(url: str, rate: int, tickets: int) -> None:
    """Changes so many tickets a second until it is killed."""
    store = SqlStore.open(url)
    loop = asyncio.get_running_loop()
    began, done = loop.time(), 0
    while True:
        due = int((loop.time() - began) * rate) - done
        notes = [
            store.write(partial(_note, TicketId(f"T-{random.randrange(tickets):06d}")))
            for _ in range(min(due, 50))
        ]
        await asyncio.gather(*notes)
        done += len(notes)
        await asyncio.sleep(0.005)


def _note(ticket: TicketId, tx: Transaction) -> None:
    tx.append(ticket, operator("Mira"), Note(text="seen", for_agent=False))


def _arrive(ticket: TicketId, said: Message, tx: Transaction) -> None:
    tx.append(ticket, buyer("a@example.com"), said)


# What is measured


def paints(*arguments: str, wanted: Sequence[bytes]) -> list[float]:
    """Milliseconds from the start of a program until it has painted each of these."""
    began, took = time.perf_counter(), []
    with terminal(*arguments, size=SIZE) as shown:
        for words in wanted:
            while words not in shown.raw:
                shown.read(0.001)
            took.append((time.perf_counter() - began) * 1000)
        return took


@contextmanager
def compiled() -> Iterator[None]:
    """Lets programs keep what Python compiles, as they do where people use them."""
    kept = {name: os.environ.get(name) for name in _COMPILED}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(dict(zip(_COMPILED, ("", folder), strict=True)))
        try:
            yield
        finally:
            for name, value in kept.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def first_paints(url: str) -> dict[str, float]:
    """How long the console takes to paint, and an empty program of the library."""
    ours = ("-m", "console.cli", "--store", url, "--as", ME.name)
    empty = ("-m", "tests.bench.empty")
    wanted = (b"opening the store", "● live".encode())
    with compiled():
        both = [
            (paints(*ours, wanted=wanted), paints(*empty, wanted=(b"painted",)))
            for _ in range(FIRST)
        ]
    frame, tickets = zip(*[took for took, _ in both[1:]], strict=True)
    return {
        "first paint, ms": min(frame),
        "tickets on the screen, ms": min(tickets),
        "first paint of an empty program, ms": min(took[0] for _, took in both[1:]),
    }


def press(shown: Terminal, key: str, times: int, pause: float = 0.06) -> None:
    """Presses a key many times, as a quick hand does."""
    for _ in range(times):
        shown.keys(key)
        end = time.monotonic() + pause
        while time.monotonic() < end:
            shown.read(0.005)
        shown.raw = shown.raw[-4096:]


async def arrivals(shown: Terminal, url: str, ticket: str, times: int) -> list[float]:
    """Milliseconds from a committed message to its words on the screen."""
    store = SqlStore.open(url)
    took = []
    for n in range(times):
        word = f"arrival{n}x"
        said = Message(direction="in", text=word, channel="mail")
        shown.raw = b""
        await store.write(partial(_arrive, TicketId(ticket), said))
        began = time.perf_counter()
        while word.encode() not in shown.raw:
            await asyncio.to_thread(shown.read, 0.002)
            if time.perf_counter() - began > 10:
                break
        took.append((time.perf_counter() - began) * 1000)
        await asyncio.to_thread(shown.wait, 0.3)
    await store.close()
    return took


def memory(pid: int | str = "self") -> float:
    """Megabytes of a process, or of this one, that lie in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    for line in status.splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


@contextmanager
def changing(url: str, rate: int, tickets: int):  # type: ignore[no-untyped-def]
    """Changes going on in another process."""
    me = [sys.executable, "-m", "tests.bench.console", "--change", url]
    process = subprocess.Popen([*me, "--rate", str(rate), "--tickets", str(tickets)])
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def measure(url: str, told: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    figures: dict[str, float] = {}
    play = ("-m", "tests.console.play", url)
    if told.store == "sqlite":
        figures |= first_paints(url)
    for name, ticket in (("queue", None), ("long ticket", LONG)):
        with (
            tempfile.NamedTemporaryFile() as kept,
            changing(url, told.rate, told.tickets),
        ):
            figures |= _keys(url, Path(kept.name), name, ticket, told.keys)
    with (
        changing(url, told.rate, told.tickets),
        terminal(*play, size=SIZE) as shown,
    ):
        shown.until("● live".encode())
        shown.wait(2)
        shown.keys("/T-000007\r")
        shown.until(b"T-000007 ")
        shown.wait(2)
        took = asyncio.run(arrivals(shown, url, "T-000007", 20))
        figures["arrival to screen, ms, median"] = statistics.median(took)
    return figures


def _keys(
    url: str, out: Path, name: str, ticket: str | None, keys: int
) -> dict[str, float]:
    me = ("-m", "tests.bench.console", "--show", url, "--out", str(out))
    with terminal(*me, size=SIZE) as shown:
        shown.until("● live".encode(), limit=60)
        shown.wait(3)
        shown.keys("6")
        shown.wait(2)
        if ticket is not None:
            shown.keys(f"/{ticket}\r")
            shown.until(b"The long one", limit=60)
            shown.wait(3)
            shown.keys("\r")
            shown.wait(2)
        press(shown, "j" if ticket is None else "k", keys)
        press(shown, "\x04" if ticket is None else "\x15", keys // 5)
        size = memory(shown.pid)
        shown.wait(0.5)
        shown.keys("\x1b")
        shown.wait(0.7)
        shown.keys("q")
        shown.ended()
    # those of the way there and of leaving are no typing
    pressed = keys + keys // 5
    all_times = json.loads(out.read_text(encoding="utf-8"))[-pressed - 2 : -2]
    times = sorted(t * 1000 for t in all_times)
    return {
        f"key to paint, {name}, ms, median": statistics.median(times),
        f"key to paint, {name}, ms, 99th": times[int(len(times) * 0.99)],
        f"memory, {name}, MB": size,
    }


def main() -> None:
    """Measures, and prints the figures and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--dir")
    for hidden in ("--show", "--out", "--change"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.show:
        times = asyncio.run(show(told.show))
        Path(told.out).write_text(json.dumps(times), encoding="utf-8")
    elif told.change:
        asyncio.run(change(told.change, told.rate, told.tickets))
    else:
        with ExitStack() as stack:
            if told.store == "postgresql":
                url, there = stack.enter_context(Cluster()).create_database(), False
            else:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                url, there = _file(told, Path(told.dir or folder))
            _run(told, url, there=there)


def _file(told: argparse.Namespace, folder: Path) -> tuple[str, bool]:
    """The store of SQLite, and whether it was made before."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"console-{told.tickets}-{told.entries}.db"
    return f"sqlite:///{path.resolve()}", path.exists()


def _run(told: argparse.Namespace, url: str, *, there: bool) -> None:
    if not there:
        began = time.perf_counter()
        asyncio.run(fill(url, told.tickets, told.entries))
        print(f"store made in {time.perf_counter() - began:.0f} s", flush=True)
    figures = measure(url, told)
    for name, value in figures.items():
        print(f"{name:45} {value:9.1f}")
    if told.store == "sqlite":
        ours, bare = (
            figures[f"first paint{of}, ms"] for of in ("", " of an empty program")
        )
        print(f"{'first paint, later than an empty program, ms':45} {ours - bare:9.1f}")
        print(f"{'first paint, times an empty program':45} {ours / bare:9.2f}")


if __name__ == "__main__":
    main()
