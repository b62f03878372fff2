"""The tickets' rows, the messages that arrived on them, and who is on them.

A row is written with the standing that the journal comes to, and the columns beside
it are derived here, in one place, so that an overview never shows what the journal
doesn't say. So a row that is damaged is made anew of the journal (`at_hand`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from core.standing import Standing, approval, status
from core.ticket import Origin, Status, Ticket, TicketId
from store.clauses import ChangeNumber
from store.codec import number_of, standing_from_json, standing_to_json
from store.prepared import Prepared, PreparedInsert
from store.reading import Row
from store.schema import arrivals, participants, tickets

_HARM_DOUBT, _HARM_WAITING, _HARM_EXPIRING, _HARM_PEOPLE, _HARM_REST, _HARM_OVER = (
    range(6)
)

_t = tickets.c
READ = (
    _t.subject,
    _t.channel,
    _t.claim,
    _t.origin,
    _t.created_at,
    _t.standing,
    _t.version,
)
"""The columns that make a ticket's row; the others are derived from them."""


@dataclass(slots=True, kw_only=True)
class TicketRow:
    """A ticket's row as a transaction found or made it."""

    ticket: Ticket
    standing: Standing
    version: int


def insert(connection: sa.Connection, row: TicketRow) -> None:
    """Stores a new ticket."""
    t = row.ticket
    fixed = {
        "id": t.id,
        "subject": t.subject,
        "channel": t.channel,
        "claim": t.claim,
        "origin": t.origin.value,
        "created_at": t.created_at,
    }
    _INSERT.run(connection, {**fixed, **_values(row)})


def save(connection: sa.Connection, row: TicketRow) -> None:
    """Stores where the ticket stands now."""
    _UPDATE.run(connection, {"ticket": row.ticket.id, **_values(row)})


_a, _p = arrivals.c, participants.c
_ARRIVED = Prepared(
    sa.select(_a.ticket_id, _a.seq).where(
        _a.channel == sa.bindparam("by"), _a.external_id == sa.bindparam("message")
    )
)
_ARRIVES = PreparedInsert(arrivals)
_ON_IT = Prepared(sa.select(_p.address).where(_p.ticket_id == sa.bindparam("ticket")))
_JOINS = PreparedInsert(participants)


def exists(connection: sa.Connection, ticket: TicketId) -> bool:
    """Whether there is such a ticket."""
    query = sa.select(sa.literal(1)).where(tickets.c.id == ticket)
    return connection.execute(query).first() is not None


def read(row: Row, ticket: TicketId) -> TicketRow:
    """The ticket, of a row with the columns of `READ`; raises where it is damaged."""
    version = number_of(row.version)
    standing = standing_from_json(row.standing, version)
    opened = _opened(row, ticket, Origin(row.origin))
    return TicketRow(ticket=opened, standing=standing, version=version)


def mended(row: Row, ticket: TicketId, standing: Standing) -> TicketRow:
    """The ticket, of what can be read of a damaged row, and of its journal.

    Where its origin can't be read, no run takes it: people do.
    """
    known = row.origin in {origin.value for origin in Origin}
    opened = _opened(row, ticket, Origin(row.origin) if known else Origin.IMPORTED)
    version = row.version if isinstance(row.version, int) else standing.last_seq
    return TicketRow(ticket=opened, standing=standing, version=version)


def _opened(row: Row, ticket: TicketId, origin: Origin) -> Ticket:
    return Ticket(
        id=ticket,
        subject=row.subject,
        channel=row.channel,
        claim=row.claim,
        origin=origin,
        created_at=row.created_at,
    )


def arrived(
    connection: sa.Connection, channel: str, external_id: str
) -> tuple[TicketId, int] | None:
    """Where a channel's message is stored, or None (rule 4)."""
    found = _ARRIVED.first(connection, by=channel, message=external_id)
    return None if found is None else (TicketId(found.ticket_id), found.seq)


