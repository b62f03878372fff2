"""Each screen at its sizes, dark and light, as pictures that the project shows."""

from pathlib import Path

from textual.pilot import Pilot

from console.app import HandoffApp
from core.ports import Pause
from core.ticket import RunId, TicketId
from tests.console.pictures import Album
from tests.console.sample_desk import COUNTS, desk
from tests.console.scenes import NOW, SceneStore
from tests.console.steps import app_on, desk_of, pane_text, press, screen_text, until

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


async def both(pilot: Pilot[None], app: HandoffApp, album: Album, name: str) -> None:
    """Keeps a picture in light and in dark."""
    for theme in ("light", "dark"):
        app.theme = f"handoff-{theme}"
        await album.keep(app, f"{name}-{theme}")
        assert in_line(app, app.size.width)


PANELS = {
    "card": ("a", "part 2 lost by the carrier"),
    "house": ("s", "Chair leg missing"),
    "people": ("O", "supervisor"),
    "replay": ("p", "rebuilt byte for byte"),
    "help": ("question_mark", "Keys here"),
    "give-back": ("R", "to Mira"),
    "snooze": ("z", "A message of the buyer wakes it"),
}
"""Panels: the key that opens them, and what they say."""


async def panel(
    pilot: Pilot[None], app: HandoffApp, album: Album, name: str, theme: str
) -> None:
    """Opens a panel, keeps its picture and closes it."""
    key, says = PANELS[name]
    app.theme = f"handoff-{theme}"
    await press(pilot, key)
    await until(pilot, lambda: app.screen is not desk_of(app), name)
    await until(pilot, lambda: says in screen_text(app), says)
    await until(pilot, lambda: app.screen.listening)
    await album.keep(app, f"{name}-{app.size.width}-{theme}")
    assert in_line(app, app.size.width)
    await press(pilot, "escape")
    await until(pilot, lambda: app.screen is desk_of(app))


async def test_at_80_columns_one_pane_is_shown_at_a_time(tmp_path: Path) -> None:
    app, album = the_app(title="sample"), Album(tmp_path)
    async with app.run_test(size=SIZES[80]) as pilot:
        await ready(pilot, app)
        await both(pilot, app, album, "desk-80")
        await until(pilot, lambda: "T-40219" in screen_text(app))
        await panel(pilot, app, album, "card", "light")
        await panel(pilot, app, album, "house", "light")
        await panel(pilot, app, album, "snooze", "dark")
        await press(pilot, "enter")
        await until(pilot, lambda: desk_of(app).pane() == "timeline")
        await until(pilot, lambda: "Waiting for a decision" in screen_text(app))
        await both(pilot, app, album, "ticket-80")
    album.done()


async def test_at_120_columns_the_list_stands_beside_the_ticket(tmp_path: Path) -> None:
    store = sample()
    app = app_on(store, still=True, title="sample", canned=CANNED)
    album = Album(tmp_path)
    async with app.run_test(size=SIZES[120]) as pilot:
        await ready(pilot, app)
        await both(pilot, app, album, "desk-120")
        await until(pilot, lambda: "VERIFIED" in screen_text(app))
        await until(pilot, lambda: "Decision: refund 118.00 EUR" in screen_text(app))
        await until(pilot, lambda: " a card" in screen_text(app))
        for name, theme in (
            ("card", "dark"),
            ("house", "dark"),
            ("people", "light"),
            ("replay", "light"),
            ("help", "dark"),
        ):
            await panel(pilot, app, album, name, theme)
        await press(pilot, "j")
        await until(pilot, lambda: "Jonas Brandt" in pane_text(app, "strip"))
        await panel(pilot, app, album, "give-back", "light")
        app.theme = "handoff-dark"
        await writes_a_canned_reply(pilot, app, album)
        await press(pilot, "escape", "escape")
        store.paused = Pause(by="Sam", why="prompt regression", at=NOW)
        await desk_of(app).reads.read_window(0, fresh=True)
        await press(pilot, *"jjjjj")
        words = "PAUSED by Sam: prompt regression"
        await until(pilot, lambda: words in pane_text(app, "banner"))
        await until(pilot, lambda: "Léa Fontaine" in screen_text(app))
        await album.keep(app, "paused-120-dark")
    album.done()


async def writes_a_canned_reply(
    pilot: Pilot[None], app: HandoffApp, album: Album
) -> None:
    """Written replies are filled from the chart, and only written."""
    await press(pilot, "r")
    await until(pilot, lambda: desk_of(app).pane() == "composer")
    await press(pilot, "slash")
    await until(pilot, lambda: app.screen is not desk_of(app))
    await press(pilot, *"wrong")
    await until(pilot, lambda: "I am sorry, Jonas Brandt." in screen_text(app))
    await album.keep(app, "canned-120-dark")
    await press(pilot, "enter")
    await until(pilot, lambda: app.screen is desk_of(app))
    editor = desk_of(app).query_one("#editor")
    said = "I am sorry, Jonas Brandt. The courier goes back to fetch it today."
    await until(pilot, lambda: editor.text == said)


async def test_at_160_columns_the_chart_has_its_own_column(tmp_path: Path) -> None:
    app, album = the_app(title="sample"), Album(tmp_path)
    async with app.run_test(size=SIZES[160]) as pilot:
        await ready(pilot, app)
        await both(pilot, app, album, "desk-160")
        await until(
            pilot,
            lambda: "Decision: refund 118.00 EUR" in screen_text(app),
        )
        await panel(pilot, app, album, "replay", "dark")
    album.done()


async def test_at_200_columns_a_held_ticket_silences_the_agent(tmp_path: Path) -> None:
    app, album = the_app(title="sample"), Album(tmp_path)
    async with app.run_test(size=SIZES[200]) as pilot:
        await ready(pilot, app)
        await both(pilot, app, album, "desk-200")
        await until(
            pilot,
            lambda: "Decision: refund 118.00 EUR" in screen_text(app),
        )
        await press(pilot, "j")
        await until(pilot, lambda: "YOU HOLD T-40231" in pane_text(app, "banner"))
        await until(pilot, lambda: "Jonas Brandt" in pane_text(app, "chart"))
        await press(pilot, "r", *"I am sorry. I have asked the courier to go back")
        desk_of(app).query_one("#editor").cursor_blink = False
        await album.keep(app, "held-200-dark")
        await until(pilot, lambda: "withheld" in screen_text(app))
    album.done()


async def test_an_empty_desk_says_how_tickets_come(tmp_path: Path) -> None:
    app = app_on(SceneStore([], {"all": 0, "human": 0}), still=True)
    album = Album(tmp_path)
    async with app.run_test(size=SIZES[80]) as pilot:
        await until(pilot, lambda: "handoff demo" in screen_text(app))
        await album.keep(app, "empty-80-dark")
    album.done()
