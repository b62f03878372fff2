"""What happens when the holder lets go (protocol "Release", rules 3 and 14)."""

import asyncio
from dataclasses import replace

from core.flows.drafts import save_draft
from core.flows.giving_back import GiveBack, GivenBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.person import NotPossible
from core.journal import Escalated
from core.turn import Stop
from tests.flows.world import ANA, BEN, TO_AGENT, World, calls
from tests.worlds.brains import Reply, Script, text_of


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
