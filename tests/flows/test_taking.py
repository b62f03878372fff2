"""One holder: who takes a ticket, from whom, and who may not (rules 1, 2 and 14)."""

import asyncio
from dataclasses import replace

from core.flows.giving_back import GiveBack, GivenBack, give_back
from core.flows.handoff import note, reply, settle_wanted, stop_wanting, take_over
from core.flows.person import NotHolder, NotPossible
from core.history import under_way
from core.journal import LockChanged, Refused
from core.lock import Acquired, AlreadyYours, HeldBy, TakeoverWanted
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import ANA, BEN, SUP, TO_AGENT, Gate, World, calls
from tests.worlds.brains import Reply, Script, text_of


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
