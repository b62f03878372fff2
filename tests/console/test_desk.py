"""The desk on a real store: a ticket is taken, worked and given back."""

import asyncio
import os
import signal
from dataclasses import replace

from textual.widgets import Input

from console.keytable import COMMANDS
from console.screens.desk import Desk
from console.screens.give_back import GiveBackPanel
from console.screens.withheld import WithheldPanel
from console.widgets.composer import Composer
from console.widgets.line_view import LineView
from console.widgets.timeline import Timeline
from core.decision import Role
from core.flows.drafts import save_draft
from core.flows.handoff import take_over
from core.journal import Note
from core.ticket import Attachment
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME
from tests.console.steps import (
    WIDE,
    all_view,
    app_on,
    card_opened,
    desk_of,
    held,
    key_event,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    until,
)
from tests.console.sundry import sundry


def test_every_command_of_the_table_does_something() -> None:
    for command in COMMANDS:
        if not command.id.startswith("view:"):
            assert callable(getattr(Desk, f"_do_{command.id}"))


async def test_a_person_takes_a_ticket_writes_and_gives_it_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My lamp came broken.")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r")
        await until(pilot, lambda: desk_of(app).pane() == "composer")
        await press(pilot, *"tRaq?:1")
        assert desk_of(app).query_one(Composer).text == "tRaq?:1"
        assert app.screen is desk_of(app)
        await press(pilot, "ctrl+s")
        await until(
            pilot, lambda: "to the buyer, unverified · ○ queued" in screen_text(app)
        )
        history = await stored(counter.store, ticket)
        assert [r.text for r in history.outbox] == ["tRaq?:1"]
        assert desk_of(app).query_one(Composer).text == ""
        await until(pilot, lambda: not desk_of(app).drafts.unsent)
        await press(pilot, "escape", "R")
        await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "tab", *"be kind", "enter")
        await until(pilot, lambda: "YOU HOLD" not in pane_text(app, "banner"))
        history = await stored(counter.store, ticket)
        assert history.lock.holder is None
        await until(pilot, lambda: "be kind" in screen_text(app))


async def test_rule_02_a_run_is_asked_to_stop_and_what_it_said_is_withheld(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is my parcel?")
    hold = await counter.works(ticket)
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: "agent is working" in pane_text(app, "banner"))
        await press(pilot, "t")
        await until(pilot, lambda: "Asking the agent to stop" in screen_text(app))
        await counter.answers(hold, "It is on its way.")
        await counter.hands_over(ticket)
        await until(pilot, lambda: isinstance(app.screen, WithheldPanel))
        await until(pilot, lambda: "It is on its way." in screen_text(app))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "d")
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: "discarded" in screen_text(app))
        history = await stored(counter.store, ticket)
        assert [r.state for r in history.outbox] == ["discarded"]
        assert history.standing.held_by == ME.name


async def test_a_colleagues_ticket_is_refused_and_named(counter: Counter) -> None:
    ticket = await counter.writes("Hello?")
    await take_over(counter.store, ticket, MIRA)
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: "Mira holds it" in pane_text(app, "banner"))
        await shown(pilot, app, ticket)
        await press(pilot, "n", *"seen", "ctrl+s")
        await until(pilot, lambda: "only colleagues see it" in screen_text(app))
        await press(pilot, "t", "r", "R")
        assert app.screen is desk_of(app)
        assert (await stored(counter.store, ticket)).standing.held_by == "Mira"


async def test_what_happens_elsewhere_comes_by_itself_and_steals_nothing(
    counter: Counter,
) -> None:
    first = await counter.writes("One.", subject="First")
    for n in range(30):
        await counter.writes(f"line {n}", ticket=first)
    async with sitting(counter.store, (120, 30)) as (pilot, app):
        await shown(pilot, app, first)
        await held(pilot, app)
        await press(pilot, "r", *"half a thought", "escape", "g")
        timeline = desk_of(app).query_one(Timeline)
        await until(pilot, lambda: timeline.scroll_offset.y == 0)
        for n in range(3):
            await counter.writes(f"more {n}", ticket=first)
        second = await counter.writes("Two.", subject="Second")
        await until(pilot, lambda: "3 new below" in screen_text(app))
        await until(pilot, lambda: second in screen_text(app))
        assert timeline.scroll_offset.y == 0
        assert desk_of(app).ticket() == first
        assert desk_of(app).query_one(Composer).text == "half a thought"
        await press(pilot, "G")
        await until(pilot, lambda: "more 2" in screen_text(app))


