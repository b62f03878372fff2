"""Triage is set once by the agent, kept across follow-ups, changed only on purpose."""

from typing import Any

from core.journal import ToolReturned, Triaged
from core.ports import QueueQuery
from core.standing import status
from tests.flows.world import World, calls
from tests.worlds.brains import Reply, calls_in

FIRST = {"category": "delivery", "priority": "high"}
OTHER = {"category": "refund", "priority": "low"}


def triaging(*wanted: dict[str, Any]):  # type: ignore[no-untyped-def]
    """A model that triages with each of these in turn, then answers."""

    def brain(body: dict[str, Any]) -> Reply:
        made = len(calls_in(body))
        if made < len(wanted):
            return calls(("set_triage", wanted[made]))
        return Reply(text="Noted.")

    return brain


async def test_a_follow_up_keeps_the_triage_and_the_model_is_told(world: World) -> None:
    world.model.brain = triaging(FIRST)
    ticket = await world.opened("My parcel is late.")
    await world.runs(ticket)
    await world.writes("Actually, it started last Tuesday.", ticket)
    world.model.brain = triaging(FIRST, OTHER)
    await world.runs(ticket)
    set_once = await world.journal(ticket, Triaged)
    assert [e.body for e in set_once] == [Triaged(**FIRST)]
    results = await world.journal(ticket, ToolReturned)
    assert "Kept as it was: delivery, high" in str(results[-1].body)


async def test_a_change_of_triage_is_said_to_be_one(world: World) -> None:
    world.model.brain = triaging(FIRST, {**OTHER, "change": True})
    ticket = await world.opened("My parcel is late.")
    await world.runs(ticket)
    made = await world.journal(ticket, Triaged)
    assert [e.body for e in made] == [Triaged(**FIRST), Triaged(**OTHER)]
    chart = await world.chart(ticket)
    assert chart.standing.triage == ("refund", "low")
    (row,) = await world.store.read(lambda tx: tx.queue(QueueQuery()))
    assert row.standing.triage == ("refund", "low")
    assert row.status == status(chart.standing)


async def test_a_category_that_there_is_none_of_is_refused(lite: World) -> None:
    lite.model.brain = triaging({"category": "gossip", "priority": "high"})
    ticket = await lite.opened()
    await lite.runs(ticket)
    (result,) = await lite.journal(ticket, ToolReturned)
    assert result.body.is_error  # type: ignore[union-attr]
    assert await lite.journal(ticket, Triaged) == []
