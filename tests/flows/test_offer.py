"""A ticket passed to a colleague: offered, accepted, declined (protocol "Release")."""

from core.flows.deliver import deliver_due
from core.flows.giving_back import GiveBack, GivenBack, give_back
from core.flows.handoff import note, reply, take_over
from core.flows.offer import decline
from core.flows.people import disable
from core.flows.person import Done, NotHolder, NotPossible
from core.journal import LockChanged, Refused
from core.lock import Acquired
from core.ports import QueueQuery
from core.ticket import Status, TicketId
from tests.flows.test_delivery import LATER, answered, by_post
from tests.flows.world import ANA, BEN, DEP, SUP, World

TO_BEN = GiveBack(to="ben", note="he knows her")


async def offered(world: World) -> TicketId:
    """A ticket that ana held and offers to ben; its buyer waits for an answer."""
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    assert isinstance(await give_back(world.store, ticket, ANA, TO_BEN), GivenBack)
    return ticket


async def in_view(world: World, view: str, name: str) -> list[TicketId]:
    query = QueueQuery(view=view, operator=name)
    rows = await world.store.read(lambda tx: tx.queue(query))
    return [row.ticket for row in rows]


async def changes(world: World, ticket: TicketId) -> list[str]:
    entries = await world.journal(ticket, LockChanged)
    return [e.body.change for e in entries]  # type: ignore[union-attr]


async def test_an_offered_ticket_is_in_the_colleague_s_view_and_nobody_s_yet(
    world: World,
) -> None:
    ticket = await offered(world)
    chart = await world.chart(ticket)
    assert chart.lock.holder is None
    assert (chart.standing.offered_to, chart.standing.offered_by) == ("ben", "ana")
    assert await in_view(world, "mine", "ben") == [ticket]
    assert await in_view(world, "human", "ben") == [ticket]
    assert await in_view(world, "mine", "ana") == []
    assert isinstance(await reply(world.store, ticket, ANA, "x"), NotHolder)
    assert isinstance(await reply(world.store, ticket, BEN, "x"), NotHolder)
    ends = await world.journal(ticket, LockChanged)
    assert [e.body.to for e in ends[1:2]] == ["ben"]  # type: ignore[union-attr]
    assert ends[1].body.until is not None  # type: ignore[union-attr]


async def test_rule_02_the_agent_is_silent_while_a_ticket_is_offered(
    world: World,
) -> None:
    ticket = await offered(world)
    await world.writes("Are you there?", ticket)
    await note(world.store, ticket, BEN, "look", for_agent=True)
    assert await world.due() == ()
    assert await world.runs(ticket) is None
    assert world.model.bodies == []


async def test_rule_02_what_failed_to_leave_stays_withheld_while_it_is_offered(
    world: World,
) -> None:
    post = by_post(world, failures=[LATER])
    ticket = await answered(world)
    await deliver_due(world.house)
    await take_over(world.store, ticket, ANA)
    await give_back(world.store, ticket, ANA, TO_BEN)
    await world.time_goes_by_in_the_outbox()
    await deliver_due(world.house)
    assert post.taken == []
    assert (await world.chart(ticket)).outbox[0].state == "withheld"


async def test_the_colleague_accepts_by_taking_it(world: World) -> None:
    ticket = await offered(world)
    assert isinstance(await take_over(world.store, ticket, BEN), Acquired)
    assert isinstance(await reply(world.store, ticket, BEN, "Hello."), Done)
    standing = (await world.chart(ticket)).standing
    assert (standing.held_by, standing.offered_to) == ("ben", None)
    assert standing.with_people is None
    assert await changes(world, ticket) == [
        *("acquired", "released", "offered", "acquired")
    ]


async def test_the_colleague_declines_and_it_is_before_everybody(world: World) -> None:
    ticket = await offered(world)
    assert isinstance(await decline(world.store, ticket, DEP), NotPossible)
    said_no = await decline(world.store, ticket, BEN, "not my field")
    assert isinstance(said_no, Done)
    assert isinstance(await decline(world.store, ticket, BEN), NotPossible)
    (row,) = await world.store.read(lambda tx: tx.queue_rows([ticket]))
    assert row.status is Status.NEEDS_HUMAN
    assert row.standing.with_people == "ben declined it"
    assert await in_view(world, "mine", "ben") == []
    assert await world.due() == ()
    refused = [e.actor.name for e in await world.journal(ticket, Refused)]
    assert refused == ["dep", "ben"]
    last = (await world.journal(ticket, LockChanged))[-1]
    assert last.body.why == "not my field"  # type: ignore[union-attr]


async def test_who_never_answers_keeps_a_ticket_from_nobody(lite: World) -> None:
    ticket = await offered(lite)
    assert isinstance(await take_over(lite.store, ticket, DEP), Acquired)
    standing = (await lite.chart(ticket)).standing
    assert (standing.held_by, standing.offered_to) == ("dep", None)
    assert isinstance(await decline(lite.store, ticket, BEN), NotPossible)


async def test_f71_what_was_offered_to_who_is_disabled_is_before_everybody(
    lite: World,
) -> None:
    ticket = await offered(lite)
    await disable(lite.store, SUP, "ben")
    standing = (await lite.chart(ticket)).standing
    assert standing.offered_to is None
    assert standing.with_people == "ben declined it"
    last = (await lite.journal(ticket, LockChanged))[-1]
    assert last.actor.name == "people"
    assert last.body.why == "ben was disabled"  # type: ignore[union-attr]


async def test_a_supervisor_passes_a_colleague_s_ticket_on_and_it_is_asked(
    lite: World,
) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)
    passed = GiveBack(to="ben", forced=True, why="ana is ill")
    assert isinstance(await give_back(lite.store, ticket, SUP, passed), GivenBack)
    assert isinstance(await reply(lite.store, ticket, ANA, "late"), NotHolder)
    standing = (await lite.chart(ticket)).standing
    assert (standing.offered_to, standing.offered_by) == ("ben", "sup")


async def test_after_a_declined_offer_the_agent_goes_on_once_it_is_given_back(
    lite: World,
) -> None:
    ticket = await offered(lite)
    await decline(lite.store, ticket, BEN)
    await take_over(lite.store, ticket, ANA)
    await give_back(lite.store, ticket, ANA, GiveBack(to="agent"))
    assert await lite.due() == (ticket,)
