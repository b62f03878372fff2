"""Who the buyer is, on each ticket by itself, and what rests on it (rule 7)."""

from dataclasses import replace

from core.decision import Approved, DecisionState, Overridden, Verdict
from core.flows.amend import verify
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.operate import (
    InDoubt,
    Proposed,
    Used,
    execute_decision,
    settle_doubt,
    use_tool,
)
from core.flows.person import Done, NotPossible
from core.flows.supervise import decide
from core.identity import sent_under
from core.journal import Escalated, IdentityChanged, Refused
from core.ticket import TicketId
from core.turn import Stop
from tests.flows.world import ANA, REFUNDS, SUP, World, calls
from tests.worlds.brains import Reply, Script, answers, text_of

APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
REVOKED = IdentityChanged(
    verified=False, customer=None, name=None, method="operator", evidence="not him"
)


def known(customer: str) -> IdentityChanged:
    """What a person records who has made sure."""
    return IdentityChanged(
        verified=True, customer=customer, name=None, method="phone", evidence="called"
    )


def find(order: str) -> tuple[str, dict[str, str]]:
    return "find_customer", {"order_id": order}


def refund(order: str, amount: str) -> tuple[str, dict[str, str]]:
    return "refund_order", {"order_id": order, "amount": amount}


async def customer(world: World, ticket: TicketId) -> str | None:
    identity = (await world.chart(ticket)).standing.identity
    return identity.customer if identity is not None else None


async def of(world: World, who: str) -> list[TicketId]:
    rows = await world.store.read(lambda tx: tx.of_customer(who))
    return sorted(row.ticket for row in rows)


async def in_household(world: World) -> TicketId:
    """One ticket on which the orders of two customers were looked up in turn."""
    world.shop.owners = {"O-2": "c-2"}
    world.model.brain = Script(
        [
            calls(find("O-1")),
            calls(refund("O-1", "80.00"), find("O-2")),
            Reply(text="Done."),
        ]
    )
    ticket = await world.opened("My order O-1, and my wife's O-2.")
    await world.runs(ticket)
    return ticket


async def test_rule_07_a_lookup_of_another_customer_replaces_nobody(
    world: World,
) -> None:
    ticket = await in_household(world)
    chart = await world.chart(ticket)
    first, second = [e.body for e in await world.journal(ticket, IdentityChanged)]
    assert first.customer == "c-1"  # type: ignore[union-attr]
    assert second == replace(  # type: ignore[type-var]
        second, verified=False, customer="c-2", contradicts="c-1"
    )
    assert chart.standing.identity is None
    question = "c-1 was verified, then a lookup found c-2"
    assert chart.standing.identity_question == question
    assert await of(world, "c-1") == await of(world, "c-2") == []


async def test_rule_07_a_contradiction_is_people_s_and_says_what_was_found(
    world: World,
) -> None:
    ticket = await in_household(world)
    (escalated,) = await world.journal(ticket, Escalated)
    assert escalated.actor.name == "identity"
    assert "c-1 was verified, then c-2" in escalated.body.summary  # type: ignore[union-attr]
    assert (await world.chart(ticket)).runs[-1].stop is Stop.ESCALATED
    assert await world.due() == ()


async def test_rule_07_what_rested_on_the_first_identity_is_not_executed(
    world: World,
) -> None:
    ticket = await in_household(world)
    (proposed,) = (await world.chart(ticket)).decisions
    assert proposed.identity == "c-1"
    settled = await decide(world.store, proposed.id, APPROVE, SUP, ())
    assert isinstance(settled, Approved)
    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    await world.runs(ticket)
    assert world.shop.effects == 0
    assert (await world.decision(ticket)).state is DecisionState.EXPIRED


async def test_rule_07_a_person_s_word_ends_the_question_either_way(
    world: World,
) -> None:
    ticket = await in_household(world)
    await take_over(world.store, ticket, ANA)
    refused = await use_tool(world.house, ticket, ANA, *refund("O-2", "20.00"))
    assert isinstance(refused, NotPossible)
    assert "in question (c-1 was verified, then a lookup found c-2)" in refused.why
    assert isinstance(await verify(world.store, ticket, ANA, known("c-2")), Done)
    standing = (await world.chart(ticket)).standing
    assert standing.identity_question is None
    assert await customer(world, ticket) == "c-2"
    used = await use_tool(world.house, ticket, ANA, *refund("O-2", "20.00"))
    assert isinstance(used, Used)
    (action,) = (await world.chart(ticket)).actions
    assert action.identity == "c-2"


