"""A damaged record outside of the journal goes to people; the rest goes on (f80)."""

import asyncio

import pytest

from core.decision import DecisionState, NotAllowed, Rejected
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import take_over
from core.flows.operate import settle_doubt
from core.flows.person import Done
from core.flows.serve import serve
from core.flows.supervise import decide, expire
from core.journal import Delivery, Escalated, Quarantined
from core.ledger import ActionState
from core.lock import Acquired
from core.ports import QueueQuery, Worker
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.refunds import (
    APPROVE,
    DONE,
    IDENTIFY,
    REJECT,
    WANTED,
    override,
    proposed,
    result_texts,
    says,
)
from tests.flows.test_quarantine import changed
from tests.flows.world import ANA, DEP, REFUNDS, SUP, World, calls
from tests.worlds.brains import Reply, Script, answers

HALF = "UPDATE tickets SET standing = substr(standing, 1, length(standing) / 2)"
LOST = "UPDATE decisions SET document = '{'"


async def test_f80_a_worker_takes_and_answers_a_ticket_whose_row_is_damaged(
    world: World,
) -> None:
    first, second = await world.opened(), await world.opened()
    await changed(world.store, f"{HALF} WHERE id = '{first}'")
    assert set(await world.due()) == {first, second}
    assert await world.runs(first) is Stop.ANSWERED
    assert await world.runs(second) is Stop.ANSWERED
    assert not (await world.chart(first)).mended
    assert len(await world.delivers()) == 2


async def test_f80_a_person_takes_a_ticket_whose_row_is_damaged(world: World) -> None:
    ticket = await world.opened()
    await changed(world.store, HALF)
    assert isinstance(await take_over(world.store, ticket, ANA), Acquired)
    chart = await world.chart(ticket)
    assert (chart.mended, chart.standing.held_by) == (False, "ana")


async def test_f80_rule_01_of_two_who_force_a_ticket_whose_lock_is_gone_one_holds(
    world: World, store_url: str
) -> None:
    ticket = await world.opened()
    await changed(world.store, "DELETE FROM locks")
    other = SqlStore.open(store_url)
    try:
        first, second = await asyncio.gather(
            take_over(world.store, ticket, SUP, forced=True),
            take_over(other, ticket, DEP, forced=True),
        )
    finally:
        await other.close()
    assert isinstance(first, Acquired)
    assert isinstance(second, Acquired)
    assert {first.lock.token, second.lock.token} == {1, 2}
    last = max(first.lock, second.lock, key=lambda lock: lock.token)
    assert (await world.chart(ticket)).lock == last


async def test_f80_rule_06_a_proposal_that_can_t_be_read_can_only_be_rejected(
    world: World,
) -> None:
    ticket = await proposed(world)
    await changed(world.store, LOST)
    for verdict in (APPROVE, override({"order_id": "O-1", "amount": "20.00"})):
        refused = await says(world, ticket, verdict)
        assert isinstance(refused, NotAllowed)
        assert "the record of D-" in refused.why
    assert isinstance(await says(world, ticket, REJECT), Rejected)
    assert (await world.decision(ticket)).state is DecisionState.REJECTED
    assert await world.runs(ticket) is Stop.ANSWERED
    assert "rejected by sup" in result_texts(world)[-1]
    assert world.shop.effects == 0


async def test_f80_an_approval_that_can_t_be_read_is_not_executed_but_told_to_people(
    world: World,
) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    await changed(world.store, LOST)
    assert await world.runs(ticket) is Stop.ERROR
    [told] = await world.journal(ticket, Escalated)
    [found] = await world.journal(ticket, Quarantined)
    decision = await world.decision(ticket)
    assert f"the record of decision {decision.id}" in told.body.reason  # type: ignore[union-attr]
    assert found.body.record == decision.id  # type: ignore[union-attr]

    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    assert await world.runs(ticket) is Stop.ESCALATED
    last = (await world.journal(ticket, Escalated))[-1].body
    assert "was approved and not executed: the record of D-" in last.reason  # type: ignore[union-attr]
    assert world.shop.effects == 0
    assert "let it be proposed again" in result_texts(world)[-1]
    assert (await world.decision(ticket)).state is DecisionState.EXPIRED


