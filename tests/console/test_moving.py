"""Where the cursor is, whatever comes, and how one gets about."""

import pytest
from textual.widgets._toast import Toast

from console.screens import desk_reads
from console.screens.overlays import HelpPanel, LeavePanel
from console.screens.palette import PalettePanel
from console.widgets.composer import Composer
from console.widgets.queue import Queue
from console.widgets.spans import plain
from console.widgets.timeline import Timeline
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME
from tests.console.steps import (
    all_view,
    app_on,
    desk_of,
    held,
    key_event,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)


def row_text(queue: Queue, y: int) -> str:
    """A row of the queue."""
    return plain([queue.line_at(y)])


@pytest.mark.parametrize("view", ["1", "6"])
async def test_a_views_own_digit_sorts_it_afresh(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    tickets = [await counter.writes("?", subject=f"Nr {n}") for n in range(20)]
    for ticket in tickets:
        await take_over(counter.store, ticket, ME)
        await give_back(counter.store, ticket, ME, GiveBack(to="queue"))
    async with sitting(counter.store, (120, 40)) as (pilot, app):
        queue = desk_of(app).query_one(Queue)
        await press(pilot, view)
        await until(pilot, lambda: queue.total == 20 and not queue.awaits)
        monkeypatch.setattr(desk_reads, "RESORT", 3600.0)  # by itself it never does
        before = [queue.places.at(y) for y in range(20)]
        for ticket in before[:16]:
            await take_over(counter.store, ticket, MIRA)
            await reply(counter.store, ticket, MIRA, "Here it is.")
            await give_back(counter.store, ticket, MIRA, GiveBack(to="queue"))
        assert queue.places.at(16) == before[16]
        await press(pilot, view)
        await until(pilot, lambda: queue.places.at(0) == before[16], "sorted afresh")


async def test_the_row_stays_under_the_cursor_when_the_list_sorts_anew(
    counter: Counter,
) -> None:
    tickets = [await counter.writes("?", subject=f"Nr {n}") for n in range(40)]
    async with sitting(counter.store, (120, 30)) as (pilot, app):
        queue = desk_of(app).query_one(Queue)
        await until(pilot, lambda: queue.total == 40)
        await press(pilot, *"jjjjjj")
        chosen = queue.cursor
        row = queue.cursor_at - queue.scroll_offset.y
        before = queue.cursor_at
        for ticket in tickets[:4]:
            await take_over(counter.store, ticket, MIRA)
            await reply(counter.store, ticket, MIRA, "Here it is.")
        await until(pilot, lambda: queue.cursor_at != before, "sorted anew")
        assert queue.cursor == chosen
        assert queue.cursor_at - queue.scroll_offset.y in {row, queue.cursor_at}
        assert chosen in pane_text(app, "banner")
        queue.to_row(0 if queue.cursor_at > 15 else 30)
        await until(pilot, lambda: not queue.in_sight, "scrolled away")
        await press(pilot, "t")
        await until(pilot, lambda: "was out of sight" in told(app))
        await until(pilot, lambda: queue.in_sight)
        assert (await stored(counter.store, chosen)).lock.holder is None


async def test_a_taken_ticket_keeps_its_row_its_draft_and_its_place_on_the_screen(
    counter: Counter,
) -> None:
    ticket, other = [await counter.writes("?", subject=f"Nr {n}") for n in range(2)]
    app = app_on(counter.store)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        queue = desk_of(app).query_one(Queue)
        await until(pilot, lambda: queue.view == "agent" and queue.total == 2)
        await shown(pilot, app, ticket)
        width = queue.inner_width
        await held(pilot, app)
        await until(pilot, lambda: "now in mine" in row_text(queue, 0))
        assert ticket in row_text(queue, 0)
        assert other in row_text(queue, 1)
        assert queue.ground_at(0) == "cursor"
        desk_of(app).tell("A notice")
        await until(pilot, lambda: [t for t in app.screen.query(Toast) if t.region])
        places = [toast.region for toast in app.screen.query(Toast)]
        writes = desk_of(app).query_one(Composer).region
        assert not [p for p in places if p.overlaps(writes) or p.bottom > 4]
        await press(pilot, "r", *"half", "enter", "enter", "escape")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "half" in screen_text(app), "the draft's first line")
        await pilot.resize_terminal(120, 30)
        await press(pilot, "escape", "j")
        await until(pilot, lambda: queue.cursor == other)
        assert (queue.total, queue.cursor_at, queue.inner_width) == (1, 0, width)
        assert ticket not in row_text(queue, 0)


