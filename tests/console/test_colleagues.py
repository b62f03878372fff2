"""Colleagues at the desk: who is there, what is offered, and whose word counts."""

from dataclasses import replace

from textual.pilot import Pilot

from console.app import HandoffApp
from console.screens.give_back import GiveBackPanel
from console.shapes import presence
from console.widgets.card_lines import card_lines
from console.widgets.composer import Composer
from console.widgets.queue import Queue
from console.widgets.sight import Sight
from console.widgets.spans import plain
from core.flows.amend import verify
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.offer import decline
from core.flows.switch import pause
from core.journal import IdentityChanged, Message, Note, ToolCalled
from core.ticket import TicketId, agent
from tests.console.counter import MIRA, RUN, Counter
from tests.console.shown import ME
from tests.console.steps import (
    all_view,
    app_on,
    card_opened,
    desk_of,
    done,
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
from tests.console.test_team import answered

C1 = IdentityChanged(
    verified=True, customer="c-1", name="Dana", method="phone", evidence="called"
)
C2 = IdentityChanged(
    verified=False,
    customer="c-2",
    name=None,
    method="matched_order",
    evidence="find_customer O-2 found c-2",
    contradicts="c-1",
)


async def offered(counter: Counter) -> TicketId:
    """A ticket that Mira held and offers to Noor."""
    ticket = await counter.writes("Where is it?")
    await take_over(counter.store, ticket, MIRA)
    await give_back(counter.store, ticket, MIRA, GiveBack(to=ME.name))
    return ticket


async def picked(pilot: Pilot[None], app: HandoffApp, choice: str) -> None:
    """Takes a choice of the list that is open, going down to it."""
    await until(pilot, lambda: app.screen is not desk_of(app))
    await until(pilot, lambda: app.screen.listening)
    choices = app.screen.query_one("#choices")
    ids = [c.id for c in choices.choices]
    await press(pilot, *["down"] * ids.index(choice), "enter")


async def test_f55_resolving_over_a_withheld_reply_is_asked_once_more(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is my parcel?")
    await counter.answers(await counter.works(ticket), "It is on its way.")
    await counter.hands_over_to(ticket, ME)
    assert (await stored(counter.store, ticket)).standing.withheld
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"))
        await press(pilot, "R")
        await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
        assert "1 withheld reply is not decided: it stays unsent" in screen_text(app)
        await picked(pilot, app, "resolved")
        await until(pilot, lambda: "enter again resolves" in screen_text(app))
        assert (await stored(counter.store, ticket)).standing.held_by == ME.name
        await press(pilot, "enter")
        await until(pilot, lambda: "Resolved" in told(app))
    assert (await stored(counter.store, ticket)).standing.resolved


# A ticket that is offered


async def test_an_offered_ticket_is_accepted_by_taking_it(counter: Counter) -> None:
    ticket = await offered(counter)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "Mira offers you T-1" in pane_text(app, "banner"))
        assert "t accept" in pane_text(app, "banner")
        await until(pilot, lambda: "offered to you by Mira" in screen_text(app))
        await press(pilot, "t")
        await until(pilot, lambda: "YOU HOLD T-1" in pane_text(app, "banner"))
    assert (await stored(counter.store, ticket)).standing.held_by == ME.name


async def test_an_offered_ticket_is_declined_with_a_reason(counter: Counter) -> None:
    ticket = await offered(counter)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "offers you" in pane_text(app, "banner"))
        await press(pilot, "x")
        await answered(pilot, app, "not [my] field")
        await until(pilot, lambda: "Declined" in told(app))
        await until(pilot, lambda: "Noor declined it" in pane_text(app, "banner"))
        await until(pilot, lambda: "declined it: not [my] field" in screen_text(app))
    assert (await stored(counter.store, ticket)).standing.offered_to is None


async def test_who_offered_a_ticket_is_told_that_the_colleague_declined(
    counter: Counter,
) -> None:
    offers = await offered(counter)
    other = await counter.writes("Another thing")
    async with sitting(counter.store, me=MIRA) as (pilot, app):
        await until(pilot, lambda: offers in desk_of(app).reads.mine.asked)
        desk_of(app).go_to(other)
        await shown(pilot, app, other)
        await decline(counter.store, offers, ME, "not my field")
        await until(pilot, lambda: f"Noor declined {offers} · 1" in told(app))
        assert desk_of(app).ticket() == other
        assert told(app).count("declined") == 1


