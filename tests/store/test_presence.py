"""Where people are, by what their consoles say."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from console.shapes import presence
from console.wording import doing
from core.ports import Presence, Transaction
from core.ticket import TicketId
from store.schema import presence as presence_table
from store.transaction import SqlStore

IDLE, BUSY = TicketId("T-IDLE"), TicketId("T-BUSY")


def at(
    ticket: TicketId,
    active_at: datetime,
    *,
    console: str = "",
    doing: str = "watching",
) -> Presence:
    return Presence(
        operator="Mira",
        ticket=ticket,
        doing=doing,
        active_at=active_at,
        seen_at=active_at,
        console=console,
    )


async def rows_age(store: SqlStore, console: str, by: timedelta) -> None:
    """Lets a console have been silent for a while."""

    def age(tx: Transaction) -> None:
        c = presence_table.c
        rows = sa.update(presence_table).where(c.console == console)
        tx._connection.execute(rows.values(seen_at=tx.now - by))  # type: ignore[attr-defined]

    await store.write(age)


async def seen(store: SqlStore) -> Presence:
    (only,) = await store.read(lambda tx: tx.presences())
    return only


async def test_where_a_busy_console_was_goes_with_it_and_the_other_one_tells(
    store: SqlStore,
) -> None:
    now = await store.read(lambda tx: tx.now)
    idle = at(IDLE, now - timedelta(minutes=8), console="a")
    busy = at(BUSY, now, console="b", doing="typing")
    for said in (idle, busy):
        await store.write(lambda tx, said=said: tx.report_presence(said))
    assert (await seen(store)).ticket == BUSY
    await rows_age(store, "b", timedelta(minutes=1))
    there = await seen(store)  # no key was pressed in the other
    assert (there.ticket, there.here) == (IDLE, True)
    await rows_age(store, "a", timedelta(minutes=2))
    gone = await seen(store)
    assert (gone.ticket, gone.here) == (BUSY, False)
    assert doing(gone, BUSY, now) == ", console closed"
    assert presence(BUSY, [gone]) == []


async def test_a_console_that_is_left_says_so_at_once_and_leaves_its_row_to_the_next(
    store: SqlStore,
) -> None:
    now = await store.read(lambda tx: tx.now)
    for n in range(5):
        for doing_ in ("typing", "closed"):
            said = at(BUSY, now, console=f"c{n}", doing=doing_)
            await store.write(lambda tx, said=said: tx.report_presence(said))
            assert (await seen(store)).here is (doing_ == "typing")

    def count(tx: Transaction) -> int:
        query = sa.select(sa.func.count()).select_from(presence_table)
        return tx._connection.scalar(query)  # type: ignore[attr-defined,no-any-return]

    assert await store.read(count) == 1


async def test_of_two_consoles_of_one_person_the_one_with_the_last_key_counts(
    store: SqlStore,
) -> None:
    now = await store.read(lambda tx: tx.now)

    idle = at(IDLE, now - timedelta(minutes=8), console="idle")
    busy = at(BUSY, now - timedelta(seconds=1), console="busy")
    for said in (idle, busy, idle):
        await store.write(lambda tx, said=said: tx.report_presence(said))
    there = await seen(store)
    later = await store.read(lambda tx: tx.now)
    assert (there.ticket, there.active_at) == (BUSY, busy.active_at)
    assert there.seen_at >= now
    assert doing(there, BUSY, later) == " · looks at it"
    assert [p["operator"] for p in presence(BUSY, [there])] == ["Mira"]  # type: ignore[union-attr,index,call-overload]

    fast = at(BUSY, now + timedelta(hours=1), console="busy")  # its clock is wrong
    await store.write(lambda tx: tx.report_presence(fast))
    later = await store.read(lambda tx: tx.now)
    again = at(IDLE, later, console="idle")
    await store.write(lambda tx: tx.report_presence(again))
    assert (await seen(store)).ticket == IDLE