async def test_rule_07_no_lookup_gives_back_what_a_person_has_revoked(
    world: World,
) -> None:
    world.model.brain = Script(
        [calls(find("O-1")), Reply(text="Hello."), calls(find("O-1")), Reply(text="?")]
    )
    ticket = await world.opened()
    await world.runs(ticket)
    await world.delivers()
    await take_over(world.store, ticket, ANA)
    assert isinstance(await verify(world.store, ticket, ANA, REVOKED), Done)
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    assert await world.runs(ticket) is Stop.ANSWERED
    standing = (await world.chart(ticket)).standing
    assert standing.identity is None
    assert standing.identity_question == "ana revoked it"
    assert len(await world.journal(ticket, IdentityChanged)) == 2


async def test_rule_07_rereading_the_same_customer_changes_nothing(
    lite: World,
) -> None:
    lite.model.brain = Script(
        [calls(find("O-1")), calls(find("O-9")), Reply(text="Hello.")]
    )
    ticket = await lite.opened()
    assert await lite.runs(ticket) is Stop.ANSWERED
    assert await customer(lite, ticket) == "c-1"
    assert len(await lite.journal(ticket, IdentityChanged)) == 1


async def test_rule_07_a_person_s_own_lookup_replaces_nobody_either(
    lite: World,
) -> None:
    lite.shop.owners = {"O-2": "c-2"}
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    await verify(lite.store, ticket, ANA, known("c-1"))
    await use_tool(lite.house, ticket, ANA, *find("O-2"))
    standing = (await lite.chart(ticket)).standing
    assert standing.identity is None
    assert standing.identity_question is not None
    assert standing.with_people is None


async def test_rule_07_two_customers_on_one_address_are_two_tickets_apart(
    world: World,
) -> None:
    world.shop.owners = {"O-2": "c-2"}
    his, hers = await world.opened("O-1"), await world.opened("O-2")
    for ticket, order in ((his, "O-1"), (hers, "O-2")):
        world.model.brain = Script(
            [
                calls(find(order)),
                calls(refund(order, "20.00")),
                Reply(text="Refunded."),
            ]
        )
        await world.runs(ticket)
    charts = [await world.chart(t) for t in (his, hers)]
    assert charts[0].ticket.claim == charts[1].ticket.claim
    assert [await customer(world, t) for t in (his, hers)] == ["c-1", "c-2"]
    assert [a.identity for c in charts for a in c.actions] == ["c-1", "c-2"]
    assert await of(world, "c-1") == [his]
    assert await of(world, "c-2") == [hers]
    told = text_of(world.model.bodies[-1], "system")
    assert "customer c-2" in told or "as c-2" in told
    assert "c-1" not in told
    assert "O-1" not in text_of(world.model.bodies[-1])


async def test_rule_07_one_customer_s_two_tickets_know_each_other_and_share_nothing(
    world: World,
) -> None:
    first, second = await world.opened("First O-1"), await world.opened("Second O-3")
    world.model.brain = Script([calls(find("O-1")), Reply(text="Yours.")])
    await world.runs(first)
    assert await customer(world, second) is None
    world.model.brain = answers("Who are you?")
    await world.runs(second)
    assert "c-1" not in text_of(world.model.bodies[-1], "system")
    await take_over(world.store, second, ANA)
    refused = await use_tool(world.house, second, ANA, *refund("O-3", "20.00"))
    assert isinstance(refused, NotPossible)
    assert "not verified" in refused.why
    await use_tool(world.house, second, ANA, *find("O-3"))
    assert await of(world, "c-1") == sorted([first, second])
    await verify(world.store, second, ANA, REVOKED)
    assert await of(world, "c-1") == [first]
    assert await customer(world, first) == "c-1"


async def test_rule_07_an_order_named_in_two_tickets_proves_nothing_in_the_other(
    world: World,
) -> None:
    owner, stranger = await world.opened("My O-1."), await world.opened("O-1 is mine!")
    world.model.brain = Script([calls(find("O-1")), Reply(text="Yes.")])
    await world.runs(owner)
    world.model.brain = Script([calls(refund("O-1", "80.00")), Reply(text="No.")])
    await world.runs(stranger)
    assert await customer(world, stranger) is None
    chart = await world.chart(stranger)
    assert (chart.decisions, chart.actions) == ((), ())
    (refused,) = await world.journal(stranger, Refused)
    assert "not verified" in refused.body.rule  # type: ignore[union-attr]
    assert world.shop.effects == 0


