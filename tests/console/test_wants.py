"""What a person may want of the desk: a bell, costs, sleep as a way of giving back."""

from datetime import timedelta
from decimal import Decimal

import pytest

from console.screens.ask import AskPanel
from console.screens.give_back import GiveBackPanel
from console.widgets.one_line import OneLine
from core.flows.handoff import take_over
from core.journal import Note
from core.ports import RunEnd
from core.turn import Stop
from tests.console.counter import RUN, Counter
from tests.console.shown import ME
from tests.console.steps import (
    held,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)


@pytest.mark.parametrize("bell", [True, False])
async def test_the_bell_rings_for_what_waits_for_the_person_if_they_want_it(
    counter: Counter, bell: bool
) -> None:
    ticket = await counter.writes("Where?")
    other = await counter.writes("And mine?")
    rung: list[str] = []
    async with sitting(counter.store, bell=bell) as (pilot, app):
        await shown(pilot, app, ticket)
        app.bell = lambda: rung.append("bell")  # type: ignore[method-assign]
        await take_over(counter.store, other, ME)
        await until(pilot, lambda: "was handed to you" in told(app))
        await counter.writes("Hello?", ticket=other)
        await until(pilot, lambda: "the buyer wrote" in told(app))
        third = await counter.writes("A refund, please")
        await counter.proposes(third, {"order_id": "O-1"})
        await until(pilot, lambda: "waits for a decision" in told(app))
        await take_over(counter.store, other, ME, forced=True, why="mine")
    assert len(rung) == (3 if bell else 0)


async def test_a_ticket_is_given_back_to_sleep_with_a_note_for_the_agent(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "R")
        await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
        await until(pilot, lambda: app.screen.listening)
        assert "snooze, sleeps until a time" in screen_text(app)
        await press(pilot, "tab", *"look on Thursday", "down", "down", "down", "down")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, AskPanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, *"soon", "enter")
        await until(pilot, lambda: "“soon” is no time" in screen_text(app))
        assert app.screen.query_one(OneLine).value == "soon"
        assert (await stored(counter.store, ticket)).standing.held_by == "Noor"
        await press(pilot, "ctrl+w", *"3h", "ctrl+s")
        await until(pilot, lambda: "you no longer hold it" in told(app))
        history = await stored(counter.store, ticket)
        assert history.standing.snoozed_until is not None
        assert history.lock.holder is None
        notes = [e.body for e in history.journal if isinstance(e.body, Note)]
        assert notes == [Note(text="look on Thursday", for_agent=True)]


async def test_what_the_model_cost_today_is_in_the_overview(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    hold = await counter.works(ticket)

    def end(cost: str | None) -> RunEnd:
        return RunEnd(
            stop=Stop.ANSWERED,
            detail=None,
            escalated=False,
            task_state={},
            cost_usd=None if cost is None else Decimal(cost),
        )

    await counter.store.write(lambda tx: tx.end_run(hold, RUN, end("0.125")))
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await press(pilot, "s")
        await until(pilot, lambda: "model today" in screen_text(app))
        assert "0.12 USD, 1 run" in screen_text(app)
        await counter.store.write(lambda tx: tx.end_run(hold, RUN, end(None)))
        await until(pilot, lambda: "the cost of 1 is not known" in screen_text(app))
        assert "0.00 USD" not in screen_text(app)
    later = await counter.store.read(lambda tx: tx.now) + timedelta(days=1)
    spent = await counter.store.read(lambda tx: tx.model_costs(later))
    assert (spent.runs, spent.cost_usd) == (0, Decimal(0))
