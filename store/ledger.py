"""The ledger's rows: actions and their dated events, none updated in place (rule 5).

A row that can't be read says so (`Action.unreadable`). An event whose state can't be
read leaves its action in doubt: it is never guessed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa

from core.ledger import Action, ActionEvent, ActionState, OnObject
from core.ticket import UNKNOWN_TIME, Actor, TicketId, system
from store.codec import actor, result_from_json, result_to_json
from store.prepared import Prepared, PreparedInsert
from store.reading import Row, each_of
from store.schema import action_events, actions

_MOVED_NOTHING = [s.value for s in (ActionState.FAILED, ActionState.NOT_RUN)]
"""Any other state may have moved something, one that can't be read too."""

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


def of_ticket(connection: sa.Connection, ticket: TicketId) -> tuple[Action, ...]:
    """The ticket's actions with their events, oldest first."""
    found = _OF_TICKET.each(connection, made, mended, ticket=ticket)
    if not found:
        return ()
    events: defaultdict[str, list[_Told]] = defaultdict(list)
    for told in _EVENTS.each(connection, event_of, _mended_event, ticket=ticket):
        events[told.action].append(told)
    return tuple(_with_events(action, events[action.id]) for action in found)


def ticket_of(connection: sa.Connection, action: str) -> TicketId | None:
    """Whose action it is, or None."""
    found = connection.scalar(
        sa.select(actions.c.ticket_id).where(actions.c.id == action)
    )
    return None if found is None else TicketId(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What an action has moved: an amount, or None where it can't be read."""

    ticket: TicketId
    action: str
    tool: str
    amount: Decimal | None
    currency: str | None


def moved(
    connection: sa.Connection, since: datetime, tool: str | None = None
) -> list[Moved]:
    """What actions, done or open, have moved that were intended since, by tool."""
    e = action_events.c
    last = action_events.alias("last").c
    newest = (
        sa.select(sa.func.max(last.n))
        .where(last.action_id == actions.c.id)
        .scalar_subquery()
    )
    query = (
        sa.select(
            *(actions.c.ticket_id, actions.c.id, actions.c.tool),
            *(actions.c.amount, actions.c.currency),
        )
        .select_from(actions)
        .join(action_events, sa.and_(e.action_id == actions.c.id, e.n == newest))
        .where(
            actions.c.intended_at >= since,
            actions.c.amount.is_not(None),
            e.state.not_in(_MOVED_NOTHING),
        )
        .order_by(actions.c.tool)
    )
    if tool is not None:
        query = query.where(actions.c.tool == tool)
    return each_of(connection, query, _moved)


def _moved(row: Row) -> Moved:
    return Moved(
        ticket=TicketId(row.ticket_id),
        action=row.id,
        tool=row.tool,
        amount=row.amount,
        currency=row.currency,
    )


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


_LAST = action_events.alias("last")
_ON_OBJECT = Prepared(
    sa.select(
        *(actions.c.id, actions.c.ticket_id, actions.c.decision_id, actions.c.tool),
        *(actions.c.amount, actions.c.currency),
        *(action_events.c.state, action_events.c.at),
    )
    .select_from(actions)
    .join(action_events, action_events.c.action_id == actions.c.id)
    .where(
        actions.c.object == sa.bindparam("object"),
        ~sa.select(_LAST.c.n)
        .where(_LAST.c.action_id == actions.c.id, _LAST.c.n > action_events.c.n)
        .exists(),
    )
    .order_by(action_events.c.at, actions.c.id)
)
"""Actions by their newest event."""


def on_object(connection: sa.Connection, acted_on: str) -> list[OnObject]:
    """The actions on an object that moved something, or may have, oldest first."""
    found = _ON_OBJECT.each(connection, _on_object, object=acted_on)
    return [one for one in found if one.state not in _MOVED_NOTHING]


def _on_object(row: Row) -> OnObject:
    known = row.state in {state.value for state in ActionState}
    return OnObject(
        id=row.id,
        ticket=TicketId(row.ticket_id),
        decision=row.decision_id,
        tool=row.tool,
        amount=row.amount,
        currency=row.currency,
        state=row.state if known else ActionState.IN_DOUBT.value,
        at=row.at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """An event, whose, and what of it can't be read."""

    action: str
    event: ActionEvent
    lost: str | None = None


def event_of(row: Row) -> _Told:
    """The event of a row; raises where it is damaged."""
    event = ActionEvent(
        n=row.n,
        at=row.at,
        state=ActionState(row.state),
        by=actor(row.actor_kind, row.actor_name),
        result=result_from_json(row.result),
        evidence=row.evidence,
    )
    return _Told(action=row.action_id, event=event)


def _mended_event(row: Row) -> _Told:
    known = row.state in {state.value for state in ActionState}
    event = ActionEvent(
        n=row.n,
        at=row.at,
        state=ActionState(row.state) if known else ActionState.IN_DOUBT,
        by=_who(row),
        evidence=row.evidence if known else "its record can't be read",
    )
    what = "an event" if known else "what became of it"
    return _Told(action=row.action_id, event=event, lost=what)


def _with_events(action: Action, told: Sequence[_Told]) -> Action:
    lost = [said.lost for said in told if said.lost is not None]
    events = tuple(said.event for said in told)
    if not events:
        lost = ["what became of it"]
        events = (replace(_NO_EVENT, by=action.by),)
    if action.unreadable is not None:
        lost.insert(0, action.unreadable)
    return replace(action, events=events, unreadable=", ".join(lost) or None)


_NO_EVENT = ActionEvent(
    n=0,
    at=UNKNOWN_TIME,
    state=ActionState.IN_DOUBT,
    by=system("ledger"),
    evidence="its events can't be read",
)


def made(row: Row) -> Action:
    """The action of a row, without its events; raises where it is damaged."""
    by = actor(row.actor_kind, row.actor_name)
    return _action(row, by)


def mended(row: Row) -> Action:
    """The action, of what can be read of a damaged row."""
    return replace(_action(row, _who(row)), unreadable="its record")


def _action(row: Row, by: Actor) -> Action:
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
        by=by,
        events=(),
    )


def _who(row: Row) -> Actor:
    try:
        return actor(row.actor_kind, row.actor_name)
    except ValueError:
        return system(row.actor_name)
