"""What is pasted: line ends, what nobody sees, and what is too long."""

import pytest
from textual import events

from console.screens.ask import AskPanel
from console.widgets.composer import LONGEST, Composer
from console.widgets.one_line import OneLine
from core.cleanse import written
from tests.console.counter import Counter
from tests.console.steps import (
    desk_of,
    done,
    held,
    press,
    shown,
    sitting,
    told,
    until,
)


@pytest.mark.parametrize(
    ("pasted", "kept"),
    [
        ("one\rtwo\r\nthree\nfour", "one\ntwo\nthree\nfour"),
        ("a\u200bb\ufeffc\u202ed\u2066e\x9b2J\x1b[31m\x00\x7f", "abcde2J[31m"),
        ("a\tb", "a    b"),
        ("می\u200cشود", "می\u200cشود"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
        ("👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"),
        ("pay\u200cpal\u200d", "paypal"),
        ("Grüße, 東京", "Grüße, 東京"),
        ("e" + "\u0301" * 40, "é" + "\u0301" * 4),
    ],
)
def test_what_is_written_has_all_that_is_seen_and_nothing_else(
    pasted: str, kept: str
) -> None:
    assert written(pasted) == kept
    assert written(kept) == kept


async def test_what_is_pasted_into_the_composer_has_no_stand_ins_and_is_never_cut(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        desk = desk_of(app)
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r")
        await until(pilot, lambda: desk.pane() == "composer")
        app.post_message(events.Paste("Dear\u200b Tim,\rit is\x1b here می\u200cشود"))
        await done(pilot)
        words = "Dear Tim,\nit is here می\u200cشود"
        composer = desk.query_one(Composer)
        await until(pilot, lambda: composer.text == words)
        desk.composer_again()
        assert composer.text == words
        app.post_message(events.Paste("x" * (LONGEST - len(words) + 1)))
        await until(pilot, lambda: "Nothing was pasted" in told(app))
        assert told(app).count("Nothing was pasted") == 1
        assert composer.text == words
        app.post_message(events.Paste("y" * 31_890))
        await until(pilot, lambda: composer.text == words + "y" * 31_890)


async def test_what_is_pasted_into_a_line_is_all_of_it_on_one_line(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await press(pilot, "W")
        await until(pilot, lambda: isinstance(app.screen, AskPanel))
        await until(pilot, lambda: app.screen.listening)
        app.post_message(events.Paste("look\rat\r\nthe\u200b box\x1b\n"))
        box = app.screen.query_one(OneLine)
        await until(pilot, lambda: box.value == "look at the box")
