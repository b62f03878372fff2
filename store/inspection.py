"""Every stored record, read once to find those that are damaged.

What is read is what the rest of the store reads, by the same functions, so that what
is found here is what would be mended, or left out, elsewhere. Of what lives for
minutes only (who looks at what, which workers live) nothing is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from core.ports import Damaged
from core.ticket import TicketId
from store import (
    canned,
    decisions,
    drafts,
    house,
    journal,
    ledger,
    locks,
    outbox,
    people,
    runs,
    schema,
    sent,
    tickets,
)
from store.reading import Row, walk


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One kind of record.

    Attributes:
        rows: All of its rows.
        check: Raises where a row is damaged.
        name: What people know a record by.
    """

    kind: str
    rows: sa.Select[*tuple[Any, ...]]
    check: Callable[[Row], object]
    name: Callable[[Row], str]


def damaged(connection: sa.Connection) -> tuple[Damaged, ...]:
    """The records that can't be read as they were written."""
    return tuple(
        found
        for look in _LOOKS
        for found in walk(connection, look.rows, look.check, _named(look))
        if isinstance(found, Damaged)
    )


def _named(look: _Look) -> Callable[[Row], Damaged]:
    def named(row: Row) -> Damaged:
        owner = row.id if look.kind == "ticket" else getattr(row, "ticket_id", None)
        ticket = None if owner is None else TicketId(owner)
        return Damaged(ticket=ticket, kind=look.kind, name=look.name(row))

    return named


def _missing(row: Row) -> None:
    message = f"a record of {row.ticket_id} is missing"
    raise ValueError(message)


_LOOKS = (
    _Look(
        kind="lock",
        rows=sa.select(schema.tickets.c.id.label("ticket_id")).where(
            ~sa.exists().where(schema.locks.c.ticket_id == schema.tickets.c.id)
        ),
        check=_missing,
        name=lambda row: f"of {row.ticket_id}, which is missing",
    ),
    _Look(
        kind="journal",
        rows=sa.select(schema.journal.c.ticket_id)
        .group_by(schema.journal.c.ticket_id)
        .having(sa.func.max(schema.journal.c.seq) > sa.func.count()),
        check=_missing,
        name=lambda _: "with a missing entry",
    ),
    _Look(
        kind="ticket",
        rows=sa.select(schema.tickets.c.id, *tickets.READ),
        check=lambda row: tickets.read(row, TicketId(row.id)),
        name=lambda row: str(row.id),
    ),
    _Look(
        kind="lock",
        rows=sa.select(schema.locks),
        check=lambda row: locks.read(row, TicketId(row.ticket_id)),
        name=lambda row: str(row.ticket_id),
    ),
    _Look(
        kind="entry",
        rows=sa.select(schema.journal.c.ticket_id, *journal.READ),
        check=journal.checked,
        name=lambda row: f"#{row.seq}",
    ),
    _Look(
        kind="decision",
        rows=sa.select(schema.decisions),
        check=decisions.made,
        name=lambda row: str(row.id),
    ),
    _Look(
        kind="action",
        rows=sa.select(schema.actions),
        check=ledger.made,
        name=lambda row: str(row.id),
    ),
    _Look(
        kind="event",
        rows=sa.select(schema.action_events),
        check=ledger.event_of,
        name=lambda row: f"{row.n} of {row.action_id}",
    ),
    _Look(
        kind="reply",
        rows=sa.select(schema.outbox),
        check=outbox.made,
        name=lambda row: str(row.message_id),
    ),
    _Look(
        kind="run",
        rows=sa.select(schema.runs),
        check=runs.checked,
        name=lambda row: str(row.id),
    ),
    _Look(
        kind="turn",
        rows=sa.select(schema.turns),
        check=runs.checked_turn,
        name=lambda row: f"{row.number} of {row.run_id}",
    ),
    _Look(
        kind="message as sent",
        rows=sa.select(schema.bodies.c.ticket_id, *sent.KEPT),
        check=sent.body_of,
        name=lambda row: bytes(row.digest).hex()[:12],
    ),
    _Look(
        kind="draft",
        rows=sa.select(schema.drafts),
        check=drafts.made,
        name=lambda row: str(row.operator),
    ),
    _Look(
        kind="operator",
        rows=sa.select(schema.operators),
        check=people.made,
        name=lambda row: str(row.name),
    ),
    _Look(
        kind="rules",
        rows=sa.select(schema.rules),
        check=house.rules_of,
        name=lambda row: str(row.version)[:12],
    ),
    _Look(
        kind="act",
        rows=sa.select(schema.house_acts),
        check=house.act_of,
        name=lambda row: str(row.n),
    ),
    _Look(
        kind="written reply",
        rows=sa.select(schema.canned),
        check=canned.made,
        name=lambda row: str(row.name),
    ),
)