async def test_each_message_of_ours_says_under_which_identity_it_was_sent(
    world: World,
) -> None:
    ticket = await world.opened()
    world.model.brain = answers("Which order?")
    await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    for identity, text in (
        (known("c-1"), "Your refund is on its way, c-1."),
        (known("c-2"), "Hello c-2."),
        (REVOKED, "Who are you?"),
    ):
        await verify(world.store, ticket, ANA, identity)
        await reply(world.store, ticket, ANA, text)
    sent = list(sent_under((await world.chart(ticket)).journal).values())
    changes = [e.seq for e in await world.journal(ticket, IdentityChanged)]
    assert [s.customer for s in sent] == [None, "c-1", "c-2", None]
    assert [s.seq for s in sent] == [None, changes[0], changes[1], None]
    assert [s.ended for s in sent] == [None, changes[1], changes[2], None]


async def test_rule_07_a_proposal_of_a_person_does_not_outlive_a_new_identity(
    lite: World,
) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    await verify(lite.store, ticket, ANA, known("c-1"))
    proposed = await use_tool(lite.house, ticket, ANA, *refund("O-1", "80.00"))
    assert isinstance(proposed, Proposed)
    await verify(lite.store, ticket, ANA, known("c-2"))
    await decide(lite.store, proposed.decision.id, APPROVE, SUP, ())
    await give_back(lite.store, ticket, ANA, GiveBack(to="agent"))
    await lite.runs(ticket)
    assert lite.shop.effects == 0


async def test_f06_two_tickets_on_one_order_ask_for_its_money_one_after_the_other(
    world: World,
) -> None:
    first, second = await world.opened("O-1 is late"), await world.opened("O-1 again")
    for ticket in (first, second):
        await take_over(world.store, ticket, ANA)
        await verify(world.store, ticket, ANA, known("c-1"))
    asked = await use_tool(world.house, first, ANA, *refund("O-1", "80.00"))
    assert isinstance(asked, Proposed)
    for order, amount in (("O-1", "80.00"), ("O-1", "20.00")):
        twice = await use_tool(world.house, second, ANA, *refund(order, amount))
        assert isinstance(twice, NotPossible)
        assert twice.why.startswith(f"{first} has something open on O-1")
    other = await use_tool(world.house, second, ANA, *refund("O-2", "20.00"))
    assert isinstance(other, Used)
    reject = Verdict(kind="reject", why="no", input=None, seen=None)
    await decide(world.store, asked.decision.id, reject, SUP, ())
    now = await use_tool(world.house, second, ANA, *refund("O-1", "20.00"))
    assert isinstance(now, Used)
    assert world.shop.effects == 2


async def test_f06_an_override_does_not_reach_what_another_ticket_is_not_done_with(
    world: World,
) -> None:
    first, second = await world.opened("O-1 is late"), await world.opened("O-2 too")
    asked = {}
    for ticket, order in ((first, "O-1"), (second, "O-2")):
        await take_over(world.store, ticket, ANA)
        await verify(world.store, ticket, ANA, known("c-1"))
        made = await use_tool(world.house, ticket, ANA, *refund(order, "80.00"))
        assert isinstance(made, Proposed)
        asked[order] = made.decision.id
    _, other = refund("O-1", "70.00")
    override = Verdict(kind="override", why="that one", input=other, seen=None)
    outcome = await decide(world.store, asked["O-2"], override, SUP, (REFUNDS,))
    assert isinstance(outcome, Overridden)
    done = await execute_decision(world.house, second, ANA, asked["O-2"])
    assert isinstance(done, NotPossible)
    assert done.why.startswith(f"{first} has something open on O-1")
    assert world.shop.effects == 0
    await decide(world.store, asked["O-1"], APPROVE, SUP, ())
    done = await execute_decision(world.house, first, ANA, asked["O-1"])
    assert isinstance(done, Used)
    assert world.shop.effects == 1


async def test_f03_a_doubt_on_one_ticket_keeps_its_order_from_another(
    lite: World,
) -> None:
    first, second = await lite.opened("O-1 is late"), await lite.opened("O-1 again")
    for ticket in (first, second):
        await take_over(lite.store, ticket, ANA)
        await verify(lite.store, ticket, ANA, known("c-1"))
    lite.shop.lose = 1
    lost = await use_tool(lite.house, first, ANA, *refund("O-1", "20.00"))
    assert isinstance(lost, InDoubt)
    twice = await use_tool(lite.house, second, ANA, *refund("O-1", "20.00"))
    assert isinstance(twice, NotPossible)
    happened = await settle_doubt(
        lite.store, first, ANA, lost.action, happened=False, evidence="not on the list"
    )
    assert isinstance(happened, Done)
    now = await use_tool(lite.house, second, ANA, *refund("O-1", "20.00"))
    assert isinstance(now, Used)
