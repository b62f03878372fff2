"""What ends a run that comes to no end of its own: people, each with why (rule 15)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeVar

import pytest

from core.adapters.anthropic_model import AnthropicModel
from core.errors import StoreUnreachable
from core.journal import Escalated
from core.ports import Transaction
from core.ticket import TicketId
from core.turn import Stop
from tests.flows.world import Gate, WallClock, World, calls
from tests.worlds import faults
from tests.worlds.brains import Reply, answers, calls_in
from tests.worlds.messages_api import API_KEY, MessagesApi

T = TypeVar("T")


def never_done(body: dict[str, Any]) -> Reply:
    """Looks up one order after the other."""
    return calls(("get_order", {"order_id": f"O-{len(calls_in(body))}"}))


def again_and_again(body: dict[str, Any]) -> Reply:
    """Looks up the same order."""
    return calls(("get_order", {"order_id": "O-1"}))


def never_right(body: dict[str, Any]) -> Reply:
    """Gets a tool's arguments wrong, one way after the other."""
    return calls(("get_order", {"order": f"O-{len(calls_in(body))}"}))


def never_allowed(body: dict[str, Any]) -> Reply:
    """Asks for a refund that needs an identity, with a look in between."""
    n = len(calls_in(body))
    if n % 2:
        return calls(("get_order", {"order_id": f"O-{n}"}))
    return calls(("refund_order", {"order_id": "O-1", "amount": f"{n + 1}.00"}))


def unnamed(body: dict[str, Any]) -> Reply:
    """Calls a tool with a bare text."""
    del body
    use = {"type": "tool_use", "id": "toolu_1", "name": "get_order", "input": "O-1"}
    return Reply(blocks=[use])


def lost(body: dict[str, Any]) -> Reply:
    """Asks for a tool that there is not."""
    del body
    return calls(("drop_tables", {}))


LIMITS = {
    "turns": (never_done, {"max_turns": 3}, Stop.TURN_LIMIT, "made 3 turns"),
    "cost of a run": (
        *(never_done, {"max_cost_usd": Decimal("0.0001")}),
        *(Stop.COST_LIMIT, "the run cost"),
    ),
    "cost of a ticket": (
        *(never_done, {"max_ticket_cost_usd": Decimal("0.0001")}),
        *(Stop.COST_LIMIT, "the ticket's runs cost"),
    ),
    "time": (
        *(never_done, {"max_run": timedelta(microseconds=1)}),
        *(Stop.TURN_LIMIT, "took longer than"),
    ),
    "arguments": (never_right, {}, Stop.ERROR, "5 tool calls of the agent in a row"),
    "refusals": (never_allowed, {}, Stop.ERROR, "were refused by one rule, the last, "),
    "no arguments": (unnamed, {}, Stop.ERROR, "'get_order' without named arguments"),
    "unknown tool": (lost, {}, Stop.ERROR, "there is not: 'drop_tables'"),
    "one call": (again_and_again, {}, Stop.ERROR, "the same call again and again"),
}


async def people_know(world: World, ticket: TicketId, why: str) -> None:
    """The ticket was handed over once, with why, and nobody takes it up again."""
    (told,) = await world.journal(ticket, Escalated)
    assert why in told.body.reason  # type: ignore[union-attr]
    chart = await world.chart(ticket)
    assert chart.standing.with_people == told.body.reason  # type: ignore[union-attr]
    assert chart.lock.holder is None
    assert chart.outbox == ()
    assert await world.due() == ()


@pytest.mark.parametrize(("brain", "limit", "stop", "why"), LIMITS.values(), ids=LIMITS)
async def test_rule_15_a_run_at_a_limit_ends_and_people_know_which(
    lite: World, brain: Any, limit: dict[str, Any], stop: Stop, why: str
) -> None:
    lite.model.brain = brain
    lite.house = replace(lite.house, limits=replace(lite.house.limits, **limit))
    ticket = await lite.opened()
    assert await lite.runs(ticket) is stop
    await people_know(lite, ticket, why)


