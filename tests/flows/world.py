"""A small house for the flows' tests: a real store, a shop that counts, a model.

The model stands where the real one stands: it answers from the request alone, and
checks every request by the rules of the Messages API. It can be made to wait in the
middle of an answer, and so can the shop in the middle of a call, so that a test can
act at exactly that instant.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from core.adapters.jsonl_channel import JsonlChannel
from core.context import Voice
from core.decision import Decision, Operator, Role
from core.errors import ModelFailed, ToolLost
from core.flows.deliver import deliver_due
from core.flows.giving_back import GiveBack
from core.flows.house import House
from core.flows.intake import Received, receive
from core.flows.run import work
from core.flows.serve import StoreFeed
from core.history import History
from core.journal import Body, Entry
from core.limits import Limits
from core.ports import Store
from core.ticket import Json, TicketId
from core.tool import FREE, ToolResult, ToolSpec
from core.turn import ModelResponse, Request, Stop, Usage
from store.schema import outbox
from tests.core.building import PROMPT, REFUND
from tests.worlds.brains import Brain, Call, Reply, answers
from tests.worlds.letters import letter
from tests.worlds.message_answers import message_body
from tests.worlds.message_rules import validate_request

MODEL_ID = "claude-sonnet-5-5"
SUP = Operator(name="sup", role=Role.SUPERVISOR)
DEP = Operator(name="dep", role=Role.SUPERVISOR)
ANA = Operator(name="ana", role=Role.AGENT)
BEN = Operator(name="ben", role=Role.AGENT)
TO_AGENT = GiveBack(to="agent")

LOOKUP = ToolSpec(
    name="get_order",
    description="Reads an order.",
    input_schema={
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
    },
    policy=FREE,
)
FIND = ToolSpec(
    name="find_customer",
    description="Finds the customer of an order.",
    input_schema=LOOKUP.input_schema,
    policy=replace(FREE, establishes_identity="matched_order", customer="customer"),
)
REFUNDS = replace(REFUND, policy=replace(REFUND.policy, timeout=timedelta(seconds=5)))
BY_KEY = replace(REFUNDS, policy=replace(REFUNDS.policy, idempotency="meta"))


@dataclass(slots=True)
class Gate:
    """A place where somebody waits until a test lets them go on."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def passed(self) -> None:
        """Waits here."""
        self.reached.set()
        await self.opened.wait()


@dataclass(slots=True)
class Shop:
    """The tools: orders that can be refunded, every call counted by its key.

    Attributes:
        specs_now: The tools as they are offered.
        refunds: Amounts that left, by key.
        calls: Every call, in order: name, arguments, key.
        gate: Where the next refund waits, after it has happened.
        lose: How many answers get lost after the effect.
        down: Whether the servers can't be reached.
        owners: The customers of orders; `c-1` for one that is not named.
    """

    specs_now: tuple[ToolSpec, ...] = (FIND, LOOKUP, REFUNDS)
    refunds: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, Json, str | None]] = field(default_factory=list)
    effects: int = 0
    gate: Gate | None = None
    lose: int = 0
    down: bool = False
    owners: dict[str, str] = field(default_factory=dict)

    async def specs(self) -> tuple[ToolSpec, ...]:
        """The tools (`core.ports.Tools`)."""
        if self.down:
            raise ToolLost("the shop can't be reached", started=False)
        return tuple(sorted(self.specs_now, key=lambda s: s.name))

    async def call(
        self,
        name: str,
        arguments: Json,
        *,
        key: str | None,
        timeout: timedelta,  # noqa: ASYNC109 # as the port has it
    ) -> ToolResult:
        """Calls a tool (`core.ports.Tools`)."""
        self.calls.append((name, arguments, key))
        if self.down:
            raise ToolLost("the shop can't be reached", started=False)
        assert isinstance(arguments, Mapping)
        if name != REFUND.name:
            order = str(arguments["order_id"])
            found = {"customer": self.owners.get(order, "c-1"), "order": order}
            return ToolResult(content=json.dumps(found), is_error=False)
        by_key = self.specs_now[-1].policy.idempotency is not None
        if not by_key or key not in self.refunds:
            self.effects += 1
        self.refunds[key or f"#{len(self.calls)}"] = str(arguments["amount"])
        if self.gate is not None:
            await self.gate.passed()
        if self.lose:
            self.lose -= 1
            raise ToolLost("the connection broke", started=True)
        said = f"refunded {arguments['amount']} on {arguments['order_id']}"
        return ToolResult(content=said, is_error=False)


