"""The demo at work: buyers who write, and an agent worker in a process of its own.

The buyers' messages take the way of every message, through `intake.receive`; the
worker is `handoff worker` with the demo's configuration. So what one sees is the
product and not a show of it. The worker is tied to this process: it is asked to finish
when this one is left, and ends at once when this one dies without a word. It keeps the
demo's lock with it, so that nobody takes the store from under one that still lives.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from console.arriving import arrival
from console.demo.place import Place, Progress
from console.demo.story import Story
from core.decision import Operator, Role
from core.errors import StoreUnreachable
from core.flows.intake import receive
from core.ports import Clock, Ids, QueueQuery, Store, Transaction

_TICK = 0.5
_GRACE = 10.0
_ROOT = Path(__file__).parents[2]
_COLLEAGUES = (
    Operator(name="Mira", role=Role.AGENT),
    Operator(name="Sam", role=Role.SUPERVISOR),
)


@dataclass(slots=True, kw_only=True)
class Buyers:
    """The simulated buyers, who write for as long as this runs.

    Attributes:
        endless: Whether they begin again when everybody has said everything.
    """

    store: Store
    ids: Ids
    clock: Clock
    place: Place
    endless: bool
    _sent: set[str] = field(default_factory=set)

    async def run(self) -> None:
        """Writes what is due, twice a second, until it is cancelled."""
        loop = asyncio.get_running_loop()
        progress = self.place.progress()
        before = loop.time()
        while True:
            try:
                written = await self._write(progress)
            except StoreUnreachable:
                written = 0
            now = loop.time()
            progress = replace(progress, elapsed=progress.elapsed + now - before)
            before = now
            progress = self._next(progress, written)
            self.place.keep(progress)
            await self.clock.sleep(_TICK)

    async def _write(self, progress: Progress) -> int:
        started = self.clock.now() - timedelta(seconds=progress.elapsed)
        story = Story(start=started, round=progress.round)
        answered = await self.store.read(lambda tx: _answered(tx, story))
        due = story.due(progress.elapsed, answered, self._sent)
        for said in due:
            message = arrival(said)  # type: ignore[arg-type] # JSON, made by the story
            await receive(self.store, self.ids, message)
            self._sent.add(message.external_id)
        return len(due)

    def _next(self, progress: Progress, written: int) -> Progress:
        over = Story(start=self.clock.now()).length() + 60
        if self.endless and not written and progress.elapsed > over:
            return Progress(round=progress.round + 1)
        return progress


def _answered(tx: Transaction, story: Story) -> Mapping[str, int]:
    """How many replies each tale's buyer has got."""
    delivered: dict[str, int] = {}
    for reply in tx.outbox():
        if reply.state == "delivered":
            delivered[reply.ticket] = delivered.get(reply.ticket, 0) + 1
    found: dict[str, int] = {}
    for tale in story.tales:
        arrived = tx.arrived("mail", story.external_id(tale.key, 0))
        if arrived is not None:
            found[tale.key] = delivered.get(arrived[0], 0)
    return found


def is_ours(tx: Transaction) -> bool:
    """Whether a store is empty, or was a demo's from the start."""
    if not tx.queue(QueueQuery(limit=1)):
        return True
    story = Story(start=tx.now)
    first = (story.external_id(tale.key, 0) for tale in story.tales)
    return any(tx.arrived("mail", message) for message in first)


async def add_colleagues(store: Store) -> None:
    """Two more people, so that tickets can be handed on and approved by two."""

    def add(tx: Transaction) -> None:
        there = {o.name for o in tx.operators()}
        for colleague in _COLLEAGUES:
            if colleague.name not in there:
                tx.save_operator(colleague)

    await store.write(add)


@asynccontextmanager
async def running_worker(place: Place, *, delay: float) -> AsyncIterator[None]:
    """Keeps an agent worker running, and ends it in order.

    Args:
        place: The demo's folder.
        delay: Seconds that an answer of the demo's own model takes.
    """
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {
        "PYTHONPATH": path,
        "HANDOFF_SCRIPTED_DELAY": str(delay),
    }
    command = [sys.executable, "-m", "console.cli", "worker", "--until-stdin-ends"]
    command += ["--config", str(place.config), "--store", place.store]
    with place.log.open("ab") as said:
        async with asyncio.TaskGroup() as together:
            keeping = _keep(command, environment, said.fileno(), place.lock)
            keeper = together.create_task(keeping)
            try:
                yield
            finally:
                keeper.cancel()


async def _keep(
    command: list[str], environment: Mapping[str, str], said: int, lock: int
) -> None:
    """Starts the worker, and again whenever it ends, until it is cancelled."""
    while True:
        worker = await asyncio.create_subprocess_exec(
            *command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=(lock,),
            start_new_session=True,
        )
        try:
            await worker.wait()
            await asyncio.sleep(1)
        finally:
            await _end(worker)


async def _end(worker: asyncio.subprocess.Process) -> None:
    if worker.returncode is not None:
        return
    worker.terminate()
    try:
        async with asyncio.timeout(_GRACE):
            await worker.wait()
    except TimeoutError:
        worker.kill()
        await worker.wait()
