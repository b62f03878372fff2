"""A buyer hears one voice: notes stay inside, whoever answers by another way holds."""

import asyncio
from dataclasses import replace

import pytest

from core.flows.handoff import note, reply, take_over
from core.flows.person import Done, NotPossible
from core.journal import Delivery, Message, Note
from core.lock import Holder, HolderKind
from core.ticket import ActorKind, Status
from core.turn import Stop
from tests.flows.world import ANA, BEN, Gate, World, calls
from tests.worlds.brains import Reply, Script, answers, text_of


@pytest.mark.parametrize("empty", ["", " \n"])
async def test_f78_nothing_empty_is_said(lite: World, empty: str) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    assert isinstance(await reply(lite.store, ticket, ANA, empty), NotPossible)
    assert isinstance(await note(lite.store, ticket, ANA, empty), NotPossible)
    assert await lite.journal(ticket, Message, Note) == (
        await lite.journal(ticket, Message)
    )


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
