"""The journal's rows: appended, read in order, never changed here (rule 14).

A message's text has a column of its own instead of its place in the body, so that a
search finds words that were said and not words of the JSON around them, and no text
is kept twice.

A row that can't be decoded must not take the rest of the ticket with it: in its place
stands an entry that says so (`Quarantined`).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from core.journal import Body, Entry, Quarantined, from_json, kind_of, to_json
from core.ticket import TicketId, system
from store.codec import actor, object_of
from store.columns import Exact, loads
from store.faults import UNDECODABLE
from store.prepared import Prepared, PreparedInsert
from store.reading import Row
from store.schema import journal

_MESSAGE = "message"

_j = journal.c
_INSERT = PreparedInsert(journal)
READ: tuple[sa.ColumnElement[Any], ...] = (
    *(_j.seq, _j.at, _j.actor_kind, _j.actor_name, _j.kind, _j.text),
    # decoded one by one: one may be damaged
    sa.type_coerce(_j.body, Exact).label("body"),
)
"""The columns that make an entry."""

_IN_ORDER = Prepared(
    sa.select(*READ).where(_j.ticket_id == sa.bindparam("ticket")).order_by(_j.seq)
)

PAGE = 60
"""Entries that are read at a time where the newest are wanted: about twenty turns."""

_BACKWARDS = Prepared(
    sa.select(*READ)
    .where(_j.ticket_id == sa.bindparam("ticket"), _j.seq < sa.bindparam("before"))
    .order_by(_j.seq.desc())
    .limit(PAGE)
)
_NEWEST = 2**62


def insert(
    connection: sa.Connection, ticket: TicketId, entries: Sequence[Entry]
) -> None:
    """Stores entries whose seqs the caller has taken under the ticket's lock."""
    _INSERT.run(connection, [_values(ticket, e) for e in entries])


def read(connection: sa.Connection, ticket: TicketId) -> tuple[Entry, ...]:
    """The ticket's journal, in order."""
    return tuple(_IN_ORDER.each(connection, _entry, _undated, ticket=ticket))


def backwards(connection: sa.Connection, ticket: TicketId) -> Iterator[Entry]:
    """The ticket's journal from its end, as far as somebody reads it."""
    before = _NEWEST
    while page := _BACKWARDS.each(
        connection, _entry, _undated, ticket=ticket, before=before
    ):
        yield from page
        before = page[-1].seq


def checked(row: Row) -> Body:
    """What an entry holds, of a row with the columns of `READ`.

    Raises:
        Exception: One of `faults.UNDECODABLE`: the row is damaged.
    """
    actor(row.actor_kind, row.actor_name)
    return _body(row.kind, row.text, row.body)


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
    who = None
    try:
        who = actor(actor_kind, actor_name)
        body = _body(kind, text, stored)
    except UNDECODABLE as wrong:
        body = Quarantined(entry=seq, was=kind, reason=_reason(wrong))
    return Entry(seq=seq, at=at, actor=who or system(actor_name), body=body)


def _undated(row: Row) -> Entry:
    """Of a row of which more can't be read than its body."""
    reason = "its stored form is not what it should be"
    lost = Quarantined(entry=row.seq, was=row.kind, reason=reason)
    return Entry(seq=row.seq, at=row.at, actor=system(row.actor_name), body=lost)


def _body(kind: str, text: str | None, stored: str) -> Body:
    body = object_of(loads(stored))
    if kind == _MESSAGE:
        body = {**body, "text": text or ""}
    return from_json(kind, body)


def _reason(wrong: Exception) -> str:
    match wrong:
        case KeyError():
            return "this version knows no such kind of entry"
        case json.JSONDecodeError():
            return "its stored form is damaged"
        case _:
            return "its stored form is not what it should be"
