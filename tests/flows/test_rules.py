"""The rules that judged a call are kept, and answer for it when they have changed."""

from dataclasses import replace
from decimal import Decimal

import sqlalchemy as sa

from core.decision import Overridden, Verdict
from core.flows.handoff import take_over
from core.flows.operate import use_tool
from core.flows.supervise import decide
from core.judged import Judged, judged
from core.policy import rules_of
from core.ticket import TicketId
from core.tool import Approve
from tests.flows.test_operate import SMALL, held
from tests.flows.world import ANA, FIND, LOOKUP, REFUNDS, SUP, World, calls
from tests.worlds.brains import Reply, Script

LARGE = {"order_id": "O-2", "amount": "80.00"}
LIMITED = replace(
    REFUNDS, policy=replace(REFUNDS.policy, limit_per_ticket=Decimal(200))
)
FREELY = replace(REFUNDS, policy=replace(REFUNDS.policy, approve=Approve.NEVER))


async def said(world: World, ticket: TicketId) -> list[Judged]:
    found = await world.store.read(lambda tx: (tx.history(ticket), tx.rules()))
    return list(judged(*found))


async def worked(world: World) -> TicketId:
    """A ticket on which a call was refused, allowed, allowed with money, and asked."""
    world.shop.specs_now = (FIND, LOOKUP, LIMITED)
    world.model.brain = Script(
        [
            calls(("refund_order", SMALL)),
            calls(("find_customer", {"order_id": "O-1"})),
            calls(("refund_order", SMALL), ("refund_order", LARGE)),
            Reply(text="A colleague decides."),
        ]
    )
    ticket = await world.opened()
    await world.runs(ticket)
    return ticket


async def test_every_call_says_why_it_was_made_asked_about_or_refused(
    world: World,
) -> None:
    ticket = await worked(world)
    found = await said(world, ticket)
    version = rules_of(world.shop.specs_now).version
    assert [(j.tool, j.verdict) for j in found] == [
        ("refund_order", "refused"),
        ("find_customer", "allowed"),
        ("refund_order", "allowed"),
        ("refund_order", "asked"),
    ]
    assert [j.why for j in found] == [
        "the buyer is not verified yet",
        "it only reads",
        "money needs no decision, within a call's 50; a ticket's 200, "
        "the buyer verified",
        "money over 50",
    ]
    assert {j.policy for j in found} == {version}
    decision = await world.decision(ticket)
    assert (found[3].decision, decision.policy) == (decision.id, version)


async def test_the_answer_stays_the_one_that_was_true_then(world: World) -> None:
    ticket = await worked(world)
    before = await said(world, ticket)
    old = rules_of(world.shop.specs_now).version
    world.shop.specs_now = (FIND, LOOKUP, FREELY)
    await take_over(world.store, ticket, ANA)
    much = {"order_id": "O-3", "amount": "150.00"}
    await use_tool(world.house, ticket, ANA, "refund_order", much)
    after = await said(world, ticket)
    kept = await world.store.read(lambda tx: tx.rules())
    new = rules_of(world.shop.specs_now).version
    assert after[: len(before)] == before
    assert [r.version for r in kept] == [new, old]
    assert all(r.intact and r.first_seen is not None for r in kept)
    assert after[-1].policy == new
    assert after[-1].rule is not None
    assert before[3].rule is not None
    assert (before[3].rule["approve"], after[-1].rule["approve"]) == ("over", "never")
    assert before[3].rule["approve_over"] == "50"


async def test_a_version_is_kept_once_and_an_altered_text_is_not_believed(
    lite: World,
) -> None:
    ticket = await held(lite)
    for _ in range(2):
        await use_tool(lite.house, ticket, ANA, "get_order", {"order_id": "O-1"})
    (kept,) = await lite.store.read(lambda tx: tx.rules())
    assert kept.of("get_order") is not None
    assert kept.of("no_tool") is None
    altered = sa.text("UPDATE rules SET tools = '{}'")
    await lite.store.write(lambda tx: tx._connection.execute(altered) and None)  # type: ignore[attr-defined]
    (broken,) = await lite.store.read(lambda tx: tx.rules())
    assert not broken.intact
    assert [j.rule for j in await said(lite, ticket)] == [None, None]
    assert [j.verdict for j in await said(lite, ticket)] == ["allowed", "allowed"]


async def test_an_override_and_the_beginning_of_a_call_keep_the_rules_that_judged_them(
    world: World,
) -> None:
    ticket = await worked(world)
    old = rules_of(world.shop.specs_now).version
    (found,) = [j for j in await said(world, ticket) if j.decision is not None]
    (free,) = [j for j in await said(world, ticket) if "needs no" in j.why]
    action = (await world.chart(ticket)).action_for(free.call)
    assert action is not None
    assert [(a.what, a.policy) for a in free.again] == [(f"begun as {action.id}", old)]
    less = Verdict(
        kind="override", why="", input=SMALL | {"order_id": "O-2"}, seen=None
    )
    tighter = (FIND, LOOKUP, REFUNDS)
    settled = await decide(world.store, found.decision or "", less, SUP, tighter)
    assert isinstance(settled, Overridden)
    world.shop.specs_now = (FIND, LOOKUP, FREELY)
    world.model.brain = Script([Reply(text="Done.")])
    await world.runs(ticket)
    (after,) = [j for j in await said(world, ticket) if j.decision is not None]
    kept = {r.version for r in await world.store.read(lambda tx: tx.rules())}
    done = (await world.chart(ticket)).action_of(found.decision or "")
    versions = [rules_of(s).version for s in (tighter, world.shop.specs_now)]
    assert done is not None
    assert done.policy == versions[1]
    assert after.policy == old
    assert [(a.what, a.policy) for a in after.again] == [
        (f"overridden by {SUP.name}", versions[0]),
        (f"begun as {done.id}", versions[1]),
    ]
    assert kept == {old, *versions}


def test_equal_rules_have_one_version_and_others_another() -> None:
    same = rules_of((LOOKUP, REFUNDS)).version == rules_of((REFUNDS, LOOKUP)).version
    limit = replace(REFUNDS.policy, limit_per_day=Decimal("1000.00"))
    other = rules_of((LOOKUP, replace(REFUNDS, policy=limit)))
    assert same
    assert other.version != rules_of((LOOKUP, REFUNDS)).version
