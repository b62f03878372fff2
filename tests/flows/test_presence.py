"""Who is there: presence is shown and decides nothing (F88, F90)."""

from datetime import timedelta

from core.ports import Presence
from core.ticket import TicketId
from tests.flows.world import World


async def test_f90_the_last_report_of_each_console_is_kept(world: World) -> None:
    now = await world.store.read(lambda tx: tx.now)
    ticket = await world.opened()

    def said(who: str, doing: str, at: TicketId | None) -> Presence:
        long_ago = now - timedelta(minutes=12)
        return Presence(
            operator=who, ticket=at, doing=doing, active_at=long_ago, seen_at=long_ago
        )

    for one in (
        said("ana", "watching", None),
        said("ben", "watching", ticket),
        said("ana", "typing", ticket),
    ):
        await world.store.write(lambda tx, one=one: tx.report_presence(one))
    ana, ben = await world.store.read(lambda tx: tx.presences())
    assert (ana.operator, ana.doing, ana.ticket) == ("ana", "typing", ticket)
    assert (ben.operator, ben.doing) == ("ben", "watching")
    assert ana.active_at == now - timedelta(minutes=12)
    assert ana.seen_at >= now
    assert (await world.chart(ticket)).lock.holder is None
