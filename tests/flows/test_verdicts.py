"""Who decides what, and that exactly this is done, once (rule 6)."""

import asyncio
from dataclasses import replace
from decimal import Decimal

from console import plain
from core.decision import (
    AlreadyDecided,
    Approved,
    DecisionState,
    FirstOfTwo,
    NotAllowed,
    Operator,
    Overridden,
    Rejected,
    Role,
    Stale,
    arguments_hash,
)
from core.flows.supervise import WrongArguments, decide
from core.journal import DecisionChanged, Refused
from core.ledger import ActionState
from core.turn import Stop
from tests.flows.refunds import (
    APPROVE,
    REJECT,
    WANTED,
    override,
    proposed,
    result_texts,
    says,
)
from tests.flows.world import DEP, FIND, LOOKUP, REFUNDS, SUP, World
from tests.worlds.brains import text_of


async def test_rule_06_an_approved_proposal_is_executed_exactly_as_approved(
    world: World,
) -> None:
    ticket = await proposed(world)
    assert world.shop.effects == 0
    assert isinstance(await says(world, ticket), Approved)
    assert await world.due() == (ticket,)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert world.shop.calls[-1][:2] == ("refund_order", WANTED)
    assert result_texts(world)[-1] == "refunded 80.00 on O-1"
    found = await world.decision(ticket)
    (action,) = (await world.chart(ticket)).actions
    assert found.state is DecisionState.EXECUTED
    assert arguments_hash(action.tool, action.input) == found.hash == found.final_hash
    assert [e.state for e in action.events] == [ActionState.INTENDED, ActionState.DONE]
    assert [s["text"] for s in await world.delivers()] == ["That is what I could do."]


async def test_f08_what_the_first_of_two_changed_is_shown_to_the_second(
    world: World,
) -> None:
    ticket = await proposed(world)
    more = {"order_id": "O-1", "amount": "600.00"}
    assert isinstance(await says(world, ticket, override(more)), FirstOfTwo)
    found = await world.decision(ticket)
    assert (found.amount, found.moves[0]) == (Decimal("80.00"), Decimal("600.00"))
    card = plain.decisions([found])
    assert "600.00" in card.splitlines()[0]
    assert 'changed by sup; proposed was {"order_id": "O-1", "amount": "80.00"}' in card
    as_proposed = await says(world, ticket, by=DEP)
    assert isinstance(as_proposed, NotAllowed)
    assert "other arguments" in as_proposed.why
    assert isinstance(await says(world, ticket, override(more), DEP), Overridden)
    await world.runs(ticket)
    told = [e.body for e in await world.journal(ticket, DecisionChanged)]
    assert [(b.state, b.amount) for b in told] == [  # type: ignore[union-attr]
        ("pending", "80.00"),
        ("pending", "600.00"),
        ("overridden", "600.00"),
        ("executed", "600.00"),
    ]
    assert told[-1].hash == (await world.decision(ticket)).final_hash  # type: ignore[union-attr]


async def test_rule_06_nobody_has_seen_what_is_yet_to_come(lite: World) -> None:
    ticket = await proposed(lite)
    future = await says(lite, ticket, replace(APPROVE, seen=999))
    assert isinstance(future, WrongArguments)
    assert "nobody has seen #999" in future.why
    assert (await lite.decision(ticket)).state is DecisionState.PENDING


async def test_f21_an_override_that_can_t_be_is_refused_and_journaled(
    lite: World,
) -> None:
    ticket = await proposed(lite)
    wrong = override({"order_id": "O-1", "amount": "-5"})
    assert isinstance(await says(lite, ticket, wrong), WrongArguments)
    (refused,) = await lite.journal(ticket, Refused)
    assert refused.actor.name == "sup"
    assert "not a positive amount" in refused.body.rule  # type: ignore[union-attr]


async def test_f10_what_one_person_approved_is_not_done_where_the_rules_ask_for_two(
    lite: World,
) -> None:
    ticket = await proposed(lite)
    assert isinstance(await says(lite, ticket), Approved)
    strict = replace(REFUNDS.policy, four_eyes_over=Decimal(60))
    lite.shop.specs_now = (FIND, LOOKUP, replace(REFUNDS, policy=strict))
    await lite.runs(ticket)
    assert lite.shop.effects == 0
    assert (
        "approved by one person, and the rules ask for two" in (result_texts(lite)[-1])
    )
    assert (await lite.decision(ticket)).state is DecisionState.EXPIRED


async def test_f11_an_override_is_executed_with_the_new_arguments(
    world: World,
) -> None:
    ticket = await proposed(world)
    less = {"order_id": "O-1", "amount": "20.00"}
    assert isinstance(await says(world, ticket, override(less)), Overridden)
    await world.runs(ticket)
    assert world.shop.calls[-1][:2] == ("refund_order", less)
    assert "approved the proposal" in text_of(world.model.bodies[-1], "system")
    assert "with other arguments" in text_of(world.model.bodies[-1], "system")


