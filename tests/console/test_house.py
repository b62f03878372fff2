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
from core.journal import Note
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import desk_of, press, shown, sitting, until
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
    with made_place(sqlite_url, model=wiring.SCRIPTED, fresh=False) as place:
        await asyncio.to_thread(_take_and_die, sqlite_url)
        standing = await counter.store.read(lambda tx: tx.standing(held))
        assert standing.held_by == ME.name  # a hold is the person's, not the console's
        async with running_worker(place, delay=0):
            later = await counter.writes(
                "Please cancel SU-48205, postcode 44000.", subject="Later"
            )
            await asyncio.to_thread(_other_goes_on, sqlite_url)
        history = await counter.store.read(lambda tx: tx.history(later))
        assert history.runs


def _take_and_die(url: str) -> None:
    """One console takes the ticket, the other sees it, and the first is killed."""
    with _console(url) as first, _console(url) as second:
        for shows in (first, second):
            shows.until("● live".encode())
            shows.keys("6")
            shows.shows("Mine")
        first.wait(0.4)
        first.keys("t")
        first.shows("YOU HOLD")
        second.shows("YOU HOLD")
        first.kill(signal.SIGKILL)
        assert first.ended() == -signal.SIGKILL
        second.wait(0.4)
        second.keys("r")
        second.wait(0.4)
        second.keys("half a word")
        second.shows("half a word")
        second.kill(signal.SIGTERM)
        assert second.ended() == 128 + signal.SIGTERM


def _other_goes_on(url: str) -> None:
    """A console that is started later finds the draft, and sees the worker's answer."""
    with _console(url) as shows:
        shows.until("● live".encode())
        shows.keys("6")
        shows.shows("Later")
        shows.shows("half a word")
        shows.wait(0.3)
        shows.keys("/44000\r")
        shows.shows("run R-")
        titles = re.findall(rb"\x1b\]2;([^\x07]*)\x07", shows.raw)
        assert [t for t in titles if not re.fullmatch(rb"handoff( \(\d+\))?", t)] == []


def _console(url: str) -> AbstractContextManager[Terminal]:
    return playing(url, size=(160, 45))