# Errors of the model, by a real server


@dataclass(slots=True)
class Hurried(WallClock):
    """Notes how long it was to wait, and waits less."""

    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        """Waits a moment."""
        self.waits.append(seconds)
        await asyncio.sleep(min(seconds, 0.02))


@pytest.fixture
async def served(lite: World) -> AsyncIterator[tuple[World, MessagesApi, Hurried]]:
    """The world, with its model behind a real server and a clock that hurries."""
    with MessagesApi(answers("It is on its way.")) as api:
        model = AnthropicModel(api_key=API_KEY, base_url=api.url, timeout=5)
        clock = Hurried()
        lite.house = replace(lite.house, model=model, clock=clock)
        yield lite, api, clock
        await model.close()


async def test_a_provider_s_retry_after_is_waited_for(
    served: tuple[World, MessagesApi, Hurried],
) -> None:
    world, api, clock = served
    api.fail_next(faults.Status(code=429, retry_after=7), faults.Status(code=529))
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    assert 7.0 in clock.waits
    assert len(api.requests) == 3


async def test_rule_15_who_is_told_to_wait_longer_than_there_is_patience_asks_people(
    served: tuple[World, MessagesApi, Hurried],
) -> None:
    world, api, clock = served
    api.fail_next(faults.Status(code=429, retry_after=86_400))
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ERROR
    await people_know(world, ticket, "429 (rate_limit_error)")
    assert 86_400 not in clock.waits
    assert len(api.requests) == 1


FAILURES = {
    "a bad request": ([faults.Status(code=400)], "400 (invalid_request_error)", 1),
    "garbage": ([faults.Garbage()] * 3, "unusable: not JSON", 3),
    "half an answer": ([faults.Cut()] * 40, "can't be reached", 2),
    "overload": ([faults.Status(code=529)] * 40, "529 (overloaded_error)", 2),
}


@pytest.mark.parametrize(("failures", "why", "least"), FAILURES.values(), ids=FAILURES)
async def test_rule_15_a_model_that_fails_is_people_s_in_the_end(
    served: tuple[World, MessagesApi, Hurried],
    failures: list[faults.Fault],
    why: str,
    least: int,
) -> None:
    world, api, _ = served
    short = replace(world.house.limits, model_patience=timedelta(seconds=3))
    world.house = replace(world.house, limits=short)
    api.fail_next(*failures)
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ERROR
    await people_know(world, ticket, why)
    assert len(api.requests) >= least


# The lease


@dataclass(slots=True)
class WithoutRenewals:
    """A store that can't be reached when a lease is to be renewed."""

    inner: Any

    async def read(self, look: Callable[[Transaction], T]) -> T:
        found: T = await self.inner.read(look)
        return found

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        if "keep_lease" in getattr(transact, "__qualname__", ""):
            raise StoreUnreachable("the store is away")
        result: T = await self.inner.write(transact)
        return result


async def test_rule_11_a_run_that_can_t_renew_stops_before_its_next_side_effect(
    world: World,
) -> None:
    good = world.house
    world.model.brain = never_done
    short = replace(good.limits, lease=timedelta(seconds=1.5))
    lame = WithoutRenewals(world.store)
    world.house = replace(good, limits=short, store=lame)  # type: ignore[arg-type]
    gate = world.model.gate = Gate()
    ticket = await world.opened()
    assert await asyncio.wait_for(world.runs(ticket), 20) is Stop.CRASHED
    gate.opened.set()
    assert world.shop.calls == []
    world.house, world.model.brain = good, answers("It is on its way.")
    while await world.runs(ticket) is None:  # until the lease is over
        await asyncio.sleep(0.05)
    chart = await world.chart(ticket)
    assert [r.stop for r in chart.runs] == [Stop.CRASHED, Stop.ANSWERED]
    assert len(await world.delivers()) == 1
