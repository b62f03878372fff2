"""A store that answers late: nothing on the desk belongs to what was before."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from console.widgets.queue import Queue
from console.widgets.timeline import Timeline
from core.flows.handoff import take_over
from core.ports import Store, Transaction
from tests.console.counter import MIRA, Counter
from tests.console.steps import desk_of, pane_text, press, shown, sitting, until

T = TypeVar("T")


class Late:
    """A real store, some of whose reads are answered when the test says so."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.answers = asyncio.Event()
        self.late, self.waiting = 0, 0

    async def read(self, look: Callable[[Transaction], T]) -> T:
        found = await self.store.read(look)
        if self.late:
            self.late -= 1
            self.waiting += 1
            await self.answers.wait()
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)


async def test_no_other_buyer_is_shown_under_the_banner_of_a_ticket_read_late(
    counter: Counter,
) -> None:
    first = await counter.writes("Where is the lamp?")
    second = await counter.writes("And mine?")
    store = Late(counter.store)
    async with sitting(store) as (pilot, app):
        await press(pilot, "g")
        await shown(pilot, app, first)
        timeline = desk_of(app).query_one(Timeline)
        await until(pilot, lambda: timeline.items)
        store.late = 1000
        await press(pilot, "j")
        await until(pilot, lambda: "reading…" in pane_text(app, "chart"))
        assert second in pane_text(app, "banner")
        assert timeline.items == ()
        store.late = 0
        store.answers.set()
        await shown(pilot, app, second)
        await until(pilot, lambda: "reading…" not in pane_text(app, "chart"))
        assert timeline.items


async def test_a_list_that_was_read_before_another_is_not_shown_after_it(
    counter: Counter,
) -> None:
    left = await counter.writes("Where is the lamp?")
    other = await counter.writes("And mine?")
    store = Late(counter.store)
    async with sitting(store) as (pilot, app):
        await press(pilot, "4")
        queue = desk_of(app).query_one(Queue)
        await until(pilot, lambda: queue.view == "agent" and queue.total == 2)
        queue.select(other)
        await shown(pilot, app, other)
        store.late = 1
        stale = asyncio.create_task(desk_of(app).reads.read_window(0))
        await until(pilot, lambda: store.waiting)
        await take_over(counter.store, left, MIRA)
        await until(pilot, lambda: queue.total == 1)
        store.answers.set()
        await stale
        assert queue.total == 1


async def test_a_view_s_own_digit_lets_go_of_a_ticket_that_has_left_it(
    counter: Counter,
) -> None:
    left = await counter.writes("Where is the lamp?")
    other = await counter.writes("And mine?")
    async with sitting(counter.store) as (pilot, app):
        await press(pilot, "4")
        queue = desk_of(app).query_one(Queue)
        await until(pilot, lambda: queue.view == "agent" and queue.total == 2)
        queue.select(left)
        await shown(pilot, app, left)
        await take_over(counter.store, left, MIRA)
        await until(pilot, lambda: queue.places.kept is not None)
        await press(pilot, "4")
        await until(pilot, lambda: queue.total == 1)
        assert (queue.cursor, queue.places.kept) == (other, None)
        await press(pilot, "4")
        assert queue.cursor == other
