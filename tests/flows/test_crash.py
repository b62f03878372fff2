"""A process that dies at any instruction: the next one comes to the same end (rule 8).

A process dies here just before or just after one of its transactions; between them it
has no effect that anybody else could see. The lease is then let run out, and the next
process goes on from the store.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pytest

from core.flows.deliver import deliver_due
from core.flows.replay import Same, replay
from core.journal import Message
from core.ports import Store, Transaction
from core.ticket import TicketId
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import BY_KEY, FIND, LOOKUP, REFUNDS, World, calls, world_on
from tests.worlds.brains import Reply, Script

T = TypeVar("T")

SMALL = {"order_id": "O-1", "amount": "20.00"}
CASE = Script(
    [
        calls(("find_customer", {"order_id": "O-1"})),
        calls(
            ("set_triage", {"category": "refund", "priority": "normal"}),
            ("refund_order", SMALL),
            ("get_order", {"order_id": "O-1"}),
        ),
        Reply(text="You get 20.00 back."),
    ]
)
WRITES = 20
"""At least as many as the transactions of the case."""

RECORD_OF_REFUND = 11
"""The transaction that stores what the refund came to."""


@dataclass(slots=True)
class DyingStore:
    """A real store in a process that dies at its nth transaction.

    Attributes:
        real: The store.
        left: Transactions until the end; negative where there is none.
        after: Whether the last one is still committed.
    """

    real: Store
    left: int = -1
    after: bool = False
    died: bool = False

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        """Runs a transaction, or dies."""
        self.left -= 1
        if self.left == 0 or self.died:
            if self.after and not self.died:
                await self.real.write(transact)
            self.died = True
            raise asyncio.CancelledError
        return await self.real.write(transact)

    async def read(self, look: Callable[[Transaction], T]) -> T:
        """Reads."""
        return await self.real.read(look)

    def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        """The change feed."""
        return self.real.follow()

    async def close(self) -> None:
        """Nothing to close."""


async def dies(world: World, ticket: TicketId, *, at: int, after: bool) -> bool:
    """One run in a process that dies at its nth transaction; whether it did."""
    store = DyingStore(real=world.store, left=at, after=after)
    doomed = replace(world, house=replace(world.house, store=store))
    running = asyncio.ensure_future(doomed.runs(ticket))
    await asyncio.wait([running], timeout=5)
    assert running.done()
    return running.cancelled()


async def lease_runs_out(world: World, ticket: TicketId) -> None:
    """What the passing of time does to a dead run."""

    def expire(tx: Transaction) -> None:
        lock = tx.lock_of(ticket)
        if lock.expires_at is not None:
            tx.save_lock(replace(lock, expires_at=tx.now))

    await world.store.write(expire)


async def finishes(world: World, ticket: TicketId) -> list[Stop | None]:
    """Runs until the ticket is no longer due, as a worker would."""
    stops: list[Stop | None] = []
    while await world.due():
        stops.append(await world.runs(ticket))
        assert len(stops) < 5
    return stops


def sent(world: World) -> list[str]:
    """The requests, ids and times aside, a repeated one once."""
    requests = [_plain(body) for body in world.model.bodies]
    return [r for n, r in enumerate(requests) if n == 0 or r != requests[n - 1]]


def _plain(body: dict[str, Any]) -> str:
    text = str(body["messages"])
    for n, call in enumerate(dict.fromkeys(re.findall(r"toolu_\w+", text))):
        text = text.replace(call, f"call {n}")
    text = re.sub(r"\[#\d+, [^\]]*\]", "[#]", text)
    return re.sub(r"message #\d+", "message #", text)


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The requests of the case without a crash."""
    folder = tmp_path_factory.mktemp("smooth")

    async def play() -> list[str]:
        store = SqlStore.open(f"sqlite:///{folder / 'store.db'}")
        async with world_on(store, folder, CASE) as world:
            world.shop.specs_now = (FIND, LOOKUP, BY_KEY)
            await world.opened("refund 20 of O-1")
            assert await finishes(world, TicketId("T-1")) == [Stop.ANSWERED]
        await store.close()
        return sent(world)

    return asyncio.run(play())


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, WRITES))
async def test_rule_08_wherever_a_process_dies_the_end_is_the_same(
    lite: World, smooth: list[str], at: int, after: bool
) -> None:
    lite.model.brain = CASE
    lite.shop.specs_now = (FIND, LOOKUP, BY_KEY)
    ticket = await lite.opened("refund 20 of O-1")
    died = await dies(lite, ticket, at=at, after=after)
    await lease_runs_out(lite, ticket)
    await finishes(lite, ticket)
    assert sent(lite) == smooth
    assert lite.shop.effects == 1
    await _is_finished(lite, ticket)
    runs = (await lite.chart(ticket)).runs
    assert len(runs) <= 1 + died
    for run in runs:
        replayed = await replay(lite.store, run.id)
        assert replayed == Same(turns=len(run.turns))


