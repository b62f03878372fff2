"""What people do with tickets, and what they are kept from (rules 1, 2, 3 and 14)."""

import asyncio
from dataclasses import replace

import pytest

from core.flows.handoff import (
    GiveBack,
    GivenBack,
    give_back,
    note,
    reply,
    settle_wanted,
    stop_wanting,
    take_over,
)
from core.flows.person import Done, NotHolder, NotPossible
from core.flows.withheld import discard_withheld, save_draft, send_withheld
from core.history import under_way
from core.journal import Delivery, Escalated, LockChanged, Message, Note, Refused
from core.lock import (
    Acquired,
    AlreadyYours,
    HeldBy,
    Holder,
    HolderKind,
    TakeoverWanted,
)
from core.ticket import ActorKind, Status
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import ANA, BEN, SUP, Gate, World, calls
from tests.worlds.brains import Reply, Script, answers, text_of

TO_AGENT = GiveBack(to="agent")


# One holder


async def test_f38_of_two_who_take_at_the_same_instant_one_holds(
    world: World, store_url: str
) -> None:
    ticket = await world.opened()
    other = SqlStore.open(store_url)
    try:
        outcomes = await asyncio.gather(
            take_over(world.store, ticket, ANA), take_over(other, ticket, BEN)
        )
        held = [o for o in outcomes if isinstance(o, Acquired)]
        refused = [o for o in outcomes if isinstance(o, HeldBy)]
        assert (len(held), len(refused)) == (1, 1)
        loser = BEN if isinstance(outcomes[0], Acquired) else ANA
        outcome = await reply(other, ticket, loser, "me too")
        assert isinstance(outcome, NotHolder)
        assert outcome.holder == refused[0].holder
    finally:
        await other.close()
    assert (await world.chart(ticket)).outbox == ()
    assert (await world.chart(ticket)).lock.token == 1


