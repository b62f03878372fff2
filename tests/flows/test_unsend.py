"""A reply can be held off and taken back; what it answered is open again (rule 3)."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from core.flows.answer import Leaving
from core.flows.deliver import deliver_due
from core.flows.drafts import save_draft
from core.flows.giving_back import GiveBack, GivenBack, give_back
from core.flows.handoff import note, reply, take_over
from core.flows.offer import decline
from core.flows.person import Done, NotHolder, NotPossible
from core.flows.switch import resume
from core.flows.unsend import TakenBack, unsend
from core.flows.withheld import send_withheld
from core.history import Reply
from core.journal import Delivery, LockChanged, Refused
from core.lock import HeldBy, TakeoverWanted
from core.ports import Channel
from core.ticket import TicketId
from core.turn import ModelResponse, Request, Stop
from tests.flows.world import ANA, BEN, Gate, World
from tests.worlds.brains import answers, text_of

LONG = timedelta(hours=1)
TO_QUEUE = GiveBack(to="queue")


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


async def let_go(world: World, to: str) -> tuple[TicketId, int]:
    """A ticket whose holder has answered, with time to take it back, and let it go."""
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    sent = await reply(world.store, ticket, ANA, "D1", leaving=Leaving(hold_off=LONG))
    assert isinstance(sent, Done)
    await give_back(world.store, ticket, ANA, GiveBack(to=to))
    return ticket, sent.seq


@pytest.mark.parametrize("to", ["queue", "resolved", "ben", "agent"])
async def test_who_has_let_go_takes_a_reply_back_and_the_ticket_with_it(
    world: World, to: str
) -> None:
    ticket, seq = await let_go(world, to)
    back = await unsend(world.store, ticket, ANA, seq)
    assert isinstance(back, TakenBack)
    assert (back.text, back.yours_again) == ("D1", True)
    standing = (await world.chart(ticket)).standing
    assert (standing.held_by, standing.offered_to) == ("ana", None)
    assert (standing.resolved, bool(standing.unanswered)) == (False, True)
    assert await world.delivers() == []
    changes = [e.body.change for e in await world.journal(ticket, LockChanged)]  # type: ignore[union-attr]
    assert changes[-1] == "acquired"
    assert isinstance(await reply(world.store, ticket, ANA, "D2"), Done)


async def test_rule_01_what_a_colleague_or_the_agent_has_by_now_is_not_taken_back(
    lite: World,
) -> None:
    ticket, seq = await let_go(lite, "queue")
    await take_over(lite.store, ticket, BEN)
    late = await unsend(lite.store, ticket, ANA, seq)
    assert late == NotPossible(why=f"ben holds the ticket now: #{seq} stays as it is")
    ticket, seq = await let_go(lite, "agent")
    await lite.writes("And when?", ticket)
    gate = Gate()

    class Thinking:
        """A model that answers once the test lets it."""

        async def respond(self, request: Request) -> ModelResponse:
            await gate.passed()
            return await lite.model.respond(request)

    slow = replace(lite, house=replace(lite.house, model=Thinking()))
    running = asyncio.ensure_future(slow.runs(ticket))
    await gate.reached.wait()
    late = await unsend(lite.store, ticket, ANA, seq)
    why = f"the agent works on the ticket again: #{seq} stays as it is"
    assert late == NotPossible(why=why)
    gate.opened.set()
    await running
    assert (await lite.chart(ticket)).standing.held_by is None


async def test_f71_who_is_disabled_takes_nothing_back(lite: World) -> None:
    ticket, seq = await let_go(lite, "queue")
    await lite.store.write(lambda tx: tx.save_operator(replace(ANA, disabled=True)))
    assert isinstance(await unsend(lite.store, ticket, ANA, seq), NotHolder)
    chart = await lite.chart(ticket)
    assert chart.lock.holder is None
    assert [r.state for r in chart.outbox] == ["queued"]


async def test_rule_14_every_refused_try_stays_in_the_record(lite: World) -> None:
    ticket = await lite.opened()
    assert isinstance(await give_back(lite.store, ticket, ANA, TO_QUEUE), NotHolder)
    await take_over(lite.store, ticket, ANA)
    await save_draft(lite.store, ticket, ANA, "note", "wait")
    assert isinstance(await unsend(lite.store, ticket, ANA), NotPossible)
    drafted = await give_back(lite.store, ticket, ANA, TO_QUEUE)
    assert isinstance(drafted, NotPossible)
    assert isinstance(await take_over(lite.store, ticket, BEN), HeldBy)
    assert isinstance(await decline(lite.store, ticket, BEN), NotPossible)
    assert isinstance(await resume(lite.store, ANA, ticket), NotPossible)
    kept = [(e.actor.name, e.body.what) for e in await lite.journal(ticket, Refused)]  # type: ignore[union-attr]
    assert kept == [
        ("ana", "give back"),
        ("ana", "take back"),
        ("ana", "give back"),
        ("ben", "take over"),
        ("ben", "decline"),
        ("ana", "resume"),
    ]


async def test_rule_14_what_nobody_had_the_right_to_stays_in_the_record(
    lite: World,
) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    await reply(lite.store, ticket, BEN, "over her head")
    await take_over(lite.store, ticket, BEN, forced=True, why="mine")
    await give_back(lite.store, ticket, BEN, replace(TO_QUEUE, forced=True, why="x"))
    await lite.store.write(lambda tx: tx.save_operator(replace(BEN, disabled=True)))
    await note(lite.store, ticket, BEN, "still here")
    kept = [e.body for e in await lite.journal(ticket, Refused)]
    assert [(r.what, r.rule) for r in kept] == [  # type: ignore[union-attr]
        ("reply", "ana holds the ticket"),
        ("take over", "only a supervisor may take a ticket by force"),
        ("give back", "only a supervisor may give back another's ticket"),
        ("note", "the operator ben is disabled"),
    ]


async def test_rule_03_a_draft_that_two_consoles_show_is_sent_once(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    later = Leaving(hold_off=LONG)
    both = [reply(world.store, ticket, ANA, "Soon", leaving=later) for _ in range(2)]
    outcomes = await asyncio.gather(*both)
    (sent,) = [o for o in outcomes if isinstance(o, Done)]
    (refused,) = [o for o in outcomes if isinstance(o, NotPossible)]
    assert refused.why == "you sent these very words since the buyer's last message"
    await unsend(world.store, ticket, ANA, sent.seq)
    assert isinstance(await reply(world.store, ticket, ANA, "Soon"), Done)
    assert [m["text"] for m in await world.delivers()] == ["Soon"]
    assert isinstance(await reply(world.store, ticket, ANA, "Soon \n"), NotPossible)
    await world.writes("And now?", ticket)
    assert isinstance(await reply(world.store, ticket, ANA, "Soon"), Done)