async def test_f80_expiry_goes_on_beside_a_proposal_that_can_t_be_read(
    world: World,
) -> None:
    first = await proposed(world)
    second = await proposed(world, {"order_id": "O-2", "amount": "90.00"})
    await changed(world.store, f"{LOST} WHERE ticket_id = '{first}'")
    soon = "replace(document, '20', '19')"
    await changed(
        world.store,
        f"UPDATE decisions SET document = {soon} WHERE ticket_id = '{second}'",
    )
    assert await expire(world.store) == 1
    assert (await world.decision(first)).state is DecisionState.PENDING
    assert (await world.decision(second)).state is DecisionState.EXPIRED


@pytest.mark.parametrize("kind", ["queued", "sending"])
async def test_f80_a_reply_that_can_t_be_read_is_not_sent_but_told_to_people(
    world: World, kind: str
) -> None:
    first, second = await world.opened(), await world.opened()
    await world.runs(first)
    await world.runs(second)
    await changed(
        world.store,
        f"UPDATE outbox SET author_kind = 'ghost', state = '{kind}'"
        f" WHERE ticket_id = '{first}'",
    )
    await world.time_goes_by_in_the_outbox()
    assert len(await world.delivers()) == 1
    chart = await world.chart(first)
    assert [r.state for r in chart.outbox] == ["failed"]
    assert chart.standing.with_people == "a reply could not be delivered"
    assert chart.standing.unanswered != ()
    [said] = await world.journal(first, Delivery)
    assert said.body.why == "its record is damaged"  # type: ignore[union-attr]
    assert not await world.store.read(lambda tx: tx.busy())


async def test_f80_rule_05_what_became_of_an_action_is_not_guessed_but_settled(
    world: World,
) -> None:
    small = {"order_id": "O-1", "amount": "20.00"}
    world.model.brain = Script([calls(IDENTIFY), calls(("refund_order", small)), DONE])
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    await changed(world.store, "UPDATE action_events SET state = 'gone' WHERE n = 2")
    [action] = (await world.chart(ticket)).actions
    assert action.state is ActionState.IN_DOUBT
    await world.writes("and?", ticket)
    assert await world.runs(ticket) is Stop.ERROR
    [told] = await world.journal(ticket, Escalated)
    assert f"the record of action {action.id}" in told.body.reason  # type: ignore[union-attr]

    await take_over(world.store, ticket, ANA)
    settled = await settle_doubt(
        world.store, ticket, ANA, action.id, happened=True, evidence="seen at the bank"
    )
    assert isinstance(settled, Done)
    assert (await world.chart(ticket)).actions[0].state is ActionState.DONE
    assert world.shop.effects == 1


async def test_f80_a_worker_serves_all_others_when_a_record_of_each_kind_is_damaged(
    world: World,
) -> None:
    waits = await proposed(world)
    world.model.brain = answers("It is on its way.")
    lost, whole = await world.opened(), await world.opened()
    for statement in (
        f"{HALF} WHERE id IN ('{waits}', '{lost}')",
        LOST,
        f"UPDATE journal SET body = '[' WHERE ticket_id = '{lost}' AND seq = 1",
        f"UPDATE turns SET response = '[' WHERE ticket_id = '{waits}'",
    ):
        await changed(world.store, statement)
    ends = {}
    now = world.house.clock.now()
    await serve(
        world.house,
        Worker(id="W", host="h", pid=1, started_at=now, seen_at=now, alive=True),
        concurrency=2,
        drain=True,
        stopping=world.stopping,
        on_end=lambda ticket, over: ends.update({ticket: over.stop}),
    )
    assert ends == {whole: Stop.ANSWERED}
    chart = await world.chart(lost)
    assert chart.standing.with_people is not None
    assert "entry #1 (message) can't be read" in chart.standing.with_people
    people = await world.store.read(lambda tx: tx.queue(QueueQuery(view="human")))
    assert [row.ticket for row in people] == [lost]
    assert len(world.delivered()) == 1


async def test_f80_a_verdict_from_elsewhere_is_judged_by_what_is_stored(
    lite: World,
) -> None:
    ticket = await proposed(lite, WANTED)
    name = (await lite.decision(ticket)).id
    await changed(lite.store, "UPDATE decisions SET state = 'perhaps'")
    rejected = await decide(lite.store, name, REJECT, SUP, REFUNDS)
    assert isinstance(rejected, Rejected)
    assert (await lite.decision(ticket)).state is DecisionState.REJECTED
    lite.model.brain = Script([Reply(text="I see.")])
    assert await lite.runs(ticket) is not None