def remember_arrival(
    connection: sa.Connection, channel: str, external_id: str, at: tuple[TicketId, int]
) -> None:
    """Stores that a channel's message is that journal entry; unique for the channel."""
    ticket, seq = at
    values = {"channel": channel, "external_id": external_id}
    _ARRIVES.run(connection, [{**values, "ticket_id": ticket, "seq": seq}])


def people_on(connection: sa.Connection, ticket: TicketId) -> frozenset[str]:
    """The addresses that are on a ticket."""
    return frozenset(row.address for row in _ON_IT.rows(connection, ticket=ticket))


def add_people(
    connection: sa.Connection, ticket: TicketId, addresses: Sequence[str]
) -> None:
    """Puts addresses on a ticket, lower-cased; those already there stay."""
    there = people_on(connection, ticket)
    new = sorted({address.lower() for address in addresses} - there)
    if new:
        rows = [{"ticket_id": ticket, "address": address} for address in new]
        _JOINS.run(connection, rows)


def _values(row: TicketRow) -> dict[str, object]:
    s = row.standing
    word = status(s)
    may_run = row.ticket.origin is not Origin.IMPORTED
    waits = s.waiting_since or s.last_at
    free = s.held_by is None and s.run is None
    agents = may_run and (s.run is not None or (s.due and free))
    asleep = s.snoozed_until is not None and word is not Status.IN_DOUBT
    caught = (s.withheld or s.undelivered) and not asleep
    people = word in {Status.NEEDS_HUMAN, Status.IN_DOUBT} or caught
    asks = approval(s)
    harm, order = _harm(s, word, row.ticket.created_at)
    return {
        "standing": standing_to_json(s),
        "version": row.version,
        "status": word.value,
        "updated_at": s.last_at or row.ticket.created_at,
        "customer": s.identity.customer if s.identity else None,
        "customer_name": s.identity.name if s.identity else None,
        "held_by": s.held_by,
        "wanted_by": s.wanted_by,
        "owner": s.owner,
        "offered_to": s.offered_to,
        "run_id": s.run,
        "due_since": waits if may_run and s.due and free else None,
        "for_people": 1 if people else None,
        "at_agent": 1 if agents else None,
        "approval": None if asks is None else asks.value,
        "paused": 1 if s.paused is not None else None,
        "snoozed_until": _time(s.snoozed_until),
        "harm": harm,
        "harm_order": order,
    }


def _harm(s: Standing, word: Status, created_at: datetime) -> tuple[int, int]:
    """Where the ticket stands in the queue: worst first, then by the number."""
    last = _micros(s.last_at or created_at)
    if word is Status.IN_DOUBT:
        return _HARM_DOUBT, last
    if word is Status.RESOLVED:
        return _HARM_OVER, -last
    if s.snoozed_until is not None:
        return _HARM_REST, -last
    ours = last if s.ours_since is None else _micros(s.ours_since)
    if s.waiting_since is not None:
        return _HARM_WAITING, ours
    if s.pending:
        ends = [waiting[3] for waiting in s.pending.values() if waiting[3]]
        soonest = min((datetime.fromisoformat(end) for end in ends), default=None)
        return _HARM_EXPIRING, last if soonest is None else _micros(soonest)
    if s.with_people is not None:
        return _HARM_PEOPLE, ours
    return _HARM_REST, -last


_FIXED = {"id", "subject", "channel", "claim", "origin", "created_at"}
_NUMBERED = {"change": ChangeNumber()}
_SET = [c.name for c in _t if c.name not in _FIXED | _NUMBERED.keys()]
_INSERT = Prepared(sa.insert(tickets).values(_NUMBERED), sets=[*sorted(_FIXED), *_SET])
_UPDATE = Prepared(
    sa.update(tickets).where(_t.id == sa.bindparam("ticket")).values(_NUMBERED),
    sets=_SET,
)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _micros(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)
