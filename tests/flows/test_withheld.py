"""The agent's replies that a take-over has caught: sent, edited or discarded."""

from core.flows.giving_back import give_back
from core.flows.handoff import take_over
from core.flows.person import Done, NotHolder, NotPossible
from core.flows.withheld import discard_withheld, send_withheld
from tests.flows.world import ANA, BEN, TO_AGENT, World
from tests.worlds.brains import text_of


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
