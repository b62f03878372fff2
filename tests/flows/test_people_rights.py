"""People and their rights, enforced where things are stored (rules 1, 6 and 14)."""

import asyncio

import pytest

from core.decision import Role
from core.flows.amend import claim
from core.flows.drafts import save_draft
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import take_over
from core.flows.people import (
    Changed,
    add,
    disable,
    enable,
    free_absent,
    give_role,
)
from core.flows.person import NotPossible
from core.journal import Claimed, LockChanged
from core.lock import Acquired, TakeoverWanted
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import ANA, BEN, DEP, SUP, Gate, World, calls
from tests.worlds.brains import Reply, Script


async def test_f71_what_a_disabled_operator_held_is_free_at_once(world: World) -> None:
    ticket, looked_after = await world.opened(), await world.opened()
    await take_over(world.store, ticket, ANA)
    await save_draft(world.store, ticket, ANA, "reply", "half a word")
    await claim(world.store, looked_after, ANA)
    changed = await disable(world.store, SUP, "ana")

    assert isinstance(changed, Changed)
    assert changed.operator.disabled
    chart = await world.chart(ticket)
    assert chart.lock.holder is None
    assert chart.standing.with_people == "given to the queue"
    assert [d.text for d in chart.drafts] == ["half a word"]
    end = (await world.journal(ticket, LockChanged))[-1]
    assert (end.actor.kind.value, end.actor.name) == ("system", "people")
    assert end.body.why == "ana was disabled"  # type: ignore[union-attr]
    assert (await world.chart(looked_after)).standing.owner is None
    assert len(await world.journal(looked_after, Claimed)) == 2
    assert isinstance(await take_over(world.store, ticket, BEN), Acquired)
    assert await free_absent(world.store) == 0


async def test_f71_the_wish_of_who_was_disabled_stops_no_run(world: World) -> None:
    world.model.brain = Script(
        [
            calls(("find_customer", {"order_id": "O-1"})),
            calls(("refund_order", {"order_id": "O-1", "amount": "20.00"})),
            Reply(text="Done."),
        ]
    )
    ticket = await world.opened()
    gate = world.shop.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    assert isinstance(await take_over(world.store, ticket, ANA), TakeoverWanted)
    await disable(world.store, SUP, "ana")
    gate.opened.set()
    assert await asyncio.wait_for(running, 5) is Stop.ANSWERED
    assert (await world.chart(ticket)).lock.holder is None


async def test_rule_14_only_supervisors_change_people_and_tries_are_kept(
    world: World,
) -> None:
    assert isinstance(await add(world.store, ANA, "eve", Role.AGENT), NotPossible)
    assert isinstance(
        await give_role(world.store, ANA, "ana", Role.SUPERVISOR), NotPossible
    )
    assert isinstance(await disable(world.store, SUP, "dep"), Changed)
    last = await give_role(world.store, SUP, "sup", Role.AGENT)
    assert last == NotPossible(why="sup is the last supervisor")
    acts = await world.store.read(lambda tx: tx.house_acts())
    assert [(a.by, a.act, a.whom) for a in acts] == [
        ("ana", "refused", "eve"),
        ("ana", "refused", "ana"),
        ("sup", "disabled", "dep"),
        ("sup", "refused", "sup"),
    ]


@pytest.mark.parametrize("name", ["Ana", "ANA", "\uff41na"])
async def test_nobody_is_added_who_could_not_be_told_from_somebody_else(
    world: World, name: str
) -> None:
    before = await world.store.read(lambda tx: tx.operators())
    refused = await add(world.store, SUP, name, Role.AGENT)
    why = f"{name} and the operator ana could not be told apart"
    assert refused == NotPossible(why=why)
    assert await world.store.read(lambda tx: tx.operators()) == before
    assert isinstance(await disable(world.store, SUP, "ana"), Changed)
    assert await add(world.store, SUP, name, Role.AGENT) == refused


async def test_of_two_supervisors_who_disable_each_other_one_is_left(
    world: World, store_url: str
) -> None:
    other = SqlStore.open(store_url)
    try:
        outcomes = await asyncio.gather(
            disable(world.store, SUP, "dep"), disable(other, DEP, "sup")
        )
    finally:
        await other.close()
    people = await world.store.read(lambda tx: tx.operators())
    left = [o.name for o in people if o.role is Role.SUPERVISOR and not o.disabled]
    assert len(left) == 1
    assert sorted(type(o).__name__ for o in outcomes) == ["Changed", "NotPossible"]


async def test_f71_nothing_is_passed_to_or_done_by_who_is_disabled(
    lite: World,
) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    await disable(lite.store, SUP, "ben")
    moved = await give_back(lite.store, ticket, ANA, GiveBack(to="ben"))
    assert isinstance(moved, NotPossible)
    assert isinstance(await claim(lite.store, ticket, BEN), NotPossible)
    await enable(lite.store, SUP, "ben")
    moved = await give_back(lite.store, ticket, ANA, GiveBack(to="ben"))
    assert not isinstance(moved, NotPossible)
    assert (await lite.chart(ticket)).standing.offered_to == "ben"