async def test_f113_drafts_of_reply_and_note_come_back_after_a_restart(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await held(pilot, app)
        await press(pilot, "r", *"R", "escape", "n", *"N", "escape")

        drafts = desk_of(app).drafts
        await until(pilot, lambda: drafts.saved and drafts.text(ticket, "note"))
        kept = {(d.mode, d.text) for d in (await stored(counter.store, ticket)).drafts}
        assert kept == {("reply", "R"), ("note", "N")}
    again = app_on(counter.store)
    async with again.run_test(size=WIDE) as pilot:
        await all_view(pilot, again)
        await until(pilot, lambda: desk_of(again).query_one(Composer).text == "R")
        await press(pilot, "n")
        await until(pilot, lambda: desk_of(again).query_one(Composer).text == "N")


async def test_f113_letters_that_wait_behind_slow_work_are_kept_at_a_kill(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    await take_over(counter.store, ticket, ME)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await press(pilot, "r")
        slow = asyncio.Event()
        app.call_later(slow.wait)
        for letter in "half a sent":
            app.post_message(key_event(letter))
        os.kill(os.getpid(), signal.SIGTERM)
        asyncio.get_running_loop().call_later(0.2, slow.set)
        await until(pilot, lambda: not app.is_running)
    drafts = (await stored(counter.store, ticket)).drafts
    assert [d.text for d in drafts] == ["half a sent"]


async def test_f113_both_texts_outlive_the_loss_of_the_ticket_and_a_kill(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    boss = replace(MIRA, role=Role.SUPERVISOR)
    await counter.store.write(lambda tx: tx.save_operator(boss))
    async with sitting(counter.store) as (pilot, app):
        await held(pilot, app)
        await press(pilot, "r", *"R", "escape", "n", *"N")
        await take_over(counter.store, ticket, boss, forced=True, why="mine now")
        await until(pilot, lambda: "Mira holds it" in pane_text(app, "banner"))
        os.kill(os.getpid(), signal.SIGTERM)
        await until(pilot, lambda: not app.is_running)
    kept = {(d.mode, d.text) for d in (await stored(counter.store, ticket)).drafts}
    assert kept == {("reply", "R"), ("note", "N")}


async def test_f116_every_file_of_a_message_has_a_line_and_none_is_blank(
    counter: Counter,
) -> None:
    files = tuple(
        Attachment(name=name, type=kind, size=size)
        for name, kind, size in (
            ("lamp.png", "image/png", 120_000),
            ("../../x\x1b[2J", "audio/ogg", 25_000_000),
            ("", "text/vcard", 0),
        )
    )
    ticket = await counter.writes(" ", files=files)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        for words in ("lamp.png", "../../x␛[2J", "audio/ogg", "text/vcard", "no text"):
            await until(pilot, lambda words=words: words in screen_text(app), words)


ODD = r"[/] [red {x} %s \\ $HOME `id` <b>"
"""What looks like markup, a format or a command to somebody."""


async def test_f136_texts_of_the_operator_are_stored_and_shown_as_typed(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "escape", "n", *ODD, "ctrl+s")
        await until(pilot, lambda: ODD in screen_text(app), "the note")
        await press(pilot, "escape", "W")
        await until(pilot, lambda: app.screen is not desk_of(app))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, *ODD, "enter")
        await until(pilot, lambda: app.screen is desk_of(app))
        await card_opened(pilot, app)
        await press(pilot, "x")
        await until(pilot, lambda: isinstance(app.screen.focused, Input))
        await press(pilot, *ODD, "enter")
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: desk_of(app).pending() is None)
        await until(pilot, lambda: screen_text(app).count(ODD) > 1, "both")
    history = await stored(counter.store, ticket)
    notes = [e.body.text for e in history.journal if isinstance(e.body, Note)]
    assert notes == [ODD, ODD]
    assert history.decisions[0].why == ODD


async def test_f136_what_the_operator_types_is_never_parsed(counter: Counter) -> None:
    await counter.writes("Hello?", subject="[/] brackets")
    async with sitting(counter.store, (120, 30)) as (pilot, app):
        await press(pilot, "slash", *"[/]", "enter")
        await until(pilot, lambda: "/ [/]" in screen_text(app))
        await until(pilot, lambda: "[/] brackets" in screen_text(app))
        await press(pilot, "slash", *"[red {x} %s", "enter")
        await until(pilot, lambda: "Nothing matches" in screen_text(app))
        await press(pilot, "escape")
        await until(pilot, lambda: desk_of(app).reads.filter == "")
        await press(pilot, "colon", *"[/x", "escape")
        assert app.screen is desk_of(app)


async def test_who_the_buyer_is_comes_back_from_a_size_that_had_no_place_for_it() -> (
    None
):
    app = app_on(sundry(), still=True)
    async with app.run_test(size=(300, 80)) as pilot:
        await until(pilot, lambda: desk_of(app).history is not None)
        desk_of(app).query_one("#strip", LineView).show(())
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "Sanna Koskela" in pane_text(app, "strip"))
        strip = desk_of(app).query_one("#strip")
        await until(pilot, lambda: strip.size.height == len(strip.lines))


async def test_f113_what_was_begun_elsewhere_stands_before_what_is_begun_here(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        desk, composer = desk_of(app), desk_of(app).query_one(Composer)
        await save_draft(counter.store, ticket, ME, "reply", "From elsewhere.")
        await press(pilot, "r", *"here")
        await until(pilot, lambda: composer.text == "From elsewhere.\nhere")
        await press(pilot, *" and on")
        await until(pilot, lambda: desk.drafts.saved)
        (kept,) = (await stored(counter.store, ticket)).drafts
        assert kept.text == "From elsewhere.\nhere and on"
        desk.drafts.learn(ticket, [replace(kept, text="From elsewhere.")], ME.name)
        assert desk.drafts.text(ticket, "reply") == kept.text  # read before it was kept
