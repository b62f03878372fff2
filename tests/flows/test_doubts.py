"""An action whose answer is lost is in doubt, and people's (rule 5)."""

from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.journal import Escalated
from core.ledger import ActionState
from core.turn import Stop
from tests.flows.refunds import WANTED, proposed, result_texts, says
from tests.flows.world import ANA, BY_KEY, FIND, LOOKUP, World, calls
from tests.worlds.brains import Reply, Script


async def test_f03_a_lost_answer_is_in_doubt_and_people_s(world: World) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    world.shop.lose = 9
    assert await world.runs(ticket) is Stop.ESCALATED
    chart = await world.chart(ticket)
    assert world.shop.effects == 1
    assert chart.actions[0].state is ActionState.IN_DOUBT
    assert len(chart.standing.doubts) == 1
    (escalated,) = await world.journal(ticket, Escalated)
    assert chart.actions[0].key in escalated.body.summary  # type: ignore[union-attr]
    assert chart.standing.ready == ()


async def test_f03_a_tool_with_a_key_is_asked_again_with_the_same_key(
    world: World,
) -> None:
    world.shop.specs_now = (FIND, LOOKUP, BY_KEY)
    ticket = await proposed(world)
    await says(world, ticket)
    world.shop.lose = 1
    assert await world.runs(ticket) is Stop.ANSWERED
    keys = [key for name, _, key in world.shop.calls if name == "refund_order"]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert world.shop.effects == 1


async def test_f03_a_fresh_refund_is_refused_while_the_doubt_stands(
    world: World,
) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    world.shop.lose = 9
    await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    again = ("refund_order", WANTED)
    world.model.brain = Script(
        [*[Reply(text="-")] * 2, calls(again), Reply(text="Please wait.")]
    )
    assert await world.runs(ticket) is Stop.ANSWERED
    assert world.shop.effects == 1
    assert "is still open; its end must be known first" in result_texts(world)[-1]


async def test_after_the_people_looked_at_a_doubt_nothing_spins(world: World) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    world.shop.lose = 9
    await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    await reply(world.store, ticket, ANA, "We are checking it.")
    await give_back(world.store, ticket, ANA, GiveBack(to="agent"))
    assert await world.due() == ()
