"""What people set right on a ticket: triage, state, identity, owner, sleep (rule 7)."""

from datetime import timedelta

import pytest

from core.flows.amend import (
    amend_state,
    claim,
    set_triage,
    snooze,
    verify,
    wake,
)
from core.flows.drafts import UNSENT, save_draft
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import take_over
from core.flows.person import Done, NotHolder, NotPossible
from core.journal import IdentityChanged, LockChanged, Note, Refused, Snoozed
from core.ports import QueueQuery
from core.ticket import Status, TicketId
from core.turn import Stop
from tests.flows.world import ANA, BEN, World, calls
from tests.worlds.brains import Reply, Script, answers, text_of

HOUR = timedelta(hours=1)
VERIFIED = IdentityChanged(
    verified=True, customer="c-9", name="Dana", method="phone", evidence="called back"
)
REVOKED = IdentityChanged(
    verified=False, customer=None, name=None, method="operator", evidence=""
)


async def views_of(world: World, ticket: TicketId, who: str = "ana") -> set[str]:
    """The views that list the ticket."""
    seen = set()
    for view in ("human", "approvals", "mine", "agent", "waiting", "resolved"):
        query = QueueQuery(view=view, operator=who)
        rows = await world.store.read(lambda tx, query=query: tx.queue(query))
        seen |= {view for row in rows if row.ticket == ticket}
    return seen


async def in_time(world: World, ahead: timedelta) -> int:
    """Wakes what sleeps, as if that much time had gone by."""
    now = await world.store.read(lambda tx: tx.now)
    due = await world.store.read(lambda tx: tx.snoozed_until(now + ahead))
    return len(due)


async def test_a_claimed_ticket_is_mine_while_the_agent_goes_on(world: World) -> None:
    ticket = await world.opened()
    assert isinstance(await claim(world.store, ticket, ANA), Done)
    assert isinstance(await claim(world.store, ticket, ANA), NotPossible)
    assert await views_of(world, ticket) == {"mine", "agent"}
    (row,) = await world.store.read(lambda tx: tx.queue_rows([ticket]))
    assert row.owner == "ana"
    assert await world.runs(ticket) is Stop.ANSWERED
    assert isinstance(await claim(world.store, ticket, BEN), Done)
    assert await views_of(world, ticket) == {"waiting"}
    assert isinstance(await claim(world.store, ticket, ANA, drop=True), NotPossible)
    assert isinstance(await claim(world.store, ticket, BEN, drop=True), Done)
    assert (await world.chart(ticket)).standing.owner is None


async def test_f138_a_snoozed_ticket_sleeps_until_its_time(world: World) -> None:
    world.model.brain = answers("One.", "Two.")
    ticket = await world.opened()
    now = await world.store.read(lambda tx: tx.now)
    assert isinstance(await snooze(world.store, ticket, ANA, now - HOUR), NotPossible)
    assert isinstance(await snooze(world.store, ticket, ANA, now + HOUR), Done)
    assert await views_of(world, ticket) == {"waiting"}
    assert await world.due() == ()
    assert await wake(world.store) == 0
    assert await in_time(world, HOUR - timedelta(minutes=1)) == 0
    assert await in_time(world, HOUR + timedelta(minutes=1)) == 1
    await world.store.write(
        lambda tx: tx.append(
            ticket,
            (tx.history(ticket).journal[-1]).actor,
            Snoozed(until=(now - HOUR).isoformat()),
        )
    )
    assert await wake(world.store) == 1
    last = (await world.journal(ticket))[-1]
    assert (last.actor.name, last.body) == ("snooze", Snoozed(until=None))
    assert await world.due() == (ticket,)


async def test_f138_a_message_of_the_buyer_wakes_a_sleeping_ticket_at_once(
    world: World,
) -> None:
    ticket = await world.opened()
    now = await world.store.read(lambda tx: tx.now)
    await take_over(world.store, ticket, ANA)
    assert isinstance(await snooze(world.store, ticket, ANA, now + HOUR), Done)
    chart = await world.chart(ticket)
    assert chart.lock.holder is None
    assert chart.standing.held_by is None
    assert await views_of(world, ticket) == {"waiting"}
    ended = (await world.journal(ticket, LockChanged))[-1].body
    assert (ended.change, ended.to) == ("released", "queue")  # type: ignore[union-attr]
    await world.writes("hello?", ticket)
    assert await views_of(world, ticket) == {"human"}
    assert (await world.chart(ticket)).standing.snoozed_until is None


