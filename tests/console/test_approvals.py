"""The view of approvals: what waits for a verdict, and what is still to be done."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from console.app import HandoffApp
from console.screens.arguments import ArgumentsForm
from console.widgets.queue import Queue
from console.widgets.spans import plain
from console.wording import approval_of
from core.decision import Verdict
from core.flows.supervise import decide
from core.tool import ToolSpec
from tests.console.counter import Counter
from tests.console.sample_desk import kitchen, with_mira
from tests.console.shown import ME
from tests.console.steps import (
    desk_of,
    held,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    until,
)
from tests.console.test_decisions import REFUND


def queue_text(app: HandoffApp) -> str:
    """What the rows of the queue say."""
    queue = desk_of(app).query_one(Queue)
    return plain([queue.line_at(y) for y in range(queue.total)])


async def test_what_is_approved_stays_among_the_approvals_until_it_is_carried_out(
    counter: Counter,
) -> None:
    done = await counter.writes("My money, please")
    await counter.proposes(done, {"order_id": "O-1"})
    seen = (await stored(counter.store, done)).standing.last_seq
    approve = Verdict(kind="approve", why="", input=None, seen=seen)
    await decide(counter.store, "D-1", approve, ME, ())
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, done)
        await press(pilot, "2")
        await until(pilot, lambda: "approved: no agent" in queue_text(app))
        assert queue_text(app).startswith("○")
        assert "2 approvals 0" in pane_text(app, "top")
        await held(pilot, app)
        await until(pilot, lambda: "approved: yours" in queue_text(app))
        await until(pilot, lambda: "2 approvals 1" in pane_text(app, "top"))
        await until(pilot, lambda: done in desk_of(app).reads.mine.ready)
        await press(pilot, "6")
        await until(pilot, lambda: " you " in queue_text(app))


def test_each_wait_of_a_proposal_has_its_own_symbol_and_words() -> None:
    rows = [kitchen().row()]
    for change in (
        {},
        {"held_by": "Noor"},
        {"held_by": "Mira"},
        {"with_people": "asked for"},
    ):
        ready = {"pending": {}, "ready": ("D-118",), "wake_seq": 10_000} | change
        rows.append(replace(rows[0], standing=replace(rows[0].standing, **ready)))
    words = [approval_of(row, "Noor", workers=1) for row in rows]
    assert [f"{w.symbol} {w.words}" for w in words] == [
        "▲ decide 118.00 EUR",
        "○ approved: agent",
        "■ approved: yours",
        "□ approved: Mira",
        "✓ approved: take it",
    ]
    at_rest = with_mira().row()
    assert approval_of(at_rest, "Noor", workers=1) is None


class Slow:
    """Tool servers that answer once they are let."""

    def __init__(self) -> None:
        self.may = asyncio.Event()

    async def __call__(self) -> Mapping[str, ToolSpec]:
        """The tools, then."""
        await self.may.wait()
        return {"refund_order": REFUND}


async def test_another_amount_is_typed_at_once_however_late_the_tool_is_known(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    tools = Slow()
    async with sitting(counter.store, tools=tools) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: getattr(app.screen, "listening", False))
        await press(pilot, "e")
        form = app.screen.query_one(ArgumentsForm)
        await until(pilot, lambda: form.focused == "amount")
        await press(pilot, "shift+tab")
        assert form.focused == "order_id"
        tools.may.set()
        await until(pilot, lambda: "yours to decide" in screen_text(app))
        await until(pilot, lambda: form.texts == ["O-1", "118.00", ""])
        await until(pilot, lambda: form.focused == "order_id")
        await press(pilot, "tab", *"18.50")
        await until(pilot, lambda: "within the policy" in screen_text(app))
        await press(pilot, "escape", "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
        await press(pilot, "a")
        await until(pilot, lambda: getattr(app.screen, "spec", None))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "e", *"20")  # at once: all of it is the form's
        await until(pilot, lambda: "within the policy" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: desk_of(app).pending() is None)
        decision = (await stored(counter.store, ticket)).decisions[0]
        assert decision.final_input == {"order_id": "O-1", "amount": "20"}


async def test_f15_whoever_approved_first_of_two_is_not_asked_to_decide_again(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My money, please")
    await counter.proposes(ticket, {"order_id": "O-1"})
    waits = (await stored(counter.store, ticket)).decisions[0]
    first = replace(waits, four_eyes=True, first=ME.name)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "a approve" in pane_text(app, "hints"))
        await counter.store.write(lambda tx: tx.save_decision(first))
        await counter.writes("Hello?", ticket=ticket)
        await until(pilot, lambda: "a look at it" in pane_text(app, "hints"))
