"""`handoff worker` in a process of its own, cut at one of its points.

The real command runs with the real parts; between it and each of them stands one that
passes a point before and after every call: the store's transactions (before, within,
that is before the commit, and after it), the model, the tools, the channels. Processes
are forked (`tests.worlds.ready`), so that hundreds of them are cheap.
"""

from __future__ import annotations

import signal
import types
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, TypeVar

from console import wiring
from console.config import Config
from core.flows import serve
from core.flows.house import House
from core.history import Reply
from core.ports import Channel, Model, Store, Tools, Transaction
from core.ticket import Json, TicketId
from core.tool import ToolResult, ToolSpec
from core.turn import ModelResponse, Request
from store import engine_sqlite, outbox
from tests.faults.points import Points
from tests.faults.story import STORIES, Story, happens
from tests.worlds import ready

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One worker process.

    Attributes:
        story: The story's name.
        folder: Holds the configuration; the trace and the log go there.
        number: Which worker of the story it is, from 1.
        cut_at: The point at which it is cut, or "".
        by: The signal.
        long_sending: Seconds after which another sender takes up a reply.
        drain: Whether it ends when nothing is left to do.
        busy: Seconds for which SQLite's driver waits for a lock, if not as usual.
    """

    story: str
    folder: Path
    store: str
    environment: Mapping[str, str]
    number: int = 1
    cut_at: str = ""
    by: signal.Signals = signal.SIGKILL
    long_sending: float = 0.5
    drain: bool = True
    busy: float | None = None

    @property
    def trace(self) -> Path:
        """The points that it passed."""
        return self.folder / f"trace.{self.number}"

    @property
    def log(self) -> Path:
        """What it wrote."""
        return self.folder / f"worker.{self.number}.log"


def start(job: Job) -> ForkServerProcess:
    """Starts a worker."""
    return ready.start(_main, job)


def _main(job: Job) -> None:
    # a sender that died is waited for as long as its lease lasts: here it is short
    outbox.LONG_SENDING = timedelta(seconds=job.long_sending)
    serve._LOOK_AGAIN = 0.1
    if job.busy is not None:  # of two the last counts
        waits = f"busy_timeout={job.busy * 1000:.0f}"
        engine_sqlite._EACH = (*engine_sqlite._EACH, waits)
    points = Points(job.trace, job.cut_at, job.by)
    wiring.open_house = _traced(points, _story(job.story))
    where = ("--store", job.store, "--config", str(job.folder / "handoff.toml"))
    ready.run(
        ready.Command(
            words=("worker", *where, *(["--drain"] if job.drain else [])),
            environment={
                **job.environment,
                "HANDOFF_LOG": str(job.folder / "errors.log"),
            },
            log=job.log,
        )
    )


def _story(name: str) -> Story:
    return next(story for story in STORIES if story.name == name)


def _traced(points: Points, story: Story) -> Any:
    original = wiring.open_house

    @asynccontextmanager
    async def open_house(config: Config, store: Store) -> AsyncIterator[House]:
        traced = TracedStore(store, points)
        async with original(config, traced) as house:
            channels = {
                name: TracedChannel(channel, points, story, store)
                for name, channel in house.channels.items()
            }
            yield replace(
                house,
                model=TracedModel(house.model, points),
                tools=TracedTools(house.tools, points, story, store),
                channels=channels,
            )

    return open_house


def name_of(transact: Callable[..., object]) -> str:
    """What a transaction does: the function that its lambda or partial calls."""
    function = getattr(transact, "func", transact)
    code: types.CodeType = function.__code__
    return code.co_names[0] if function.__name__ == "<lambda>" else code.co_name


@dataclass(slots=True)
class TracedStore:
    """A store with points around its commits (`core.ports.Store`)."""

    inner: Store
    points: Points

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        name = f"write {name_of(transact)}"

        def within(tx: Transaction) -> T:
            result = transact(tx)
            self.points.reach(f"{name} within")
            return result

        self.points.reach(f"{name} before")
        result = await self.inner.write(within)
        self.points.reach(f"{name} after")
        return result

    async def read(self, look: Callable[[Transaction], T]) -> T:
        return await self.inner.read(look)

    def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        return self.inner.follow()

    async def close(self) -> None:
        await self.inner.close()


@dataclass(slots=True)
class TracedModel:
    """A model with points around its answers (`core.ports.Model`)."""

    inner: Model
    points: Points

    async def respond(self, request: Request) -> ModelResponse:
        self.points.reach("model before")
        response = await self.inner.respond(request)
        self.points.reach("model after")
        return response


@dataclass(slots=True)
class TracedTools:
    """Tools with points around their calls (`core.ports.Tools`)."""

    inner: Tools
    points: Points
    story: Story
    store: Store

    async def specs(self) -> tuple[ToolSpec, ...]:
        return await self.inner.specs()

    async def call(
        self,
        name: str,
        arguments: Json,
        *,
        key: str | None,
        timeout: timedelta,  # noqa: ASYNC109 # as the port has it
    ) -> ToolResult:
        self.points.reach(f"tool {name} before")
        result = await self.inner.call(name, arguments, key=key, timeout=timeout)
        self.points.reach(f"tool {name} done")
        await happens(self.story, f"tool {name}", self.store)
        self.points.reach(f"tool {name} after")
        return result


@dataclass(slots=True)
class TracedChannel:
    """A channel with points around its deliveries (`core.ports.Channel`)."""

    inner: Channel
    points: Points
    story: Story
    store: Store

    async def deliver(self, reply: Reply) -> str | None:
        self.points.reach("channel deliver before")
        told = await self.inner.deliver(reply)
        self.points.reach("channel deliver done")
        await happens(self.story, "delivered", self.store)
        self.points.reach("channel deliver after")
        return told

    async def find(self, message_id: str) -> bool:
        self.points.reach("channel find before")
        found = await self.inner.find(message_id)
        if found:
            await happens(self.story, "delivered", self.store)
        self.points.reach("channel find after")
        return found
