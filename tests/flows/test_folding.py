"""A long ticket: its past is folded, and never paid for again (rules 9, 10 and 15)."""

import json
from dataclasses import replace
from typing import Any

from core.errors import ModelFailed
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.replay import Same, replay
from core.flows.whatif import what_if
from core.journal import Compacted, Escalated
from core.turn import Prompt, PromptVersion, Stop
from tests.flows.world import ANA, World, calls
from tests.worlds.brains import Reply, answers, text_of

BUDGET = 3000
OTHER = Prompt(text="Be terse.", version=PromptVersion(version="9", sha256="9" * 64))


def brain(body: dict[str, Any]) -> Reply:
    """Sums up where it is asked to, else answers."""
    if "tools" not in body:
        return Reply(text="SUMMARY: the buyer asks about a parcel, again and again.")
    return Reply(text="It is on its way. " + "Thank you for your patience. " * 8)


def small(world: World) -> None:
    world.model.brain = brain
    limits = replace(world.house.limits, context_tokens=BUDGET, max_output_tokens=900)
    world.house = replace(world.house, limits=limits)


def tokens(body: dict[str, Any]) -> int:
    return len(json.dumps(body["messages"])) // 4


async def test_a_long_ticket_is_folded_and_its_requests_stay_small(
    world: World,
) -> None:
    small(world)
    ticket = await world.opened("Where is it? " * 20)
    for n in range(25):
        assert await world.runs(ticket) is Stop.ANSWERED
        await world.writes(f"And now, {n}? " + "I am waiting. " * 12, ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    folds = await world.journal(ticket, Compacted)
    assert len(folds) >= 2
    answered = [b for b in world.model.bodies if "tools" in b]
    assert max(map(tokens, answered)) < BUDGET
    chart = await world.chart(ticket)
    for run in chart.runs:
        assert isinstance(await replay(world.store, run.id), Same)


async def test_rule_10_resuming_does_not_pay_for_the_unfolded_past_again(
    lite: World,
) -> None:
    small(lite)
    ticket = await lite.opened("Where is it? " * 20)
    while not await lite.journal(ticket, Compacted):
        await lite.runs(ticket)
        await lite.writes("And now? " + "I am waiting. " * 12, ticket)
    await lite.runs(ticket)
    before = tokens(lite.model.bodies[-1])
    await lite.writes("And today?", ticket)
    await lite.runs(ticket)
    assert "tools" in lite.model.bodies[-1]
    assert tokens(lite.model.bodies[-1]) < before + 200


async def test_f73_a_colleagues_words_survive_folding(lite: World) -> None:
    small(lite)
    ticket = await lite.opened("my parcel is late")
    await take_over(lite.store, ticket, ANA)
    await reply(lite.store, ticket, ANA, "I gave you 10 % with the code ZED9")
    await give_back(lite.store, ticket, ANA, GiveBack(to="agent"))
    while not await lite.journal(ticket, Compacted):
        await lite.writes("Anything new? " + "I am waiting. " * 12, ticket)
        await lite.runs(ticket)
    await lite.writes("What was the code?", ticket)
    await lite.runs(ticket)
    assert "ZED9" in text_of(lite.model.bodies[-1])


async def test_an_overflow_that_the_provider_reports_is_folded_once_and_tried_again(
    lite: World,
) -> None:
    lite.model.brain = brain
    ticket = await lite.opened("Where is it? " * 20)
    for _ in range(6):
        await lite.runs(ticket)
        await lite.writes("And now? " + "I am waiting. " * 40, ticket)
    small(lite)
    lite.house = replace(
        lite.house, limits=replace(lite.house.limits, context_tokens=6000)
    )
    lite.model.failures = [ModelFailed("prompt is too long", kind="overflow")]
    assert await lite.runs(ticket) is Stop.ANSWERED
    assert len(await lite.journal(ticket, Compacted)) == 1


async def test_rule_15_what_overflows_again_after_it_was_folded_goes_to_people(
    world: World,
) -> None:
    world.model.brain = brain
    ticket = await world.opened("Where is it? " * 20)
    for _ in range(6):
        await world.runs(ticket)
        await world.writes("And now? " + "I am waiting. " * 40, ticket)
    small(world)
    limits = replace(world.house.limits, context_tokens=6000)
    world.house = replace(world.house, limits=limits)
    asked = len(world.model.bodies)
    model, overflow = world.model.brain, ModelFailed("too long", kind="overflow")

    def folds_only(body: dict[str, Any]) -> Reply:
        if "tools" in body:
            raise overflow
        return model(body)

    world.model.brain = folds_only
    assert await world.runs(ticket) is Stop.ERROR
    assert len(world.model.bodies) == asked + 3  # refused, folded, refused
    (entry,) = await world.journal(ticket, Escalated)
    assert "folded too" in entry.body.reason  # type: ignore[union-attr]
    assert await world.due() == ()


async def test_rule_15_what_cant_be_folded_goes_to_people(lite: World) -> None:
    small(lite)
    ticket = await lite.opened("word " * 5000)
    assert await lite.runs(ticket) is Stop.ERROR
    (entry,) = await lite.journal(ticket, Escalated)
    assert isinstance(entry.body, Escalated)
    assert "too long" in entry.body.reason
    assert lite.model.bodies == []


async def test_a_run_asked_again_with_another_prompt_shows_where_it_parts(
    lite: World,
) -> None:
    lite.model.brain = answers("It is on its way.")
    ticket = await lite.opened()
    await lite.runs(ticket)
    (run,) = (await lite.chart(ticket)).runs
    same = [
        c
        async for c in what_if(
            lite.store, lite.model, run.id, prompt=None, model_id=None
        )
    ]
    assert [c.acts_alike for c in same] == [True]
    lite.model.brain = lambda body: calls(("get_order", {"order_id": "SU-1"}))
    entries = len(await lite.journal(ticket))
    parted = [
        c
        async for c in what_if(
            lite.store, lite.model, run.id, prompt=OTHER, model_id="claude-opus-5"
        )
    ]
    assert [c.acts_alike for c in parted] == [False]
    assert parted[0].asked.calls == ('get_order {"order_id":"SU-1"}',)
    assert lite.model.bodies[-1]["model"] == "claude-opus-5"
    assert lite.model.bodies[-1]["system"].startswith("Be terse.")
    assert len(await lite.journal(ticket)) == entries
    assert lite.shop.calls == []
