"""Letting a ticket go with unsent text, and taking back what was done by mistake."""

from datetime import UTC, timedelta

from textual.pilot import Pilot

from console.app import HandoffApp
from console.screens.ask import AskPanel
from console.screens.give_back import GiveBackPanel
from console.screens.macro import MacroPanel
from console.widgets.chart import chart_lines
from console.widgets.choices import Choices
from console.widgets.composer import Composer
from console.widgets.sight import Sight
from console.widgets.spans import plain
from core.flows.answer import Leaving
from core.flows.canned import keep
from core.flows.handoff import reply, take_over
from core.flows.unsend import TakenBack, unsend
from core.journal import Note, Refused
from core.ticket import TicketId
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME, NOW
from tests.console.steps import (
    desk_of,
    held,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)

LONG = Leaving(hold_off=timedelta(hours=1))


async def written(pilot: Pilot[None], app: HandoffApp, ticket: TicketId) -> None:
    """Holds the ticket and has begun to write a reply."""
    await shown(pilot, app, ticket)
    await held(pilot, app)
    await press(pilot, "r", *"Dear Ann", "escape")
    await until(pilot, lambda: desk_of(app).pane() == "timeline")


async def panel_open(pilot: Pilot[None], app: HandoffApp) -> None:
    await press(pilot, "R")
    await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
    await until(pilot, lambda: app.screen.listening)


