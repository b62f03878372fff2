"""What is typed faster than it is dealt with comes to what was meant."""

import pytest
from textual.events import Paste
from textual.widgets import Input

from console.app import HandoffApp
from console.screens.arguments import ArgumentsForm
from console.screens.palette import PalettePanel
from console.widgets.composer import Composer
from console.widgets.queue import Queue
from tests.console.counter import Counter
from tests.console.steps import (
    card_opened,
    desk_of,
    held,
    key_event,
    press,
    shown,
    sitting,
    until,
)


def at_once(app: HandoffApp, *keys: str) -> None:
    """Sends keys as a slow line does: all of them in one piece."""
    for key in keys:
        app.post_message(key_event(key))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("a", "b", "c", "ctrl+u", "d", "e", "f", "enter"), "def\n"),
        (("b", "a", "backspace", "c", "left", "x"), "bxc"),
    ],
)
async def test_a_key_that_edits_is_about_what_stood_there_when_it_was_pressed(
    counter: Counter, keys: tuple[str, ...], text: str
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r")
        composer = desk_of(app).query_one(Composer)
        at_once(app, *keys)
        await until(pilot, lambda: composer.text == text, repr(composer.text))


async def test_a_paste_comes_where_it_was_made(counter: Counter) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r")
        composer = desk_of(app).query_one(Composer)
        at_once(app, "x")
        app.post_message(Paste("y"))
        at_once(app, "z")
        await until(pilot, lambda: composer.text == "xyz", repr(composer.text))


async def test_letters_after_the_key_of_a_search_are_what_is_searched(
    counter: Counter,
) -> None:
    await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).history is not None)
        at_once(app, "colon", "s", "n", "o", "o")
        await until(pilot, lambda: isinstance(app.screen, PalettePanel))
        box = app.screen.query_one(Input)
        await until(pilot, lambda: box.value == "snoo", repr(box.value))


async def test_what_is_typed_after_tab_is_the_next_fields(counter: Counter) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"amount": "118.00", "currency": "EUR"})
    async with sitting(counter.store) as (pilot, app):
        await card_opened(pilot, app)
        await press(pilot, "e")
        await until(pilot, lambda: isinstance(app.focused, Input))
        at_once(app, "ctrl+u", "1", "2", "tab", "ctrl+u", "U", "S", "D")
        form = app.screen.query_one(ArgumentsForm)
        await until(pilot, lambda: form.texts == ["12", "USD"], repr(form.texts))


async def test_letters_after_enter_in_a_search_are_commands(counter: Counter) -> None:
    for subject in ("A lamp", "Another lamp", "A third lamp"):
        await counter.writes("Where?", subject=subject)
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).history is not None)
        queue = desk_of(app).query_one(Queue)
        await press(pilot, "slash", *"lamp")
        await until(pilot, lambda: desk_of(app).reads.filter == "lamp")
        await until(pilot, lambda: queue.total == 3 and not queue.awaits)
        at_once(app, "enter", "j", "j")
        await until(
            pilot, lambda: queue.cursor_at == 2, repr(desk_of(app).reads.filter)
        )
        assert desk_of(app).reads.filter == "lamp"
