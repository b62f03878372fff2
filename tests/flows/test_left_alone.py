"""F100: whatever in-between state a dead process leaves, the next sweep ends it.

Each state is left here as a process leaves it that dies in it; then a worker's own
sweeps run once, and what they did is in the journal.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from core.decision import Verdict
from core.flows.deliver import deliver_due
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import settle_wanted, take_over
from core.flows.offer import decline
from core.flows.people import free_absent
from core.flows.supervise import decide, expire
from core.journal import (
    ActionChanged,
    DecisionChanged,
    Delivery,
    LockChanged,
    RunChanged,
)
from core.ticket import TicketId
from core.turn import Stop
from tests.flows.test_crash import DyingStore, dies, lease_runs_out
from tests.flows.world import ANA, BEN, REFUNDS, SUP, Gate, World, calls
from tests.worlds.brains import Reply, Script, answers

APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
FIND = calls(("find_customer", {"order_id": "O-1"}))


async def told(world: World, ticket: TicketId) -> set[str]:
    """What the journal says of changes, in a word each."""
    found = set()
    for entry in await world.journal(ticket):
        match entry.body:
            case LockChanged(change=word) | RunChanged(change=word):
                found.add(word)
            case DecisionChanged(state=word) | ActionChanged(state=word):
                found.add(word)
            case Delivery(state=word):
                found.add(word)
            case _:
                pass
    return found


async def asking(world: World) -> TicketId:
    """A run dies while the model is asked."""
    ticket = await world.opened()
    world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await world.model.gate.reached.wait()
    running.cancel()
    await asyncio.wait([running])
    world.model.gate = None
    return ticket


async def acquiring(world: World) -> TicketId:
    """A person asks for a ticket whose run is dead, and their console dies too."""
    ticket = await asking(world)
    await take_over(world.store, ticket, ANA)
    return ticket


async def acting(world: World) -> TicketId:
    """A run dies between a refund's intent and its result."""
    small = ("refund_order", {"order_id": "O-1", "amount": "20.00"})
    world.model.brain = Script([FIND, calls(small), Reply(text="Done.")])
    ticket = await world.opened()
    world.shop.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await world.shop.gate.reached.wait()
    running.cancel()
    await asyncio.wait([running])
    world.shop.gate = None
    return ticket


async def sending(world: World) -> TicketId:
    """A sender dies after it has taken a reply up."""
    ticket = await world.opened()
    await world.runs(ticket)
    store = DyingStore(real=world.store, left=2)
    with pytest.raises(asyncio.CancelledError):
        await deliver_due(replace(world.house, store=store))
    await world.time_goes_by_in_the_outbox()
    return ticket


async def proposed(
    world: World, *, expires: timedelta = timedelta(hours=4)
) -> TicketId:
    large = ("refund_order", {"order_id": "O-1", "amount": "80.00"})
    spec = replace(REFUNDS, policy=replace(REFUNDS.policy, expires=expires))
    world.shop.specs_now = (*world.shop.specs_now[:-1], spec)
    world.model.brain = Script([FIND, calls(large), Reply(text="Done.")])
    ticket = await world.opened()
    await world.runs(ticket)
    return ticket


async def deciding(world: World) -> TicketId:
    """A supervisor approves, and the run that is to execute dies at once."""
    ticket = await proposed(world)
    name = (await world.decision(ticket)).id
    await decide(world.store, name, APPROVE, SUP, ())
    await dies(world, ticket, at=1, after=True)
    return ticket


async def undecided(world: World) -> TicketId:
    """Nobody decides in time."""
    return await proposed(world, expires=timedelta(0))


async def releasing(world: World) -> TicketId:
    """A console dies in the middle of giving back: the hold is still whole."""
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    dying = DyingStore(real=world.store, left=1)
    with pytest.raises(asyncio.CancelledError):
        await give_back(dying, ticket, ANA, GiveBack(to="agent"))
    assert (await world.chart(ticket)).standing.held_by == "ana"
    gone = replace(ANA, disabled=True)
    await world.store.write(lambda tx: tx.save_operator(gone))
    return ticket


async def offering(world: World) -> TicketId:
    """A ticket is offered to somebody who is disabled before they answer."""
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, GiveBack(to="ben"))
    gone = replace(BEN, disabled=True)
    await world.store.write(lambda tx: tx.save_operator(gone))
    return ticket


async def sweeps(world: World, ticket: TicketId) -> None:
    """What every worker does from time to time, and what a due ticket gets."""
    await lease_runs_out(world, ticket)
    await settle_wanted(world.store, ticket)
    await free_absent(world.store)
    await expire(world.store)
    for _ in range(3):
        if await world.due():
            await world.runs(ticket)
    await deliver_due(world.house)


LEFT: list[tuple[Callable[[World], Awaitable[TicketId]], set[str], str | None]] = [
    (asking, {"expired", "ended"}, None),
    (acquiring, {"expired", "acquired", "wanted"}, "ana"),
    (acting, {"expired", "in_doubt"}, None),
    (sending, {"delivered"}, None),
    (deciding, {"expired", "executed"}, None),
    (undecided, {"expired"}, None),
    (releasing, {"released"}, None),
    (offering, {"declined"}, None),
]


@pytest.mark.parametrize(
    ("leaves", "words", "holder"), LEFT, ids=[case[0].__name__ for case in LEFT]
)
async def test_f100_no_in_between_state_outlives_the_next_sweep(
    world: World,
    leaves: Callable[[World], Awaitable[TicketId]],
    words: set[str],
    holder: str | None,
) -> None:
    world.model.brain = answers("It is on its way.")
    ticket = await leaves(world)
    await sweeps(world, ticket)
    chart = await world.chart(ticket)
    assert words <= await told(world, ticket)
    assert chart.standing.held_by == holder
    assert chart.standing.run is None
    assert chart.standing.wanted_by is None
    assert chart.standing.offered_to is None
    assert chart.standing.pending == {}
    assert chart.standing.ready == ()
    assert all(r.state not in {"sending", "queued"} for r in chart.outbox)
    stops = [run.stop for run in chart.runs]
    assert None not in stops
    assert Stop.CRASHED not in stops[-1:] or holder is not None


async def test_f100_who_never_answers_an_offer_holds_nothing_up(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, GiveBack(to="ben"))
    await sweeps(world, ticket)
    (row,) = await world.store.read(lambda tx: tx.queue_rows([ticket]))
    assert row.status.value == "needs_human"
    await decline(world.store, ticket, BEN)
    assert (await world.chart(ticket)).standing.with_people == "ben declined it"
