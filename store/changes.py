"""The feed's question: which tickets have changed since a position.

Every write of a ticket's row carries the number of its transaction (`change`). On
SQLite that is a counter in the order of commits, so `change > position` misses
nothing. On PostgreSQL it is the transaction's id, and commits land out of order: there
the position is the *horizon*, below which no transaction is open any more. Everything
at or above the last horizon is looked at again, and what was told already is left
out by its version.
"""

import sqlalchemy as sa

from core.ticket import TicketId
from store.schema import feed, tickets

AT_HORIZON = """
SELECT h.horizon, t.id, t.version
FROM (
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon,
         pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS ahead
) h
LEFT JOIN tickets t ON t.change >= %s AND t.change < h.ahead
"""
"""One statement, hence one snapshot for the horizon and what lies above the last.

Rows from a dump of another server can carry numbers that this one hasn't reached.
"""

CHANNEL = "handoff_changes"
"""Where PostgreSQL's hints to look at once are told."""


def position(connection: sa.Connection) -> int:
    """SQLite's present position."""
    return connection.scalar(sa.select(feed.c.position)) or 0


def since(connection: sa.Connection, before: int) -> tuple[int, frozenset[TicketId]]:
    """SQLite's present position, and the tickets that changed after another."""
    now = position(connection)
    query = sa.select(tickets.c.id).where(tickets.c.change > before)
    return now, frozenset(TicketId(t) for t in connection.scalars(query))
