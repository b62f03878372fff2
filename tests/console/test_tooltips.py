"""What floats over the screen under the mouse says nothing that somebody wrote."""

from textual.widget import Widget

from console.app import HandoffApp
from core.cleanse import cleanse
from tests.console.counter import Counter
from tests.console.steps import desk_of, press, screen_text, shown, sitting, until
from tests.console.test_hostile import PANELS, house


def raw(app: HandoffApp) -> list[str]:
    """The tooltips that would reach the terminal as somebody else wrote them."""
    found: list[str] = []
    for screen in app.screen_stack:
        for widget in (screen, *screen.walk_children(Widget)):
            told = widget.tooltip
            text = "" if told is None else str(told)
            if text != cleanse(text):
                found.append(f"{widget}: {text!r}")
    return found


async def test_f128_no_tooltip_of_any_screen_has_a_foreign_text(
    counter: Counter,
) -> None:
    held = await house(counter)
    async with sitting(counter.store) as (pilot, app):
        desk_of(app).go_to(held)
        await shown(pilot, app, held)
        await until(pilot, lambda: "YOU HOLD" in screen_text(app))
        assert raw(app) == []
        for key, words in PANELS.items():
            await press(pilot, {":": "colon", "?": "question_mark"}.get(key, key))
            await until(pilot, lambda w=words: w in screen_text(app), words)
            await until(pilot, lambda: app.screen.listening)
            assert raw(app) == [], words
            await press(pilot, "escape")
            await until(pilot, lambda: app.screen is desk_of(app))
        desk_of(app).query_one("#chart").tooltip = "\x1b]0;PWNED\x07"
        assert len(raw(app)) == 1
