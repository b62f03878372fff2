"""Proposals, verdicts and their execution (rules 5 and 6)."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from console import plain
from core.decision import (
    AlreadyDecided,
    Approved,
    DecisionState,
    Expired,
    FirstOfTwo,
    NotAllowed,
    Operator,
    Overridden,
    Rejected,
    Role,
    Stale,
    Verdict,
    arguments_hash,
)
from core.errors import ModelFailed
from core.flows.handoff import GiveBack, give_back, reply, take_over
from core.flows.replay import Same, replay
from core.flows.supervise import Decided, WrongArguments, decide, expire
from core.journal import DecisionChanged, Escalated, IdentityChanged, Refused
from core.ledger import ActionState
from core.ticket import Json, TicketId, operator
from core.tool import Approve
from core.turn import Stop
from tests.flows.world import (
    ANA,
    BY_KEY,
    DEP,
    FIND,
    LOOKUP,
    REFUNDS,
    SUP,
    World,
    calls,
)
from tests.worlds.brains import Reply, Script, calls_in, text_of

APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
REJECT = Verdict(kind="reject", why="it was delivered", input=None, seen=None)
WANTED = {"order_id": "O-1", "amount": "80.00"}
IDENTIFY = ("find_customer", {"order_id": "O-1"})
DONE = Reply(text="Done.")


def override(given: Json) -> Verdict:
    return Verdict(kind="override", why="", input=given, seen=None)


def refunds(*wanted: dict[str, Any]) -> Script:
    """Identifies the buyer, asks for refunds in one turn, then says that it is done."""
    return Script(
        [
            calls(IDENTIFY),
            calls(*[("refund_order", given) for given in wanted]),
            Reply(text="That is what I could do."),
        ]
    )


async def proposed(world: World, *wanted: dict[str, Any]) -> TicketId:
    """A ticket whose run waits for a verdict."""
    world.model.brain = refunds(*(wanted or (WANTED,)))
    ticket = await world.opened("refund me for O-1")
    assert await world.runs(ticket) is Stop.AWAITING_DECISION
    return ticket


async def says(
    world: World, ticket: TicketId, verdict: Verdict = APPROVE, by: Operator = SUP
) -> Decided:
    """A supervisor's verdict on the ticket's newest decision."""
    found = await world.decision(ticket)
    return await decide(world.store, found.id, verdict, by, (REFUNDS,))


def result_texts(world: World) -> list[str]:
    """What the newest request says of the calls, in order."""
    found = calls_in(world.model.bodies[-1])
    return [str(result["content"]) for _, result in found if result is not None]


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
    for amount in ("-5", "NaN", "x"):
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


# In doubt


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


# What needs no ledger row may still need an identity or a verdict


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
