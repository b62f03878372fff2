"""The decisions' rows: the proposal as one document, its verdict in columns.

The proposal is written once and never again. One that can't be read says so
(`Decision.unreadable`), and holds what its columns tell; the journal tells more.
"""

from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from core.decision import READY, Decision, DecisionState
from core.ledger import OnObject
from core.ticket import RunId, TicketId
from store.codec import decision_from_json, decision_to_json
from store.prepared import Prepared, PreparedInsert
from store.reading import Row, each_of
from store.schema import decisions

_OLDEST_FIRST = (decisions.c.proposed_at, decisions.c.id)
_OF_TICKET = Prepared(
    sa.select(decisions)
    .where(decisions.c.ticket_id == sa.bindparam("ticket"))
    .order_by(*_OLDEST_FIRST)
)
_ID: sa.ColumnElement[bool] = decisions.c.id == sa.bindparam("decision")
_ONE = Prepared(sa.select(decisions).where(_ID))
_WHOSE = Prepared(sa.select(decisions.c.ticket_id).where(_ID))
_INSERT = PreparedInsert(decisions)
_UPDATE = Prepared(
    sa.update(decisions).where(_ID), sets=[column.name for column in decisions.c]
)
_CLOSE = Prepared(
    # of one that can't be read the proposal stays as it is
    sa.update(decisions).where(_ID),
    sets=["state", "decided_by", "decided_at", "why"],
)
_OF_OBJECT = Prepared(
    sa.select(decisions)
    .where(decisions.c.object == sa.bindparam("object"))
    .order_by(*_OLDEST_FIRST)
)
_OPEN = [state.value for state in (DecisionState.PENDING, *sorted(READY))]


def insert(connection: sa.Connection, decision: Decision) -> None:
    """Stores a new decision."""
    _INSERT.run(connection, [_values(decision)])


def save(connection: sa.Connection, decision: Decision) -> None:
    """Stores what became of a decision."""
    verdict = _UPDATE if decision.unreadable is None else _CLOSE
    verdict.run(connection, {"decision": decision.id, **_values(decision)})


def ticket_of(connection: sa.Connection, decision: str) -> TicketId | None:
    """Whose decision it is, or None."""
    found = _WHOSE.first(connection, decision=decision)
    return None if found is None else TicketId(found.ticket_id)


def read(connection: sa.Connection, decision: str) -> Decision | None:
    """A decision by its id."""
    found = _ONE.each(connection, made, mended, decision=decision)
    return found[0] if found else None


def of_ticket(connection: sa.Connection, ticket: TicketId) -> tuple[Decision, ...]:
    """The ticket's decisions, oldest first."""
    return tuple(_OF_TICKET.each(connection, made, mended, ticket=ticket))


def all_of_them(connection: sa.Connection, *, open_only: bool) -> tuple[Decision, ...]:
    """Decisions of all tickets, oldest first."""
    query = sa.select(decisions)
    if open_only:
        query = query.where(decisions.c.state.in_(_OPEN))
    return tuple(each_of(connection, query.order_by(*_OLDEST_FIRST), made, mended))


def open_on(connection: sa.Connection, tool: str, acted_on: str) -> set[TicketId]:
    """The tickets with an open decision on a tool and this object."""
    return {d.ticket for d in open_of(connection, acted_on) if d.tool == tool}


def open_of(connection: sa.Connection, acted_on: str) -> tuple[Decision, ...]:
    """The open decisions on an object, of whatever tool and ticket, oldest first."""
    found = _OF_OBJECT.each(connection, made, mended, object=acted_on)
    return tuple(d for d in found if d.open)


def waiting(decision: Decision) -> OnObject:
    """What is to be done to its object once it is settled, or executed."""
    amount, currency = decision.moves
    return OnObject(
        id=decision.id,
        ticket=decision.ticket,
        decision=decision.id,
        tool=decision.tool,
        amount=amount,
        currency=currency,
        state=decision.state.value,
        at=decision.decided_at or decision.proposed_at,
    )


def made(r: Row) -> Decision:
    """The decision of a row; raises where it is damaged."""
    return replace(
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


def mended(r: Row) -> Decision:
    """The decision, of what can be read of a damaged row."""
    known = r.state in {state.value for state in DecisionState}
    proposed_at: datetime = r.proposed_at
    return Decision(
        id=r.id,
        ticket=TicketId(r.ticket_id),
        run=RunId(""),
        proposed_by=r.proposed_by,
        call="",
        tool="",
        input=None,
        hash="",
        rule="",
        amount=None,
        currency=None,
        object=None,
        identity=None,
        evidence=(),
        based_on=0,
        four_eyes=r.four_eyes is True,
        proposed_at=proposed_at,
        expires_at=proposed_at,
        state=DecisionState(r.state) if known else DecisionState.WITHDRAWN,
        first=r.first,
        decided_by=r.decided_by,
        decided_at=r.decided_at,
        why=r.why,
        unreadable="the record",
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
        "object": decision.acts_on,
    }