@dataclass(slots=True)
class BrainModel:
    """A model that answers from the request (`core.ports.Model`).

    Attributes:
        brain: What decides.
        bodies: Every request, in order.
        gate: Where the next answers wait.
        failures: What the next calls fail with.
    """

    brain: Brain
    bodies: list[dict[str, Any]] = field(default_factory=list)
    gate: Gate | None = None
    failures: list[ModelFailed] = field(default_factory=list)

    async def respond(self, request: Request) -> ModelResponse:
        """The answer, once the request has been found valid."""
        body = json.loads(json.dumps(request.body()))
        assert validate_request(body, undeclared_tools=True) == []
        self.bodies.append(body)
        if self.gate is not None:
            await self.gate.passed()
        if self.failures:
            raise self.failures.pop(0)
        message = message_body(body, self.brain(body))
        return ModelResponse(
            id=message["id"],
            model=message["model"],
            content=tuple(message["content"]),
            stop_reason=message["stop_reason"],
            usage=Usage(in_tokens=10, out_tokens=5),
            request_id=None,
        )


class WallClock:
    """Real time (`core.ports.Clock`)."""

    def now(self) -> datetime:
        """Now."""
        return datetime.now(tz=UTC)  # the tests' own clock

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await asyncio.sleep(seconds)


@dataclass(slots=True)
class CountedIds:
    """Names in the order in which they are asked for (`core.ports.Ids`)."""

    last: int = 0
    worker: str = ""

    def new(self, prefix: str) -> str:
        """The next name."""
        self.last += 1
        return f"{prefix}-{self.worker}{self.last}"


@dataclass(slots=True)
class World:
    """Everything that a test of the flows touches."""

    house: House
    store: Store
    model: BrainModel
    shop: Shop
    feed: StoreFeed
    replies: Path
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: int = 0

    async def writes(
        self, text: str, ticket: TicketId | None = None, **more: object
    ) -> Received:
        """The buyer writes."""
        self.arrived += 1
        name = f"<m{self.arrived}@example.com>"
        arrival = letter(name, text, ticket, subject="My parcel")
        arrival = replace(arrival, **more)  # type: ignore[arg-type]
        return await receive(self.store, self.house.ids, arrival)

    async def opened(self, text: str = "Where is my parcel?") -> TicketId:
        """A new ticket."""
        return (await self.writes(text)).ticket

    async def runs(self, ticket: TicketId) -> Stop | None:
        """One run of the agent, if the ticket is due and free."""
        over = await work(self.house, ticket, self.feed, self.stopping)
        return over.stop if over is not None else None

    async def due(self) -> tuple[TicketId, ...]:
        """What a worker would take up."""
        return await self.store.read(lambda tx: tx.due(50))

    async def delivers(self) -> list[dict[str, Any]]:
        """Delivers what waits; everything that has ever reached the buyer."""
        await deliver_due(self.house)
        return self.delivered()

    async def time_goes_by_in_the_outbox(self) -> None:
        """Makes what a dead sender has in its hands old enough to be taken up."""
        engine = self.store._engine  # type: ignore[attr-defined]
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)

        def age(connection: sa.Connection) -> None:
            connection.execute(sa.update(outbox).values(state_at=long_ago))

        await engine.write(age)

    def delivered(self) -> list[dict[str, Any]]:
        """Everything that has reached the buyer."""
        if not self.replies.exists():
            return []
        return [json.loads(line) for line in self.replies.read_text().splitlines()]

    async def chart(self, ticket: TicketId) -> History:
        """Everything stored about a ticket."""
        return await self.store.read(lambda tx: tx.history(ticket))

    async def journal(self, ticket: TicketId, *kinds: type[Body]) -> list[Entry]:
        """The journal, or its entries of some kinds."""
        journal = (await self.chart(ticket)).journal
        return [e for e in journal if not kinds or isinstance(e.body, kinds)]

    async def decision(self, ticket: TicketId) -> Decision:
        """The newest decision on a ticket."""
        return (await self.chart(ticket)).decisions[-1]


@asynccontextmanager
async def world_on(
    store: Store, folder: Path, brain: Brain | None = None, *, worker: str = ""
) -> AsyncIterator[World]:
    """A world on a store, with its people in it and its feed running."""
    for person in (SUP, DEP, ANA, BEN):
        await store.write(lambda tx, person=person: tx.save_operator(person))
    shop, model = Shop(), BrainModel(brain or answers("It is on its way."))
    replies, feed = folder / "replies.jsonl", StoreFeed()
    house = House(
        store=store,
        model=model,
        tools=shop,
        channels={"mail": JsonlChannel(replies)},
        clock=WallClock(),
        ids=CountedIds(worker=worker),
        prompt=PROMPT,
        limits=Limits(max_cost_usd=Decimal(100), lease=timedelta(seconds=30)),
        model_id=MODEL_ID,
        voice=Voice.SYSTEM,
    )
    following = asyncio.ensure_future(_follow(store, feed))
    try:
        yield World(
            house=house,
            store=store,
            model=model,
            shop=shop,
            feed=feed,
            replies=replies,
        )
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def _follow(store: Store, feed: StoreFeed) -> None:
    async for changed in store.follow():
        feed.tell(changed)


def calls(*asked: tuple[str, dict[str, Any]]) -> Reply:
    """An answer that asks for tools."""
    return Reply(calls=[Call(name=name, input=given) for name, given in asked])
