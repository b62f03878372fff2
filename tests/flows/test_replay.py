"""A replay names the turn that can't be rebuilt, and how it differs (rule 9)."""

import sqlalchemy as sa

from core.flows.replay import BuiltByOther, Differs, Replayed, replay
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import World


async def replayed(world: World, statement: str) -> Replayed:
    """What a replay says of a run of two turns once rows were changed behind it."""
    ticket = await world.opened("Where is it?")
    assert await world.runs(ticket) is Stop.ANSWERED
    await world.writes("And now?", ticket)
    assert await world.runs(ticket) is Stop.ANSWERED
    assert isinstance(world.store, SqlStore)

    def change(connection: sa.Connection) -> None:
        connection.execute(sa.text(statement))

    await world.store._engine.write(change)
    return await replay(world.store, (await world.chart(ticket)).runs[1].id)


async def test_rule_09_a_request_that_can_t_be_rebuilt_is_shown_as_a_difference(
    world: World,
) -> None:
    forged = "UPDATE journal SET text = 'Where is she?' WHERE seq = 1"
    found = await replayed(world, forged)
    assert isinstance(found, Differs)
    assert (found.turn, found.what) == (1, "request")
    assert any(d.startswith("-") and "Where is it?" in d for d in found.diff)
    assert any(d.startswith("+") and "Where is she?" in d for d in found.diff)


async def test_rule_09_a_step_that_does_not_follow_is_shown_as_a_difference(
    world: World,
) -> None:
    newest = "(SELECT max(seq) FROM journal WHERE kind = 'message')"
    forged = f"UPDATE journal SET text = 'It is lost.' WHERE seq = {newest}"
    found = await replayed(world, forged)
    assert isinstance(found, Differs)
    assert (found.turn, found.what) == (1, "steps")
    assert any("It is on its way." in d for d in found.diff)
    assert any("It is lost." in d for d in found.diff)


async def test_rule_09_a_run_of_another_builder_says_so(lite: World) -> None:
    found = await replayed(lite, "UPDATE runs SET builder = 99")
    assert found == BuiltByOther(version=99)
