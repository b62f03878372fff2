"""The overviews: what a run may take, what a screen lists, how many there are.

Each reads `tickets` alone, by an index made for it, and costs what it shows and not
what is stored. A search reads the texts that were said, which costs a scan of them.
Where a row can't be read, the caller says where the ticket stands (`rebuilt`).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import sqlalchemy as sa

from core.history import QueueRow
from core.ports import QueueQuery
from core.standing import Approval, Standing, status
from core.ticket import Status, TicketId
from store.codec import standing_from_json
from store.reading import Row, each_of
from store.schema import journal, tickets

_t = tickets.c
_SHOWN = (
    _t.id,
    _t.subject,
    _t.channel,
    _t.claim,
    _t.customer_name,
    _t.status,
    _t.standing,
    _t.created_at,
    _t.updated_at,
    _t.version,
)

Rebuilt: TypeAlias = Callable[[TicketId], Standing]


def due(connection: sa.Connection, limit: int) -> tuple[TicketId, ...]:
    """Free tickets at which the agent should look, longest waiting first."""
    query = (
        sa.select(_t.id)
        .where(_t.due_since.is_not(None))
        .order_by(_t.due_since)
        .limit(limit)
    )
    return tuple(TicketId(found) for found in connection.scalars(query))


def rows(
    connection: sa.Connection, query: QueueQuery, rebuilt: Rebuilt
) -> tuple[QueueRow, ...]:
    """Rows of the queue, by harm; of the approvals, what waits for a verdict first."""
    first = (_t.approval,) if query.view == "approvals" else ()
    listed = (
        sa.select(*_SHOWN)
        .where(*_view(query.view, query.operator), *_search(query.search))
        .order_by(*first, _t.harm, _t.harm_order, _t.id)
        .limit(query.limit)
        .offset(query.offset)
    )
    return _rows(connection, listed, rebuilt)


def of_customer(
    connection: sa.Connection, customer: str, rebuilt: Rebuilt
) -> tuple[QueueRow, ...]:
    """The tickets whose buyer is verified as this customer, newest first."""
    listed = (
        sa.select(*_SHOWN)
        .where(_t.customer == customer)
        .order_by(_t.created_at.desc(), _t.id)
    )
    return _rows(connection, listed, rebuilt)


def asleep_until(connection: sa.Connection, time: datetime) -> tuple[TicketId, ...]:
    """Tickets that sleep until a time that has come, longest first."""
    query = (
        sa.select(_t.id)
        .where(_t.snoozed_until.is_not(None), _t.snoozed_until <= time)
        .order_by(_t.snoozed_until)
    )
    return tuple(TicketId(found) for found in connection.scalars(query))


def rows_of(
    connection: sa.Connection, wanted: Sequence[TicketId], rebuilt: Rebuilt
) -> tuple[QueueRow, ...]:
    """The rows of these tickets, by harm; those that don't exist are left out."""
    listed = (
        sa.select(*_SHOWN)
        .where(_t.id.in_(wanted))
        .order_by(_t.harm, _t.harm_order, _t.id)
    )
    return _rows(connection, listed, rebuilt)


def counts(connection: sa.Connection, operator: str) -> Mapping[str, int]:
    """How many tickets each view holds; `approved`: of the approvals, the agent's."""
    number = sa.func.count()
    grouped = sa.select(_t.status, number.label("number")).group_by(_t.status)
    found = each_of(connection, grouped, lambda row: (row.status, row.number))
    by_status: dict[str, int] = dict(found)
    counted = {
        "all": sum(by_status.values()),
        "waiting": by_status.get(Status.WAITING_BUYER.value, 0),
        "resolved": by_status.get(Status.RESOLVED.value, 0),
    }
    for view in ("human", "mine", "agent"):
        query = sa.select(number).select_from(tickets).where(*_view(view, operator))
        counted[view] = connection.scalar(query) or 0
    waits = sa.select(number).select_from(tickets)
    persons = _t.approval < Approval.AGENT.value
    counted["approvals"] = connection.scalar(waits.where(persons)) or 0
    agents = _t.approval == Approval.AGENT.value
    counted["approved"] = connection.scalar(waits.where(agents)) or 0
    return counted


def _view(view: str, operator: str) -> tuple[sa.ColumnElement[bool], ...]:
    match view:
        case "human":
            return (_t.for_people.is_not(None),)
        case "approvals":
            return (_t.approval.is_not(None),)
        case "mine":
            mine = (_t.held_by, _t.wanted_by, _t.owner, _t.offered_to)
            return (sa.or_(*(who == operator for who in mine)),)
        case "agent":
            return (_t.at_agent.is_not(None),)
        case "waiting":
            return (_t.status == Status.WAITING_BUYER.value,)
        case "resolved":
            return (_t.status == Status.RESOLVED.value,)
        case "all":
            return ()
        case _:
            message = f"there is no view {view!r}"
            raise ValueError(message)


def _search(words: str) -> tuple[sa.ColumnElement[bool], ...]:
    """One condition a word; every character of it means itself."""
    return tuple(_holds(word) for word in words.split())


def _holds(word: str) -> sa.ColumnElement[bool]:
    said = sa.select(journal.c.ticket_id).where(
        journal.c.text.icontains(word, autoescape=True)
    )
    fields = (_t.id, _t.subject, _t.claim, _t.customer_name)
    return sa.or_(
        *(field.icontains(word, autoescape=True) for field in fields), _t.id.in_(said)
    )


def _rows(
    connection: sa.Connection, listed: sa.Select[*tuple[Any, ...]], rebuilt: Rebuilt
) -> tuple[QueueRow, ...]:
    def mended(row: Row) -> QueueRow:
        standing = rebuilt(TicketId(row.id))
        return _row(row, standing, status(standing), mended=True)

    return tuple(each_of(connection, listed, _made, mended))


def _made(row: Row) -> QueueRow:
    return _row(row, standing_from_json(row.standing, row.version), Status(row.status))


def _row(
    row: Row, standing: Standing, word: Status, *, mended: bool = False
) -> QueueRow:
    return QueueRow(
        ticket=TicketId(row.id),
        subject=row.subject,
        channel=row.channel,
        buyer=row.customer_name or row.claim,
        status=word,
        standing=standing,
        created_at=row.created_at,
        updated_at=row.updated_at,
        version=row.version,
        owner=standing.owner,
        mended=mended,
    )
