"""Two workers deliver at once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.flows.deliver import deliver_due
from core.history import Reply
from core.journal import Delivery
from core.ports import Channel, Transaction
from store import outbox
from store.transaction import SqlStore
from tests.flows.world import Gate, world_on

T = TypeVar("T")


@dataclass(slots=True)
class Held:
    """What stands between, until the test opens its gate."""

    inner: Any
    gate: Gate = field(default_factory=Gate)

    async def read(self, look: Callable[[Transaction], T]) -> T:
        found: T = await self.inner.read(look)
        await self.gate.passed()
        return found

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        result: T = await self.inner.write(transact)
        return result

    async def deliver(self, reply: Reply) -> str | None:
        await self.gate.passed()
        told: str | None = await self.inner.deliver(reply)
        return told

    async def find(self, message_id: str) -> bool:
        found: bool = await self.inner.find(message_id)
        return found


async def test_rule_08_two_senders_that_found_the_same_reply_deliver_it_once(
    store: SqlStore, tmp_path: Path
) -> None:
    async with world_on(store, tmp_path) as world:
        await world.runs(await world.opened())
        channel: Channel = Held(world.house.channels["mail"])
        first = replace(world.house, channels={"mail": channel})
        second = replace(world.house, store=Held(store))
        async with asyncio.TaskGroup() as senders:
            late = senders.create_task(deliver_due(second))
            await second.store.gate.reached.wait()  # it has found the reply
            early = senders.create_task(deliver_due(first))
            await channel.gate.reached.wait()  # the other is delivering it
            second.store.gate.opened.set()
            assert await late == 0
            channel.gate.opened.set()
        assert early.result() == 1
        assert len(world.delivered()) == 1


async def test_rule_08_a_sender_that_was_given_up_changes_nothing_any_more(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "LONG_SENDING", timedelta(0))
    async with world_on(store, tmp_path) as world:
        ticket = await world.opened()
        await world.runs(ticket)
        channel: Channel = Held(world.house.channels["mail"])
        slow = replace(world.house, channels={"mail": channel})
        async with asyncio.TaskGroup() as senders:
            senders.create_task(deliver_due(slow))
            await channel.gate.reached.wait()
            assert await deliver_due(world.house) == 1  # it took that one too long
            channel.gate.opened.set()
        assert len(world.delivered()) == 1
        (reply,) = (await world.chart(ticket)).outbox
        assert (reply.state, reply.attempts) == ("delivered", 2)
        assert len(await world.journal(ticket, Delivery)) == 1


async def test_rule_08_a_sender_that_wakes_up_late_says_nothing_twice(
    sqlite_store: SqlStore, tmp_path: Path
) -> None:
    async with world_on(sqlite_store, tmp_path) as world:
        ticket = await world.opened()
        await world.runs(ticket)
        await world.delivers()
        (reply,) = (await world.chart(ticket)).outbox
        await world.house.channels["mail"].deliver(reply)
        assert len(world.delivered()) == 1
