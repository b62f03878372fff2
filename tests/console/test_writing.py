"""Going to write: before it is possible, while others write, and taking it back."""

import asyncio
from datetime import timedelta

from console.keymap import Here, command_for, key_of, with_keys, wrong_key
from console.keytable import COMMANDS
from console.screens.desk_notices import _SOON
from console.screens.pace import Pace
from console.widgets.composer import Composer
from console.widgets.queue import Queue
from core.flows.answer import Leaving
from core.flows.drafts import save_draft
from core.flows.handoff import reply, take_over
from core.ports import Presence, Transaction
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME
from tests.console.steps import (
    desk_of,
    held,
    key_event,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)

SENTENCE = "Hello Tim, i come to you at 6. Really sorry, R z M x q"


async def test_letters_after_going_to_write_too_early_are_no_commands_and_then_text(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await counter.writes("Another")
    await counter.works(ticket)
    async with sitting(counter.store) as (pilot, app):
        desk = desk_of(app)
        desk.go_to(ticket)
        await shown(pilot, app, ticket)
        await press(pilot, "t")
        await until(pilot, lambda: "Asking the agent" in pane_text(app, "banner"))
        await press(pilot, "r", *SENTENCE, "enter")
        assert "You write as soon as it is yours" in told(app)
        assert app.screen is desk
        assert (desk.ticket(), desk.reads.view) == (ticket, "all")
        await counter.hands_over(ticket)
        await until(pilot, lambda: desk.pane() == "composer")
        await press(pilot, *"Dear Tim")
        assert desk.query_one(Composer).text == "Dear Tim"
    assert (await stored(counter.store, ticket)).standing.held_by == "Noor"


async def test_esc_ends_the_wait_for_the_composer(counter: Counter) -> None:
    ticket = await counter.writes("Where?")
    await counter.works(ticket)
    async with sitting(counter.store) as (pilot, app):
        desk = desk_of(app)
        await shown(pilot, app, ticket)
        await press(pilot, "t")
        await until(pilot, lambda: "Asking the agent" in pane_text(app, "banner"))
        await press(pilot, "ctrl+o", "escape", "1")
        await until(pilot, lambda: desk.reads.view == "human")
        await counter.hands_over(ticket)
        await until(pilot, lambda: "is yours" in told(app))
        assert desk.pane() == "queue"
        assert app.screen is desk


async def test_letters_after_a_refused_way_to_write_are_no_commands_until_a_pause(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await counter.writes("Another")
    async with sitting(counter.store) as (pilot, app):
        desk = desk_of(app)
        await shown(pilot, app, ticket)
        await press(pilot, "ctrl+o", *SENTENCE.replace("t", ""), "enter")
        assert "Take the ticket over first" in told(app)
        assert told(app).count("no key acts until you pause") == 1
        assert app.screen is desk
        assert (desk.ticket(), desk.reads.view) == (ticket, "all")
        await held(pilot, app)  # `t` is what they were told to press
        await asyncio.sleep(1.1)  # a pause after which keys are commands again
        await press(pilot, "1")
        await until(pilot, lambda: desk.reads.view == "human")


async def test_what_a_quick_key_did_not_do_is_said_with_what_follows(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store, pace=Pace()) as (pilot, app):
        await shown(pilot, app, ticket)
        for key in "trHello":
            app.post_message(key_event(key))
        await until(pilot, lambda: "You write nowhere yet" in told(app))
        lost = "Nothing was taken over. "
        assert f"{lost}Take the ticket over first" in told(app)
        assert f"{lost}You write nowhere yet: no key acts" in told(app)
    assert (await stored(counter.store, ticket)).lock.holder is None


async def test_who_goes_to_write_on_a_ticket_not_read_yet_writes_in_no_other(
    counter: Counter,
) -> None:
    first = await counter.writes("Where?")
    second = await counter.writes("Another")
    for ticket in (first, second):
        await take_over(counter.store, ticket, ME)
    async with sitting(counter.store) as (pilot, app):
        desk = desk_of(app)
        await shown(pilot, app, first)
        await until(pilot, lambda: desk.query_one(Queue).total == 2)
        await press(pilot, "r", *"one", "escape", "escape")
        await press(pilot, *"jrxyz")
        await until(pilot, lambda: desk.pane() == "composer")
        assert desk.composing == second
        await press(pilot, *"two")
        desk.keep_written()
        assert desk.drafts.text(first, "reply") == "one"
        assert desk.drafts.text(second, "reply").endswith("two")


async def test_a_colleague_who_begins_to_type_is_said_in_the_composer(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r")

        def types(tx: Transaction) -> None:
            mira = Presence(
                operator=MIRA.name,
                ticket=ticket,
                doing="typing",
                active_at=tx.now,
                seen_at=tx.now,
            )
            tx.report_presence(mira)

        await counter.store.write(types)
        desk_of(app)._said_at -= _SOON * 10  # it is time to meet
        await until(pilot, lambda: "Mira types too" in screen_text(app))


async def test_a_reply_is_taken_back_from_the_composer_without_a_letter_lost(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    leaving = Leaving(hold_off=timedelta(minutes=1))
    async with sitting(counter.store, leaving=leaving) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r", *"By noon.", "ctrl+s")
        await until(pilot, lambda: "u takes it back" in screen_text(app))
        await press(pilot, "r")
        await until(pilot, lambda: "^t takes it back" in screen_text(app))
        await press(pilot, *"you", "ctrl+t")
        await until(pilot, lambda: "Taken back" in told(app))
        assert desk_of(app).query_one(Composer).text == "you"
        await press(pilot, *[*["backspace"] * 3, *"At one.", "ctrl+s"])
        await until(pilot, lambda: "u takes it back" in screen_text(app))
        await press(pilot, "r", "ctrl+t")
        await until(pilot, lambda: desk_of(app).query_one(Composer).text == "At one.")
    states = [r.state for r in (await stored(counter.store, ticket)).outbox]
    assert states == ["discarded", "discarded"]


def test_the_key_that_takes_back_is_a_letter_only_where_letters_are_keys() -> None:
    here = Here(pane="timeline", ticket=True, mine=True, undo=True)
    writing = Here(pane="composer", typing=True, ticket=True, mine=True, undo=True)
    assert key_of(COMMANDS, "undo", here) == "u"
    assert key_of(COMMANDS, "undo", writing) == "^t"
    for said in ("U", "space", "%"):
        assert wrong_key(COMMANDS, "undo", said) is None
        changed = with_keys(COMMANDS, {"undo": said})
        assert key_of(changed, "undo", here)
        assert key_of(changed, "undo", writing) == ""
    assert command_for(COMMANDS, "u", writing) is None


async def test_a_draft_that_another_console_sent_leaves_the_composer_untouched_only(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await take_over(counter.store, ticket, ME)
    await save_draft(counter.store, ticket, ME, "reply", "Dear Ann")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        composer = desk_of(app).query_one(Composer)
        await press(pilot, "r")
        await until(pilot, lambda: composer.text == "Dear Ann")
        await reply(counter.store, ticket, ME, "Dear Ann")
        await until(pilot, lambda: composer.text == "")
        assert "sent or discarded in another console" in told(app)
        assert (await stored(counter.store, ticket)).drafts == ()
        await save_draft(counter.store, ticket, ME, "reply", "Dear Tim")
        await press(pilot, "escape", "r")
        await until(pilot, lambda: composer.text == "Dear Tim")
        await press(pilot, *", soon")
        await reply(counter.store, ticket, ME, "Dear Tim")
        await counter.writes("Hello?", ticket=ticket)
        await until(pilot, lambda: "Hello?" in screen_text(app))
        assert composer.text == "Dear Tim, soon"


async def test_what_is_sent_or_discarded_here_is_not_said_to_be_gone_elsewhere(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        desk = desk_of(app)
        await press(pilot, "r", *"one")
        await desk.keep_drafts()
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "#" in told(app) or "Stored" in told(app))
        await until(pilot, lambda: not desk.acts_running)
        await press(pilot, "r", *"two", "escape")
        await desk.keep_drafts()
        await press(pilot, "D")
        await until(pilot, lambda: "Discarded “two”" in told(app))
        await counter.writes("Hello?", ticket=ticket)
        await until(pilot, lambda: "Hello?" in screen_text(app))
        assert "another console" not in told(app)
        assert desk.restorable()
