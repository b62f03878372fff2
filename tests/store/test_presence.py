"""Where people are, by what their consoles say."""

from datetime import datetime, timedelta

from console.shapes import presence
from console.wording import doing
from core.ports import Presence
from core.ticket import TicketId
from store.transaction import SqlStore

IDLE, BUSY = TicketId("T-IDLE"), TicketId("T-BUSY")


async def test_of_two_consoles_of_one_person_the_one_with_the_last_key_counts(
    store: SqlStore,
) -> None:
    now = await store.read(lambda tx: tx.now)

    def there(ticket: TicketId, active_at: datetime, seen_at: datetime) -> Presence:
        return Presence(
            operator="Mira",
            ticket=ticket,
            doing="watching",
            active_at=active_at,
            seen_at=seen_at,
        )

    idle = there(IDLE, now - timedelta(minutes=8), now)
    busy = there(BUSY, now - timedelta(seconds=1), now)
    for said in (idle, busy, idle):
        await store.write(lambda tx, said=said: tx.report_presence(said))
    [seen] = await store.read(lambda tx: tx.presences())
    at = await store.read(lambda tx: tx.now)
    assert (seen.ticket, seen.active_at) == (BUSY, busy.active_at)
    assert seen.seen_at >= now
    assert doing(seen, BUSY, at) == " · looks at it"
    assert [p["operator"] for p in presence(BUSY, [seen])] == ["Mira"]  # type: ignore[union-attr,index,call-overload]

    again = there(IDLE, at, at)
    await store.write(lambda tx: tx.report_presence(again))
    [seen] = await store.read(lambda tx: tx.presences())
    assert seen.ticket == IDLE
