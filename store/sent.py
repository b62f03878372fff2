"""What requests sent, message by message, each kept once (rule 9).

A request repeats nearly all of the one before it, so what is stored is what differs.
`bodies` holds each distinct message of a ticket once, packed, by its digest.
`run_messages` holds which digest stands at a position *from a turn on*: turns are
counted through the ticket (`stamp`), and the message at a position of a turn's request
is the one with the greatest stamp that is not above the turn's. A request that only
adds messages adds only rows for these, in a new run too, and is known by one digest of
all that it repeats; after folding, the positions that differ get new rows and the old
requests can still be read.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from typing import TypeAlias

import sqlalchemy as sa

from core.ticket import TicketId
from store.columns import unpacked
from store.prepared import PreparedInsert
from store.reading import Row, readable
from store.schema import bodies, run_messages

KEPT: tuple[sa.ColumnElement[bytes], ...] = (
    bodies.c.digest,
    # unpacked one by one: one may be damaged
    sa.type_coerce(bodies.c.content, sa.LargeBinary).label("kept"),
)
"""The columns of a message as sent."""

Places: TypeAlias = Sequence[tuple[int, int, bytes]]
"""Position, stamp and digest of a ticket's messages, in this order."""

_INSERT_PLACES = PreparedInsert(run_messages)
_INSERT_BODIES = PreparedInsert(bodies, unless_there=True)

_AT_ONCE = 500
"""Digests in one query: below what any database allows as parameters."""


def digest_of(content: bytes) -> bytes:
    """By which a message is known."""
    return hashlib.sha256(content).digest()


def whole(digests: Sequence[bytes]) -> bytes:
    """One digest for all messages of a request: an equal one begins like it."""
    return digest_of(b"".join(digests))


def body_of(row: Row) -> bytes:
    """A message, of a row with the columns of `KEPT`; raises where it is damaged."""
    content = unpacked(bytes(row.kept))
    if digest_of(content) != bytes(row.digest):
        message = "a message as sent is not what its digest says"
        raise ValueError(message)
    return content


def keep(
    connection: sa.Connection, ticket: TicketId, contents: Iterable[bytes]
) -> None:
    """Keeps messages, or other texts that are sent, unless they are there."""
    rows = [
        {"ticket_id": ticket, "digest": digest_of(content), "content": content}
        for content in contents
    ]
    _INSERT_BODIES.run(connection, rows)


def add(
    connection: sa.Connection,
    ticket: TicketId,
    stamp: int,
    messages: Sequence[bytes],
    *,
    repeats: tuple[int, bytes] | None,
) -> bytes:
    """Keeps a request, of which only what no earlier one of the ticket sent is new.

    Args:
        connection: The transaction's.
        ticket: Whose.
        stamp: Of its turn.
        messages: All that it sends.
        repeats: How many messages the ticket's last request had, and their digest.

    Returns:
        The digest of all its messages.
    """
    digests = [digest_of(message) for message in messages]
    if repeats is not None and whole(digests[: repeats[0]]) == repeats[1]:
        new = list(range(repeats[0], len(digests)))
    else:
        before = at(places(connection, ticket), stamp)
        new = [p for p, d in enumerate(digests) if before.get(p) != d]
    if new:
        keep(connection, ticket, [messages[p] for p in new])
        rows = [
            {"ticket_id": ticket, "position": p, "stamp": stamp, "digest": digests[p]}
            for p in new
        ]
        _INSERT_PLACES.run(connection, rows)
    return whole(digests)


def places(connection: sa.Connection, ticket: TicketId) -> Places:
    """Where which message stood in the ticket's requests, from which turn on."""
    m = run_messages.c
    query = (
        sa.select(m.position, m.stamp, m.digest)
        .where(m.ticket_id == ticket)
        .order_by(m.position, m.stamp)
    )
    return [(p, s, bytes(d)) for p, s, d in connection.execute(query)]


def at(stood: Places, stamp: int) -> Mapping[int, bytes]:
    """Position to digest as of a turn."""
    return {position: digest for position, since, digest in stood if since <= stamp}


def texts(
    connection: sa.Connection, ticket: TicketId, digests: Set[bytes], wrong: list[str]
) -> Mapping[bytes, bytes]:
    """Messages by their digests; one that can't be read is empty, and noted."""
    found: dict[bytes, bytes] = {}
    for some in _portions(digests):
        query = sa.select(*KEPT).where(
            bodies.c.ticket_id == ticket, bodies.c.digest.in_(some)
        )
        for row in connection.execute(query):
            found[bytes(row.digest)] = readable(
                partial(body_of, row), b"", wrong, "what it sent"
            )
    for missing in digests - found.keys():
        found[missing] = b""
        wrong.append("what it sent")
    return found


def _portions(digests: Iterable[bytes]) -> Iterable[list[bytes]]:
    ordered = sorted(digests)
    starts = range(0, len(ordered), _AT_ONCE)
    return (ordered[start : start + _AT_ONCE] for start in starts)
