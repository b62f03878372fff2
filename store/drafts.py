"""The drafts' rows: one for each operator, ticket and mode."""

import sqlalchemy as sa

from core.history import Draft
from core.ticket import TicketId
from store.prepared import Prepared
from store.reading import Row
from store.schema import drafts

_OF_TICKET = Prepared(
    sa.select(drafts)
    .where(drafts.c.ticket_id == sa.bindparam("ticket"))
    .order_by(drafts.c.operator, drafts.c.mode)
)


def save(connection: sa.Connection, draft: Draft) -> None:
    """Keeps unsent text in place of what was there; an empty text discards it."""
    discard(connection, draft)
    if not draft.text:
        return
    connection.execute(
        sa.insert(drafts),
        [
            {
                "ticket_id": draft.ticket,
                "operator": draft.operator,
                "mode": draft.mode,
                "text": draft.text,
                "written_at_seq": draft.written_at_seq,
                "updated_at": draft.updated_at,
            }
        ],
    )


def discard(connection: sa.Connection, draft: Draft) -> None:
    """Removes the draft of this operator, ticket and mode."""
    d = drafts.c
    same = (d.ticket_id == draft.ticket, d.operator == draft.operator)
    connection.execute(sa.delete(drafts).where(*same, d.mode == draft.mode))


def of_ticket(connection: sa.Connection, ticket: TicketId) -> tuple[Draft, ...]:
    """The ticket's drafts."""
    return tuple(_OF_TICKET.each(connection, made, ticket=ticket))


def made(row: Row) -> Draft:
    """The draft of a row; raises where it is damaged."""
    return Draft(
        ticket=TicketId(row.ticket_id),
        operator=row.operator,
        mode=row.mode,
        text=row.text,
        written_at_seq=row.written_at_seq,
        updated_at=row.updated_at,
    )
