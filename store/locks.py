"""The lock's row, one a ticket: the row that everything about a ticket queues at.

A writing transaction locks it before it reads anything else of the ticket (`at_hand`),
so that two of them never decide from the same state. Who may hold is decided
in `core.lock`; here is only kept what was decided. Leases are rows and not session
locks, which a connection pooler would break.
"""

from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa

from core.journal import Entry, LockChanged
from core.lock import FencingToken, Holder, HolderKind, Lock
from core.ticket import UNKNOWN_TIME, TicketId
from store.codec import number_of
from store.prepared import Prepared, PreparedInsert
from store.reading import Row
from store.schema import locks, tickets

READ = tuple(column for column in locks.c if column is not locks.c.ticket_id)
"""The columns that make a lock."""

KINDS = {None, *(kind.value for kind in HolderKind)}
"""What can be stored of a holder's kind."""

GONE = tuple(
    (sa.literal("gone") if column is locks.c.holder_kind else sa.null()).label(
        column.name
    )
    for column in READ
)
"""The same columns where a ticket has no lock: nobody can say who holds it."""

_INSERT = PreparedInsert(locks)
_UPDATE = Prepared(
    sa.update(locks).where(locks.c.ticket_id == sa.bindparam("ticket")),
    sets=[column.name for column in READ],
)
_PAUSED = sa.select(tickets.c.id).where(tickets.c.paused.is_not(None))


def insert(connection: sa.Connection, lock: Lock) -> None:
    """Stores the lock of a ticket that has none."""
    _INSERT.run(connection, [{"ticket_id": lock.ticket, **_values(lock)}])


def read(row: Row, ticket: TicketId) -> Lock:
    """The ticket's lock, of a row with `READ`'s columns; raises where it is damaged."""
    holder = None
    if row.holder_kind is not None:
        holder = Holder(kind=HolderKind(row.holder_kind), name=row.holder_name)
    return Lock(
        ticket=ticket,
        token=FencingToken(number_of(row.token)),
        holder=holder,
        since=row.since,
        expires_at=row.expires_at,
        wanted_by=row.wanted_by,
        wanted_since=row.wanted_since,
    )


def mended(row: Row, ticket: TicketId, journal: Iterable[Entry]) -> Lock:
    """The lock, of what can be read of a damaged row, and of the ticket's journal.

    A token that can't be read is the last that the journal tells of. A run's lease that
    can't be read is over: the token keeps that run out. A holder of no known kind
    counts as a person: the agent is silent until somebody who may takes the ticket by
    force (rule 2).
    """
    kind = row.holder_kind
    lost = kind not in KINDS
    if lost:
        kind = HolderKind.OPERATOR.value
    holder = None
    if kind is not None:
        holder = Holder(kind=HolderKind(kind), name=row.holder_name or "")
    token = row.token
    if not isinstance(token, int):
        moves = (e.body for e in journal if isinstance(e.body, LockChanged))
        token = max((moved.token for moved in moves), default=0)
    is_run = holder is not None and holder.kind is HolderKind.RUN
    return Lock(
        ticket=ticket,
        token=FencingToken(token),
        holder=holder,
        since=row.since if holder is None else row.since or UNKNOWN_TIME,
        expires_at=(row.expires_at or UNKNOWN_TIME) if is_run else None,
        wanted_by=row.wanted_by,
        wanted_since=row.wanted_since,
        unreadable=lost,
    )


def save(connection: sa.Connection, lock: Lock) -> None:
    """Stores the lock as a rule made it."""
    _UPDATE.run(connection, {"ticket": lock.ticket, **_values(lock)})


def dead_runs(
    connection: sa.Connection, now: datetime, limit: int
) -> tuple[TicketId, ...]:
    """Tickets that a run may take from a dead one, longest dead first."""
    query = (
        sa.select(locks.c.ticket_id)
        .where(locks.c.expires_at.is_not(None), locks.c.expires_at <= now)
        .where(locks.c.ticket_id.not_in(_PAUSED))
        .order_by(locks.c.expires_at)
        .limit(limit)
    )
    return tuple(TicketId(found) for found in connection.scalars(query))


def any_run(connection: sa.Connection, now: datetime, *, stopped: bool) -> bool:
    """Whether a run holds a ticket and will be followed: only runs have a lease.

    A dead run is followed by nobody as long as the agent is stopped on its ticket, or
    everywhere (`stopped`).
    """
    alive = locks.c.expires_at > now
    waits = sa.false() if stopped else locks.c.ticket_id.not_in(_PAUSED)
    query = sa.select(sa.literal(1)).where(
        locks.c.expires_at.is_not(None), alive | waits
    )
    return connection.execute(query.limit(1)).first() is not None


def _values(lock: Lock) -> dict[str, object]:
    return {
        "token": lock.token,
        "holder_kind": lock.holder.kind.value if lock.holder else None,
        "holder_name": lock.holder.name if lock.holder else None,
        "since": lock.since,
        "expires_at": lock.expires_at,
        "wanted_by": lock.wanted_by,
        "wanted_since": lock.wanted_since,
    }
