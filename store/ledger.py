"""The ledger's rows: actions and their dated events, none updated in place (rule 5)."""

from collections import defaultdict
from datetime import datetime
from itertools import groupby

import sqlalchemy as sa

from core.ledger import Action, ActionEvent, ActionState, Sums, by_currency
from core.ticket import TicketId
from store.codec import actor, result_from_json, result_to_json
from store.faults import decoding
from store.prepared import Prepared, PreparedInsert, Row
from store.schema import action_events, actions

_MOVED = [
    s.value for s in (ActionState.INTENDED, ActionState.IN_DOUBT, ActionState.DONE)
]

_INSERT = PreparedInsert(actions)
_INSERT_EVENT = PreparedInsert(action_events)
_TICKET: sa.BindParameter[str] = sa.bindparam("ticket")
_OF_TICKET = Prepared(
    sa.select(actions)
    .where(actions.c.ticket_id == _TICKET)
    .order_by(actions.c.intended_at, actions.c.id)
)
_EVENTS = Prepared(
    sa.select(action_events)
    .where(action_events.c.ticket_id == _TICKET)
    .order_by(action_events.c.action_id, action_events.c.n)
)


_ENDED = [s.value for s in (ActionState.DONE, ActionState.FAILED, ActionState.NOT_RUN)]


def insert(connection: sa.Connection, action: Action) -> None:
    """Stores an action with its events so far."""
    _INSERT.run(
        connection,
        [
            {
                "id": action.id,
                "ticket_id": action.ticket,
                "key": action.key,
                "call": action.call,
                "decision_id": action.decision,
                "tool": action.tool,
                "input": action.input,
                "amount": action.amount,
                "currency": action.currency,
                "object": action.object,
                "identity": action.identity,
                "token": action.token,
                "policy": action.policy,
                "actor_kind": action.by.kind.value,
                "actor_name": action.by.name,
                "intended_at": action.events[0].at,
            }
        ],
    )
    for event in action.events:
        add_event(connection, action.ticket, action.id, event)


def add_event(
    connection: sa.Connection, ticket: TicketId, action: str, event: ActionEvent
) -> None:
    """Adds a dated event to an action."""
    _INSERT_EVENT.run(
        connection,
        [
            {
                "action_id": action,
                "n": event.n,
                "ticket_id": ticket,
                "at": event.at,
                "state": event.state.value,
                "actor_kind": event.by.kind.value,
                "actor_name": event.by.name,
                "result": result_to_json(event.result),
                "evidence": event.evidence,
            }
        ],
    )


@decoding()
def of_ticket(connection: sa.Connection, ticket: TicketId) -> tuple[Action, ...]:
    """The ticket's actions with their events, oldest first."""
    found = _OF_TICKET.rows(connection, ticket=ticket)
    if not found:
        return ()
    events = _events(connection, ticket)
    return tuple(_action(row, tuple(events[row.id])) for row in found)


def ticket_of(connection: sa.Connection, action: str) -> TicketId | None:
    """Whose action it is, or None."""
    found = connection.scalar(
        sa.select(actions.c.ticket_id).where(actions.c.id == action)
    )
    return None if found is None else TicketId(found)


def moved(
    connection: sa.Connection, since: datetime, tool: str | None = None
) -> dict[str, Sums]:
    """What actions, done or open, have moved that were intended since, by tool."""
    e = action_events.c
    last = action_events.alias("last").c
    newest = (
        sa.select(sa.func.max(last.n))
        .where(last.action_id == actions.c.id)
        .scalar_subquery()
    )
    query = (
        sa.select(actions.c.tool, actions.c.amount, actions.c.currency)
        .select_from(actions)
        .join(action_events, sa.and_(e.action_id == actions.c.id, e.n == newest))
        .where(
            actions.c.intended_at >= since,
            actions.c.amount.is_not(None),
            e.state.in_(_MOVED),
        )
        .order_by(actions.c.tool)
    )
    if tool is not None:
        query = query.where(actions.c.tool == tool)
    found = connection.execute(query).all()
    return {
        name: by_currency((row.amount, row.currency) for row in rows)
        for name, rows in groupby(found, key=lambda row: row.tool)
    }


def open_on(connection: sa.Connection, tool: str, acted_on: str) -> set[TicketId]:
    """The tickets with an action of a tool on this object whose end nobody knows."""
    e = action_events.c
    settled = sa.select(e.action_id).where(
        e.action_id == actions.c.id, e.state.in_(_ENDED)
    )
    query = sa.select(actions.c.ticket_id).where(
        actions.c.object == acted_on, actions.c.tool == tool, ~settled.exists()
    )
    return {TicketId(ticket) for ticket in connection.scalars(query)}


def _events(
    connection: sa.Connection, ticket: TicketId
) -> defaultdict[str, list[ActionEvent]]:
    events: defaultdict[str, list[ActionEvent]] = defaultdict(list)
    for row in _EVENTS.rows(connection, ticket=ticket):
        events[row.action_id].append(
            ActionEvent(
                n=row.n,
                at=row.at,
                state=ActionState(row.state),
                by=actor(row.actor_kind, row.actor_name),
                result=result_from_json(row.result),
                evidence=row.evidence,
            )
        )
    return events


def _action(row: Row, events: tuple[ActionEvent, ...]) -> Action:
    return Action(
        id=row.id,
        ticket=TicketId(row.ticket_id),
        key=row.key,
        call=row.call,
        decision=row.decision_id,
        tool=row.tool,
        input=row.input,
        amount=row.amount,
        currency=row.currency,
        object=row.object,
        identity=row.identity,
        token=row.token,
        policy=row.policy,
        by=actor(row.actor_kind, row.actor_name),
        events=events,
    )
