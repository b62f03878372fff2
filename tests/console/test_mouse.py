"""The mouse: whatever a key does, a click on the key's name does too."""

from textual.pilot import Pilot

from console.app import HandoffApp
from console.screens.ask import AskPanel
from console.screens.decision import DecisionPanel
from console.screens.give_back import GiveBackPanel
from console.screens.replay import ReplayPanel
from console.screens.supervisor import SupervisorPanel
from console.widgets.line_view import Painted
from console.widgets.queue import Queue
from tests.console.counter import Counter
from tests.console.steps import (
    desk_of,
    done,
    held,
    pane_text,
    screen_text,
    shown,
    sitting,
    stored,
    until,
)


async def click(pilot: Pilot[None], app: HandoffApp, words: str) -> None:
    """Clicks on words that the screen shows, not on those below a panel."""
    await until(pilot, lambda: place(app, words) is not None, words)
    await pilot.click(offset=place(app, words))
    await done(pilot)


def place(app: HandoffApp, words: str) -> tuple[int, int] | None:
    """Where these words can be clicked on."""
    for y, line in enumerate(screen_text(app).splitlines()):
        x = line.find(words)
        if x >= 0 and isinstance(app.get_widget_at(x, y)[0], Painted):
            return x, y
    return None


async def opens(pilot: Pilot[None], app: HandoffApp, words: str, panel: type) -> None:
    """Clicks on words that open a panel, and waits until it listens."""
    await click(pilot, app, words)
    await until(pilot, lambda: isinstance(app.screen, panel) and app.screen.listening)


async def test_a_decision_is_looked_at_left_and_approved_without_a_key(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await opens(pilot, app, "a card", DecisionPanel)
        await click(pilot, app, "x reject")
        await click(pilot, app, "esc back")
        await click(pilot, app, "Cancel")
        await until(pilot, lambda: app.screen is desk_of(app))
        await opens(pilot, app, "opens the card", DecisionPanel)
        await click(pilot, app, "y approve")
        await until(pilot, lambda: desk_of(app).pending() is None)
        decision = (await stored(counter.store, ticket)).decisions[0]
        assert decision.state.value == "approved"


async def test_views_rows_panels_and_their_lists_take_clicks(counter: Counter) -> None:
    first = await counter.writes("One.", subject="Nr 1")
    second = await counter.writes("Two.", subject="Nr 2", sender="bea@example.com")
    async with sitting(counter.store) as (pilot, app):
        await click(pilot, app, "6 all")
        for subject, ticket in (("Nr 2", second), ("Nr 1", first)):
            await click(pilot, app, subject)
            await shown(pilot, app, ticket)
        await opens(pilot, app, "overview", SupervisorPanel)
        await opens(pilot, app, "pause all", AskPanel)
        await click(pilot, app, "esc back")
        await until(pilot, lambda: app.screen is desk_of(app))
        await held(pilot, app)
        await opens(pilot, app, "R give back", GiveBackPanel)
        await click(pilot, app, "to the queue")
        await until(pilot, lambda: "YOU HOLD" not in pane_text(app, "banner"))
        assert (await stored(counter.store, first)).lock.holder is None
        assert desk_of(app).query_one(Queue).cursor == first


async def test_the_turns_of_a_run_are_stepped_through_by_clicks(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await opens(pilot, app, "p replay", ReplayPanel)
        await click(pilot, app, "other side")
        await until(pilot, lambda: "▸ ANSWER" in screen_text(app))
        await click(pilot, app, "esc back")
        await until(pilot, lambda: app.screen is desk_of(app))
