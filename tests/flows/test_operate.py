"""People use tools by the agent's own way: policy, ledger, decisions (rules 5 to 7)."""

import asyncio
from dataclasses import replace

from core.decision import Approved, NotAllowed, Rejected, Verdict
from core.flows.amend import verify
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import take_over
from core.flows.operate import (
    InDoubt,
    Operated,
    Proposed,
    Used,
    execute_decision,
    settle_doubt,
    use_tool,
)
from core.flows.person import Done, NotHolder, NotPossible
from core.flows.supervise import decide
from core.journal import IdentityChanged, Refused
from core.ledger import ActionState
from core.lock import TakeoverWanted
from core.policy import rules_of
from core.ticket import Json, TicketId, operator
from core.turn import Stop
from tests.flows.world import ANA, BEN, DEP, REFUNDS, SUP, Gate, World, calls
from tests.worlds.brains import Reply, Script, calls_in, text_of

APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
REJECT = Verdict(kind="reject", why="changed my mind", input=None, seen=None)
SMALL = {"order_id": "O-1", "amount": "20.00"}
LARGE = {"order_id": "O-1", "amount": "80.00"}
KNOWN = IdentityChanged(
    verified=True, customer="c-1", name="Dana", method="phone", evidence="called back"
)


async def held(world: World, by: type[object] | object = ANA) -> TicketId:
    """A ticket that an operator holds, whose buyer is verified."""
    ticket = await world.opened()
    await take_over(world.store, ticket, by)  # type: ignore[arg-type]
    await verify(world.store, ticket, by, KNOWN)  # type: ignore[arg-type]
    return ticket


async def refunds(world: World, ticket: TicketId, given: Json) -> Operated:
    """Ana asks for a refund."""
    return await use_tool(world.house, ticket, ANA, "refund_order", given)


async def test_rule_05_a_person_s_call_goes_through_the_ledger(world: World) -> None:
    ticket = await held(world)
    used = await refunds(world, ticket, SMALL)
    assert isinstance(used, Used)
    assert used.result.content == "refunded 20.00 on O-1"
    (action,) = (await world.chart(ticket)).actions
    assert action.by == operator("ana")
    assert action.identity == "c-1"
    assert [e.state for e in action.events] == [ActionState.INTENDED, ActionState.DONE]
    assert world.shop.calls == [("refund_order", SMALL, action.key)]
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    world.model.brain = Script([Reply(text="Thanks.")])
    assert await world.runs(ticket) is Stop.ANSWERED
    assert "refunded 20.00 on O-1" in text_of(world.model.bodies[-1])


async def test_rule_01_who_does_not_hold_the_ticket_uses_nothing(world: World) -> None:
    ticket = await held(world)
    outcome = await use_tool(world.house, ticket, BEN, "refund_order", SMALL)
    assert isinstance(outcome, NotHolder)
    assert world.shop.calls == []
    (refused,) = await world.journal(ticket, Refused)
    assert refused.actor == operator("ben")


async def test_f21_what_the_policy_forbids_no_person_is_asked_about(
    world: World,
) -> None:
    ticket = await held(world)
    for amount in ("-5", "NaN", "1e999999999", ""):
        wrong = await refunds(world, ticket, {"order_id": "O-1", "amount": amount})
        assert isinstance(wrong, NotPossible)
    assert isinstance(await refunds(world, ticket, {"amount": "1.00"}), NotPossible)
    nothing = await use_tool(world.house, ticket, ANA, "no_such_tool", {})
    assert isinstance(nothing, NotPossible)
    chart = await world.chart(ticket)
    assert chart.decisions == chart.actions == ()
    assert world.shop.calls == []


