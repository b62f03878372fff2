"""Written replies and macros at the desk: searched, previewed, filled, then done."""

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from console.app import HandoffApp
from console.canned import read_replies
from console.screens.canned import CannedPanel
from console.screens.macro import MacroPanel
from console.widgets.composer import Composer
from core.flows.canned import keep
from core.journal import Note, StateAmended
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import (
    desk_of,
    held,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)

FILES = {
    "carrier asked": "Hello {name}, we asked about {order}.",
    "broken": "---\nsend: now\n---\nHello",
}
MACRO = """---
note: asked the carrier
state: {"waits_for": "carrier of {order}"}
release: queue
---
Dear {name}, we asked about {ticket}."""


async def offered(pilot: Pilot[None], app: HandoffApp) -> None:
    """Opens what is written already, from the composer."""
    await press(pilot, "r")
    await until(pilot, lambda: desk_of(app).pane() == "composer")
    await press(pilot, "ctrl+o")


async def test_a_reply_with_gaps_is_written_but_never_sent_before_they_are_filled(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await keep(counter.store, ME, "team hello", "Good day, {name}")
    async with sitting(counter.store, canned=FILES) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await offered(pilot, app)
        await until(pilot, lambda: isinstance(app.screen, CannedPanel))
        await until(pilot, lambda: "team hello" in screen_text(app))
        await press(pilot, *"asked about")
        await until(pilot, lambda: "team hello" not in screen_text(app))
        await until(pilot, lambda: "Hello {name}, we asked" in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "does not say name, order" in told(app))
        composer = desk_of(app).query_one(Composer)
        assert composer.text == "Hello {name}, we asked about {order}."
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "Fill in {name}, {order} first" in told(app))
        assert (await stored(counter.store, ticket)).outbox == ()
        composer.editor.load_text("Hello {x}, we asked.")  # the person's own braces
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "on its way to the buyer" in told(app))
        assert [r.text for r in (await stored(counter.store, ticket)).outbox] == [
            "Hello {x}, we asked."
        ]


async def test_a_file_that_cant_be_read_is_said_and_not_chosen(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store, canned=FILES) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await offered(pilot, app)
        await until(pilot, lambda: isinstance(app.screen, CannedPanel))
        await press(pilot, *"broken")
        await until(pilot, lambda: "line 2: unknown key 'send'" in screen_text(app))
        await press(pilot, "enter")
        assert isinstance(app.screen, CannedPanel)


async def test_files_are_offered_from_any_pane_as_they_are_when_the_list_opens(
    counter: Counter, tmp_path: Path
) -> None:
    ticket = await counter.writes("Where?")
    folder = tmp_path / "replies"
    folder.mkdir()
    async with sitting(counter.store, canned=lambda: read_replies(folder)) as (
        pilot,
        app,
    ):
        await shown(pilot, app, ticket)
        await press(pilot, "ctrl+o")
        await until(pilot, lambda: "Take the ticket over first" in told(app))
        await held(pilot, app)
        (folder / "soon.md").write_text("By Thursday.")
        (folder / "torn.md").write_bytes(b"caf\xe9")
        desk_of(app).go("queue")
        await until(pilot, lambda: desk_of(app).pane() == "queue")
        await press(pilot, "ctrl+o")
        await until(pilot, lambda: "torn  can't be read" in screen_text(app))
        await press(pilot, *"torn")
        await until(pilot, lambda: "the file is no UTF-8 text" in screen_text(app))
        await press(pilot, *["backspace"] * 4, *"soon")
        await until(pilot, lambda: "By Thursday." in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: desk_of(app).pane() == "composer")
        assert desk_of(app).query_one(Composer).text == "By Thursday."


async def test_who_leaves_the_written_replies_is_where_they_were(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store, canned=FILES) as (pilot, app):
        desk = desk_of(app)
        await shown(pilot, app, ticket)
        await held(pilot, app)
        for pane in ("queue", "timeline", "composer"):
            desk.go(pane)
            await until(pilot, lambda: desk.focused is not None)
            await press(pilot, "ctrl+o")
            await until(pilot, lambda: isinstance(app.screen, CannedPanel))
            await until(pilot, lambda: app.screen.listening)
            await press(pilot, "escape")
            await until(pilot, lambda: app.screen is desk)
            assert desk.pane() == pane


async def test_a_macro_is_shown_whole_filled_by_the_person_and_done_by_enter(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await keep(counter.store, ME, "carrier", MACRO)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await offered(pilot, app)
        await until(pilot, lambda: "carrier  macro" in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, MacroPanel))
        await until(pilot, lambda: app.screen.listening)
        for words in (
            "reply to the buyer",
            "Dear {name}, we asked about T-",
            '{"waits_for": "carrier of {order}"}',
            "note for colleagues",
            "to the queue, for people",
            "name: the chart does not say it",
        ):
            assert words in screen_text(app)
        await press(pilot, "enter", "enter")
        assert (await stored(counter.store, ticket)).outbox == ()
        await press(pilot, *"Dana", "enter", *"SU-1")
        await until(pilot, lambda: "Dear Dana, we asked" in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "carrier: all of it is done" in told(app))
        history = await stored(counter.store, ticket)
        assert [r.text for r in history.outbox] == [
            f"Dear Dana, we asked about {ticket}."
        ]
        bodies = [entry.body for entry in history.journal]
        assert StateAmended(patch={"waits_for": "carrier of SU-1"}) in bodies
        assert Note(text="asked the carrier", for_agent=False) in bodies
        assert history.lock.holder is None


async def test_escape_leaves_a_macro_undone_and_a_new_message_stops_it(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await keep(counter.store, ME, "thanks", "---\nrelease: resolved\n---\nThank you.")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        for answer in ("escape", "enter"):
            await offered(pilot, app)
            await until(pilot, lambda: "thanks  macro" in screen_text(app))
            await press(pilot, "enter")
            await until(pilot, lambda: isinstance(app.screen, MacroPanel))
            await until(pilot, lambda: app.screen.listening)
            assert not app.screen.query(Input)
            await counter.writes(f"One more thing, {answer}", ticket=ticket)
            await press(pilot, answer)
            if answer == "escape":
                await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: "look at it first" in screen_text(app))
        assert isinstance(app.screen, MacroPanel)
        history = await stored(counter.store, ticket)
        assert history.outbox == ()
        assert history.standing.held_by == "Noor"