async def test_rule_01_what_a_colleague_holds_is_not_put_to_sleep_or_claimed(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    now = await world.store.read(lambda tx: tx.now)
    refusals = [
        await snooze(world.store, ticket, BEN, now + HOUR),
        await claim(world.store, ticket, BEN),
        await set_triage(world.store, ticket, BEN, "refund", "high"),
        await amend_state(world.store, ticket, BEN, {"a": 1}),
        await verify(world.store, ticket, BEN, VERIFIED),
    ]
    assert all(isinstance(r, NotHolder) for r in refusals)
    tried = [e.body.what for e in await world.journal(ticket, Refused)]  # type: ignore[union-attr]
    assert len(tried) == len(refusals)
    assert (await world.chart(ticket)).standing.held_by == "ana"


async def test_triage_is_changed_on_purpose_by_anybody(lite: World) -> None:
    ticket = await lite.opened()
    for category, priority in (("nonsense", "high"), ("refund", "soon")):
        wrong = await set_triage(lite.store, ticket, ANA, category, priority)
        assert isinstance(wrong, NotPossible)
    assert isinstance(await set_triage(lite.store, ticket, ANA, "refund", "high"), Done)
    assert (await lite.chart(ticket)).standing.triage == ("refund", "high")


async def test_rule_07_the_holder_verifies_and_revokes_on_evidence(
    world: World,
) -> None:
    world.model.brain = Script(
        [
            calls(("refund_order", {"order_id": "O-1", "amount": "20.00"})),
            Reply(text="I can't."),
            calls(("refund_order", {"order_id": "O-1", "amount": "20.00"})),
            Reply(text="Done."),
        ]
    )
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    assert world.shop.effects == 0
    assert isinstance(await verify(world.store, ticket, ANA, VERIFIED), NotHolder)
    await take_over(world.store, ticket, ANA)
    blank = IdentityChanged(
        verified=True, customer="c-9", name=None, method="phone", evidence=" "
    )
    assert isinstance(await verify(world.store, ticket, ANA, blank), NotPossible)
    assert isinstance(await verify(world.store, ticket, ANA, REVOKED), NotPossible)
    assert isinstance(await verify(world.store, ticket, ANA, VERIFIED), Done)
    known = (await world.chart(ticket)).standing.identity
    assert known is not None
    assert (known.customer, known.by.name, known.method) == ("c-9", "ana", "phone")
    theirs = await world.store.read(lambda tx: tx.of_customer("c-9"))
    assert [row.ticket for row in theirs] == [ticket]
    assert isinstance(await verify(world.store, ticket, ANA, REVOKED), Done)
    assert await world.store.read(lambda tx: tx.of_customer("c-9")) == ()
    assert isinstance(await verify(world.store, ticket, ANA, VERIFIED), Done)
    for reply in (await world.chart(ticket)).standing.withheld:
        assert reply
    chart = await world.chart(ticket)
    assert [r.state for r in chart.outbox] == ["withheld"]


async def test_rule_10_the_holder_amends_the_state_and_the_agent_is_told(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    patch = {"order": "O-7", "agreed": {"by": "phone"}}
    assert isinstance(await amend_state(world.store, ticket, ANA, patch), Done)
    assert isinstance(
        await amend_state(world.store, ticket, ANA, {"agreed": None}), Done
    )
    assert (await world.chart(ticket)).standing.task_state == {"order": "O-7"}
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    await world.runs(ticket)
    assert "O-7" in text_of(world.model.bodies[-1])


@pytest.mark.parametrize("act", ["claim", "triage"])
async def test_f71_who_is_disabled_amends_nothing(lite: World, act: str) -> None:
    ticket = await lite.opened()
    gone = type(ANA)(name="ana", role=ANA.role, disabled=True)
    await lite.store.write(lambda tx: tx.save_operator(gone))
    if act == "claim":
        outcome = await claim(lite.store, ticket, ANA)
    else:
        outcome = await set_triage(lite.store, ticket, ANA, "refund", "high")
    assert isinstance(outcome, NotPossible)
    (row,) = await lite.store.read(lambda tx: tx.queue_rows([ticket]))
    assert row.status is Status.QUEUED


async def test_who_lets_go_with_unsent_text_to_sleep_discards_it_on_purpose(
    world: World,
) -> None:
    ticket = await world.opened()
    until = await world.store.read(lambda tx: tx.now) + HOUR
    await take_over(world.store, ticket, ANA)
    await save_draft(world.store, ticket, ANA, "reply", "Dear Ann")
    refused = await snooze(world.store, ticket, ANA, until, note="be brief")
    assert refused == NotPossible(why=UNSENT)
    assert await world.journal(ticket, Note) == []
    slept = await snooze(world.store, ticket, ANA, until, note="be brief", discard=True)
    assert isinstance(slept, Done)
    assert slept.let_go
    assert (await world.chart(ticket)).drafts == ()
    (note,) = await world.journal(ticket, Note)
    assert note.body == Note(text="be brief", for_agent=True)