async def _is_finished(world: World, ticket: TicketId) -> None:
    chart = await world.chart(ticket)
    assert chart.lock.holder is None
    assert chart.standing.run is None
    assert chart.standing.unanswered == ()
    assert chart.standing.doubts == ()
    out = [e for e in chart.journal if isinstance(e.body, Message)]
    assert len(out) == 2
    assert len(chart.actions) == 1
    assert all(r.stop is not None for r in chart.runs)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, WRITES))
async def test_f05_without_a_key_no_crash_makes_it_happen_twice(
    lite: World, at: int, after: bool
) -> None:
    lite.model.brain = CASE
    lite.shop.specs_now = (FIND, LOOKUP, REFUNDS)
    ticket = await lite.opened("refund 20 of O-1")
    await dies(lite, ticket, at=at, after=after)
    await lease_runs_out(lite, ticket)
    stops = await finishes(lite, ticket)
    chart = await lite.chart(ticket)
    assert lite.shop.effects <= 1
    assert chart.lock.holder is None
    assert all(s in {Stop.ANSWERED, Stop.ESCALATED} for s in stops)
    if chart.standing.doubts:
        assert chart.standing.with_people is not None
        assert chart.standing.unanswered != ()
    else:
        assert lite.shop.effects == 1
        assert chart.standing.unanswered == ()


async def test_f05_a_crash_between_the_effect_and_its_record_is_looked_into(
    world: World,
) -> None:
    world.model.brain = CASE
    world.shop.specs_now = (FIND, LOOKUP, BY_KEY)
    ticket = await world.opened("refund 20 of O-1")
    assert await dies(world, ticket, at=RECORD_OF_REFUND, after=False)
    assert world.shop.effects == 1
    assert await world.runs(ticket) is None
    await lease_runs_out(world, ticket)
    stops = await asyncio.gather(world.runs(ticket), world.runs(ticket))
    assert sorted(map(str, stops)) == ["None", "answered"]
    assert world.shop.effects == 1
    refunds = [key for name, _, key in world.shop.calls if name == "refund_order"]
    assert len(refunds) == 2
    assert len(set(refunds)) == 1
    await _is_finished(world, ticket)


async def test_rule_15_a_ticket_that_kills_every_run_goes_to_people(
    lite: World,
) -> None:
    ticket = await lite.opened()
    for _ in range(5):
        assert await dies(lite, ticket, at=3, after=False)
        await lease_runs_out(lite, ticket)
    assert await lite.runs(ticket) is None
    chart = await lite.chart(ticket)
    assert chart.lock.holder is None
    assert chart.standing.with_people is not None


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2])
async def test_f106_a_sender_that_dies_delivers_once_in_the_end(
    lite: World, at: int, after: bool
) -> None:
    ticket = await lite.opened()
    await lite.runs(ticket)
    doomed = replace(
        lite.house, store=DyingStore(real=lite.store, left=at, after=after)
    )
    sending = asyncio.ensure_future(deliver_due(doomed))
    await asyncio.wait([sending])
    assert sending.cancelled()
    await lite.time_goes_by_in_the_outbox()
    messages = await lite.delivers()
    assert [m["text"] for m in messages] == ["It is on its way."]
    (reply,) = (await lite.chart(ticket)).outbox
    assert reply.state == "delivered"
