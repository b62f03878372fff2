"""Whether the console grows: a long session, by the changes that come to it.

    python -m tests.bench.session [--changes N] [--tickets N]

A desk stands on a SQLite store while 100,000 changes come through its feed, which is
what a busy team makes in twelve hours, and somebody works meanwhile: moves, changes
the view, opens tickets, overview and help. What lies in memory is printed every
10,000 changes, as Python counts it (blocks) and as the system does (RSS).
`tests/console/test_session.py` holds a short session to a bound for each type of ours.
"""

import argparse
import asyncio
import gc
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from console.app import HandoffApp
from console.screens.desk import Desk
from console.screens.pace import AT_ONCE
from console.widgets.spans import Span
from core.journal import Note
from core.ports import Transaction
from core.ticket import TicketId, operator
from store.transaction import SqlStore
from tests.bench.console import fill, memory
from tests.console.steps import desk_of, press, services_on, until

SIZE = (160, 45)
BATCH = 20
"""Tickets that change in one transaction."""

MOVES = ("6", "j", "j", "G", "g", "enter", "k", "g", "escape", "plus", "plus", "tab")
PANELS = ("question_mark", "s", "colon")
"""What somebody presses, in turn; a panel is left again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What lies in memory after so many changes.

    Attributes:
        changes: So many came.
        blocks: Pieces of memory that Python's objects take.
        resident: Megabytes of the process.
        ours: Objects of our own types, by name.
    """

    changes: int
    blocks: int
    resident: float
    ours: Mapping[str, int]


def _ours() -> Mapping[str, int]:
    """Objects of our own types, and what waits to be done, by type; no painted text."""
    kinds = (type(thing) for thing in gc.get_objects() if not isinstance(thing, Span))
    return Counter(k.__name__ for k in kinds if k.__module__.startswith(_OURS))


_OURS = ("console.", "core.", "store.", "asyncio.", "_asyncio", "textual.worker")


async def session(
    url: str, *, tickets: int, changes: int, every: int
) -> AsyncIterator[Size]:
    """Lets changes come to a desk at work; the sizes on the way."""
    store = SqlStore.open(url)
    app = HandoffApp(Desk(services_on(store)), AT_ONCE)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: desk_of(app).history is not None)
        for done in range(0, changes + 1, every):
            await _work(pilot, app, done // every)
            app.let_go()
            gc.collect()
            yield Size(
                changes=done,
                blocks=sys.getallocatedblocks(),
                resident=memory(),
                ours=_ours(),
            )
            if done < changes:
                await _change(store, done, every, tickets)
                await _arrived(pilot, app, tickets)
    await store.close()


async def _change(store: SqlStore, start: int, changes: int, tickets: int) -> None:
    for n in range(start, start + changes, BATCH):
        names = [TicketId(f"T-{i % tickets:06d}") for i in range(n, n + BATCH)]
        await store.write(partial(_touch, names))


def _touch(names: list[TicketId], tx: Transaction) -> None:
    for name in names:
        tx.append(name, operator("Mira"), Note(text="seen", for_agent=False))


async def _arrived(pilot: Pilot[None], app: HandoffApp, tickets: int) -> None:
    """Waits until the desk shows the newest entry of the ticket under its cursor."""
    desk = desk_of(app)
    name = desk.ticket() or TicketId(f"T-{tickets - 1:06d}")
    newest = await desk.services.store.read(lambda tx: tx.standing(name).last_seq)
    await until(
        pilot,
        lambda: (
            desk.ticket() != name
            or (desk.history is not None and desk.history.standing.last_seq >= newest)
        ),
    )


async def _work(pilot: Pilot[None], app: HandoffApp, turn: int) -> None:
    desk = desk_of(app)
    await press(pilot, *MOVES, "escape", "escape", str(1 + turn % 5), "6")
    await press(pilot, "f2", PANELS[turn % len(PANELS)])
    await until(pilot, lambda: app.screen is not desk)
    await until(pilot, lambda: app.screen.listening)
    await press(pilot, "escape")
    await until(pilot, lambda: app.screen is desk)
    await until(pilot, lambda: desk.history is not None)


async def _print(tickets: int, changes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'session.db'}"
        await fill(url, tickets, 40)
        every = max(BATCH, changes // 10)
        async for size in session(url, tickets=tickets, changes=changes, every=every):
            print(
                f"{size.changes:9,} changes {size.blocks:12,} blocks "
                f"{size.resident:8.1f} MB resident",
                flush=True,
            )


def main() -> None:
    """Prints the sizes on the way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tickets", type=int, default=2_000)
    parser.add_argument("--changes", type=int, default=100_000)
    told = parser.parse_args()
    asyncio.run(_print(told.tickets, told.changes))


if __name__ == "__main__":
    main()
