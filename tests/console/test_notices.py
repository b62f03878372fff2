"""Where it is told what happened, and that nothing important lies under it."""

import asyncio
from collections.abc import Mapping

import pytest
from textual import events

from console.screens.decision import DecisionPanel
from console.screens.pace import Pace
from core.flows.handoff import take_over
from core.tool import ToolSpec
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import (
    all_view,
    app_on,
    card_opened,
    desk_of,
    held,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    told,
    until,
)
from tests.console.test_decisions import REFUND

LONG = "a notice of 漢字 that has a lot more to say than there is room for " * 4


@pytest.mark.parametrize("size", [(200, 55), (120, 40), (100, 30), (80, 24), (40, 20)])
async def test_notices_take_one_row_and_cover_neither_banner_nor_keys_nor_text(
    counter: Counter, size: tuple[int, int]
) -> None:
    ticket = await counter.writes("Hello?")
    await counter.proposes(ticket, {"order_id": "O-1"})
    await take_over(counter.store, ticket, ME)
    app = app_on(counter.store, still=True)
    async with app.run_test(size=size, notifications=True) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: desk_of(app).history is not None)
        await press(pilot, "r", *"my words")
        await until(pilot, lambda: "my words" in screen_text(app))
        before = screen_text(app).split("\n")
        desk_of(app).tell("first of two")
        desk_of(app).tell(LONG, good=False)
        await until(pilot, lambda: "a notice of 漢字" in screen_text(app))
        after = screen_text(app).split("\n")
        changed = [n for n in range(size[1]) if before[n] != after[n]]
        assert changed == [size[1] - 1 if size[0] < 100 else 2]  # a breakpoint
        assert after[changed[0]].rstrip().endswith("…")
        assert "YOU HOLD" in screen_text(app)


@pytest.mark.parametrize("size", [(200, 55), (100, 30), (80, 24)])
async def test_a_notice_over_a_card_leaves_its_amount_in_sight(
    counter: Counter, size: tuple[int, int]
) -> None:
    ticket = await counter.writes("My money, please")
    await counter.proposes(ticket, {"order_id": "O-1"})
    app = app_on(counter.store)
    async with app.run_test(size=size, notifications=True) as pilot:
        await all_view(pilot, app)
        await card_opened(pilot, app)
        before = screen_text(app).split("\n")
        assert "118.00 EUR" in "\n".join(before)
        desk_of(app).tell(LONG)
        app.screen.notify(LONG, markup=False)
        await until(pilot, lambda: "a notice of" in screen_text(app).split("\n")[-1])
        box = [n for n in range(size[1]) if "118.00 EUR" in before[n]]

        def seen() -> bool:
            now = screen_text(app).split("\n")
            return all("118.00 EUR" in now[n] for n in box)

        await until(pilot, seen)


async def test_a_notice_leaves_the_bar_of_a_lost_store_in_sight(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    app = app_on(counter.store)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await all_view(pilot, app)
        desk = desk_of(app)
        desk.add_class("-lost")
        desk.tell("a notice")
        await until(pilot, lambda: "a notice" in screen_text(app).split("\n")[3])


async def test_a_key_for_a_card_that_does_not_listen_yet_is_told_in_its_line(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My money, please")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        panel = app.screen
        assert isinstance(panel, DecisionPanel)
        panel.listening = False
        await press(pilot, "y")
        why = "pressed too soon, nothing was done: once more"
        await until(pilot, lambda: why in screen_text(app))
        assert app.screen is panel
        assert "esc Cancel" in screen_text(app)  # what the keys do stays in sight
        await until(pilot, lambda: why not in screen_text(app), "for a while only")
        assert "esc Cancel" in screen_text(app)


@pytest.mark.parametrize("size", [(200, 55), (100, 30)])
async def test_a_notice_stands_once_also_where_a_card_comes_up_right_after_it(
    counter: Counter, size: tuple[int, int]
) -> None:
    ticket = await counter.writes("My money, please")
    await counter.proposes(ticket, {"order_id": "O-1"})
    app = app_on(counter.store)
    async with app.run_test(size=size, notifications=True) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: desk_of(app).pending() is not None)
        desk_of(app).tell("said once")
        await until(pilot, lambda: "said once" in screen_text(app))
        await card_opened(pilot, app)
        here = app.screen.query("Toast")
        await until(pilot, lambda: [toast.size.height for toast in here] == [1])
        await until(pilot, lambda: screen_text(app).count("said once") == 1)
        desk_of(app).tell("said next")
        await until(pilot, lambda: screen_text(app).count("said next") == 1)
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: screen_text(app).count("said next") == 1)


async def test_a_key_that_comes_too_fast_on_a_panel_is_told_in_its_line(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await held(pilot, app)
        await press(pilot, "q")
        await until(pilot, lambda: "Leave?" in screen_text(app))
        await until(pilot, lambda: app.screen.listening)
        app.pace = Pace(before=60, after=0.25)
        await press(pilot, "y", "y")
        why = "keys came too fast, still here: once more"
        await until(pilot, lambda: why in screen_text(app))
        assert "y leave" in screen_text(app)


async def test_a_key_for_a_panel_that_did_not_come_up_says_so_beside_what_it_did(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await held(pilot, app)
        app.pace = Pace(before=0, after=5, burst=0)
        for key in "qy":
            app.post_message(events.Key(key, key))
        await until(pilot, lambda: f"Still here. {ticket} is copied" in told(app))


async def test_a_card_that_was_not_read_whole_says_so_where_y_was_pressed(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My money, please")
    await counter.proposes(ticket, {f"field_{n}": "x" for n in range(60)})
    async with sitting(counter.store, size=(100, 24)) as (pilot, app):
        await card_opened(pilot, app)
        await press(pilot, "y")
        await until(pilot, lambda: "not read whole yet: j reads on" in screen_text(app))
        assert "Decision" in pane_text(app, "banner")


async def test_that_tool_servers_are_asked_is_told_while_one_waits_and_no_longer(
    counter: Counter,
) -> None:
    answered = asyncio.Event()

    async def tools() -> Mapping[str, ToolSpec]:
        await answered.wait()
        return {REFUND.name: REFUND}

    ticket = await counter.writes("Where is it?")
    app = app_on(counter.store, tools=tools)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "A")
        await until(pilot, lambda: "Asking the tool servers" in screen_text(app))
        answered.set()
        await until(pilot, lambda: "Use a tool on" in screen_text(app))
        gone = "Asking the tool servers"
        await until(pilot, lambda: gone not in screen_text(app), "taken back")
        await press(pilot, "escape")
        app.told.clear()
        await press(pilot, "A")
        await until(pilot, lambda: "Use a tool on" in screen_text(app))
        assert gone not in told(app)