async def test_a_pause_of_one_ticket_says_who_since_when_and_why(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    await pause(counter.store, ME, "a bad prompt", ticket)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        at = (await stored(counter.store, ticket)).journal[-1].at
        words = f"PAUSED here {at:%H:%M} by Noor: a bad prompt"
        await until(pilot, lambda: words in pane_text(app, "banner"), words)


async def test_a_ticket_is_offered_from_the_desk_and_the_offer_is_seen_by_all(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "escape", "R")
        await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
        await until(pilot, lambda: app.screen.listening)
        await until(pilot, lambda: "who accepts or declines" in screen_text(app))
        await picked(pilot, app, "@Mira")
        await until(pilot, lambda: "Offered to Mira" in told(app))
        await until(pilot, lambda: "You offer it to Mira" in pane_text(app, "banner"))
        assert "t take it back" in pane_text(app, "banner")
        assert "x decline" not in pane_text(app, "banner")
    assert (await stored(counter.store, ticket)).standing.offered_to == "Mira"


# Who is there


async def test_f103_who_types_on_one_desk_is_seen_on_another_and_by_commands(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    hers, his = app_on(counter.store, me=MIRA), app_on(counter.store)
    async with hers.run_test(size=(160, 45)) as mira:
        await all_view(mira, hers)
        await shown(mira, hers, ticket)
        await held(mira, hers)
        await press(mira, "r", *"Hello")
        async with his.run_test(size=(160, 45)) as noor:
            await all_view(noor, his)
            await shown(noor, his, ticket)
            banner = lambda: pane_text(his, "banner")  # noqa: E731 # read twice
            await until(noor, lambda: "Mira holds it" in banner())
            await until(noor, lambda: "types now" in banner())
            await until(noor, lambda: "Mira holds it and writes" in screen_text(his))
            assert not desk_of(his).query_one(Composer).has_class("-open")
            wanted = {"Mira": "typing", "Noor": "watching"}
            while await doings(counter, ticket) != wanted:
                await done(noor)


async def test_who_has_left_is_seen_to_have_left_without_a_key(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    hers, his = app_on(counter.store, me=MIRA), app_on(counter.store)
    async with his.run_test(size=(160, 45)) as noor:
        await all_view(noor, his)
        await shown(noor, his, ticket)
        async with hers.run_test(size=(160, 45)) as mira:
            await all_view(mira, hers)
            await shown(mira, hers, ticket)
            await held(mira, hers)
            await press(mira, "r", *"Hello", "escape")
            wanted = {"Mira": "watching", "Noor": "watching"}
            while await doings(counter, ticket) != wanted:
                await done(mira)
            await press(mira, "escape", "q")
            await until(mira, lambda: "Leave?" in screen_text(hers))
            await until(mira, lambda: hers.screen.listening)
            await press(mira, "y")
            while hers.is_running:
                await done(noor)
        assert await doings(counter, ticket) == {"Noor": "watching"}
        desk_of(his)._said_at = 0.0  # the next report is due
        await until(noor, lambda: "Mira, console closed" in screen_text(his))


async def doings(counter: Counter, ticket: TicketId) -> dict[object, object]:
    there = await counter.store.read(lambda tx: tx.presences())
    return {p["operator"]: p["doing"] for p in presence(ticket, there)}  # type: ignore[union-attr,index,call-overload,misc]


async def test_a_pause_of_everything_is_said_beside_a_ticket_that_is_held(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await pause(counter.store, ME, "prompt regression")
        top = lambda: pane_text(app, "top")  # noqa: E731 # read twice
        await until(pilot, lambda: "by Noor: prompt regression" in top())
        assert "‖ PAUSED " in top()
        assert "YOU HOLD" in pane_text(app, "banner")


async def test_watching_a_ticket_leaves_no_trace_on_it(counter: Counter) -> None:
    ticket = await counter.writes("Where is it?")
    before = await stored(counter.store, ticket)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await press(pilot, "enter", "G", "g", "tab", "tab", "escape")
        there = lambda tx: [p.operator for p in tx.presences()]  # noqa: E731
        while await counter.store.read(there) != [ME.name]:
            await done(pilot)
    after = await stored(counter.store, ticket)
    assert replace(after, now=before.now) == before


async def test_who_is_displaced_is_told_at_once_keeps_the_draft_and_can_t_send(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    async with sitting(counter.store, me=MIRA) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r", *"half a rep")
        await until(pilot, lambda: ticket in desk_of(app).reads.mine.held)
        # past the time in which a change of hands counts as one's own
        desk_of(app).asked.clear()
        await take_over(counter.store, ticket, ME, forced=True, why="she is ill")
        await until(pilot, lambda: f"{ticket} is not yours any more" in told(app))
        await until(pilot, lambda: "Noor holds it" in pane_text(app, "banner"))
        await until(pilot, lambda: "■ Taken away" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "Your draft is kept" in screen_text(app))
        assert desk_of(app).drafts.text(ticket, "reply") == "half a rep"
    history = await stored(counter.store, ticket)
    assert history.outbox == ()
    assert [(d.operator, d.text) for d in history.drafts] == [("Mira", "half a rep")]


async def test_a_take_over_says_which_tool_it_waits_for(counter: Counter) -> None:
    ticket = await counter.writes("Where is it?")
    hold = await counter.works(ticket)
    call = ToolCalled(id="call-1", name="track_parcel", input={})
    await counter.store.write(lambda tx: tx.append_as(hold, agent(RUN), call))
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await press(pilot, "t")
        await until(
            pilot, lambda: "track_parcel is finished first" in pane_text(app, "banner")
        )


# Whose word, and to whom


async def test_f36_a_decision_is_bound_to_its_ticket_and_not_to_the_view(
    counter: Counter,
) -> None:
    one = await counter.writes("My money!", subject="First")
    two = await counter.writes("My parcel!", subject="Second")
    await counter.proposes(one, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        desk_of(app).go_to(one)
        await until(pilot, lambda: desk_of(app).pending() is not None)
        desk_of(app).query_one(Queue).select(two)
        await press(pilot, "a", "y")
        await shown(pilot, app, two)
        await press(pilot, "a", "y")
        assert app.screen is desk_of(app)
        assert desk_of(app).pending() is None
    (decision,) = (await stored(counter.store, one)).decisions
    assert decision.state.value == "pending"


async def test_f31_a_draft_keeps_who_may_see_it_until_a_key_says_otherwise(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "escape", "n", *"he is rude")
        await until(pilot, lambda: "only colleagues see this" in screen_text(app))
        await press(pilot, "escape")
        await press(pilot, "r")
        composer = desk_of(app).query_one(Composer)
        await until(pilot, lambda: "Reply to the buyer" in screen_text(app))
        assert composer.text == ""
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "nothing to send" in told(app))
        await press(pilot, *"Dear buyer", "escape", "n")
        await until(pilot, lambda: composer.text == "he is rude")
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "Note kept" in told(app))
    history = await stored(counter.store, ticket)
    notes = [e.body.text for e in history.journal if isinstance(e.body, Note)]
    said = [e.body.text for e in history.journal if isinstance(e.body, Message)]
    assert notes == ["he is rude"]
    assert said == ["Hello?"]
    assert history.outbox == ()


async def test_f31_nobody_opens_or_sends_a_colleague_s_draft(counter: Counter) -> None:
    ticket = await counter.writes("Hello?")
    async with sitting(counter.store, me=MIRA) as (pilot, app):
        await shown(pilot, app, ticket)
        await press(pilot, "n", *"for us", "escape")
        await until(pilot, lambda: desk_of(app).drafts.saved)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        assert desk_of(app).query_one(Composer).text == ""
        await press(pilot, "escape", "n")
        await until(pilot, lambda: "only colleagues see this" in screen_text(app))
        assert desk_of(app).query_one(Composer).text == ""
    kept = (await stored(counter.store, ticket)).drafts
    assert [(d.operator, d.mode, d.text) for d in kept] == [("Mira", "note", "for us")]


async def test_rule_07_an_identity_in_question_is_said_with_what_was_sent_under_it(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    await take_over(counter.store, ticket, ME)
    await reply(counter.store, ticket, ME, "Who are you?")
    await verify(counter.store, ticket, ME, C1)
    await reply(counter.store, ticket, ME, "Hello Dana.")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await until(pilot, lambda: "to the buyer, verified" in screen_text(app))
        assert "to the buyer, unverified" in screen_text(app)
        assert "VERIFIED  Dana" in screen_text(app)
        await verify(counter.store, ticket, ME, C2)
        await until(pilot, lambda: "then verified as c-1" in screen_text(app))
        await until(pilot, lambda: "UNVERIFIED" in screen_text(app))
        text = " ".join(pane_text(app, "chart").split())
        assert "c-1 was verified, then a lookup found c-2" in text
        assert "only a person records who it is" in text
        assert "verified c-1 by phone" in text


async def test_f15_nobody_approves_their_own_proposal_at_the_desk(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My money!")
    await counter.proposes(ticket, {"order_id": "O-1"})
    (proposed,) = (await stored(counter.store, ticket)).decisions
    own = replace(proposed, proposed_by=ME.name)
    await counter.store.write(lambda tx: tx.save_decision(own))
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await card_opened(pilot, app)
        await press(pilot, "G")
        await until(pilot, lambda: app.screen.read_whole)
        await press(pilot, "y")
        await until(pilot, lambda: "you proposed it; another" in screen_text(app))
    (decision,) = (await stored(counter.store, ticket)).decisions
    assert decision.state.value == "pending"


async def test_rule_07_the_card_says_that_it_was_proposed_for_somebody_else(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My money!")
    await counter.proposes(ticket, {"order_id": "O-1"})
    (proposed,) = (await stored(counter.store, ticket)).decisions
    meant = replace(proposed, identity="c-1")
    sight = Sight(me=ME.name, now=proposed.proposed_at, zone=None, width=70)
    await take_over(counter.store, ticket, ME)

    async def card() -> str:
        history = await stored(counter.store, ticket)
        return plain(card_lines(meant, history, sight, on=None))

    unknown = await card()
    await verify(counter.store, ticket, ME, C1)
    same = await card()
    await verify(counter.store, ticket, ME, C2)
    question = await card()

    assert "PROPOSED FOR c-1: won't be executed" in unknown
    assert "verified: Dana c-1" in same
    assert "PROPOSED FOR" not in same
    assert "IN QUESTION: c-1 was verified" in question
    assert "PROPOSED FOR c-1" in question