async def test_rule_07_without_a_verified_buyer_nothing_is_moved(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    outcome = await refunds(world, ticket, SMALL)
    assert outcome == NotPossible(why="the buyer is not verified yet")


async def test_f15_a_person_s_own_proposal_needs_another_one(world: World) -> None:
    ticket = await held(world, SUP)
    outcome = await use_tool(world.house, ticket, SUP, "refund_order", LARGE)
    assert isinstance(outcome, Proposed)
    proposed = outcome.decision
    assert proposed.proposed_by == "sup"
    assert proposed.policy == rules_of(world.shop.specs_now).version
    own = await decide(world.store, proposed.id, APPROVE, SUP, (REFUNDS,))
    assert isinstance(own, NotAllowed)
    early = await execute_decision(world.house, ticket, SUP, proposed.id)
    assert early == NotPossible(why=f"{proposed.id} is pending")
    other = await decide(world.store, proposed.id, APPROVE, DEP, (REFUNDS,))
    assert isinstance(other, Approved)
    used = await execute_decision(world.house, ticket, SUP, proposed.id)
    assert isinstance(used, Used)
    again = await execute_decision(world.house, ticket, SUP, proposed.id)
    assert again == NotPossible(why=f"{proposed.id} is executed")
    assert world.shop.effects == 1
    (action,) = (await world.chart(ticket)).actions
    assert action.decision == proposed.id


async def test_rule_06_only_the_holder_executes_what_was_approved(world: World) -> None:
    ticket = await held(world)
    outcome = await refunds(world, ticket, LARGE)
    assert isinstance(outcome, Proposed)
    await decide(world.store, outcome.decision.id, APPROVE, SUP, (REFUNDS,))
    other = await execute_decision(world.house, ticket, BEN, outcome.decision.id)
    assert isinstance(other, NotHolder)
    none = await execute_decision(world.house, ticket, ANA, "D-NONE")
    assert isinstance(none, NotPossible)
    assert world.shop.effects == 0
    used = await execute_decision(world.house, ticket, ANA, outcome.decision.id)
    assert isinstance(used, Used)


async def test_rule_06_an_approval_can_be_taken_back_until_it_is_begun(
    world: World,
) -> None:
    ticket = await held(world)
    outcome = await refunds(world, ticket, LARGE)
    assert isinstance(outcome, Proposed)
    name = outcome.decision.id
    approved = await decide(world.store, name, APPROVE, SUP, (REFUNDS,))
    assert isinstance(approved, Approved)
    back = await decide(world.store, name, REJECT, DEP, (REFUNDS,))
    assert isinstance(back, Rejected)
    assert back.decision.final_input is None
    assert back.decision.decided_by == "dep"
    late = await execute_decision(world.house, ticket, ANA, name)
    assert late == NotPossible(why=f"{name} is rejected")
    assert world.shop.effects == 0
    chart = await world.chart(ticket)
    assert chart.standing.ready == ()


async def test_f10_identity_that_changed_since_the_approval_stops_the_execution(
    world: World,
) -> None:
    ticket = await held(world)
    outcome = await refunds(world, ticket, LARGE)
    assert isinstance(outcome, Proposed)
    await decide(world.store, outcome.decision.id, APPROVE, SUP, (REFUNDS,))
    await verify(world.store, ticket, ANA, replace(KNOWN, customer="c-2"))
    refused = await execute_decision(world.house, ticket, ANA, outcome.decision.id)
    assert refused == NotPossible(
        why="the buyer's identity has changed since the approval"
    )
    assert world.shop.effects == 0


async def test_f03_a_lost_answer_is_in_doubt_and_settled_on_evidence(
    world: World,
) -> None:
    ticket = await held(world)
    world.shop.lose = 1
    doubt = await refunds(world, ticket, SMALL)
    assert isinstance(doubt, InDoubt)
    (action,) = (await world.chart(ticket)).actions
    assert (doubt.action, doubt.key) == (action.id, action.key)
    busy = await refunds(world, ticket, SMALL)
    assert isinstance(busy, NotPossible)
    assert "its end must be known first" in busy.why

    async def says(by: object, evidence: str, action: str = doubt.action) -> object:
        return await settle_doubt(
            world.store,
            ticket,
            by,  # type: ignore[arg-type]
            action,
            happened=True,
            evidence=evidence,
        )

    assert isinstance(await says(ANA, "  "), NotPossible)
    assert isinstance(await says(BEN, "I think so"), NotHolder)
    assert isinstance(await says(ANA, "seen", "A-NONE"), NotPossible)
    assert isinstance(await says(ANA, "seen at the provider"), Done)
    assert isinstance(await says(ANA, "once more"), NotPossible)
    (action,) = (await world.chart(ticket)).actions
    assert action.state is ActionState.DONE
    assert action.events[-1].by == operator("ana")
    assert (await world.chart(ticket)).standing.doubts == ()
    assert world.shop.effects == 1


async def test_rule_05_what_a_person_found_out_is_what_the_agent_is_told(
    world: World,
) -> None:
    world.model.brain = Script(
        [
            calls(("find_customer", {"order_id": "O-1"})),
            calls(("refund_order", SMALL)),
            Reply(text="It is refunded."),
        ]
    )
    ticket = await world.opened()
    gate = world.shop.gate = Gate()
    world.shop.lose = 1
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    assert isinstance(await take_over(world.store, ticket, ANA), TakeoverWanted)
    gate.opened.set()
    assert await asyncio.wait_for(running, 5) is Stop.HANDED_OVER
    (action,) = (await world.chart(ticket)).actions
    assert action.state is ActionState.IN_DOUBT
    settled = await settle_doubt(
        world.store, ticket, ANA, action.id, happened=True, evidence="provider says so"
    )
    assert isinstance(settled, Done)
    world.shop.gate = None
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    assert await world.runs(ticket) is Stop.ANSWERED
    results = [str(r["content"]) for _, r in calls_in(world.model.bodies[-1]) if r]
    assert "ana has checked: it was carried out. provider says so" in results[-1]
    assert "Not run" not in text_of(world.model.bodies[-1])
    assert world.shop.effects == 1


async def test_rule_06_what_is_being_carried_out_is_not_begun_again(
    world: World,
) -> None:
    ticket = await held(world)
    outcome = await refunds(world, ticket, LARGE)
    assert isinstance(outcome, Proposed)
    name = outcome.decision.id
    await decide(world.store, name, APPROVE, SUP, (REFUNDS,))
    gate = world.shop.gate = Gate()
    first = asyncio.ensure_future(execute_decision(world.house, ticket, ANA, name))
    await gate.reached.wait()
    world.shop.gate = None
    second = await execute_decision(world.house, ticket, ANA, name)
    assert second == NotPossible(why=f"{name} is being carried out already: wait")
    gate.opened.set()
    assert isinstance(await first, Used)
    assert len(world.shop.calls) == 1
    (action,) = (await world.chart(ticket)).actions
    assert [e.state for e in action.events] == [ActionState.INTENDED, ActionState.DONE]