async def test_f18_a_rejected_proposal_is_never_executed_and_its_reason_is_told(
    world: World,
) -> None:
    ticket = await proposed(world)
    assert isinstance(await says(world, ticket, REJECT), Rejected)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert world.shop.effects == 0
    assert "rejected by sup. Reason: it was delivered" in result_texts(world)[-1]
    assert len(await world.delivers()) == 1
    changes = await world.journal(ticket, DecisionChanged)
    assert [c.body.state for c in changes] == ["pending", "rejected"]  # type: ignore[union-attr]


async def test_f13_one_rejected_and_one_approved_are_told_apart(world: World) -> None:
    other = {"order_id": "O-2", "amount": "90.00"}
    ticket = await proposed(world, WANTED, other)
    first, second = (await world.chart(ticket)).decisions
    await decide(world.store, first.id, REJECT, SUP, (REFUNDS,))
    await decide(world.store, second.id, APPROVE, SUP, (REFUNDS,))
    await world.runs(ticket)
    assert [given for name, given, _ in world.shop.calls if "refund" in name] == [other]
    told = result_texts(world)[-2:]
    assert "rejected by sup" in told[0]
    assert told[1] == "refunded 90.00 on O-2"
    messages = world.model.bodies[-1]["messages"]
    results = [b for b in messages[-2]["content"] if b["type"] == "tool_result"]
    assert [r.get("is_error", False) for r in results] == [True, False]


async def test_f01_two_approvals_at_the_same_instant_execute_once(
    world: World,
) -> None:
    ticket = await proposed(world)
    found = await world.decision(ticket)
    outcomes = await asyncio.gather(
        *(
            decide(world.store, found.id, APPROVE, by, (REFUNDS,))
            for by in (SUP, DEP, SUP, DEP)
        )
    )
    assert sum(isinstance(o, Approved) for o in outcomes) == 1
    assert sum(isinstance(o, AlreadyDecided) for o in outcomes) == 3
    await asyncio.gather(world.runs(ticket), world.runs(ticket))
    assert world.shop.effects == 1
    assert len((await world.chart(ticket)).actions) == 1


async def test_f16_a_role_taken_away_a_second_ago_no_longer_decides(
    world: World,
) -> None:
    ticket = await proposed(world)
    demoted = replace(SUP, role=Role.AGENT)
    await world.store.write(lambda tx: tx.save_operator(demoted))
    assert isinstance(await says(world, ticket), NotAllowed)
    await world.store.write(lambda tx: tx.save_operator(replace(SUP, disabled=True)))
    assert isinstance(await says(world, ticket), NotAllowed)
    stranger = Operator(name="nobody", role=Role.SUPERVISOR)
    assert isinstance(await says(world, ticket, by=stranger), NotAllowed)
    assert (await world.decision(ticket)).state is DecisionState.PENDING
    assert len(await world.journal(ticket, Refused)) == 3


async def test_f15_above_the_limit_two_people_must_approve(world: World) -> None:
    ticket = await proposed(world, {"order_id": "O-1", "amount": "600.00"})
    assert isinstance(await says(world, ticket), FirstOfTwo)
    assert isinstance(await says(world, ticket), NotAllowed)
    assert await world.due() == ()
    assert isinstance(await says(world, ticket, by=DEP), Approved)
    await world.runs(ticket)
    assert world.shop.effects == 1


async def test_f15_an_override_above_the_limit_needs_two_people_as_well(
    world: World,
) -> None:
    ticket = await proposed(world)
    more = override({"order_id": "O-1", "amount": "600.00"})
    assert isinstance(await says(world, ticket, more), FirstOfTwo)
    assert isinstance(await says(world, ticket, more), NotAllowed)
    assert (await world.decision(ticket)).state is DecisionState.PENDING
    assert isinstance(await says(world, ticket, more, DEP), Overridden)
    await world.runs(ticket)
    assert world.shop.calls[-1][1] == more.input


async def test_f21_an_override_is_judged_like_a_call(world: World) -> None:
    ticket = await proposed(world)
    for amount in ("-5", "NaN", "x", "\uff17\uff10", "1e1", "7_0"):
        wrong = override({"order_id": "O-1", "amount": amount})
        assert isinstance(await says(world, ticket, wrong), WrongArguments)
    assert isinstance(await says(world, ticket, override({})), WrongArguments)
    assert (await world.decision(ticket)).state is DecisionState.PENDING


async def test_rule_06_a_newer_message_must_be_looked_at_first(world: World) -> None:
    ticket = await proposed(world)
    newer = await world.writes("I changed my mind", ticket)
    assert await says(world, ticket) == Stale(newer=newer.seq)
    looked = replace(APPROVE, seen=newer.seq)
    assert isinstance(await says(world, ticket, looked), Approved)
