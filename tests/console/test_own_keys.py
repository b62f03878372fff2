"""Keys that a person has changed: what the screen says is what does it."""

from tests.console.counter import Counter
from tests.console.steps import desk_of, pane_text, press, screen_text, sitting, until

KEYS = {
    "take": "B",
    "give_back": "D",
    "decide": "E",
    "note": "F",
    "withheld": "I",
    "view:mine": "7",
    "view:agent": "9",
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
