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
from store.schema import journal

_MESSAGE = "message"


def insert(
    connection: sa.Connection, ticket: TicketId, entries: Sequence[Entry]
) -> None:
    """Stores entries whose seqs the caller has taken under the ticket's lock."""
    connection.execute(sa.insert(journal), [_values(ticket, e) for e in entries])


def read(connection: sa.Connection, ticket: TicketId) -> tuple[Entry, ...]:
    """The ticket's journal, in order."""
    j = journal.c
    query = (
        sa.select(j.seq, j.at, j.actor_kind, j.actor_name, j.kind, j.text, j.body)
        .where(j.ticket_id == ticket)
        .order_by(j.seq)
    )
    return tuple(_entry(row) for row in connection.execute(query))


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


def _entry(row: sa.Row[int, object, str, str, str, str | None, object]) -> Entry:
    seq, at, actor_kind, actor_name, kind, text, stored = row
    body = object_of(stored)
    if kind == _MESSAGE:
        body = {**body, "text": text or ""}
    return Entry(
        seq=seq,
        at=at,  # type: ignore[arg-type] # the column's type gives a datetime
        actor=actor(actor_kind, actor_name),
        body=from_json(kind, body),
    )
