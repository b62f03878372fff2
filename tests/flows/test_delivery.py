"""Replies on their way (protocol "Delivery", rule 2), and a model that fails."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from core.errors import DeliveryFailed, ModelFailed
from core.flows.answer import Leaving
from core.flows.deliver import deliver_due, requeue_for_channels
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.person import Done
from core.flows.serve import serve
from core.history import Reply
from core.journal import Delivery, Escalated
from core.ports import Worker
from core.ticket import TicketId
from core.turn import Stop
from tests.flows.world import ANA, Gate, World
from tests.worlds.brains import Reply as BrainReply
from tests.worlds.brains import text_of


@dataclass(slots=True)
class Post:
    """A channel that fails as told and keeps what it took (`core.ports.Channel`).

    Attributes:
        taken: What left, in order.
        failures: What the next deliveries fail with; the reply was taken all the
            same where `takes_anyway`.
        gate: Where the next delivery waits.
    """

    taken: list[Reply] = field(default_factory=list)
    failures: list[DeliveryFailed] = field(default_factory=list)
    takes_anyway: bool = False
    gate: Gate | None = None

    async def deliver(self, reply: Reply) -> str | None:
        """Takes the reply, or fails."""
        if self.gate is not None:
            await self.gate.passed()
        if self.failures:
            if self.takes_anyway:
                self.taken.append(reply)
            raise self.failures.pop(0)
        self.taken.append(reply)
        return f"post-{len(self.taken)}"

    async def find(self, message_id: str) -> bool:
        """Whether it was taken."""
        return any(r.message_id == message_id for r in self.taken)


LATER = DeliveryFailed("try again later", permanent=False)
NEVER = DeliveryFailed("no such address", permanent=True)


def by_post(world: World, **how: object) -> Post:
    post = Post(**how)  # type: ignore[arg-type]
    world.house = replace(world.house, channels={"mail": post})
    return post


async def answered(world: World) -> TicketId:
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    return ticket


async def state(world: World, ticket: TicketId) -> str:
    return (await world.chart(ticket)).outbox[0].state


async def test_a_delivered_reply_keeps_the_channel_s_own_id(world: World) -> None:
    post = by_post(world)
    ticket = await answered(world)
    assert await deliver_due(world.house) == 1
    assert await deliver_due(world.house) == 0
    (reply,) = (await world.chart(ticket)).outbox
    assert (reply.state, reply.provider_id) == ("delivered", "post-1")
    assert reply.delivered_at is not None
    assert post.taken[0].message_id == reply.message_id
    joined = await world.writes("thanks", in_reply_to="post-1")
    assert joined.ticket == ticket


async def test_two_senders_at_once_deliver_once(world: World) -> None:
    post = by_post(world)
    await answered(world)
    await asyncio.gather(deliver_due(world.house), deliver_due(world.house))
    assert len(post.taken) == 1


async def test_f106_a_reply_that_was_taken_although_it_failed_is_not_sent_again(
    world: World,
) -> None:
    post = by_post(world, failures=[LATER], takes_anyway=True)
    ticket = await answered(world)
    await deliver_due(world.house)
    assert await state(world, ticket) == "sending"
    assert await deliver_due(world.house) == 0
    await world.time_goes_by_in_the_outbox()
    await deliver_due(world.house)
    assert await state(world, ticket) == "delivered"
    assert len(post.taken) == 1


async def test_a_channel_that_is_down_for_a_while_delays_and_loses_nothing(
    world: World,
) -> None:
    post = by_post(world, failures=[LATER, LATER])
    ticket = await answered(world)
    for _ in range(3):
        await deliver_due(world.house)
        await world.time_goes_by_in_the_outbox()
    assert await state(world, ticket) == "delivered"
    assert len(post.taken) == 1


async def test_a_permanent_failure_goes_to_people(world: World) -> None:
    by_post(world, failures=[NEVER])
    ticket = await answered(world)
    await deliver_due(world.house)
    chart = await world.chart(ticket)
    assert chart.outbox[0].state == "failed"
    assert chart.outbox[0].why == "no such address"
    assert chart.standing.with_people == "a reply could not be delivered"
    assert chart.standing.waiting_since is not None


async def test_rule_02_what_is_in_the_channel_s_hands_counts_as_before_the_hold(
    world: World,
) -> None:
    gate = Gate()
    post = by_post(world, gate=gate)
    ticket = await answered(world)
    sending = asyncio.ensure_future(deliver_due(world.house))
    await gate.reached.wait()
    await take_over(world.store, ticket, ANA)
    gate.opened.set()
    await sending
    assert await state(world, ticket) == "delivered"
    assert len(post.taken) == 1


async def test_rule_02_what_failed_to_leave_is_withheld_once_a_person_holds(
    world: World,
) -> None:
    post = by_post(world, failures=[LATER])
    ticket = await answered(world)
    await deliver_due(world.house)
    await take_over(world.store, ticket, ANA)
    await world.time_goes_by_in_the_outbox()
    await deliver_due(world.house)
    assert post.taken == []
    chart = await world.chart(ticket)
    assert chart.outbox[0].state == "withheld"
    assert chart.standing.withheld == (chart.outbox[0].seq,)


async def test_rule_02_what_had_left_after_all_is_shown_as_delivered(
    world: World,
) -> None:
    post = by_post(world, failures=[LATER], takes_anyway=True)
    ticket = await answered(world)
    await deliver_due(world.house)
    await take_over(world.store, ticket, ANA)
    await world.time_goes_by_in_the_outbox()
    await deliver_due(world.house)
    assert await state(world, ticket) == "delivered"
    assert len(post.taken) == 1


async def test_a_reply_without_a_channel_waits_for_one(world: World) -> None:
    post = Post()
    channels, world.house = world.house.channels, replace(world.house, channels={})
    ticket = await answered(world)
    await deliver_due(world.house)
    assert await state(world, ticket) == "no_channel"
    assert await requeue_for_channels(world.house) == 0
    world.house = replace(world.house, channels={**channels, "mail": post})
    assert await requeue_for_channels(world.house) == 1
    await deliver_due(world.house)
    assert len(post.taken) == 1
    states = [e.body.state for e in await world.journal(ticket, Delivery)]  # type: ignore[union-attr]
    assert states == ["no_channel", "queued", "delivered"]


HERE = {"desk with it": ("mail",), "desk without": ()}


@pytest.mark.parametrize("channels", HERE.values(), ids=HERE)
async def test_who_answers_is_told_at_once_that_the_reply_does_not_leave(
    world: World, channels: tuple[str, ...]
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    said = [
        await reply(world.store, ticket, ANA, text, leaving=Leaving(channels=channels))
        for text in ("One.", "Two.")
    ]
    stays = "no worker is running" if channels else "no channel 'mail' is configured"
    assert [s.stays for s in said if isinstance(s, Done)] == [stays] * 2
    kept = "queued" if channels else "no_channel"
    assert [r.state for r in (await world.chart(ticket)).outbox] == [kept] * 2
    assert await drained(world) == []
    assert [r["text"] for r in world.delivered()] == ["One.", "Two."]


async def test_a_worker_s_channels_count_for_who_sits_elsewhere(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)

    async def says(worker: tuple[str, ...], here: tuple[str, ...]) -> str | None:
        me = replace(_worker(world), id="-".join(("W", *worker)), channels=worker)
        await world.store.write(lambda tx: tx.report_alive(me))
        leaving = Leaving(channels=here)
        words = f"Soon, by {', '.join(sorted(here))}."
        done = await reply(world.store, ticket, ANA, words, leaving=leaving)
        await world.store.write(lambda tx: tx.retire(me.id))
        assert isinstance(done, Done)
        return done.stays

    assert await says(("mail", "chat"), ()) is None
    assert await says(("chat",), ("mail",)) == "no channel 'mail' is configured"
    states = [r.state for r in (await world.chart(ticket)).outbox]
    assert states == ["queued", "no_channel"]


# A model that fails


@pytest.mark.parametrize(
    "kind", ["refused_key", "bad_request", "overflow", "unreachable"]
)
async def test_f70_a_model_that_gives_no_answer_is_people_s_and_nothing_is_said(
    lite: World, kind: str
) -> None:
    lite.house = replace(
        lite.house, limits=replace(lite.house.limits, model_patience=timedelta(0))
    )
    lite.model.failures = [ModelFailed("the model failed", kind=kind)] * 3
    ticket = await lite.opened()
    assert await lite.runs(ticket) is Stop.ERROR
    chart = await lite.chart(ticket)
    assert chart.lock.holder is None
    assert chart.standing.with_people is not None
    assert chart.standing.waiting_since is not None
    assert chart.outbox == ()
    assert len(await lite.journal(ticket, Escalated)) == 1


async def test_f70_a_model_that_hangs_is_given_up(lite: World) -> None:
    short = replace(lite.house.limits, model_patience=timedelta(seconds=0.05))
    lite.house = replace(lite.house, limits=short)
    lite.model.gate = Gate()
    ticket = await lite.opened()
    assert await asyncio.wait_for(lite.runs(ticket), 2) is Stop.ERROR
    assert (await lite.chart(ticket)).standing.with_people is not None


async def test_an_overloaded_model_is_asked_again(lite: World) -> None:
    lite.model.failures = [ModelFailed("busy", kind="overloaded")]
    ticket = await lite.opened()
    assert await lite.runs(ticket) is Stop.ANSWERED
    assert len(lite.model.bodies) == 2
    assert lite.model.bodies[0] == lite.model.bodies[1]


async def test_rule_15_an_answer_that_is_refused_or_cut_off_is_people_s(
    lite: World,
) -> None:
    for stop, came_to in (("refusal", Stop.REFUSED), ("max_tokens", Stop.ERROR)):
        lite.model.brain = lambda body, stop=stop: _cut(stop)
        ticket = await lite.opened()
        assert await lite.runs(ticket) is came_to
        assert (await lite.chart(ticket)).outbox == ()


def _cut(stop: str) -> BrainReply:
    return BrainReply(text="I was about to", stop=stop)


async def test_a_worker_that_stops_gives_the_ticket_back_and_it_stays_due(
    lite: World,
) -> None:
    gate = lite.model.gate = Gate()
    ticket = await lite.opened()
    running = asyncio.ensure_future(lite.runs(ticket))
    await gate.reached.wait()
    lite.stopping.set()
    assert await asyncio.wait_for(running, 2) is Stop.PAUSED
    assert await lite.due() == (ticket,)
    assert (await lite.chart(ticket)).lock.holder is None


# The lease


async def test_rule_11_a_run_longer_than_its_lease_keeps_its_ticket(
    world: World,
) -> None:
    short = replace(world.house.limits, lease=timedelta(seconds=0.6))
    world.house = replace(world.house, limits=short)
    gate = world.model.gate = Gate()
    ticket = await world.opened()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    loop = asyncio.get_running_loop()
    end = loop.time() + 1.2
    while loop.time() < end:
        assert await world.runs(ticket) is None
        await asyncio.sleep(0.05)
    gate.opened.set()
    assert await running is Stop.ANSWERED
    assert (await world.chart(ticket)).lock.token == 1


# A worker


async def drained(world: World) -> list[tuple[TicketId, Stop]]:
    """Runs a draining worker; every run that ended, in order."""
    ended: list[tuple[TicketId, Stop]] = []
    await asyncio.wait_for(
        serve(
            world.house,
            _worker(world),
            concurrency=2,
            drain=True,
            stopping=world.stopping,
            on_end=lambda ticket, over: ended.append((ticket, over.stop)),
        ),
        30,
    )
    return ended


def _worker(world: World) -> Worker:
    now = world.house.clock.now()
    return Worker(id="w1", host="here", pid=1, started_at=now, seen_at=now, alive=True)


async def test_a_draining_worker_answers_and_delivers_everything(world: World) -> None:
    tickets = [await world.opened(f"question {n}") for n in range(4)]
    ended = await drained(world)
    assert sorted(ended) == sorted((t, Stop.ANSWERED) for t in tickets)
    assert len(world.delivered()) == 4
    assert await world.store.read(lambda tx: tx.workers()) == ()
    assert all("question" in text_of(b, "user") for b in world.model.bodies)


async def test_a_provider_without_system_messages_is_told_the_facts_between_marks(
    lite: World,
) -> None:
    ticket = await lite.opened("What is the code?")
    await take_over(lite.store, ticket, ANA)
    await reply(lite.store, ticket, ANA, "It is ZED9.")
    back = GiveBack(to="agent", carry_on=True)
    await give_back(lite.store, ticket, ANA, back)
    lite.model.failures = [ModelFailed("role system", kind="no_system_role")]
    assert await drained(lite) == [(ticket, Stop.PAUSED), (ticket, Stop.ANSWERED)]
    refused, taken = lite.model.bodies
    assert [m["role"] for m in refused["messages"]][-1] == "system"
    assert {m["role"] for m in taken["messages"]} == {"user"}
    assert "<handoff:facts>" in text_of(taken)
    assert "ZED9" in text_of(taken)
