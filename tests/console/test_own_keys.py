"""Keys that a person has changed: what the screen says is what does it."""

from console.widgets.timeline import Timeline
from core.flows.handoff import take_over
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import (
    desk_of,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    told,
    until,
)

KEYS = {
    "take": "B",
    "give_back": "D",
    "decide": "E",
    "note": "F",
    "withheld": "I",
    "view:mine": "7",
    "view:agent": "9",
    "last": "L",
    "back": "f4",
    "undo": "U",
}


async def test_every_line_of_the_desk_says_the_persons_own_keys(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    async with sitting(counter.store, keys=KEYS) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        for words in (
            "E card · B take over",
            "E opens it",
            "E opens the card",
            "write yourself: B   note: F",
            "7 mine 0",
            "6 all 1",
        ):
            await until(pilot, lambda w=words: w in screen_text(app), words)
        await press(pilot, "7")
        words = "You hold no ticket. B on a ticket takes it over."
        await until(pilot, lambda: words in " ".join(screen_text(app).split()))
        await press(pilot, "6")
        await until(pilot, lambda: "B take over" in pane_text(app, "banner"))
        await press(pilot, "B")
        await until(pilot, lambda: "D give back" in pane_text(app, "banner"))


async def test_what_is_said_of_a_filter_a_discard_and_new_lines_names_own_keys(
    counter: Counter,
) -> None:
    ticket = await counter.writes("\n".join("Where is it?" for _ in range(60)))
    async with sitting(counter.store, keys=KEYS) as (pilot, app):
        await shown(pilot, app, ticket)
        await take_over(counter.store, ticket, ME)
        await until(pilot, lambda: desk_of(app).here().mine)
        await press(pilot, "tab", "g")
        timeline = desk_of(app).query_one(Timeline)
        await until(pilot, lambda: not timeline.at_end)
        await counter.writes("And now?", ticket=ticket)
        await until(pilot, lambda: "1 new below · L " in screen_text(app))
        await press(pilot, "r", *"Hm", "f4")
        await until(pilot, lambda: desk_of(app).here().drafted)
        desk_of(app).run_command("discard")
        await until(pilot, lambda: "Discarded “Hm” · U brings it back" in told(app))
        desk_of(app).go("queue")
        await press(pilot, "/", *"nothing has it")
        await until(pilot, lambda: "f4 clears the filter" in screen_text(app))
