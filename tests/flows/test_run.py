"""Whole runs: arrival, answer, delivery, takeover and back (rules 1, 2, 3 and 10)."""

import asyncio

from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import note, reply, take_over
from core.flows.replay import Same, replay
from core.journal import LockChanged, Message, RunChanged
from core.lock import Acquired, TakeoverWanted
from core.turn import Stop
from tests.flows.world import ANA, BEN, Gate, World, calls
from tests.worlds.brains import Reply, Script, answers, text_of


async def test_a_message_is_answered_and_the_answer_reaches_the_buyer(
    world: World,
) -> None:
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    (sent,) = await world.delivers()
    assert sent["text"] == "It is on its way."
    assert sent["to"] == "buyer@example.com"
    assert sent["in_reply_to"] == "<m1@example.com>"
    chart = await world.chart(ticket)
    assert chart.lock.holder is None
    assert chart.standing.unanswered == ()
    assert chart.runs[0].stop is Stop.ANSWERED
    assert await world.due() == ()


async def test_nothing_to_do_starts_no_run(world: World) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    assert await world.runs(ticket) is None
    assert len(world.model.bodies) == 1


async def test_rule_02_a_takeover_cancels_the_model_call_and_no_answer_is_sent(
    world: World,
) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    asked = await take_over(world.store, ticket, ANA)
    assert isinstance(asked, TakeoverWanted)
    assert await asyncio.wait_for(running, 2) is Stop.HANDED_OVER
    chart = await world.chart(ticket)
    assert chart.standing.held_by == "ana"
    assert chart.lock.token == 2
    assert await world.delivers() == []
    assert [e.body for e in await world.journal(ticket, Message)][1:] == []


async def test_f73_after_a_human_stretch_the_agent_knows_what_was_said(
    world: World,
) -> None:
    world.model.brain = answers("Hello.")
    ticket = await world.opened("my parcel is late")
    await take_over(world.store, ticket, ANA)
    await reply(world.store, ticket, ANA, "I gave you 10 % code ZED9")
    await world.writes("what was the code?", ticket)
    back = GiveBack(to="agent", note="be kind")
    await give_back(world.store, ticket, ANA, back)
    assert await world.runs(ticket) is Stop.ANSWERED
    told = text_of(world.model.bodies[-1], "system")
    assert "Your colleague ana (a person) answered the buyer:\n> I gave you" in told
    assert "left a note for you:\n> be kind" in told
    assert "Your colleague ana (a person) held the ticket from" in told
    assert "ZED9" not in text_of(world.model.bodies[-1], "user")
    texts = [sent["text"] for sent in await world.delivers()]
    assert texts == ["I gave you 10 % code ZED9", "Hello."]


async def test_f45_a_reply_committed_before_the_takeover_is_withheld(
    world: World,
) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    await take_over(world.store, ticket, ANA)
    assert await world.delivers() == []
    chart = await world.chart(ticket)
    assert [r.state for r in chart.outbox] == ["withheld"]
    assert chart.standing.withheld == (chart.outbox[0].seq,)


async def test_rule_03_a_message_during_the_model_call_is_another_turn(
    world: World,
) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await world.writes("and it is urgent", ticket)
    gate.opened.set()
    assert await asyncio.wait_for(running, 2) is Stop.ANSWERED
    assert len(world.model.bodies) == 2
    assert "and it is urgent" in text_of(world.model.bodies[1], "user")
    assert (await world.chart(ticket)).standing.unanswered == ()


async def test_rule_09_a_run_replays_byte_for_byte(world: World) -> None:
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await world.writes("more", ticket)
    gate.opened.set()
    await running
    (run,) = (await world.chart(ticket)).runs
    assert await replay(world.store, run.id) == Same(turns=2)


async def test_rule_14_the_journal_tells_the_whole_run_in_order(lite: World) -> None:
    ticket = await lite.opened()
    await lite.runs(ticket)
    await lite.delivers()
    kinds = [e.kind for e in await lite.journal(ticket)]
    assert kinds == [
        *("message", "lock", "run", "run", "message", "run", "lock", "delivery")
    ]
    changes = [e.body for e in await lite.journal(ticket, LockChanged, RunChanged)]
    assert [c.change for c in changes] == [  # type: ignore[union-attr]
        *("acquired", "started", "turn", "ended", "released")
    ]


async def test_rule_02_a_free_ticket_is_taken_at_once(world: World) -> None:
    ticket = await world.opened()
    taken = await take_over(world.store, ticket, ANA)
    assert isinstance(taken, Acquired)
    assert await world.due() == ()
    assert await world.runs(ticket) is None


async def test_a_whisper_reaches_the_running_agent_at_its_next_turn(
    world: World,
) -> None:
    world.model.brain = Script(
        [calls(("get_order", {"order_id": "O-1"})), Reply(text="Hello.")]
    )
    ticket = await world.opened()
    gate = world.model.gate = Gate()
    running = asyncio.ensure_future(world.runs(ticket))
    await gate.reached.wait()
    await note(world.store, ticket, BEN, "offer him a call", for_agent=True)
    gate.opened.set()
    assert await asyncio.wait_for(running, 5) is Stop.ANSWERED
    first, second = (text_of(body, "system") for body in world.model.bodies)
    assert "offer him a call" not in first
    assert "Your colleague ben (a person) left a note for you" in second
    assert (await world.chart(ticket)).standing.held_by is None
    assert "offer him a call" not in str(await world.delivers())
