"""The feed's question: which tickets have changed since a position.

Every write of a ticket's row carries the number of its transaction (`change`). On
SQLite that is a counter in the order of commits, so `change > position` misses
nothing. On PostgreSQL it is the transaction's id, and commits land out of order: there
the position is the *horizon*, below which no transaction is open any more. Everything
at or above the last horizon is looked at again, and what was told already is left
out by its version.

What concerns the whole house is numbered without gaps, so there the newest number
that is seen tells enough.
"""

from dataclasses import dataclass

import sqlalchemy as sa

from core.ticket import TicketId
from store.schema import feed, house_acts, tickets

AT_HORIZON = """
SELECT h.horizon, t.id, t.version, h.act
FROM (
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon,
         pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS ahead,
         (SELECT max(n) FROM house_acts) AS act
) h
LEFT JOIN tickets t ON t.change >= %s AND t.change < h.ahead
"""
"""One statement, hence one snapshot for the horizon and what lies above the last.

Rows from a dump of another server can carry numbers that this one hasn't reached.
"""

CHANNEL = "handoff_changes"
"""Where PostgreSQL's hints to look at once are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a follower of SQLite is.

    Attributes:
        change: The number of the newest change of a ticket.
        act: The number of the newest act on the whole house.
    """

    change: int
    act: int


def position(connection: sa.Connection) -> Position:
    """SQLite's present position."""
    act = connection.scalar(sa.select(sa.func.max(house_acts.c.n)))
    change = connection.scalar(sa.select(feed.c.position))
    return Position(change=change or 0, act=act or 0)


def since(
    connection: sa.Connection, before: Position
) -> tuple[Position, frozenset[TicketId]]:
    """SQLite's present position, and the tickets that changed after another."""
    now = position(connection)
    query = sa.select(tickets.c.id).where(tickets.c.change > before.change)
    return now, frozenset(TicketId(t) for t in connection.scalars(query))
