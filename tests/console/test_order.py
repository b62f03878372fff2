"""What is typed faster than it is dealt with comes to what was meant."""

import pytest
from textual.events import Paste
from textual.widgets import Input

from console.app import HandoffApp
from console.screens.arguments import ArgumentsForm
from console.widgets.composer import Composer
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


@pytest.mark.parametrize("keys", [("a", "b", "c", "ctrl+u", "d", "e", "f", "enter")])
async def test_a_key_that_deletes_takes_what_stood_there_when_it_was_pressed(
    counter: Counter, keys: tuple[str, ...]
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r")
        composer = desk_of(app).query_one(Composer)
        at_once(app, *keys)
        await until(pilot, lambda: composer.text == "def\n", repr(composer.text))
        at_once(app, "x")
        app.post_message(Paste("y"))
        at_once(app, "z")
        await until(pilot, lambda: composer.text == "def\nxyz", repr(composer.text))


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
