"""Several processes on one store: two consoles, a worker, and one of them is killed."""

import asyncio
import re
import signal
import sys
from contextlib import AbstractContextManager

import pytest

from console import wiring
from console.demo.place import made_place
from console.demo.runner import running_worker
from console.widgets.timeline import Timeline
from core.flows.handoff import take_over
from core.journal import Note
from core.ticket import TicketId
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import desk_of, press, shown, sitting, stored, until
from tests.console.terminal import Terminal, playing

NOTES = 1000
WRITES = """
import asyncio, sys
from functools import partial
from core.journal import Note
from core.ticket import operator
from store.transaction import SqlStore

def note(ticket, n, tx):
    tx.append(ticket, operator("Mira"), Note(text=f"note {n}", for_agent=False))

async def write(url, ticket, count):
    store = SqlStore.open(url)
    for n in range(int(count)):
        await store.write(partial(note, ticket, n))
    await store.close()

asyncio.run(write(*sys.argv[1:]))
"""


async def test_f133_a_desk_misses_nothing_that_another_process_writes(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("Hello?")
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITES, sqlite_url, ticket, str(NOTES)
    )
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        assert await writer.wait() == 0
        items = desk_of(app).query_one(Timeline)

        def notes() -> list[str]:
            bodies = [item.entry.body for item in items.items]
            return [body.text for body in bodies if isinstance(body, Note)]

        await until(pilot, lambda: len(notes()) >= NOTES, "all notes")
        assert notes() == [f"note {n}" for n in range(NOTES)]
        await press(pilot, "enter", "g")
        assert items.cursor == 0


@pytest.mark.timeout(180)
async def test_one_console_is_killed_and_the_other_and_the_worker_go_on(
    counter: Counter,
    sqlite_url: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    held = await counter.writes("SU-48204, please look.", subject="Mine")
    await take_over(counter.store, held, ME)
    with made_place(sqlite_url, model=wiring.SCRIPTED, fresh=False) as place:
        async with running_worker(place, delay=0):
            with _console(sqlite_url) as first, _console(sqlite_url) as second:
                await asyncio.to_thread(_begins_to_write, first, second)
                await _kept(counter, held, "half a word")
                first.kill(signal.SIGKILL)
                assert first.ended() == -signal.SIGKILL
                standing = await counter.store.read(lambda tx: tx.standing(held))
                assert standing.held_by == ME.name  # the person's, not the console's
                later = await counter.writes(
                    "Please cancel SU-48205, postcode 44000.", subject="Later"
                )
                await asyncio.to_thread(_goes_on, second)
            history = await counter.store.read(lambda tx: tx.history(later))
            assert history.runs
            said = [r.text for r in (await stored(counter.store, held)).outbox]
            assert said == ["half a word and the rest"]


async def _kept(counter: Counter, ticket: TicketId, text: str) -> None:
    """Waits until what is written is in the store."""
    async with asyncio.timeout(40):
        while [d.text for d in (await stored(counter.store, ticket)).drafts] != [text]:
            await asyncio.sleep(0.05)


def _begins_to_write(first: Terminal, second: Terminal) -> None:
    """Two consoles look at one ticket, and in one of them somebody writes."""
    for shows in (first, second):
        shows.until("● live".encode())
        shows.keys("3")
        shows.shows("YOU HOLD")
    first.keys("r")
    first.shows("^s send")
    first.keys("half a word")
    first.shows("half a word")


def _goes_on(second: Terminal) -> None:
    """The console that is left goes on with the draft, and sees the worker's answer."""
    second.keys("r")
    second.shows("half a word")
    second.keys(" and the rest")
    second.shows("half a word and the rest")
    second.wait(0.4)
    second.keys("\x13")
    second.shows("✓ delivered")
    second.keys("\x1b")
    second.shows("enter open")
    second.keys("6")
    second.shows("Later")
    second.wait(0.4)
    second.keys("/44000\r")
    second.shows("run R-")
    titles = re.findall(rb"\x1b\]2;([^\x07]*)\x07", second.raw)
    assert [t for t in titles if not re.fullmatch(rb"handoff( \(\d+\))?", t)] == []


def _console(url: str) -> AbstractContextManager[Terminal]:
    return playing(url, size=(160, 45))
