"""The journal's rows: appended, read in order, never changed here (rule 14).

A message's text has a column of its own instead of its place in the body, so that a
search finds words that were said and not words of the JSON around them, and no text
is kept twice.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from core.journal import Entry, from_json, kind_of, to_json
from core.ticket import TicketId
from store.codec import actor, object_of
from store.faults import decoding
from store.prepared import Prepared, PreparedInsert, Row
from store.schema import journal

_MESSAGE = "message"

_j = journal.c
_INSERT = PreparedInsert(journal)
_IN_ORDER = Prepared(
    sa.select(_j.seq, _j.at, _j.actor_kind, _j.actor_name, _j.kind, _j.text, _j.body)
    .where(_j.ticket_id == sa.bindparam("ticket"))
    .order_by(_j.seq)
)


def insert(
    connection: sa.Connection, ticket: TicketId, entries: Sequence[Entry]
) -> None:
    """Stores entries whose seqs the caller has taken under the ticket's lock."""
    _INSERT.run(connection, [_values(ticket, e) for e in entries])


@decoding()
def read(connection: sa.Connection, ticket: TicketId) -> tuple[Entry, ...]:
    """The ticket's journal, in order."""
    return tuple(_entry(row) for row in _IN_ORDER.rows(connection, ticket=ticket))


def _values(ticket: TicketId, entry: Entry) -> dict[str, object]:
    kind = kind_of(entry.body)
    body = to_json(entry.body)
    return {
        "ticket_id": ticket,
        "seq": entry.seq,
        "at": entry.at,
        "actor_kind": entry.actor.kind.value,
        "actor_name": entry.actor.name,
        "kind": kind,
        "text": body.pop("text") if kind == _MESSAGE else None,
        "body": body,
    }


def _entry(row: Row) -> Entry:
    seq, at, actor_kind, actor_name, kind, text, stored = row
    body = object_of(stored)
    if kind == _MESSAGE:
        body = {**body, "text": text or ""}
    return Entry(
        seq=seq,
        at=at,
        actor=actor(actor_kind, actor_name),
        body=from_json(kind, body),
    )
