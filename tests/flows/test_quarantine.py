"""A stored record that can't be used never takes its ticket with it (f80, rule 15)."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from core.adapters.anthropic_model import AnthropicModel
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.replay import Same, Unreadable, replay
from core.journal import Escalated, Quarantined
from core.ticket import TicketId
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import ANA, World, calls
from tests.worlds.brains import Reply, Script, text_of
from tests.worlds.messages_api import API_KEY, MessagesApi

LOOKS = calls(("get_order", {"order_id": "O-1"}))
BRAIN = Script(
    [replace(LOOKS, thinking="hm"), Reply(text="It left."), Reply(text="ok")]
)
HOURS = GiveBack(to="agent", carry_on=True)


async def changed(store: object, statement: str) -> None:
    """Changes rows as a damaged disk or a stranger would."""
    assert isinstance(store, SqlStore)

    def change(connection: sa.Connection) -> None:
        connection.execute(sa.text(statement))

    await store._engine.write(change)


async def answered(world: World) -> TicketId:
    """A ticket that the agent has answered, with a look into the shop."""
    world.model.brain = BRAIN
    ticket = await world.opened()
    assert await world.runs(ticket) is Stop.ANSWERED
    return ticket


async def person_answers(world: World, ticket: TicketId) -> None:
    """A person takes the ticket, answers and gives it back."""
    await world.delivers()
    await take_over(world.store, ticket, ANA)
    await reply(world.store, ticket, ANA, "I looked myself.")
    await give_back(world.store, ticket, ANA, GiveBack(to="agent", carry_on=True))


DAMAGE = {
    "a kind that is none": ("message", "kind = 'gossip'"),
    "a body without its fields": ("tool_call", "body = '{}'"),
    "a body that is no JSON": ("tool_result", "body = '{\"id\": '"),
    "a body of another form": ("thinking", "body = '{\"block\": 5}'"),
    "an actor that is none": ("message", "actor_kind = 'ghost'"),
}


@pytest.mark.parametrize(("kind", "damage"), DAMAGE.values(), ids=DAMAGE)
async def test_f80_a_damaged_entry_goes_to_people_once_and_the_next_turn_works(
    world: World, kind: str, damage: str
) -> None:
    ticket = await answered(world)
    seq = (await world.journal(ticket))[0].seq
    if kind != "message":
        [found] = [e for e in await world.journal(ticket) if e.kind == kind]
        seq = found.seq
    await changed(world.store, f"UPDATE journal SET {damage} WHERE seq = {seq}")
    await world.writes("and now?", ticket)

    assert await world.runs(ticket) is Stop.ERROR
    chart = await world.chart(ticket)
    [read, stored] = [e for e in chart.journal if isinstance(e.body, Quarantined)]
    [told] = [e.body for e in chart.journal if isinstance(e.body, Escalated)]
    assert (read.seq, stored.body.entry) == (seq, seq)  # type: ignore[union-attr]
    assert f"entry #{seq}" in told.reason
    assert chart.standing.with_people == told.reason

    await person_answers(world, ticket)
    await world.writes("thanks", ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    asked = text_of(world.model.bodies[-1])
    named = f"[#{seq}, " in asked and "stands here that can't be read" in asked
    assert named or "the record of its result can't be read" in asked


async def test_f80_a_result_that_can_t_be_read_is_not_said_to_be_not_run(
    world: World,
) -> None:
    ticket = await answered(world)
    await changed(world.store, "UPDATE journal SET body='' WHERE kind='tool_result'")
    await world.writes("and now?", ticket)
    await world.runs(ticket)
    await person_answers(world, ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert len(world.shop.calls) == 1
    asked = str(world.model.bodies[-1])
    assert "the record of its result can't be read" in asked
    assert "Not run" not in asked


RECORDS = {
    "the answer of turn 1": "UPDATE turns SET response = '{' WHERE number = 1",
    "its task state": "UPDATE runs SET task_state = '[]'",
    "how it ended": "UPDATE runs SET stop = 'gone'",
}


@pytest.mark.parametrize(("what", "damage"), RECORDS.items(), ids=RECORDS)
async def test_f80_a_damaged_run_record_goes_to_people_once_and_says_so(
    world: World, what: str, damage: str
) -> None:
    ticket = await answered(world)
    await changed(world.store, damage)
    [run] = (await world.chart(ticket)).runs
    assert run.unreadable == what
    assert await replay(world.store, run.id) == Unreadable(
        what=f"a part of its record: {what}"
    )
    await world.writes("and now?", ticket)
    assert await world.runs(ticket) is Stop.ERROR
    [told] = await world.journal(ticket, Escalated)
    assert run.id in told.body.reason  # type: ignore[union-attr]
    await person_answers(world, ticket)
    assert await world.runs(ticket) is Stop.ANSWERED


# A stored turn that the provider refuses


@pytest.fixture
async def served(world: World) -> AsyncIterator[tuple[World, MessagesApi]]:
    """The world, with its model behind a real server."""
    with MessagesApi(BRAIN, undeclared_tools=True) as api:
        model = AnthropicModel(api_key=API_KEY, base_url=api.url, timeout=20)
        world.house = replace(world.house, model=model)
        yield world, api
        await model.close()


def refuses(holding: str, place: str) -> Callable[[Any], str | None]:
    """Refuses a request whose message holds something, naming its place."""

    def look(body: Any) -> str | None:
        for at, message in enumerate(body["messages"]):
            if holding in str(message):
                return place.format(at=at)
        return None

    return look


REFUSED = {
    "a thought": ("'signature'", "messages.{at}.content.0: Invalid `signature`"),
    "a call": ("'tool_use'", "messages.{at}: this tool call is not taken"),
    "an answer": ("It left.", "messages.{at}.content.0.text: is not taken"),
    "a result": ("'c-1'", "messages.{at}.content.0.content: is not taken"),
    "a buyer's words": ("Where is", "messages.{at}.content.1: is not taken"),
}


@pytest.mark.parametrize(("holding", "place"), REFUSED.values(), ids=REFUSED)
async def test_f80_what_the_provider_refuses_is_left_out_and_the_next_turn_works(
    served: tuple[World, MessagesApi], holding: str, place: str
) -> None:
    world, api = served
    ticket = await world.opened()
    holding = "customer" if "c-1" in holding else holding
    assert await world.runs(ticket) is Stop.ANSWERED
    [first] = (await world.chart(ticket)).runs
    api.refuses = refuses(holding, place)
    await world.writes("and now?", ticket)

    assert await world.runs(ticket) is Stop.ERROR
    chart = await world.chart(ticket)
    found = [e.body for e in chart.journal if isinstance(e.body, Quarantined)]
    [told] = [e.body for e in chart.journal if isinstance(e.body, Escalated)]
    assert found
    assert all(f"#{q.entry} ({q.was})" in told.reason for q in found)
    assert "400 (invalid_request_error) about messages." in told.reason
    assert chart.runs[-1].stop is Stop.ERROR

    await person_answers(world, ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    asked = api.bodies()[-1]
    assert holding not in str(asked["messages"])
    assert api.violations() == []
    assert await replay(world.store, first.id) == Same(turns=2)
    for run in (await world.chart(ticket)).runs:
        assert isinstance(await replay(world.store, run.id), Same)


async def test_f80_what_a_call_that_is_left_out_came_to_is_told_as_a_fact(
    served: tuple[World, MessagesApi],
) -> None:
    world, api = served
    ticket = await world.opened()
    await world.runs(ticket)
    api.refuses = refuses("'tool_use'", "messages.{at}: this tool call is not taken")
    await world.writes("and now?", ticket)
    await world.runs(ticket)
    kinds = [
        e.body.was
        for e in await world.journal(ticket)
        if isinstance(e.body, Quarantined)
    ]
    assert kinds == ["thinking", "tool_call"]
    await person_answers(world, ticket)
    await world.runs(ticket)
    facts = text_of(api.bodies()[-1], "system")
    assert "A call of yours to get_order is left out here." in facts
    assert "The call that is left out returned:\n> " in facts
    assert "It left." in text_of(api.bodies()[-1], "assistant")


async def test_f80_what_is_refused_again_although_it_is_left_out_goes_to_people(
    served: tuple[World, MessagesApi],
) -> None:
    world, api = served
    ticket = await world.opened()
    api.refuses = lambda body: "messages.0.content.0: is not taken"
    assert await world.runs(ticket) is Stop.ERROR
    await person_answers(world, ticket)
    await world.writes("hello?", ticket)
    assert await world.runs(ticket) is Stop.ERROR
    standing = (await world.chart(ticket)).standing
    assert standing.with_people is not None
