"""Nothing is decided, sent or handed over by typing, or by pasting."""

import asyncio
import time

import pytest
from textual import events

from console.screens.decision import DecisionPanel
from console.screens.pace import Pace
from core.flows.handoff import take_over
from core.history import History
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import (
    app_on,
    desk_of,
    press,
    screen_text,
    shown,
    told,
    until,
)
from tests.console.terminal import Terminal, playing

PASTE = "a\nb\nq\n\x03 y"
SENTENCE = "xyes Tim, sorry: take it away by y\n"


def typed(shown: Terminal, text: str) -> None:
    """Types as a person does."""
    for character in text:
        shown.keys(character)
        shown.wait(0.035)


def closed(shown: Terminal, times: int = 2) -> None:
    """Leaves whatever is open."""
    for _ in range(times):
        shown.keys("\x1b")
        shown.wait(0.25)


async def stored(url: str, ticket: TicketId) -> History:
    """What is stored when the console is gone."""
    store = SqlStore.open(url)
    try:
        return await store.read(lambda tx: tx.history(ticket))
    finally:
        await store.close()


def untouched(history: History) -> None:
    """Nothing was decided, sent, taken over or released."""
    assert [d.state.value for d in history.decisions] == ["pending"]
    assert history.outbox == ()
    assert [e.body for e in history.journal if e.actor.name == ME.name] == []


async def test_f130_neither_typing_nor_pasting_acts_in_list_and_card(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    await counter.store.close()

    def look() -> None:
        with playing(sqlite_url) as shown:
            shown.shows("Decision: refund")
            for burst in (PASTE, f"\x1b[200~{PASTE}\x1b[201~", "cRt\n"):
                shown.keys(burst)
                shown.wait(0.5)
                closed(shown)
            typed(shown, "take it, please, R")
            shown.wait(0.4)
            closed(shown)
            shown.keys("a")
            shown.until(b"Cancel")
            shown.wait(0.6)
            typed(shown, SENTENCE)
            shown.keys(PASTE)
            shown.keys(f"\x1b[200~{PASTE}\x1b[201~")
            shown.wait(0.7)
            assert shown.code is None
            assert "too fast" in shown.screen()

    await asyncio.to_thread(look)
    untouched(await stored(sqlite_url, ticket))


async def test_f130_a_paste_into_the_composer_is_text_and_sends_nothing(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("Hello?")
    await take_over(counter.store, ticket, ME)
    await counter.store.close()

    def look() -> str:
        with playing(sqlite_url) as shown:
            shown.until(b"YOU HOLD")
            shown.keys("r")
            shown.wait(0.5)
            shown.keys(f"\x1b[200~{PASTE}\x1b[201~")
            shown.wait(0.4)
            shown.keys("and more\x13 more\n\x13!")
            shown.wait(0.6)
            assert shown.code is None
            return shown.screen()

    screen = await asyncio.to_thread(look)
    assert "and more" in screen
    assert "nothing was sent" in screen
    history = await stored(sqlite_url, ticket)
    assert history.outbox == ()
    assert history.standing.held_by == ME.name


@pytest.mark.parametrize("typed_after", ["", "e"])
async def test_a_key_that_decides_counts_alone(
    counter: Counter, typed_after: str
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    app = app_on(counter.store, pace=Pace(before=0.3, after=0.25))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await until(pilot, lambda: getattr(app.screen, "read_whole", False))
        await until(pilot, lambda: app.screen.listening)
        began = time.monotonic()
        await until(pilot, lambda: time.monotonic() - began > 0.35)
        for key in ("y", *typed_after):
            app.post_message(events.Key(key, key))
        if typed_after:
            words = "keys came too fast, nothing was "
            await until(pilot, lambda: words in screen_text(app))
        else:
            await until(pilot, lambda: "D-1 approved" in told(app))
        history = await counter.store.read(lambda tx: tx.history(ticket))
        state = history.decisions[0].state.value
        assert state == ("pending" if typed_after else "approved")


@pytest.mark.parametrize("typed_after", ["", "y"])
async def test_who_takes_a_ticket_may_go_to_write_at_once_but_a_word_takes_nothing(
    counter: Counter, typed_after: str
) -> None:
    ticket = await counter.writes("Where is it?")
    app = app_on(counter.store, pace=Pace(before=0.3, after=0.25))
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, ticket)
        for key in ("t", "r", *typed_after):
            app.post_message(events.Key(key, key))
            pressed = time.monotonic()
            await until(pilot, lambda at=pressed: time.monotonic() - at > 0.05)
        if typed_after:
            await until(pilot, lambda: "nothing was taken over" in told(app))
        else:
            await until(pilot, lambda: desk_of(app).pane() == "composer")
    standing = (await counter.store.read(lambda tx: tx.history(ticket))).standing
    assert standing.held_by == (None if typed_after else ME.name)
