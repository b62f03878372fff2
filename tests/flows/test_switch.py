"""The kill switch: nothing new begins, nothing is lost, all go on."""

import asyncio
from dataclasses import replace

import pytest

from core.flows.handoff import reply, take_over
from core.flows.person import Done, NotPossible
from core.flows.serve import serve
from core.flows.switch import pause, resume
from core.journal import Paused, Refused
from core.ports import Worker
from core.ticket import Status, TicketId
from core.turn import Stop
from tests.flows.world import ANA, SUP, Gate, World, calls
from tests.worlds.brains import Reply, Script, answers


async def drained(world: World) -> None:
    """A worker that ends when nothing is left to do."""
    now = await world.store.read(lambda tx: tx.now)
    me = Worker(id="W-1", host="h", pid=1, started_at=now, seen_at=now, alive=True)
    serving = serve(
        world.house, me, concurrency=2, drain=True, stopping=asyncio.Event()
    )
    await asyncio.wait_for(serving, 10)


@pytest.mark.parametrize("where", ["here", "everywhere"])
async def test_a_pause_keeps_the_agent_silent_and_resume_goes_on(
    world: World, where: str
) -> None:
    world.model.brain = answers("One.", "Two.")
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    await world.writes("and?", ticket)
    at = ticket if where == "here" else None
    assert isinstance(await pause(world.store, SUP, "odd answers", at), Done)
    assert isinstance(await pause(world.store, SUP, "again", at), NotPossible)
    assert await world.due() == ()
    assert await world.runs(ticket) is None
    assert await world.delivers() == []
    await drained(world)
    assert [r.state for r in (await world.chart(ticket)).outbox] == ["queued"]
    assert world.delivered() == []
    assert isinstance(await resume(world.store, SUP, at), Done)
    assert isinstance(await resume(world.store, SUP, at), NotPossible)
    await drained(world)
    assert [m["text"] for m in world.delivered()] == ["One.", "Two."]


async def test_a_person_s_reply_leaves_while_the_agent_is_stopped(world: World) -> None:
    ticket = await world.opened()
    await pause(world.store, SUP, "")
    await take_over(world.store, ticket, ANA)
    await reply(world.store, ticket, ANA, "I am here.")
    await drained(world)
    assert [m["text"] for m in world.delivered()] == ["I am here."]


@pytest.mark.parametrize("where", ["here", "everywhere"])
async def test_a_running_turn_stops_at_once_and_goes_on_later(
    world: World, where: str
) -> None:
    world.model.brain = Script(
        [calls(("get_order", {"order_id": "O-1"})), Reply(text="It is on its way.")]
    )
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    at = ticket if where == "here" else None
    await pause(world.store, SUP, "stop", at)
    # the call is cancelled: nobody opens the gate
    assert await asyncio.wait_for(running, 5) is Stop.PAUSED
    chart = await world.chart(ticket)
    assert chart.lock.holder is None
    assert chart.outbox == ()
    assert chart.runs[0].stop is Stop.PAUSED
    world.model.gate = None
    await resume(world.store, SUP, at)
    assert await world.due() == (ticket,)
    assert await world.runs(ticket) is Stop.ANSWERED


async def test_a_pause_of_everything_is_told_to_all_who_follow(world: World) -> None:
    told: list[frozenset[TicketId]] = []
    first = asyncio.Event()

    async def follow() -> None:
        async for changed in world.store.follow():
            told.append(changed)
            if len(told) == 1:
                first.set()
            else:
                return

    following = asyncio.ensure_future(follow())
    await asyncio.wait_for(first.wait(), 5)
    await pause(world.store, SUP, "stop")
    await asyncio.wait_for(following, 5)
    assert told == [frozenset(), frozenset()]


async def test_only_supervisors_stop_everything_and_all_of_it_is_kept(
    world: World,
) -> None:
    ticket = await world.opened()
    assert isinstance(await pause(world.store, ANA, "no"), NotPossible)
    assert isinstance(await pause(world.store, SUP, "odd"), Done)
    assert isinstance(await resume(world.store, ANA), NotPossible)
    chart = await world.chart(ticket)
    assert chart.stopped == "sup: odd"
    stopped = await world.store.read(lambda tx: tx.pause())
    assert stopped is not None
    assert (stopped.by, stopped.why) == ("sup", "odd")
    assert isinstance(await resume(world.store, SUP), Done)
    acts = await world.store.read(lambda tx: tx.house_acts())
    assert [(a.by, a.act) for a in acts] == [
        ("ana", "refused"),
        ("sup", "paused"),
        ("ana", "refused"),
        ("sup", "resumed"),
    ]


async def test_rule_14_a_pause_of_one_ticket_is_in_its_journal(world: World) -> None:
    ticket = await world.opened()
    assert isinstance(await pause(world.store, ANA, "wait", ticket), Done)
    (row,) = await world.store.read(lambda tx: tx.queue_rows([ticket]))
    assert (row.status, row.standing.paused) == (Status.QUEUED, "ana: wait")
    gone = replace(ANA, disabled=True)
    await world.store.write(lambda tx: tx.save_operator(gone))
    assert isinstance(await resume(world.store, ANA, ticket), NotPossible)
    assert isinstance(await resume(world.store, SUP, ticket), Done)
    entries = await world.journal(ticket, Paused, Refused)
    assert [(e.actor.name, e.kind) for e in entries] == [
        ("ana", "pause"),
        ("ana", "refused"),
        ("sup", "pause"),
    ]


async def test_a_dead_run_on_a_paused_ticket_keeps_no_worker_waiting(
    world: World,
) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await world.store.write(
        lambda tx: tx.save_lock(replace(tx.lock_of(ticket), expires_at=tx.now))
    )
    await pause(world.store, SUP, "", ticket)
    await drained(world)
    world.model.gate = None
    await resume(world.store, SUP, ticket)
    await drained(world)
    assert len(world.delivered()) == 1
