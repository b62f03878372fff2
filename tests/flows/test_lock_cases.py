"""Faults of locks and of two voices that others met, each by its number."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.errors import StaleHold
from core.flows.amend import wake
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import note, reply, take_over
from core.flows.people import free_absent
from core.flows.person import Done, NotHolder
from core.flows.serve import serve
from core.flows.supervise import expire
from core.flows.withheld import discard_withheld
from core.journal import Message, Note, Snoozed
from core.lock import Acquired, HeldBy, is_current
from core.ports import Presence, Worker
from core.ticket import Status, operator
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import (
    ANA,
    BEN,
    FIND,
    LOOKUP,
    REFUNDS,
    World,
    calls,
    world_on,
)
from tests.worlds.brains import Reply, Script, answers, text_of


async def test_f46_what_the_buyer_answers_goes_to_who_holds_the_ticket(
    world: World,
) -> None:
    world.model.brain = answers("Which order?", "Thanks.")
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    await world.delivers()
    await take_over(world.store, ticket, ANA)
    await world.writes("SU-1", ticket)
    assert await world.due() == ()
    assert await world.runs(ticket) is None
    await reply(world.store, ticket, ANA, "I have it.")
    await give_back(world.store, ticket, ANA, GiveBack(to="agent"))
    assert await world.due() == ()
    assert [m["text"] for m in await world.delivers()] == ["Which order?", "I have it."]


async def test_f68_a_hold_covers_every_channel_of_the_ticket(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    other = await world.writes("also here", ticket, channel="chat")
    assert other.ticket == ticket
    assert await world.due() == ()
    assert await world.runs(ticket) is None
    assert (await world.chart(ticket)).standing.held_by == "ana"
    assert world.model.bodies == []


async def test_f86_two_writers_leave_no_gap_and_no_double(
    world: World, store_url: str
) -> None:
    ticket = await world.opened()
    taken = await take_over(world.store, ticket, ANA)
    assert isinstance(taken, Acquired)
    stale = taken.lock.hold
    await give_back(world.store, ticket, ANA, GiveBack(to="queue"))
    other = SqlStore.open(store_url)
    try:
        both = [
            note(store, ticket, who, f"{who.name} {n}")
            for n in range(10)
            for store, who in ((world.store, ANA), (other, BEN))
        ]
        await asyncio.gather(*both)
        with pytest.raises(StaleHold):
            await other.write(
                lambda tx: tx.append_as(stale, operator("ana"), Note(text="late"))
            )
    finally:
        await other.close()
    journal = await world.journal(ticket)
    assert [e.seq for e in journal] == list(range(1, len(journal) + 1))
    assert len(await world.journal(ticket, Note)) == 20


async def test_f88_a_person_s_hold_has_no_end_but_a_person_s(world: World) -> None:
    ticket = await world.opened()
    taken = await take_over(world.store, ticket, ANA)
    assert isinstance(taken, Acquired)
    assert taken.lock.expires_at is None
    assert not taken.lock.expired(taken.lock.since + timedelta(days=365))  # type: ignore[operator]
    now = await world.store.read(lambda tx: tx.now)
    away = Presence(
        operator="ana",
        ticket=ticket,
        doing="watching",
        active_at=now - timedelta(minutes=12),
        seen_at=now,
    )
    await world.store.write(lambda tx: tx.report_presence(away))
    me = Worker(id="W-1", host="h", pid=1, started_at=now, seen_at=now, alive=True)
    serving = serve(
        world.house, me, concurrency=1, drain=True, stopping=asyncio.Event()
    )
    await asyncio.wait_for(serving, 10)
    assert is_current((await world.chart(ticket)).lock, taken.lock.hold)
    assert isinstance(await reply(world.store, ticket, ANA, "Back again."), Done)
    (seen,) = await world.store.read(lambda tx: tx.presences())
    assert now - seen.active_at >= timedelta(minutes=12)


async def test_f98_reply_and_release_in_one_keystroke_keep_their_order(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    sent, _ = await asyncio.gather(
        reply(world.store, ticket, ANA, "Done."),
        give_back(world.store, ticket, ANA, GiveBack(to="agent")),
    )
    said = [
        e for e in await world.journal(ticket, Message) if e.actor == operator("ana")
    ]
    # either it was said before the release, or it was refused: never in between
    assert isinstance(sent, NotHolder) == (said == [])
    assert (await world.due() == ()) == (said != [])


async def test_f101_a_hold_is_a_row_and_no_lock_of_a_connection(
    postgres_url: str, tmp_path: Path
) -> None:
    first, other = SqlStore.open(postgres_url), SqlStore.open(postgres_url)
    try:
        async with world_on(first, tmp_path) as world:
            ticket = await world.opened()
            await take_over(first, ticket, ANA)
        await first.close()
        assert isinstance(await take_over(other, ticket, BEN), HeldBy)
        advisory = sa.text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
        held = await other.read(lambda tx: tx._connection.scalar(advisory))  # type: ignore[attr-defined]
        assert held == 0
    finally:
        await other.close()


async def test_f103_a_colleague_sees_within_a_second_who_holds_a_ticket(
    world: World, store_url: str
) -> None:
    ticket = await world.opened()
    other = SqlStore.open(store_url)

    async def seen() -> str | None:
        async for changed in other.follow():
            if not changed:
                took.set()
            rows = await other.read(lambda tx: tx.queue_rows([ticket]))
            if rows[0].standing.held_by is not None:
                return rows[0].standing.held_by
        return None

    took = asyncio.Event()
    try:
        looking = asyncio.ensure_future(seen())
        await asyncio.wait_for(took.wait(), 5)
        await take_over(world.store, ticket, ANA)
        assert await asyncio.wait_for(looking, 5) == "ana"
        assert isinstance(await reply(other, ticket, BEN, "me too"), NotHolder)
        assert isinstance(await note(other, ticket, BEN, "I see"), Done)
    finally:
        await other.close()


async def test_f41_of_several_replies_only_what_left_was_said_and_the_rest_is_withheld(
    world: World,
) -> None:
    world.model.brain = answers("First.", "Second.", "Third.", "Back.")
    ticket = await world.opened()
    await world.runs(ticket)
    await world.delivers()
    for text in ("and?", "hello?"):
        await world.writes(text, ticket)
        await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    assert [r["text"] for r in await world.delivers()] == ["First."]
    chart = await world.chart(ticket)
    assert [r.state for r in chart.outbox] == ["delivered", "withheld", "withheld"]
    for seq in chart.standing.withheld:
        await discard_withheld(world.store, ticket, ANA, seq)
    carry_on = GiveBack(to="agent", carry_on=True)
    await give_back(world.store, ticket, ANA, carry_on)
    await world.runs(ticket)
    told = text_of(world.model.bodies[-1], "system")
    unsent = [r.seq for r in chart.outbox[1:]]
    assert all(f"Your message #{seq} was discarded and never" in told for seq in unsent)
    assert f"Your message #{chart.outbox[0].seq} was" not in told
    assert [r["text"] for r in await world.delivers()] == ["First.", "Back."]


async def test_f43_no_timer_and_no_notice_speaks_while_a_person_holds(
    world: World,
) -> None:
    at_once = replace(REFUNDS.policy, expires=timedelta(0))
    world.shop.specs_now = (FIND, LOOKUP, replace(REFUNDS, policy=at_once))
    refund = ("refund_order", {"order_id": "O-1", "amount": "80.00"})
    found = ("find_customer", {"order_id": "O-1"})
    world.model.brain = Script([calls(found), calls(refund), Reply(text="Done.")])
    ticket = await world.opened("refund me")
    assert await world.runs(ticket) is Stop.AWAITING_DECISION
    await take_over(world.store, ticket, ANA)
    before = await world.store.read(lambda tx: tx.now)
    slept = Snoozed(until=before.isoformat())
    await world.store.write(lambda tx: tx.append(ticket, operator("ana"), slept))
    assert (await expire(world.store), await wake(world.store)) == (1, 1)
    await free_absent(world.store)
    await world.writes("hello?", ticket)
    assert await world.runs(ticket) is None
    await give_back(world.store, ticket, ANA, GiveBack(to="queue"))
    chart = await world.chart(ticket)
    assert chart.outbox == ()
    assert await world.delivers() == []


@pytest.mark.parametrize("words", ["A colleague will look at it.", ""])
async def test_f60_an_escalation_tells_the_buyer_once_and_people_always(
    world: World, words: str
) -> None:
    given = {"reason": "unsure", "tried": "reading", "summary": "odd"}
    given |= {"message_to_buyer": words} if words else {}
    world.model.brain = Script([calls(("escalate", given)), Reply(text="M2")])
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ESCALATED
    assert await world.runs(ticket) is None
    assert [m["text"] for m in await world.delivers()] == ([words] if words else [])
    (row,) = await world.store.read(lambda tx: tx.queue_rows([ticket]))
    assert (row.status, row.standing.with_people) == (Status.NEEDS_HUMAN, "unsure")
    assert (row.standing.waiting_since is None) == bool(words)
