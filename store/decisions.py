"""The decisions' rows: the proposal as one document, its verdict in columns."""

from collections.abc import Iterable
from dataclasses import replace

import sqlalchemy as sa

from core.decision import READY, Decision, DecisionState
from core.ticket import TicketId
from store.codec import decision_from_json, decision_to_json
from store.faults import decoding
from store.prepared import Prepared, PreparedInsert, Row
from store.schema import decisions

_OLDEST_FIRST = (decisions.c.proposed_at, decisions.c.id)
_OF_TICKET = Prepared(
    sa.select(decisions)
    .where(decisions.c.ticket_id == sa.bindparam("ticket"))
    .order_by(*_OLDEST_FIRST)
)
_ID: sa.ColumnElement[bool] = decisions.c.id == sa.bindparam("decision")
_ONE = Prepared(sa.select(decisions).where(_ID))
_INSERT = PreparedInsert(decisions)
_UPDATE = Prepared(
    sa.update(decisions).where(_ID), sets=[column.name for column in decisions.c]
)
_OPEN = [state.value for state in (DecisionState.PENDING, *sorted(READY))]


def insert(connection: sa.Connection, decision: Decision) -> None:
    """Stores a new decision."""
    _INSERT.run(connection, [_values(decision)])


def save(connection: sa.Connection, decision: Decision) -> None:
    """Stores what became of a decision."""
    _UPDATE.run(connection, {"decision": decision.id, **_values(decision)})


def ticket_of(connection: sa.Connection, decision: str) -> TicketId | None:
    """Whose decision it is, or None."""
    found = _ONE.first(connection, decision=decision)
    return None if found is None else TicketId(found.ticket_id)


def read(connection: sa.Connection, decision: str) -> Decision | None:
    """A decision by its id."""
    found = _decisions(_ONE.rows(connection, decision=decision))
    return found[0] if found else None


def of_ticket(connection: sa.Connection, ticket: TicketId) -> tuple[Decision, ...]:
    """The ticket's decisions, oldest first."""
    return _decisions(_OF_TICKET.rows(connection, ticket=ticket))


def all_of_them(connection: sa.Connection, *, open_only: bool) -> tuple[Decision, ...]:
    """Decisions of all tickets, oldest first."""
    query = sa.select(decisions)
    if open_only:
        query = query.where(decisions.c.state.in_(_OPEN))
    return _read(connection, query)


def open_on(connection: sa.Connection, tool: str, acted_on: str) -> set[TicketId]:
    """The tickets with an open decision on a tool and this object."""
    found = all_of_them(connection, open_only=True)
    return {d.ticket for d in found if (d.tool, d.object) == (tool, acted_on)}


def _read(
    connection: sa.Connection, query: sa.Select[*tuple[object, ...]]
) -> tuple[Decision, ...]:
    return _decisions(connection.execute(query.order_by(*_OLDEST_FIRST)))


@decoding()
def _decisions(rows: Iterable[Row]) -> tuple[Decision, ...]:
    return tuple(
        replace(
            decision_from_json(r.id, r.ticket_id, r.proposed_at, r.document),
            state=DecisionState(r.state),
            proposed_by=r.proposed_by,
            four_eyes=r.four_eyes,
            first=r.first,
            decided_by=r.decided_by,
            decided_at=r.decided_at,
            why=r.why,
            final_input=r.final_input,
            final_hash=r.final_hash,
        )
        for r in rows
    )


def _values(decision: Decision) -> dict[str, object]:
    return {
        "id": decision.id,
        "ticket_id": decision.ticket,
        "state": decision.state.value,
        "proposed_at": decision.proposed_at,
        "proposed_by": decision.proposed_by,
        "four_eyes": decision.four_eyes,
        "document": decision_to_json(decision),
        "first": decision.first,
        "decided_by": decision.decided_by,
        "decided_at": decision.decided_at,
        "final_input": decision.final_input,
        "final_hash": decision.final_hash,
        "why": decision.why,
    }