async def test_resizing_keeps_ticket_scroll_and_draft(counter: Counter) -> None:
    await counter.writes("One.")
    ticket = await counter.writes("Two.")
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).query_one(Queue).total == 2)
        await press(pilot, "G")
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r", *"draft")
        for size in ((80, 24), (120, 40), (60, 15), (200, 55)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.size == size)
        assert desk_of(app).ticket() == ticket
        assert desk_of(app).query_one(Composer).text == "draft"
        assert ticket in pane_text(app, "banner")


async def test_help_palette_views_and_leaving_are_one_key_away(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    async with sitting(counter.store, (120, 40)) as (pilot, app):
        await held(pilot, app)
        await press(pilot, "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpPanel))
        await press(pilot, "escape", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, PalettePanel))
        await press(pilot, *"dark or", "enter")
        await until(pilot, lambda: app.theme == "handoff-light")
        await until(pilot, lambda: desk_of(app).reads.counts.get("mine") == 1)
        await press(pilot, "q")
        await until(pilot, lambda: isinstance(app.screen, LeavePanel))
        await until(pilot, lambda: app.screen.listening)
        await until(pilot, lambda: "stays yours" in screen_text(app))
        await press(pilot, "escape")
        assert app.screen is desk_of(app)


async def test_an_empty_store_shows_the_ways_in_and_fills_by_itself(
    counter: Counter,
) -> None:
    app = app_on(counter.store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "handoff demo" in screen_text(app))
        ticket = await counter.writes("The first one.")
        await until(pilot, lambda: not desk_of(app).has_class("-empty"))
        await press(pilot, "6")
        await until(pilot, lambda: ticket in screen_text(app))


async def test_fast_typing_keeps_its_order(counter: Counter) -> None:
    await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await held(pilot, app)
        await press(pilot, "r")
        await press(pilot, "b", "a", "backspace", "c", "left", "x")
        assert desk_of(app).query_one(Composer).text == "bxc"


async def test_keys_pressed_before_a_views_rows_are_here_count_on_them(
    counter: Counter,
) -> None:
    mine, _, _ = [await counter.writes("?", subject=f"Nr {n}") for n in "123"]
    await take_over(counter.store, mine, ME)
    async with sitting(counter.store, (120, 30)) as (pilot, app):
        queue = desk_of(app).query_one(Queue)
        await until(pilot, lambda: queue.total == 3)
        rows = [queue.places.at(y) for y in range(3)]
        for keys, ticket in (("3jj", mine), ("6j", rows[1]), ("36G", rows[2])):
            for key in keys:
                app.post_message(key_event(key))
            await shown(pilot, app, ticket)
            assert not queue.awaits
        for key in ("3", "6", "j", "enter"):
            app.post_message(key_event(key))
        await shown(pilot, app, rows[1])
        await until(pilot, lambda: desk_of(app).pane() == "timeline")


async def test_on_a_narrow_screen_a_notice_lies_over_the_keys_alone(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    app = app_on(counter.store)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await all_view(pilot, app)
        for words in ("One notice", "Another one"):
            desk_of(app).tell(words)
        await until(pilot, lambda: "Another one" in screen_text(app).splitlines()[-1])
        top = screen_text(app).splitlines()[0]
        assert "no agent running" in top
        assert "One notice" not in screen_text(app)
        last = screen_text(app).splitlines()[-1]
        assert last.endswith("▌ Another one")
        assert last.startswith(" j k move   enter open   t take over")


async def test_a_ticket_that_fits_keeps_its_cursor_when_it_is_laid_out_anew(
    counter: Counter,
) -> None:
    ticket = await counter.writes("One.")
    for text in ("Two.", "Three."):
        await counter.writes(text, ticket=ticket)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        timeline = desk_of(app).query_one(Timeline)
        await press(pilot, "enter", "g")
        assert timeline.cursor == 0
        await press(pilot, "slash", *"one", "enter")
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.size == (120, 40))
        await until(pilot, lambda: timeline.reader.width == timeline.inner_width)
        await counter.writes("Four.", ticket=ticket)
        await until(pilot, lambda: len(timeline.items) == 4)
        assert timeline.cursor == 0
        await press(pilot, "G")
        await counter.writes("Five.", ticket=ticket)
        await until(pilot, lambda: timeline.cursor == 4)
