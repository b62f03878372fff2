"""Each screen at its sizes, dark and light, as pictures that the project shows."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import HandoffApp
from core.ports import Pause
from core.ticket import RunId, TicketId
from tests.console.pictures import keep
from tests.console.sample_desk import COUNTS, desk
from tests.console.scenes import NOW, SceneStore
from tests.console.steps import app_on, desk_of, pane_text, screen_text, until

SIZES = {80: (80, 24), 120: (120, 40), 160: (160, 45), 200: (200, 55)}
CANNED = {
    "carrier asked": "Hello {name},\n\nI asked the carrier and write by Thursday.",
    "refund done": "Your money for {order} is on its way back.",
    "wrong house": "I am sorry, {name}. The courier goes back to fetch it today.",
}


def sample() -> SceneStore:
    """The store of the pictures."""
    scenes = desk()
    run = RunId("R-A07C")
    nearby = (
        ("Mira", TicketId("T-40198"), "typing"),
        ("Noor", TicketId("T-40219"), "watching"),
    )
    records = {run: scenes[0].record(run)}
    return SceneStore(scenes, COUNTS, nearby=nearby, records=records)


def the_app(theme: str = "dark", **more: object) -> HandoffApp:
    """The console on it."""
    return app_on(sample(), still=True, theme=f"handoff-{theme}", **more)


async def ready(pilot: Pilot[None], app: HandoffApp) -> None:
    """Waits until the first ticket is shown."""
    await until(pilot, lambda: "D-118" in pane_text(app, "chart"))


def in_line(app: HandoffApp, width: int) -> bool:
    """Whether every line has the screen's width."""
    strips = app.screen._compositor.render_strips()
    return all(strip.cell_length == width for strip in strips)


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("width", SIZES)
async def test_the_desk_says_who_has_it_who_it_is_and_what_waits(
    width: int, theme: str, tmp_path: Path
) -> None:
    app = the_app(theme, title="sample")
    async with app.run_test(size=SIZES[width]) as pilot:
        await ready(pilot, app)
        await keep(app, f"desk-{width}-{theme}", tmp_path)
        assert in_line(app, width)
        shown = screen_text(app)
        assert "T-40219" in shown
        if width >= 100:
            assert "VERIFIED" in shown
            words = "Waiting for a decision" if width >= 160 else "Decision"
            assert f"{words}: refund 118.00 EUR" in shown, shown
            assert " a card" in shown
        else:
            await pilot.press("enter")
            await until(pilot, lambda: desk_of(app).pane() == "timeline")
            await keep(app, f"ticket-{width}-{theme}", tmp_path)
            assert "Waiting for a decision" in screen_text(app)


async def test_a_held_ticket_opens_the_composer_and_silences_the_agent(
    tmp_path: Path,
) -> None:
    app = the_app()
    async with app.run_test(size=SIZES[200]) as pilot:
        await ready(pilot, app)
        await pilot.press("j")
        await until(pilot, lambda: "YOU HOLD T-40231" in pane_text(app, "banner"))
        await until(pilot, lambda: "Jonas Brandt" in pane_text(app, "chart"))
        await pilot.press("r", *"I am sorry. I have asked the courier to go back")
        desk_of(app).query_one("#editor").cursor_blink = False
        await keep(app, "held-200-dark", tmp_path)
        assert "the agent is silent" in screen_text(app)
        assert "withheld" in screen_text(app)


PANELS = {
    "card": (("a",), "part 2 lost by the carrier"),
    "house": (("s",), "Chair leg missing"),
    "people": (("O",), "supervisor"),
    "replay": (("p",), "rebuilt byte for byte"),
    "help": (("question_mark",), "Keys here"),
    "give-back": (("j", "R"), "to Mira"),
    "snooze": (("z",), "A message of the buyer wakes it"),
}
"""Panels: the keys that open them, and what they say."""


@pytest.mark.parametrize(
    ("panel", "width", "theme"),
    [
        ("card", 120, "dark"),
        ("card", 80, "light"),
        ("house", 120, "dark"),
        ("house", 80, "light"),
        ("people", 120, "light"),
        ("replay", 160, "dark"),
        ("replay", 120, "light"),
        ("help", 120, "dark"),
        ("give-back", 120, "light"),
        ("snooze", 80, "dark"),
    ],
)
async def test_a_panel_says_what_it_is_for(
    panel: str, width: int, theme: str, tmp_path: Path
) -> None:
    keys, says = PANELS[panel]
    app = the_app(theme)
    async with app.run_test(size=SIZES[width]) as pilot:
        await until(pilot, lambda: desk_of(app).pending() is not None)
        for key in keys:
            await pilot.press(key)
            await until(pilot, lambda: desk_of(app).history is not None)
        await until(pilot, lambda: says in screen_text(app), says)
        await until(pilot, lambda: app.screen.listening)
        await keep(app, f"{panel}-{width}-{theme}", tmp_path)
        assert in_line(app, width)


async def test_written_replies_are_filled_from_the_chart_and_only_written(
    tmp_path: Path,
) -> None:
    app = the_app(canned=CANNED)
    async with app.run_test(size=SIZES[120]) as pilot:
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await pilot.press("j")
        await until(pilot, lambda: desk_of(app).history is not None)
        await pilot.press("r", "slash", *"wrong")
        await until(pilot, lambda: "I am sorry, Jonas Brandt." in screen_text(app))
        await keep(app, "canned-120-dark", tmp_path)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is desk_of(app))
        text = desk_of(app).query_one("#editor").text
        assert (
            text == "I am sorry, Jonas Brandt. The courier goes back to fetch it today."
        )


async def test_a_pause_of_everything_names_who_and_why(tmp_path: Path) -> None:
    store = sample()
    store.paused = Pause(by="Sam", why="prompt regression", at=NOW)
    app = app_on(store, still=True)
    async with app.run_test(size=SIZES[120]) as pilot:
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await pilot.press(*"jjjjj")
        words = "PAUSED by Sam: prompt regression"
        await until(pilot, lambda: words in pane_text(app, "banner"))
        await until(pilot, lambda: "Léa Fontaine" in screen_text(app))
        await keep(app, "paused-120-dark", tmp_path)


async def test_an_empty_desk_says_how_tickets_come(tmp_path: Path) -> None:
    app = app_on(SceneStore([], {"all": 0, "human": 0}), still=True)
    async with app.run_test(size=SIZES[80]) as pilot:
        await until(pilot, lambda: "handoff demo" in screen_text(app))
        await keep(app, "empty-80-dark", tmp_path)
