"""A reply can be held off and taken back; what it answered is open again (rule 3)."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

from core.flows.answer import Leaving
from core.flows.deliver import deliver_due
from core.flows.handoff import GiveBack, GivenBack, give_back, reply, take_over
from core.flows.person import Done, NotHolder, NotPossible
from core.flows.unsend import TakenBack, unsend
from core.flows.withheld import send_withheld
from core.history import Reply
from core.journal import Delivery
from core.lock import TakeoverWanted
from core.ports import Channel
from core.turn import ModelResponse, Request, Stop
from tests.flows.world import ANA, BEN, Gate, World
from tests.worlds.brains import answers, text_of

LONG = timedelta(hours=1)


async def test_f108_a_reply_is_taken_back_within_its_time(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    waiting = (await world.chart(ticket)).standing.waiting_since
    sent = await reply(world.store, ticket, ANA, "D1", leaving=Leaving(hold_off=LONG))
    assert isinstance(sent, Done)
    assert await world.delivers() == []
    assert (await world.chart(ticket)).standing.waiting_since is None
    assert isinstance(await unsend(world.store, ticket, BEN), NotHolder)
    back = await unsend(world.store, ticket, ANA, sent.seq)
    assert isinstance(back, TakenBack)
    assert back.text == "D1"
    chart = await world.chart(ticket)
    assert chart.standing.waiting_since == waiting
    assert [(r.text, r.state) for r in chart.outbox] == [("D1", "discarded")]
    twice = await unsend(world.store, ticket, ANA)
    assert isinstance(twice, NotPossible)
    assert twice.why == f"#{sent.seq} was taken back by ana already"
    await reply(world.store, ticket, ANA, "D2")
    assert [m["text"] for m in await world.delivers()] == ["D2"]
    late = await unsend(world.store, ticket, ANA)
    assert isinstance(late, NotPossible)
    assert late.why.endswith("has been delivered already")
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))
    await world.runs(ticket)
    assert "took the message" in text_of(world.model.bodies[-1])


async def test_the_agent_s_own_hold_off_lets_people_step_in(world: World) -> None:
    limits = replace(world.house.limits, hold_off_agent=LONG)
    slow = replace(world, house=replace(world.house, limits=limits))
    ticket = await slow.opened()
    assert await slow.runs(ticket) is Stop.ANSWERED
    (waits,) = (await slow.chart(ticket)).outbox
    assert waits.not_before is not None
    assert waits.not_before - waits.created_at == LONG
    assert await deliver_due(slow.house) == 0
    assert await slow.store.read(lambda tx: tx.busy())
    await take_over(slow.store, ticket, ANA)
    assert (await slow.chart(ticket)).standing.withheld == (waits.seq,)
    sent = await send_withheld(slow.store, ticket, ANA, waits.seq, "Better.")
    assert isinstance(sent, Done)
    assert [m["text"] for m in await slow.delivers()] == ["Better."]


async def test_a_hold_off_that_is_over_keeps_nothing_back(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    await reply(
        world.store,
        ticket,
        ANA,
        "Soon.",
        leaving=Leaving(hold_off=timedelta(milliseconds=50)),
    )
    async with asyncio.timeout(5):
        while not await world.delivers():
            await asyncio.sleep(0.01)
    delivered = await world.journal(ticket, Delivery)
    assert [e.body.state for e in delivered] == ["delivered"]  # type: ignore[union-attr]


async def test_rule_02_a_late_answer_is_a_draft_of_the_agent_s(world: World) -> None:
    """An answer that comes in the very moment of the take-over is not applied."""
    world.model.brain = answers("From the agent.")
    ticket = await world.opened()
    gate = Gate()

    class Deaf:
        """A model whose answer is there although its call was cancelled."""

        async def respond(self, request: Request) -> ModelResponse:
            asking = asyncio.ensure_future(world.model.respond(request))
            try:
                await gate.passed()
            except asyncio.CancelledError:
                return await asking
            return await asking

    late = replace(world, house=replace(world.house, model=Deaf()))
    running = asyncio.ensure_future(late.runs(ticket))
    await gate.reached.wait()
    outcome = await take_over(world.store, ticket, ANA)
    assert isinstance(outcome, TakeoverWanted)
    assert await asyncio.wait_for(running, 5) is Stop.HANDED_OVER
    chart = await world.chart(ticket)
    assert chart.outbox == ()
    assert chart.runs[0].turns[-1].applied is False
    (draft,) = chart.drafts
    assert (draft.operator, draft.mode) == (chart.runs[0].id, "reply")
    assert draft.text == "From the agent."
    back = await give_back(world.store, ticket, ANA, GiveBack(to="agent"))
    assert isinstance(back, GivenBack)
    assert (await world.chart(ticket)).drafts == ()


@dataclass
class Held:
    """A channel that keeps a reply in its hands until the test lets it go."""

    inner: Channel
    gate: Gate

    async def deliver(self, reply: Reply) -> str | None:
        await self.gate.passed()
        return await self.inner.deliver(reply)

    async def find(self, message_id: str) -> bool:
        return await self.inner.find(message_id)


async def test_f108_what_is_being_sent_is_the_version_that_stays(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    await reply(world.store, ticket, ANA, "D1", leaving=Leaving(hold_off=LONG))
    assert isinstance(await unsend(world.store, ticket, ANA), TakenBack)
    second = await reply(world.store, ticket, ANA, "D2")
    assert isinstance(second, Done)
    gate = Gate()
    slow = {"mail": Held(world.house.channels["mail"], gate)}
    sending = asyncio.ensure_future(deliver_due(replace(world.house, channels=slow)))
    await gate.reached.wait()
    late = await unsend(world.store, ticket, ANA, second.seq)
    gate.opened.set()
    await sending
    assert isinstance(late, NotPossible)
    assert late.why == f"#{second.seq} is leaving this moment: too late"
    assert [m["text"] for m in await world.delivers()] == ["D2"]
    chart = await world.chart(ticket)
    assert {r.text: r.state for r in chart.outbox} == {
        "D1": "discarded",
        "D2": "delivered",
    }


async def test_f108_taking_back_and_sending_at_once_leave_one_truth(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    for n in range(6):
        told = await reply(world.store, ticket, ANA, f"V{n}")
        assert isinstance(told, Done)
        back, _ = await asyncio.gather(
            unsend(world.store, ticket, ANA, told.seq), deliver_due(world.house)
        )
        sent = [m["text"] for m in await world.delivers()]
        assert (f"V{n}" in sent) is not isinstance(back, TakenBack)
    states = {r.state for r in (await world.chart(ticket)).outbox}
    assert states <= {"delivered", "discarded"}