async def test_rule_01_runs_and_people_at_once_over_two_connections(
    world: World, store_url: str
) -> None:
    ticket = await world.opened()
    other = SqlStore.open(store_url)
    elsewhere = replace(world, house=replace(world.house, store=other))
    try:
        await asyncio.gather(
            world.runs(ticket),
            elsewhere.runs(ticket),
            take_over(world.store, ticket, ANA),
            take_over(other, ticket, BEN),
        )
    finally:
        await other.close()
    tokens = [
        e.body.token  # type: ignore[union-attr]
        for e in await world.journal(ticket, LockChanged)
        if e.body.change in {"acquired", "handed_over"}  # type: ignore[union-attr]
    ]
    assert tokens == list(range(1, len(tokens) + 1))
    seqs = [e.seq for e in await world.journal(ticket)]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_f51_a_reply_by_who_does_not_hold_is_refused_and_journaled(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    outcome = await reply(world.store, ticket, BEN, "hello")
    assert isinstance(outcome, NotHolder)
    assert outcome.holder is not None
    assert outcome.holder.name == "ana"
    assert (await world.chart(ticket)).outbox == ()
    (refused,) = await world.journal(ticket, Refused)
    assert refused.actor.name == "ben"
    assert refused.body.rule == "ana holds the ticket"  # type: ignore[union-attr]


async def test_a_colleague_s_ticket_is_not_taken_without_force(lite: World) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    assert isinstance(await take_over(lite.store, ticket, ANA), AlreadyYours)
    assert isinstance(await take_over(lite.store, ticket, BEN), HeldBy)
    forced = await take_over(lite.store, ticket, BEN, forced=True, why="mine")
    assert isinstance(forced, NotPossible)
    taken = await take_over(lite.store, ticket, SUP, forced=True, why="ana is ill")
    assert isinstance(taken, Acquired)
    assert isinstance(await reply(lite.store, ticket, ANA, "late"), NotHolder)
    changes = [e.body for e in await lite.journal(ticket, LockChanged)]
    assert [c.change for c in changes] == ["acquired", "released", "forced"]  # type: ignore[union-attr]
    assert changes[-1].why == "ana is ill"  # type: ignore[union-attr]


async def test_f16_force_needs_the_right_that_is_stored_now(lite: World) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    demoted = replace(SUP, role=ANA.role)
    await lite.store.write(lambda tx: tx.save_operator(demoted))
    assert isinstance(
        await take_over(lite.store, ticket, SUP, forced=True), NotPossible
    )
    forced = GiveBack(to="queue", forced=True)
    assert isinstance(await give_back(lite.store, ticket, SUP, forced), NotPossible)
    assert (await lite.chart(ticket)).standing.held_by == "ana"


async def test_f71_who_was_disabled_takes_nothing_and_says_nothing(
    lite: World,
) -> None:
    ticket, other = await lite.opened(), await lite.opened()
    await take_over(lite.store, ticket, ANA)
    gone = replace(ANA, disabled=True)
    await lite.store.write(lambda tx: tx.save_operator(gone))
    assert isinstance(await take_over(lite.store, other, ANA), NotPossible)
    assert isinstance(await reply(lite.store, ticket, ANA, "hi"), NotHolder)
    assert isinstance(await note(lite.store, ticket, ANA, "hi"), NotPossible)
    freed = GiveBack(to="queue", forced=True, why="disabled")
    assert isinstance(await give_back(lite.store, ticket, SUP, freed), GivenBack)
    assert (await lite.chart(ticket)).lock.holder is None


async def test_f71_a_ticket_is_not_passed_to_somebody_who_is_disabled(
    lite: World,
) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    gone = replace(BEN, disabled=True)
    await lite.store.write(lambda tx: tx.save_operator(gone))
    for name in ("ben", "nobody", "ana"):
        moved = await give_back(lite.store, ticket, ANA, GiveBack(to=name))
        assert isinstance(moved, NotPossible)


# Taking over from a run


async def test_rule_02_a_takeover_in_the_middle_of_a_tool_call_waits_for_its_end(
    world: World,
) -> None:
    small = {"order_id": "O-1", "amount": "20.00"}
    world.model.brain = Script(
        [
            calls(("find_customer", {"order_id": "O-1"})),
            calls(("refund_order", small), ("get_order", {"order_id": "O-1"})),
            Reply(text="Done."),
        ]
    )
    ticket = await world.opened()
    gate = world.shop.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    asked = await take_over(world.store, ticket, ANA)
    assert isinstance(asked, TakeoverWanted)
    assert under_way(await world.chart(ticket)) == "refund_order"
    assert not running.done()
    gate.opened.set()
    assert await asyncio.wait_for(running, 2) is Stop.HANDED_OVER
    chart = await world.chart(ticket)
    assert chart.standing.held_by == "ana"
    assert under_way(chart) is None
    assert chart.actions[0].state.value == "done"
    assert [name for name, _, _ in world.shop.calls] == [
        *("find_customer", "refund_order")
    ]
    await give_back(world.store, ticket, ANA, TO_AGENT)
    assert await world.runs(ticket) is Stop.ANSWERED
    told = text_of(world.model.bodies[-1])
    assert "refunded 20.00 on O-1" in told
    assert "Not run: a colleague took the ticket over" in told
    assert world.shop.effects == 1


async def test_who_no_longer_wants_the_ticket_leaves_the_run_alone(
    world: World,
) -> None:
    small = {"order_id": "O-1", "amount": "20.00"}
    world.model.brain = Script(
        [
            calls(("find_customer", {"order_id": "O-1"})),
            calls(("refund_order", small)),
            Reply(text="Done."),
        ]
    )
    ticket = await world.opened()
    gate = world.shop.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await take_over(world.store, ticket, ANA)
    assert (await world.chart(ticket)).standing.wanted_by == "ana"
    await stop_wanting(world.store, ticket, BEN)
    await stop_wanting(world.store, ticket, ANA)
    await stop_wanting(world.store, ticket, ANA)
    assert (await world.chart(ticket)).standing.wanted_by is None
    gate.opened.set()
    assert await asyncio.wait_for(running, 2) is Stop.ANSWERED
    wanted = [
        e.body.until is not None  # type: ignore[union-attr]
        for e in await world.journal(ticket, LockChanged)
        if e.body.change == "wanted"  # type: ignore[union-attr]
    ]
    assert wanted == [False, True]


async def test_rule_02_force_stops_a_run_before_its_next_write(world: World) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await take_over(world.store, ticket, SUP, forced=True, why="now")
    gate.opened.set()
    assert await asyncio.wait_for(running, 2) is Stop.CRASHED
    chart = await world.chart(ticket)
    assert chart.standing.held_by == "sup"
    assert chart.outbox == ()
    assert chart.runs[0].stop is Stop.HANDED_OVER
    assert await settle_wanted(world.store, ticket) == chart.lock


# Giving back


async def test_f55_a_release_without_an_answer_wakes_the_agent(world: World) -> None:
    ticket = await world.opened("m1")
    await take_over(world.store, ticket, ANA)
    await world.writes("m2", ticket)
    assert await world.due() == ()
    await give_back(world.store, ticket, ANA, TO_AGENT)
    assert await world.due() == (ticket,)
    await world.runs(ticket)
    assert "m2" in text_of(world.model.bodies[0], "user")
    assert "held the ticket from" in text_of(world.model.bodies[0], "system")
    assert len(await world.delivers()) == 1


async def test_f65_after_the_person_s_last_word_the_agent_says_nothing(
    world: World,
) -> None:
    ticket = await world.opened("m1")
    await take_over(world.store, ticket, ANA)
    for text in ("m2", "m3", "m4"):
        await world.writes(text, ticket)
    await reply(world.store, ticket, ANA, "all of it")
    await give_back(world.store, ticket, ANA, TO_AGENT)
    assert await world.due() == ()
    assert await world.runs(ticket) is None
    assert world.model.bodies == []


async def test_f98_reply_and_release_at_once_are_both_seen_by_the_agent(
    world: World,
) -> None:
    ticket = await world.opened("m1")
    await take_over(world.store, ticket, ANA)
    back = GiveBack(to="agent", carry_on=True)
    await asyncio.gather(
        reply(world.store, ticket, ANA, "my answer"),
        give_back(world.store, ticket, ANA, back),
    )
    await world.runs(ticket)
    journal = await world.journal(ticket)
    said = [e for e in journal if e.actor.name == "ana" and e.kind == "message"]
    told = text_of(world.model.bodies[0], "system")
    assert all(f"> {e.body.text}" in told for e in said)  # type: ignore[union-attr]


async def test_f58_given_back_while_no_agent_is_there_says_so(lite: World) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    back = await give_back(lite.store, ticket, ANA, TO_AGENT)
    assert isinstance(back, GivenBack)
    assert back.workers_alive is False


async def test_f63_what_people_resolved_and_the_buyer_reopens_is_the_agent_s(
    world: World,
) -> None:
    escalation = {"reason": "unsure", "tried": "reading", "summary": "odd"}
    world.model.brain = Script([calls(("escalate", escalation)), Reply(text="Sure.")])
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ESCALATED
    assert await world.due() == ()
    await take_over(world.store, ticket, ANA)
    await reply(world.store, ticket, ANA, "It is fine.")
    await give_back(world.store, ticket, ANA, GiveBack(to="resolved"))
    await world.writes("thanks, new question", ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert len(await world.journal(ticket, Escalated)) == 1
    assert [m["text"] for m in await world.delivers()] == ["It is fine.", "Sure."]


async def test_rule_03_a_message_nobody_has_looked_at_is_not_resolved_away(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    seen = (await world.chart(ticket)).standing.last_seq
    newer = await world.writes("wait!", ticket)
    looked = GiveBack(to="resolved", seen=seen)
    refused = await give_back(world.store, ticket, ANA, looked)
    assert refused == NotPossible(
        why=f"the buyer wrote #{newer.seq} meanwhile: look at it first"
    )
    looked = replace(looked, seen=newer.seq)
    assert isinstance(await give_back(world.store, ticket, ANA, looked), GivenBack)


async def test_f56_facts_are_told_in_the_order_of_what_happened_to_the_lock(
    world: World,
) -> None:
    ticket = await world.opened("m1")
    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, TO_AGENT)
    await take_over(world.store, ticket, BEN)
    assert await world.runs(ticket) is None
    await give_back(world.store, ticket, BEN, TO_AGENT)
    await world.runs(ticket)
    told = text_of(world.model.bodies[0], "system")
    facts = [
        *("ana (a person) took", "ana (a person) held"),
        *("ben (a person) took", "ben (a person) held"),
    ]
    places = [told.index(fact) for fact in facts]
    assert places == sorted(places)


async def test_an_unsent_draft_must_be_sent_or_discarded_first(lite: World) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    await save_draft(lite.store, ticket, ANA, "reply", "half a")
    refused = await give_back(lite.store, ticket, ANA, TO_AGENT)
    assert isinstance(refused, NotPossible)
    assert "unsent draft" in refused.why
    await save_draft(lite.store, ticket, ANA, "reply", "")
    assert isinstance(await give_back(lite.store, ticket, ANA, TO_AGENT), GivenBack)


@pytest.mark.parametrize("empty", ["", " \n"])
async def test_f78_nothing_empty_is_said(lite: World, empty: str) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    assert isinstance(await reply(lite.store, ticket, ANA, empty), NotPossible)
    assert isinstance(await note(lite.store, ticket, ANA, empty), NotPossible)
    assert await lite.journal(ticket, Message, Note) == (
        await lite.journal(ticket, Message)
    )


# Notes


async def test_f30_a_note_reaches_neither_the_buyer_nor_wakes_the_agent(
    world: World,
) -> None:
    world.model.brain = answers("Hello.", "Again.")
    ticket = await world.opened()
    await world.runs(ticket)
    await note(world.store, ticket, BEN, "NOTE-7")
    assert await world.due() == ()
    await world.writes("hello?", ticket)
    await world.runs(ticket)
    assert "NOTE-7" not in text_of(world.model.bodies[-1])
    assert all("NOTE-7" not in str(m) for m in await world.delivers())


# Withheld replies


async def test_a_withheld_reply_can_be_sent_edited_as_one_s_own(world: World) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    (held,) = (await world.chart(ticket)).standing.withheld
    refused = await give_back(world.store, ticket, ANA, TO_AGENT)
    assert isinstance(refused, NotPossible)
    assert isinstance(
        await send_withheld(world.store, ticket, BEN, held, None), NotHolder
    )
    empty = await send_withheld(world.store, ticket, ANA, held, " ")
    assert isinstance(empty, NotPossible)
    sent = await send_withheld(world.store, ticket, ANA, held, "It is here.")
    assert isinstance(sent, Done)
    again = await send_withheld(world.store, ticket, ANA, held, None)
    assert isinstance(again, NotPossible)
    (delivered,) = await world.delivers()
    assert delivered["text"] == "It is here."
    assert delivered["author"] == {"kind": "operator", "name": "ana"}
    await give_back(world.store, ticket, ANA, TO_AGENT)
    assert await world.due() == ()


async def test_rule_03_a_withheld_reply_sent_as_it_is_answers_no_later_message(
    world: World,
) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    (held,) = (await world.chart(ticket)).standing.withheld
    later = await world.writes("and the lamp?", ticket)
    await send_withheld(world.store, ticket, ANA, held, None)
    unanswered = (await world.chart(ticket)).standing.unanswered
    assert [seq for seq, _ in unanswered] == [later.seq]
    await give_back(world.store, ticket, ANA, TO_AGENT)
    assert await world.due() == (ticket,)


async def test_f55_a_discarded_reply_leaves_the_buyer_s_question_open(
    world: World,
) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    (held,) = (await world.chart(ticket)).standing.withheld
    await discard_withheld(world.store, ticket, ANA, held)
    assert (await world.chart(ticket)).standing.waiting_since is not None
    await give_back(world.store, ticket, ANA, TO_AGENT)
    assert await world.due() == (ticket,)
    await world.runs(ticket)
    told = text_of(world.model.bodies[-1], "system")
    assert f"Your message #{held} was discarded and never sent" in told
    assert len(await world.delivers()) == 1


# Two voices


async def test_f40_a_person_s_reply_by_another_way_takes_the_ticket_from_the_agent(
    world: World,
) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await world.writes(
        "I sent it again.", ticket, outgoing=True, author="mira", sender="us@shop"
    )
    gate.opened.set()
    assert await asyncio.wait_for(running, 2) is Stop.ESCALATED
    await world.writes("thanks", ticket)
    assert await world.due() == ()
    chart = await world.chart(ticket)
    assert chart.standing.with_people == "mira answered the buyer by another way"
    out = [e for e in chart.journal if getattr(e.body, "direction", "") == "out"]
    assert [(e.actor.kind, e.actor.name) for e in out] == [(ActorKind.OPERATOR, "mira")]
    assert chart.outbox == ()


async def test_f40_what_the_agent_had_not_sent_yet_is_withheld_then(
    world: World,
) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    await world.writes("I sent it again.", ticket, outgoing=True, author="mira")
    assert await world.delivers() == []
    chart = await world.chart(ticket)
    assert chart.standing.withheld == (chart.outbox[0].seq,)
    assert chart.standing.unanswered == ()


async def test_f40_a_reply_by_another_way_of_who_works_here_holds_the_ticket(
    world: World,
) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    await world.writes("I sent it again.", ticket, outgoing=True, author="ana")
    await world.writes("thanks", ticket)
    assert await world.due() == ()
    chart = await world.chart(ticket)
    assert chart.lock.holder == Holder(kind=HolderKind.OPERATOR, name="ana")
    assert chart.standing.with_people is None
    assert chart.standing.withheld == (chart.outbox[0].seq,)
    assert len(await world.journal(ticket, Delivery)) == 1
    assert await world.delivers() == []
    said = await reply(world.store, ticket, ANA, "You are welcome.")
    assert isinstance(said, Done)


async def test_f40_a_run_at_work_hands_over_to_who_answered_by_another_way(
    world: World,
) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await world.writes("I sent it again.", ticket, outgoing=True, author="ana")
    assert await asyncio.wait_for(running, 5) is Stop.HANDED_OVER
    chart = await world.chart(ticket)
    assert chart.lock.holder == Holder(kind=HolderKind.OPERATOR, name="ana")
    assert chart.outbox == ()


async def test_f40_a_reply_by_another_way_takes_no_colleague_s_ticket(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, BEN)
    await world.writes("I sent it again.", ticket, outgoing=True, author="ana")
    assert (await world.chart(ticket)).standing.held_by == "ben"


async def test_f40_somebody_disabled_who_answers_by_another_way_holds_nothing(
    world: World,
) -> None:
    ticket = await world.opened()
    gone = replace(ANA, disabled=True)
    await world.store.write(lambda tx: tx.save_operator(gone))
    await world.writes("I sent it again.", ticket, outgoing=True, author="ana")
    standing = (await world.chart(ticket)).standing
    assert standing.held_by is None
    assert standing.with_people == "ana answered the buyer by another way"


async def test_f43_an_error_s_end_says_nothing_to_a_buyer_whom_a_person_serves(
    world: World,
) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    world.shop.down = True
    await take_over(world.store, ticket, ANA)
    await running
    assert (await world.chart(ticket)).outbox == ()


async def test_f53_escalating_with_words_sends_these_words_once(world: World) -> None:
    escalation = {
        "reason": "unsure",
        "tried": "reading",
        "summary": "odd",
        "message_to_buyer": "A colleague will look at it.",
    }
    both = replace(calls(("escalate", escalation)), text="I will hand you over, M2.")
    world.model.brain = Script([both, Reply(text="M3")])
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ESCALATED
    sent = [m["text"] for m in await world.delivers()]
    assert sent == ["A colleague will look at it."]
    assert len(world.model.bodies) == 1


async def test_f61_a_promise_of_a_person_goes_to_people(world: World) -> None:
    world.model.brain = answers("I'll get a colleague to look at it.")
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ESCALATED
    chart = await world.chart(ticket)
    assert chart.standing.with_people is not None
    assert "promised" in chart.standing.with_people


async def test_rule_15_without_its_tools_a_run_hands_the_ticket_to_people(
    world: World,
) -> None:
    world.shop.down = True
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ERROR
    chart = await world.chart(ticket)
    assert chart.standing.with_people == "the shop can't be reached"
    assert chart.lock.holder is None
    rows = await world.store.read(lambda tx: tx.queue_rows([ticket]))
    assert rows[0].status is Status.NEEDS_HUMAN
