"""The replies' rows, from commit to delivery (protocol "Delivery").

`waits` marks what a sender still has to look at, so that finding it is one short
index however many replies were ever sent. What the agent has said waits there as long
as the agent is stopped. A row that can't be read says so (`Reply.unreadable`).
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

import sqlalchemy as sa

from core.history import Reply
from core.ticket import Actor, ActorKind, TicketId, system
from store.codec import actor
from store.prepared import Prepared, PreparedInsert
from store.reading import Row, each_of
from store.schema import outbox, tickets

LONG_SENDING = timedelta(minutes=2)
"""After how long a reply in the hands of a sender may be taken up again."""

_OF_TICKET = Prepared(
    sa.select(outbox)
    .where(outbox.c.ticket_id == sa.bindparam("ticket"))
    .order_by(outbox.c.seq, outbox.c.message_id)
)
_ID: sa.ColumnElement[bool] = outbox.c.message_id == sa.bindparam("message")
_ONE = Prepared(sa.select(outbox).where(_ID))
_WHOSE = Prepared(sa.select(outbox.c.ticket_id).where(_ID))
_INSERT = PreparedInsert(outbox)
_UPDATE = Prepared(
    sa.update(outbox).where(_ID), sets=[column.name for column in outbox.c]
)
_RECENT = 200
_OVER = ("delivered", "discarded")


def insert(connection: sa.Connection, reply: Reply, now: datetime) -> None:
    """Stores a new reply."""
    _INSERT.run(connection, [_values(reply, now)])


def save(connection: sa.Connection, reply: Reply, now: datetime) -> None:
    """Stores a reply's new state."""
    _UPDATE.run(connection, {"message": reply.message_id, **_values(reply, now)})


def ticket_of(connection: sa.Connection, message_id: str) -> TicketId | None:
    """Whose reply it is, or None."""
    found = _WHOSE.first(connection, message=message_id)
    return None if found is None else TicketId(found.ticket_id)


def read(connection: sa.Connection, message_id: str) -> Reply | None:
    """A reply by its id."""
    found = _ONE.each(connection, made, mended, message=message_id)
    return found[0] if found else None


def of_ticket(connection: sa.Connection, ticket: TicketId) -> tuple[Reply, ...]:
    """The ticket's replies, in the order of the journal."""
    return tuple(_OF_TICKET.each(connection, made, mended, ticket=ticket))


def overview(connection: sa.Connection) -> tuple[Reply, ...]:
    """All replies that are not over, and the last 200 that are, oldest first."""
    over = outbox.c.state.in_(_OVER)
    newest = outbox.c.created_at.desc(), outbox.c.message_id
    open_ones = sa.select(outbox).where(~over)
    ended = sa.select(outbox).where(over).order_by(*newest).limit(_RECENT)
    replies = [
        reply
        for query in (open_ones, ended)
        for reply in each_of(connection, query, made, mended)
    ]
    return tuple(sorted(replies, key=lambda r: (r.created_at, r.message_id)))


def deliverable(
    connection: sa.Connection, now: datetime, limit: int, *, stopped: bool
) -> tuple[Reply, ...]:
    """Replies that a sender may take up, oldest first.

    Args:
        connection: The connection.
        now: The database's clock.
        limit: How many at most.
        stopped: Whether the agent is stopped everywhere.
    """
    stuck = sa.and_(
        outbox.c.state == "sending", outbox.c.state_at <= now - LONG_SENDING
    )
    held_off = outbox.c.not_before.is_not(None) & (outbox.c.not_before > now)
    query = (
        sa.select(outbox)
        .where(outbox.c.waits.is_not(None), _may_go(stopped=stopped), ~held_off)
        .where((outbox.c.state == "queued") | stuck)
        .order_by(outbox.c.created_at, outbox.c.message_id)
        .limit(limit)
    )
    return tuple(each_of(connection, query, made, mended))


def stranded(connection: sa.Connection, channels: Collection[str]) -> tuple[Reply, ...]:
    """Replies without a channel whose channel is one of these, oldest first."""
    query = sa.select(outbox).where(
        outbox.c.state == sa.literal_column("'no_channel'"),
        outbox.c.channel.in_(channels),
    )
    ordered = query.order_by(outbox.c.created_at, outbox.c.message_id)
    return tuple(each_of(connection, ordered, made, mended))


def any_waiting(connection: sa.Connection, *, stopped: bool) -> bool:
    """Whether a reply is queued, held off for a time, or in the hands of a sender."""
    query = sa.select(sa.literal(1)).where(
        outbox.c.waits.is_not(None), _may_go(stopped=stopped)
    )
    return connection.execute(query.limit(1)).first() is not None


def _may_go(*, stopped: bool) -> sa.ColumnElement[bool]:
    """Not the agent's while it is stopped on the ticket or everywhere."""
    by_person = outbox.c.author_kind != ActorKind.AGENT.value
    if stopped:
        return by_person
    paused = sa.select(tickets.c.id).where(tickets.c.paused.is_not(None))
    return by_person | outbox.c.ticket_id.not_in(paused)


def ticket_by_message(connection: sa.Connection, message_id: str) -> TicketId | None:
    """Whose reply a mail's reference names, by our id of it or the channel's."""
    ours = outbox.c.message_id == message_id
    query = sa.select(outbox.c.ticket_id).where(
        ours | (outbox.c.provider_id == message_id)
    )
    found = connection.scalar(query.limit(1))
    return None if found is None else TicketId(found)


def _values(reply: Reply, now: datetime) -> dict[str, object]:
    return {
        "message_id": reply.message_id,
        "ticket_id": reply.ticket,
        "seq": reply.seq,
        "author_kind": reply.author.kind.value,
        "author_name": reply.author.name,
        "channel": reply.channel,
        "recipient": reply.to,
        "subject": reply.subject,
        "text": reply.text,
        "covers": reply.covers,
        "state": reply.state,
        "state_at": now,
        "waits": 1 if reply.state in {"queued", "sending"} else None,
        "created_at": reply.created_at,
        "not_before": reply.not_before,
        "attempts": reply.attempts,
        "delivered_at": reply.delivered_at,
        "provider_id": reply.provider_id,
        "why": reply.why,
        "in_reply_to": reply.in_reply_to,
    }


def made(row: Row) -> Reply:
    """The reply of a row; raises where it is damaged."""
    return _reply(row, actor(row.author_kind, row.author_name))


def mended(row: Row) -> Reply:
    """The reply, of what can be read of a damaged row."""
    reply = _reply(row, system(row.author_name))
    return replace(reply, unreadable="its record")


def _reply(row: Row, author: Actor) -> Reply:
    return Reply(
        message_id=row.message_id,
        ticket=TicketId(row.ticket_id),
        seq=row.seq,
        author=author,
        channel=row.channel,
        to=row.recipient,
        subject=row.subject,
        text=row.text,
        covers=row.covers,
        state=row.state,
        created_at=row.created_at,
        attempts=row.attempts,
        delivered_at=row.delivered_at,
        provider_id=row.provider_id,
        why=row.why,
        in_reply_to=row.in_reply_to,
        not_before=row.not_before,
    )
