"""How long a take-over takes in the middle of a model call.

    python -m tests.bench.takeover --store sqlite
    python -m tests.bench.takeover --store postgresql

The worker and the operator have a store each, as two processes have: what one commits
the other learns by the feed. The clock runs from the operator's wish to the moment
when the operator's own feed has shown that the ticket is theirs. Prints one line of
JSON, in milliseconds, and ends with 1 where the median is over its target.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from core.flows.handoff import take_over
from core.flows.serve import StoreFeed
from core.lock import Holder, HolderKind
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.flows.world import ANA, Gate, World, world_on
from tests.worlds.postgres import Cluster

TARGETS = {"sqlite": 300.0, "postgresql": 100.0}
ME = Holder(kind=HolderKind.OPERATOR, name=ANA.name)


async def one(world: World, operator: SqlStore, feed: StoreFeed) -> float:
    """Milliseconds of one take-over."""
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await asyncio.sleep(0.2)  # the call is under way, and all is quiet
    with feed.watch(ticket) as changed:
        begun = time.perf_counter()
        await take_over(operator, ticket, ANA)
        while not await holds(operator, ticket):
            await changed.wait()
            changed.clear()
        took = time.perf_counter() - begun
    await running
    return took * 1000


async def holds(store: SqlStore, ticket: TicketId) -> bool:
    """Whether the operator has the ticket."""
    return (await store.read(lambda tx: tx.lock_of(ticket))).holder == ME


async def measure(url: str, folder: Path, rounds: int) -> list[float]:
    """Milliseconds of each take-over, without the first, which warms up."""
    store, operator = SqlStore.open(url), SqlStore.open(url)
    feed = StoreFeed()

    async def follow() -> None:
        async for changed in operator.follow():
            feed.tell(changed)

    following = asyncio.ensure_future(follow())
    try:
        async with world_on(store, folder) as world:
            times = [await one(world, operator, feed) for _ in range(rounds + 1)]
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await operator.close()
        await store.close()
    return times[1:]


def main() -> int:
    """Measures, prints, and says by its exit code whether the target is met."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=sorted(TARGETS), default="sqlite")
    parser.add_argument("--rounds", type=int, default=30)
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = f"sqlite:///{folder / 'store.db'}"
        if asked.store == "postgresql":
            url = stack.enter_context(Cluster()).create_database()
        times = asyncio.run(measure(url, folder, asked.rounds))
    median, target = statistics.median(times), TARGETS[asked.store]
    p95 = statistics.quantiles(times, n=20)[-1]
    found = {
        "store": asked.store,
        "rounds": len(times),
        "median_ms": round(median, 1),
        "p95_ms": round(p95, 1),
        "target_ms": target,
    }
    print(json.dumps(found))
    return 0 if median <= target else 1


if __name__ == "__main__":
    sys.exit(main())
