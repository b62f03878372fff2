"""What only the store knows: the panel stays, with what was typed and the reason.

Each panel hands its answer over in one place, so each does the same.
"""

from collections.abc import Callable
from dataclasses import replace

from textual.pilot import Pilot
from textual.widgets import Input

from console.app import HandoffApp
from console.screens.ask import AskPanel
from console.screens.decision import DecisionPanel
from console.screens.give_back import GiveBackPanel
from console.screens.macro import MacroPanel
from console.screens.overlays import LeavePanel
from console.screens.withheld import WithheldPanel
from console.widgets.composer import Composer, Editor
from core.decision import Operator, Role
from core.flows.canned import keep
from core.flows.drafts import save_draft, words_for
from core.flows.handoff import take_over
from core.flows.people import disable, give_role
from core.flows.withheld import discard_withheld
from core.ticket import TicketId
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import (
    card_opened,
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

SAM = Operator(name="Sam", role=Role.SUPERVISOR)
NOT_YOURS = "you do not hold it any more: Sam does"


async def taken_away(counter: Counter, ticket: TicketId) -> None:
    await counter.store.write(lambda tx: tx.save_operator(SAM))
    await take_over(counter.store, ticket, SAM, forced=True, why="mine")


async def opened(pilot: Pilot[None], app: HandoffApp, panel: type, *keys: str) -> None:
    await press(pilot, *keys)
    await until(pilot, lambda: isinstance(app.screen, panel))
    await until(pilot, lambda: app.screen.listening)


async def stays(
    pilot: Pilot[None], app: HandoffApp, words: str, typed: Callable[[], str], text: str
) -> None:
    """The panel is there with the reason and the text; a key shows its keys again."""
    panel = app.screen
    await until(pilot, lambda: words in screen_text(app), words)
    assert app.screen is panel
    assert typed() == text
    assert words not in told(app)
    await until(pilot, lambda: "esc" in screen_text(app), "its keys")
    await press(pilot, "left")
    await until(pilot, lambda: words not in screen_text(app))
    assert typed() == text


async def test_a_note_stays_where_the_ticket_was_taken_while_it_is_given_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await opened(pilot, app, GiveBackPanel, "R")
        box = app.screen.query_one("#panel-note", Input)
        await press(pilot, "tab", *"be brief")
        await taken_away(counter, ticket)
        await press(pilot, "enter")
        await stays(pilot, app, NOT_YOURS, lambda: box.value, "be brief")
        assert (await stored(counter.store, ticket)).standing.held_by == "Sam"


async def test_a_withheld_reply_s_new_words_stay_where_the_ticket_was_taken(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is my parcel?")
    await counter.answers(await counter.works(ticket), "It is on its way.")
    await counter.hands_over_to(ticket, ME)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"))
        await opened(pilot, app, WithheldPanel, "w")
        await press(pilot, "e")
        editor = app.screen.query_one(Editor)
        await until(pilot, lambda: editor.has_focus)
        await press(pilot, *" Soon")
        await taken_away(counter, ticket)
        await press(pilot, "ctrl+s")
        written = "It is on its way. Soon"
        await stays(pilot, app, NOT_YOURS, lambda: editor.text[-22:], editor.text[-22:])
        assert "Soon" in editor.text and len(editor.text) == len(written)
        assert (await stored(counter.store, ticket)).outbox[0].state == "withheld"


async def test_a_withheld_reply_s_new_words_outlast_a_look_elsewhere(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is my parcel?")
    await counter.answers(await counter.works(ticket), "It is on its way.")
    await counter.hands_over_to(ticket, ME)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"))
        await opened(pilot, app, WithheldPanel, "w")
        await press(pilot, "e")
        await until(pilot, lambda: app.screen.query_one(Editor).has_focus)
        await press(pilot, *"Soon: ", "escape")
        await until(pilot, lambda: "e go on editing" in screen_text(app))
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
        await opened(pilot, app, WithheldPanel, "w")
        await press(pilot, "e")
        await until(pilot, lambda: app.screen.query_one(Editor).has_focus)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is desk_of(app))
        (_, sent) = (await stored(counter.store, ticket)).outbox
        assert sent.text == "Soon: It is on its way."


async def reworded(counter: Counter) -> TicketId:
    """A withheld reply with new words that a console kept before it was killed."""
    ticket = await counter.writes("Where is my parcel?")
    await counter.answers(await counter.works(ticket), "It is on its way.")
    await counter.hands_over_to(ticket, ME)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"))
        await opened(pilot, app, WithheldPanel, "w")
        await press(pilot, "e")
        await until(pilot, lambda: app.screen.query_one(Editor).has_focus)
        await press(pilot, *"Soon: ")
        await until(pilot, lambda: desk_of(app).drafts.unsent)
        await until(pilot, lambda: desk_of(app).drafts.saved)
        desk_of(app).drafts.drop(ticket)  # what is kept at leaving is not meant here
    return ticket


async def test_a_withheld_reply_s_new_words_outlast_a_killed_console_and_are_sent(
    counter: Counter,
) -> None:
    ticket = await reworded(counter)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await opened(pilot, app, LeavePanel, "q")
        assert "Unsent text is kept" in screen_text(app)
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
        await opened(pilot, app, WithheldPanel, "w")
        assert "e go on editing" in screen_text(app)
        await press(pilot, "e")
        await until(pilot, lambda: app.screen.query_one(Editor).has_focus)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: not desk_of(app).acts_running)
        history = await stored(counter.store, ticket)
        assert history.outbox[1].text == "Soon: It is on its way."
        assert history.drafts == ()
        assert not desk_of(app).drafts.unsent


async def test_a_withheld_reply_s_new_words_are_in_the_way_of_giving_back(
    counter: Counter,
) -> None:
    ticket = await reworded(counter)
    (draft,) = (await stored(counter.store, ticket)).drafts
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await opened(pilot, app, GiveBackPanel, "R")
        words = f"Unsent {draft.mode}: “Soon: It is on its way.”"
        assert words in screen_text(app)
        await opened(pilot, app, WithheldPanel, "E")
        assert "e go on editing" in screen_text(app)


async def test_words_for_a_reply_that_a_colleague_settled_go_on_as_a_reply(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is my parcel?")
    await counter.answers(await counter.works(ticket), "It is on its way.")
    await counter.hands_over_to(ticket, ME)
    seq = (await stored(counter.store, ticket)).outbox[0].seq
    await save_draft(counter.store, ticket, ME, words_for(seq), "Soon.")
    await taken_away(counter, ticket)
    await discard_withheld(counter.store, ticket, SAM, seq)
    await take_over(counter.store, ticket, ME, forced=True, why="back")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"))
        await opened(pilot, app, GiveBackPanel, "R")
        await press(pilot, "E")
        composer = desk_of(app).query_one(Composer)
        await until(pilot, lambda: composer.text == "Soon.")
        await until(pilot, lambda: desk_of(app).drafts.saved)
        (draft,) = (await stored(counter.store, ticket)).drafts
        assert (draft.mode, draft.text) == ("reply", "Soon.")


async def test_f16_a_reason_stays_where_the_right_to_reject_was_taken(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    async with sitting(counter.store) as (pilot, app):
        await card_opened(pilot, app)
        await press(pilot, "x")
        box = app.screen.query_one("#card-why", Input)
        await until(pilot, lambda: box.has_focus)
        await press(pilot, *"too much")
        demoted = replace(ME, role=Role.AGENT)
        await counter.store.write(lambda tx: tx.save_operator(demoted))
        await press(pilot, "enter")
        await stays(pilot, app, "not a supervisor", lambda: box.value, "too much")
        assert isinstance(app.screen, DecisionPanel)
        decisions = (await stored(counter.store, ticket)).decisions
        assert decisions[0].state.value == "pending"


async def test_an_answer_stays_where_its_author_may_work_here_no_more(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    await counter.store.write(lambda tx: tx.save_operator(SAM))
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await opened(pilot, app, AskPanel, "W")
        box = app.screen.query_one("#panel-note", Input)
        await press(pilot, *"look at it")
        await disable(counter.store, SAM, ME.name)
        await press(pilot, "enter")
        words = "the operator Noor is disabled"
        await stays(pilot, app, words, lambda: box.value, "look at it")


async def test_what_was_filled_into_a_macro_stays_and_is_there_after_a_look(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    text = "---\nrelease: queue\n---\nDear {name}, soon."
    await keep(counter.store, ME, "carrier", text)

    async def asked(pilot: Pilot[None], app: HandoffApp) -> Input:
        await press(pilot, "ctrl+o")
        await until(pilot, lambda: "carrier  macro" in screen_text(app))
        await opened(pilot, app, MacroPanel, "enter")
        return app.screen.query_one(Input)

    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        box = await asked(pilot, app)
        await press(pilot, *"Dana")
        seq = (await stored(counter.store, ticket)).standing.last_seq + 1
        await counter.writes("One more thing", ticket=ticket)
        await press(pilot, "enter")
        words = f"the buyer wrote #{seq} meanwhile"
        await stays(pilot, app, words, lambda: box.value, "Dana")
        await press(pilot, "escape")
        await until(pilot, lambda: "One more thing" in screen_text(app))
        box = await asked(pilot, app)
        assert box.value == "Dana"
        await press(pilot, "enter")
        await until(pilot, lambda: "carrier: all of it is done" in told(app))
        assert app.screen is desk_of(app)
        (reply,) = (await stored(counter.store, ticket)).outbox
        assert reply.text == "Dear Dana, soon."


async def test_who_takes_what_is_held_reads_whether_it_is_theirs(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "t")
        await until(pilot, lambda: "You hold this ticket already" in told(app))
        await taken_away(counter, ticket)
        await until(pilot, lambda: not desk_of(app).here().mine)
        await press(pilot, "t")
        await until(pilot, lambda: "A colleague holds this ticket" in told(app))


async def test_who_is_made_another_sees_it_where_they_sit(counter: Counter) -> None:
    await counter.writes("Where is it?")
    await counter.store.write(lambda tx: tx.save_operator(SAM))
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: "Noor · supervisor" in screen_text(app))
        await give_role(counter.store, SAM, ME.name, Role.AGENT)
        await until(pilot, lambda: "Noor · agent" in screen_text(app))
        assert "You are agent now" in told(app)
        assert not desk_of(app).here().supervisor
        await disable(counter.store, SAM, ME.name)
        await until(pilot, lambda: "Noor · DISABLED" in screen_text(app))
        assert "You are disabled" in told(app)
