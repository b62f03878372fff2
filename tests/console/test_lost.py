"""A store that goes away, or that can't be read."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TypeVar

from console.live import Chart
from console.screens.ask import SurePanel
from console.screens.give_back import GiveBackPanel
from console.widgets.composer import Composer
from console.widgets.queue import Queue
from core.errors import StoreUnreachable
from core.ports import Transaction
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import (
    WIDE,
    all_view,
    app_on,
    desk_of,
    held,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)

T = TypeVar("T")


@dataclass
class Unplugged:
    """A real store whose line can be cut."""

    store: SqlStore
    cut: bool = False
    why: str = "desk.db can't be reached"

    async def read(self, look: Callable[[Transaction], T]) -> T:
        self._line()
        return await self.store.read(look)

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        self._line()
        return await self.store.write(transact)

    async def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        self._line()
        async for tickets in self.store.follow():
            yield tickets
            self._line()

    def _line(self) -> None:
        if self.cut:
            raise StoreUnreachable(self.why)


@dataclass
class Torn(Unplugged):
    """A real store of which one ticket can't be read."""

    torn: str = ""

    async def read(self, look: Callable[[Transaction], T]) -> T:
        value = await self.store.read(look)
        if isinstance(value, Chart) and value.history.ticket.id == self.torn:
            raise KeyError("a field")
        return value


async def test_f96_a_lost_store_keeps_the_text_refuses_acts_and_comes_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    line = Unplugged(counter.store)
    async with sitting(line) as (pilot, app):
        await held(pilot, app)
        line.cut = True
        await counter.writes("Are you there?", ticket=ticket)
        await until(pilot, lambda: "OFFLINE" in screen_text(app))
        await until(pilot, lambda: "desk.db can't be reached" in screen_text(app))
        await press(pilot, "r", *"kept", "ctrl+s", "escape", "R")
        await until(pilot, lambda: "nothing was changed" in told(app))
        assert app.screen is desk_of(app)
        assert desk_of(app).query_one(Composer).text == "kept"
        line.cut = False
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: "OFFLINE" not in screen_text(app))
        await until(pilot, lambda: "Are you there?" in screen_text(app))
        assert desk_of(app).query_one(Composer).text == "kept"
        await until(pilot, lambda: desk_of(app).drafts.saved)
        await press(pilot, "r", "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, SurePanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "y")
        await until(pilot, lambda: "Stored" in told(app))
        assert [r.text for r in (await stored(counter.store, ticket)).outbox] == [
            "kept"
        ]


async def test_a_ticket_that_cant_be_read_never_shows_another_ones_text(
    counter: Counter,
) -> None:
    good = await counter.writes("A text of the first.", subject="First")
    bad = await counter.writes("A text of the second.", subject="Second")
    async with sitting(Torn(counter.store, torn=bad)) as (pilot, app):
        await shown(pilot, app, good)
        await until(pilot, lambda: desk_of(app).query_one(Queue).total == 2)
        await press(pilot, "j")
        await until(pilot, lambda: bad in pane_text(app, "banner"))
        await until(pilot, lambda: "failed" in told(app))
        await until(pilot, lambda: "A text of the first" not in screen_text(app))
        await press(pilot, "k")
        await until(pilot, lambda: "A text of the first" in screen_text(app))


async def test_f115_a_release_that_is_not_stored_is_never_told_as_done(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    line = Unplugged(counter.store)
    async with sitting(line) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "R")
        await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
        await until(pilot, lambda: app.screen.listening)
        before = len(told(app))
        line.cut = True
        await press(pilot, "enter")
        await until(pilot, lambda: "desk.db can't be reached" in screen_text(app))
        assert isinstance(app.screen, GiveBackPanel)
        assert "back" not in told(app)[before:]
        assert "YOU HOLD" in pane_text(app, "banner")
        assert (await stored(counter.store, ticket)).standing.held_by == ME.name


async def test_f135_an_error_with_markup_in_it_is_shown_as_it_is(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    bad = "no [/x] [bold] {y} %s [@click=app.quit]go[/]"
    line = Unplugged(counter.store, why=bad)
    app = app_on(line)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await all_view(pilot, app)
        desk_of(app).tell(bad, good=False)
        await until(pilot, lambda: bad in screen_text(app), "a notice")
        line.cut = True
        await counter.writes("Again")
        await until(pilot, lambda: f"OFFLINE · {bad}" in screen_text(app))
