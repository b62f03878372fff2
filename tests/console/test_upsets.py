"""What happens to a person at the desk without their doing (see `desk_upsets`)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import sqlalchemy as sa

from console.app import HandoffApp
from console.screens.decision import DecisionPanel
from console.screens.overlays import LeavePanel
from console.widgets.composer import Composer
from core.decision import Verdict
from core.errors import StoreUnreachable
from core.flows.answer import Leaving
from core.flows.handoff import reply, take_over
from core.flows.supervise import decide
from core.ports import Store, Transaction
from core.ticket import TicketId
from store.schema import metadata
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME
from tests.console.steps import (
    WallClock,
    card_opened,
    desk_of,
    held,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)

T = TypeVar("T")

BOSS = ME
ANNA = MIRA
"""Who the desk belongs to where a supervisor takes something away."""


async def test_who_writes_when_the_ticket_is_taken_keeps_the_text_and_runs_nothing(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await counter.writes("Another")
    async with sitting(counter.store, me=ANNA) as (pilot, app):
        desk = desk_of(app)
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r", *"half a ")
        await take_over(counter.store, ticket, BOSS, forced=True, why="mine now")
        await until(pilot, lambda: "Noor has T-" in told(app))
        assert "your text is kept" in told(app)
        view, cursor = desk.reads.view, desk.ticket()
        await press(pilot, *"sentence with t, q, R, n, 1 and more")
        await press(pilot, "enter", "backspace")
        assert app.screen is desk
        assert (desk.reads.view, desk.ticket()) == (view, cursor)
        assert not desk.noting
        history = await stored(counter.store, ticket)
        assert history.standing.held_by == "Noor"
        assert history.outbox == ()
        await until(pilot, lambda: desk.drafts.saved)
        drafts = (await stored(counter.store, ticket)).drafts
        assert [(d.operator, d.text) for d in drafts] == [("Mira", "half a ")]
        await asyncio.sleep(1.1)  # a pause after which keys are commands again
        await press(pilot, "6", "n")
        assert desk.noting


async def test_an_approval_that_expires_under_ones_eyes_can_t_be_given_any_more(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My money, please")
    await counter.proposes(ticket, {"order_id": "O-1"})
    clock = Set()
    async with sitting(counter.store, clock=clock) as (pilot, app):
        await shown(pilot, app, ticket)
        await card_opened(pilot, app)
        await until(pilot, lambda: "expires in 3 h 59 min" in screen_text(app))
        panel = app.screen
        assert isinstance(panel, DecisionPanel)
        clock.later = timedelta(hours=4)
        panel.tick()
        await until(pilot, lambda: "it has expired" in screen_text(app))
        assert ", expired" in screen_text(app)
        await press(pilot, "y", "x", "e")
        assert app.screen is panel
        assert not panel.asking
        await press(pilot, "escape")
        (decision,) = (await stored(counter.store, ticket)).decisions
        assert decision.state.value == "pending"


async def test_a_decision_that_a_colleague_settles_meanwhile_says_who_and_keeps_its(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My money, please")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await card_opened(pilot, app)
        await press(pilot, "x", *"not like this")
        seen = (await stored(counter.store, ticket)).standing.last_seq
        approve = Verdict(kind="approve", why="", input=None, seen=seen)
        await decide(counter.store, "D-1", approve, BOSS, ())
        await until(pilot, lambda: "already approved by Noor" in screen_text(app))
        await press(pilot, "enter")
        assert isinstance(app.screen, DecisionPanel)
        await press(pilot, "escape", "y", "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
        (decision,) = (await stored(counter.store, ticket)).decisions
        assert decision.state.value == "approved"


async def test_a_ticket_that_is_deleted_while_it_is_open_leaves_nothing_on_the_screen(
    counter: Counter,
) -> None:
    ticket = await counter.writes("A secret text", subject="Mine")
    other = await counter.writes("Still here", subject="Other")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r", *"dear")
        await counter.store.write(lambda tx: delete(tx, ticket))
        await counter.writes("More", ticket=other)
        desk_of(app).look_again()
        await until(pilot, lambda: "was deleted" in told(app))
        await until(pilot, lambda: "A secret text" not in screen_text(app))
        await press(pilot, *"rest of the sentence")
        assert app.screen is desk_of(app)
        await until(pilot, lambda: "dear" not in screen_text(app))
        await until(pilot, lambda: "Mine" not in screen_text(app))
        await asyncio.sleep(1.1)
        await press(pilot, "6", "g")
        await shown(pilot, app, other)
        assert not desk_of(app).drafts.unsent


def delete(tx: Transaction, ticket: TicketId) -> None:
    """As a deletion does, from another process."""
    connection = tx._connection  # type: ignore[attr-defined] # a store's own
    connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    for table in reversed(metadata.sorted_tables):
        column = table.c.get("ticket_id", table.c.get("ticket"))
        if table.name == "tickets":
            column = table.c.id
        if column is not None and table.name != "presence":
            connection.execute(sa.delete(table).where(column == ticket))


@dataclass
class Set(WallClock):
    """A clock that somebody sets."""

    later: timedelta = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.later


def ahead(app: HandoffApp) -> timedelta:
    """How far the desk's idea of the database's time is off."""
    return desk_of(app).reads.now() - datetime.now(UTC)


async def test_a_clock_that_is_set_changes_no_age_and_no_countdown(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    clock, off = Set(), timedelta(minutes=30)
    async with sitting(counter.store, clock=clock, leaving=Leaving(hold_off=off)) as (
        pilot,
        app,
    ):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await reply(counter.store, ticket, ME, "Soon.", leaving=Leaving(hold_off=off))
        await until(pilot, lambda: "Sends in 29 min" in screen_text(app))
        for jump in (timedelta(hours=-5), timedelta(hours=3), timedelta(days=400)):
            clock.later = jump
            await until(pilot, lambda: "Sends in 29 min" in screen_text(app))
            real = await counter.store.read(lambda tx: tx.now)
            await until(
                pilot,
                lambda at=real: (
                    abs(desk_of(app).reads.now() - at) < timedelta(seconds=9)
                ),
            )
            await until(pilot, lambda: "Sends in 29 min" in screen_text(app))


@dataclass
class Severed:
    """A store that can be out of reach."""

    store: Store
    cut: bool = False

    async def read(self, look: Callable[[Transaction], T]) -> T:
        return await self._or_lost(self.store.read, look)

    async def write(self, act: Callable[[Transaction], T]) -> T:
        return await self._or_lost(self.store.write, act)

    async def _or_lost(self, through, do):  # type: ignore[no-untyped-def]
        if self.cut:
            raise StoreUnreachable("desk.db can't be reached")
        return await through(do)

    async def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        async for changed in self.store.follow():
            if self.cut:
                raise StoreUnreachable("desk.db can't be reached")
            yield changed


async def test_unsent_text_and_holds_are_said_before_leaving(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r", *"half a", "escape", "q")
        await until(pilot, lambda: isinstance(app.screen, LeavePanel))
        assert "Unsent text is kept as a draft." in screen_text(app)
        assert "You hold 1 ticket. It stays yours" in screen_text(app)
        await press(pilot, "escape")


async def test_what_can_t_be_stored_is_said_before_leaving_and_nothing_is_lost(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    line = Severed(counter.store)
    async with sitting(line) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        line.cut = True
        await press(pilot, "r", *"half a sentence", "escape", "q")
        await until(pilot, lambda: app.screen.is_attached and app.screen.listening)
        await press(pilot, "y")
        await until(pilot, lambda: "can't be stored now: still here" in told(app))
        await counter.writes("Hello?", ticket=ticket)
        await until(pilot, lambda: "OFFLINE" in screen_text(app))
        await press(pilot, "q")
        await until(
            pilot, lambda: "what you wrote last would be lost" in screen_text(app)
        )
        await press(pilot, "escape")
        line.cut = False
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: "OFFLINE" not in screen_text(app))
        await until(pilot, lambda: desk_of(app).drafts.saved)
        assert desk_of(app).query_one(Composer).text == "half a sentence"
        await press(pilot, "q")
        await until(pilot, lambda: isinstance(app.screen, LeavePanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "y")
        await until(pilot, lambda: not app.is_running or app._exit)
    drafts = (await stored(counter.store, ticket)).drafts
    assert [d.text for d in drafts] == ["half a sentence"]