async def test_where_a_ticket_went_is_said_and_its_ends_are_one_key_away(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await panel_open(pilot, app)
        choices = app.screen.query_one(Choices)
        await press(pilot, "G")
        assert choices.cursor == len(choices.choices) - 1
        await press(pilot, "g")
        assert choices.cursor == 0
        await press(pilot, "j", "j", "enter")
        await until(pilot, lambda: "Given to the queue" in told(app))


async def test_a_reply_that_was_taken_back_is_no_message(counter: Counter) -> None:
    ticket = await counter.writes("Where is it?")
    await take_over(counter.store, ticket, ME)
    await reply(counter.store, ticket, ME, "On its way.", leaving=LONG)

    async def chart() -> str:
        history = await stored(counter.store, ticket)
        sight = Sight(me=ME.name, now=NOW, zone=UTC, width=100)
        return plain(chart_lines(history, sight))

    assert "2 messages" in await chart()
    assert isinstance(await unsend(counter.store, ticket, ME), TakenBack)
    assert "1 message\n" in await chart()


async def test_an_unsent_reply_in_the_way_is_discarded_from_the_note_by_leaving_it(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await written(pilot, app, ticket)
        await panel_open(pilot, app)
        await press(pilot, "tab", *"paid", "enter")
        await until(pilot, lambda: "tab leaves the note" in screen_text(app))
        await press(pilot, "tab", "D", "enter")
        await until(pilot, lambda: "no agent is running now" in told(app))
        assert (await stored(counter.store, ticket)).drafts == ()


async def test_an_unsent_reply_is_discarded_on_purpose_where_the_ticket_is_given_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await written(pilot, app, ticket)
        await panel_open(pilot, app)
        assert "Unsent reply: “Dear Ann”" in screen_text(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "D discards the draft" in screen_text(app))
        await press(pilot, "D")
        await until(pilot, lambda: "Discarded with it, the reply" in screen_text(app))
        await press(pilot, "escape")  # keeps all
        await until(pilot, lambda: app.screen is desk_of(app))
        assert (await stored(counter.store, ticket)).standing.held_by == ME.name
        assert desk_of(app).drafts.text(ticket, "reply") == "Dear Ann"
        await panel_open(pilot, app)
        await press(pilot, "D", "enter")
        await until(pilot, lambda: "no agent is running now" in told(app))
        history = await stored(counter.store, ticket)
        assert (history.standing.held_by, history.drafts) == (None, ())
        assert not [e for e in history.journal if isinstance(e.body, Refused)]
        await until(pilot, lambda: desk_of(app).here().undo)
        await press(pilot, "u")
        await until(pilot, lambda: "What you discarded is back" in told(app))
        (draft,) = (await stored(counter.store, ticket)).drafts
        assert draft.text == "Dear Ann"


async def test_an_unsent_reply_is_discarded_on_purpose_where_the_ticket_is_to_sleep(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await written(pilot, app, ticket)
        await press(pilot, "z")
        await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
        await until(pilot, lambda: app.screen.listening)
        await until(pilot, lambda: "▸ snooze" in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "D discards the draft" in screen_text(app))
        await press(pilot, "D", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskPanel))
        await until(pilot, lambda: app.screen.listening)
        assert desk_of(app).drafts.text(ticket, "reply") == "Dear Ann"
        await press(pilot, *"3h", "enter")
        await until(pilot, lambda: "you no longer hold it" in told(app))
        history = await stored(counter.store, ticket)
        assert (history.standing.held_by, history.drafts) == (None, ())
        await until(pilot, lambda: desk_of(app).here().undo)
        await press(pilot, "u")
        await until(pilot, lambda: "What you discarded is back" in told(app))


async def test_from_giving_back_one_goes_on_with_what_is_not_sent(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await written(pilot, app, ticket)
        await panel_open(pilot, app)
        await press(pilot, "E", *", soon")
        composer = desk_of(app).query_one(Composer)
        await until(pilot, lambda: composer.text == "Dear Ann, soon")
        assert (await stored(counter.store, ticket)).standing.held_by == ME.name


async def test_a_draft_is_discarded_by_its_own_command_and_brought_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await press(pilot, "D")
        await until(pilot, lambda: "Nothing unsent of yours is written" in told(app))
        await written(pilot, app, ticket)
        composer = desk_of(app).query_one(Composer)
        await until(pilot, lambda: "D discard draft" in pane_text(app, "hints"))
        await press(pilot, "D")
        await until(pilot, lambda: "Discarded “Dear Ann” · u brings" in told(app))
        assert composer.text == ""
        assert (await stored(counter.store, ticket)).drafts == ()
        await press(pilot, "u")
        await until(pilot, lambda: composer.text == "Dear Ann")
        await until(pilot, lambda: "is back" in told(app))
        assert len((await stored(counter.store, ticket)).drafts) == 1


async def macro_done(pilot: Pilot[None], app: HandoffApp) -> None:
    await press(pilot, "r")
    await until(pilot, lambda: desk_of(app).pane() == "composer")
    await press(pilot, "ctrl+o")
    await until(pilot, lambda: "thanks  macro" in screen_text(app))
    await press(pilot, "enter")
    await until(pilot, lambda: isinstance(app.screen, MacroPanel))
    await until(pilot, lambda: app.screen.listening)
    await press(pilot, "enter")
    await until(pilot, lambda: "thanks: all of it is done" in told(app))


async def test_f108_a_macro_s_reply_is_taken_back_after_its_release_and_the_ticket_too(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await keep(counter.store, ME, "thanks", "---\nrelease: resolved\n---\nThank you.")
    async with sitting(counter.store, leaving=LONG) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await macro_done(pilot, app)
        await until(pilot, lambda: "u takes it back" in screen_text(app))
        assert "u undo" in pane_text(app, "hints")
        await press(pilot, "u")
        await until(pilot, lambda: f"and {ticket} is yours again" in told(app))
        history = await stored(counter.store, ticket)
        assert history.standing.held_by == ME.name
        assert [r.state for r in history.outbox] == ["discarded"]
        composer = desk_of(app).query_one(Composer)
        await until(pilot, lambda: composer.text == "Thank you.")


async def test_f108_what_a_macro_did_beside_its_reply_is_said_where_that_is_taken_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    text = '---\nnote: Seen.\nstate: {"seen": true}\nrelease: queue\n---\nThank you.'
    await keep(counter.store, ME, "thanks", text)
    async with sitting(counter.store, leaving=LONG) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await macro_done(pilot, app)
        await until(pilot, lambda: "u takes it back" in screen_text(app))
        await press(pilot, "u")
        stays = "is yours again; the change of the state and the note stay"
        await until(pilot, lambda: stays in told(app), told(app))


async def test_rule_01_what_a_colleague_has_since_is_not_taken_back_and_it_is_said(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    await keep(counter.store, ME, "thanks", "---\nrelease: queue\n---\nThank you.")
    async with sitting(counter.store, leaving=LONG) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await macro_done(pilot, app)
        await take_over(counter.store, ticket, MIRA)
        await until(pilot, lambda: "Mira has the ticket now" in screen_text(app))
        await press(pilot, "u")
        await until(pilot, lambda: "Mira holds the ticket now" in told(app))
    history = await stored(counter.store, ticket)
    assert [reply.state for reply in history.outbox] == ["queued"]
    assert history.standing.held_by == MIRA.name


async def test_a_note_begun_in_the_panel_outlasts_a_look_at_the_ticket(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await panel_open(pilot, app)
        await press(pilot, "tab", *"paid", "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
        await panel_open(pilot, app)
        await until(pilot, lambda: "paid" in screen_text(app))
        await press(pilot, "tab", *" by card", "enter")
        await until(pilot, lambda: "no agent is running now" in told(app))
        journal = (await stored(counter.store, ticket)).journal
        notes = [e.body.text for e in journal if isinstance(e.body, Note)]
        assert notes == ["paid by card"]
        assert desk_of(app).leaving_notes == {}


async def test_the_panel_s_keys_are_seen_on_a_low_screen_whatever_stands_above_them(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    async with sitting(counter.store, size=(80, 24)) as (pilot, app):
        await shown(pilot, app, ticket)
        panel = GiveBackPanel(
            ticket,
            names=["Mira", "Sam", "Bo", "Cy", "Di", "Edda"],
            workers=0,
            unread=True,
            seen=1,
            withheld=2,
            drafts={"reply": "Hello", "note": "x"},
        )
        app.push_screen(panel)
        await until(pilot, lambda: "esc keeps it" in screen_text(app))
        await until(pilot, lambda: panel.listening)
        await press(pilot, "e")
        await until(pilot, lambda: "▸ to Edda" in screen_text(app))
        assert "Unsent note: “x”" in screen_text(app)
