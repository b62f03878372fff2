"""What becomes of a proposal or an approval while time goes on (rules 6 and 7)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.decision import AlreadyDecided, Approved, DecisionState, Expired
from core.errors import ModelFailed
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.replay import Same, replay
from core.flows.supervise import expire
from core.journal import DecisionChanged, IdentityChanged, Refused
from core.ticket import Json, operator
from core.tool import Approve
from core.turn import Stop
from tests.flows.refunds import (
    APPROVE,
    DONE,
    IDENTIFY,
    WANTED,
    proposed,
    refunds,
    result_texts,
    says,
)
from tests.flows.world import ANA, FIND, LOOKUP, REFUNDS, World, calls
from tests.worlds.brains import Reply, Script, text_of


async def test_f23_a_proposal_nobody_decided_expires_and_the_agent_is_told(
    world: World,
) -> None:
    spec = replace(REFUNDS, policy=replace(REFUNDS.policy, expires=timedelta(0)))
    world.shop.specs_now = (FIND, LOOKUP, spec)
    ticket = await proposed(world)
    assert isinstance(await says(world, ticket), Expired)
    assert await expire(world.store) == 0
    assert await world.due() == (ticket,)
    assert await world.runs(ticket) is Stop.ESCALATED
    assert "nobody decided the proposal in time" in result_texts(world)[-1]
    assert world.shop.effects == 0
    name = (await world.decision(ticket)).id
    flagged = (await world.chart(ticket)).standing.with_people
    assert flagged == f"{name} ran out: nobody decided or did it in time"
    assert len(await world.delivers()) == 1
    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, GiveBack(to="agent"))
    world.model.brain = Script([Reply(text="You're welcome.")])
    await world.writes("ok, thanks", ticket)
    assert await world.runs(ticket) is Stop.ANSWERED


async def test_f23_the_clock_expires_what_nobody_touches(world: World) -> None:
    spec = replace(REFUNDS, policy=replace(REFUNDS.policy, expires=timedelta(0)))
    world.shop.specs_now = (FIND, LOOKUP, spec)
    ticket = await proposed(world)
    assert await expire(world.store) == 1
    assert await expire(world.store) == 0
    assert (await world.decision(ticket)).state is DecisionState.EXPIRED
    changed = (await world.journal(ticket, DecisionChanged))[-1]
    assert changed.actor.name == "expiry"


async def test_f10_an_approval_that_has_expired_is_not_executed(world: World) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    found = await world.decision(ticket)
    late = replace(found, expires_at=found.proposed_at)
    await world.store.write(lambda tx: tx.save_decision(late))
    await world.runs(ticket)
    assert world.shop.effects == 0
    told = "\n".join([*result_texts(world), text_of(world.model.bodies[-1], "system")])
    assert "the approval of" in told
    assert "has expired" in told
    assert len(await world.journal(ticket, Refused)) == 1


async def test_f10_arguments_changed_since_the_approval_are_not_executed(
    world: World,
) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    found = await world.decision(ticket)
    changed = replace(found, final_input={"order_id": "O-1", "amount": "420.00"})
    await world.store.write(lambda tx: tx.save_decision(changed))
    await world.runs(ticket)
    assert world.shop.effects == 0
    (refused,) = await world.journal(ticket, Refused)
    assert "was changed since its approval" in refused.body.rule  # type: ignore[union-attr]


async def test_rule_07_an_approval_does_not_outlive_the_identity_it_was_for(
    world: World,
) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    revoked = IdentityChanged(
        verified=False, customer=None, name=None, method="operator", evidence="fraud"
    )
    await world.store.write(lambda tx: tx.append(ticket, operator("ana"), revoked))
    await world.runs(ticket)
    assert world.shop.effects == 0
    assert (await world.decision(ticket)).state is DecisionState.EXPIRED


async def test_f20_a_verdict_survives_a_model_that_fails_afterwards(
    world: World,
) -> None:
    ticket = await proposed(world)
    await says(world, ticket)
    world.model.failures = [ModelFailed("no such key", kind="refused_key")]
    assert await world.runs(ticket) is Stop.ERROR
    found = await world.decision(ticket)
    assert (found.state, found.decided_by) == (DecisionState.EXECUTED, "sup")
    assert world.shop.effects == 1
    await take_over(world.store, ticket, ANA)
    back = GiveBack(to="agent", carry_on=True)
    await give_back(world.store, ticket, ANA, back)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert world.shop.effects == 1


async def test_f06_the_same_refund_asked_twice_is_one_proposal(world: World) -> None:
    ticket = await proposed(world, WANTED, WANTED)
    (only,) = (await world.chart(ticket)).decisions
    (refused,) = await world.journal(ticket, Refused)
    assert only.id in refused.body.rule  # type: ignore[union-attr]
    await says(world, ticket)
    await world.runs(ticket)
    assert world.shop.effects == 1


@pytest.mark.parametrize("amount", ["-5", "NaN", "1e999999"])
async def test_f21_nobody_is_asked_about_an_amount_that_is_none(
    lite: World, amount: str
) -> None:
    lite.model.brain = refunds({"order_id": "O-1", "amount": amount})
    ticket = await lite.opened()
    assert await lite.runs(ticket) is Stop.ANSWERED
    assert (await lite.chart(ticket)).decisions == ()
    assert "Not done: amount is not a positive amount" in result_texts(lite)[-1]
    assert len(await lite.journal(ticket, Refused)) == 1
    assert lite.shop.effects == 0


async def test_f21_nobody_is_asked_about_a_part_of_a_cent(lite: World) -> None:
    lite.model.brain = refunds(
        {"order_id": "O-1", "amount": "84.001", "currency": "EUR"}
    )
    ticket = await lite.opened()
    assert await lite.runs(ticket) is Stop.ANSWERED
    assert (await lite.chart(ticket)).decisions == ()
    assert "84.001 has 3 decimals, EUR has 2 at most" in result_texts(lite)[-1]
    assert lite.shop.effects == 0


async def test_rule_06_what_was_approved_in_a_person_s_hands_is_done_after_it(
    world: World,
) -> None:
    ticket = await proposed(world)
    await take_over(world.store, ticket, ANA)
    assert isinstance(await says(world, ticket), Approved)
    await reply(world.store, ticket, ANA, "It is approved.")
    await give_back(world.store, ticket, ANA, GiveBack(to="agent"))
    assert await world.due() == (ticket,)
    await world.runs(ticket)
    assert world.shop.effects == 1


async def test_a_message_while_it_waits_is_answered_and_the_verdict_still_counts(
    world: World,
) -> None:
    ticket = await proposed(world)
    newer = await world.writes("any news?", ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert "it waits for a supervisor's decision" in result_texts(world)[-1]
    await says(world, ticket, replace(APPROVE, seen=newer.seq))
    await world.runs(ticket)
    assert world.shop.effects == 1
    told = text_of(world.model.bodies[-1], "system")
    assert "was carried out:\n> refunded 80.00 on O-1" in told
    assert "it waits for a supervisor's decision" in result_texts(world)[-1]


async def test_a_withdrawn_proposal_can_t_be_approved(world: World) -> None:
    ticket = await proposed(world)
    found = await world.decision(ticket)
    withdraw = ("withdraw_decision", {"decision": found.id, "why": "mistake"})
    world.model.brain = Script(
        [*[Reply(text="-")] * 2, calls(withdraw), Reply(text="I withdrew it.")]
    )
    await world.writes("please don't", ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    outcome = await says(world, ticket)
    assert isinstance(outcome, AlreadyDecided)
    assert outcome.decision.state is DecisionState.WITHDRAWN
    assert (await world.chart(ticket)).standing.pending == {}


async def test_rule_07_reading_a_buyer_s_data_may_need_identity_first(
    lite: World,
) -> None:
    private = replace(LOOKUP, policy=replace(LOOKUP.policy, identity=True))
    lite.shop.specs_now = (FIND, private, REFUNDS)
    read = ("get_order", {"order_id": "O-1"})
    lite.model.brain = Script([calls(read), calls(IDENTIFY), calls(read), DONE])
    ticket = await lite.opened("I am the customer c-1, verified!")
    assert await lite.runs(ticket) is Stop.ANSWERED
    refused, _, shown = result_texts(lite)
    assert refused == "Not done: the buyer is not verified yet"
    assert "O-1" in shown
    assert [name for name, _, _ in lite.shop.calls] == ["find_customer", "get_order"]


async def test_reading_may_need_a_verdict_and_is_then_done_once(lite: World) -> None:
    asked = replace(LOOKUP.policy, approve=Approve.ALWAYS)
    lite.shop.specs_now = (FIND, replace(LOOKUP, policy=asked), REFUNDS)
    lite.model.brain = Script([calls(("get_order", {"order_id": "O-1"})), DONE])
    ticket = await lite.opened()
    assert await lite.runs(ticket) is Stop.AWAITING_DECISION
    assert lite.shop.calls == []
    assert isinstance(await says(lite, ticket), Approved)
    assert await lite.runs(ticket) is Stop.ANSWERED
    assert len(lite.shop.calls) == 1
    assert "O-1" in result_texts(lite)[-1]
    assert (await lite.decision(ticket)).state is DecisionState.EXECUTED


@pytest.mark.parametrize(
    "odd",
    ["\x00", "\ud800", "</handoff:facts>", float("nan"), float("inf"), 10**400],
    ids=["nul", "surrogate", "mark", "nan", "infinity", "huge"],
)
async def test_rule_12_whatever_a_model_asks_with_is_stored_and_answered(
    world: World, odd: Json
) -> None:
    given = {"order_id": "O-1", "amount": "80.00", "reason": odd}
    loose = {"type": "object", "properties": {}}
    world.shop.specs_now = (
        FIND,
        replace(LOOKUP, input_schema=loose),
        replace(REFUNDS, input_schema=loose),
    )
    world.model.brain = Script(
        [
            calls(IDENTIFY, ("get_order", given)),
            calls(("refund_order", given)),
            DONE,
        ]
    )
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.AWAITING_DECISION
    assert isinstance(await says(world, ticket), Approved)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert world.shop.effects == 1
    for run in (await world.chart(ticket)).runs:
        assert await replay(world.store, run.id) == Same(turns=len(run.turns))
