"""What the journal tells of a record whose own row can't be read.

The journal holds what was proposed and what moved (rule 14), so people can still see
what a damaged record was about. It doesn't hold all of it: a decision that was mended
stays unreadable, and is never approved or executed. Where a ticket stands is what its
journal comes to; where a part of that is lost too, people go on (rule 15).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import reduce

from core.decision import READY, Decision, DecisionState
from core.journal import (
    ActionChanged,
    Body,
    DecisionChanged,
    Entry,
    Escalated,
    Quarantined,
    ToolCalled,
    ToolReturned,
)
from core.ledger import Action, ActionEvent, ActionState
from core.quarantine import named, not_told, unreadable_entries
from core.standing import Standing, fold
from core.standing import replace as replace_in
from core.ticket import ActorKind, Json, RunId, TicketId
from core.tool import ToolResult


def rebuilt(journal: Sequence[Entry]) -> Standing:
    """Where a ticket stands by its journal alone."""
    standing = reduce(fold, journal, Standing())
    escalated = [b for b in to_be_told(journal) if isinstance(b, Escalated)]
    if not escalated or standing.with_people is not None:
        return standing
    return replace_in(standing, with_people=escalated[0].reason)


def to_be_told(
    journal: Sequence[Entry], lock_of: TicketId | None = None
) -> tuple[Body, ...]:
    """What people are told where something can't be read of which nobody knows.

    What an entry changed that is lost is not in a standing that was rebuilt: a buyer
    may wait, and no run would know. Where nobody can say who holds the ticket, no run
    takes it.

    Args:
        journal: The ticket's.
        lock_of: The ticket, where its lock can't be read.
    """
    found = list(unreadable_entries(journal))
    if lock_of is not None:
        why = "who holds the ticket is not known"
        found.append(Quarantined(reason=why, was="lock", record=lock_of))
    lost = not_told(found, journal)
    if not lost:
        return ()
    escalated = Escalated(
        reason=f"{named(lost)} can't be read: {lost[0].reason}",
        tried="where the ticket stands was read from its journal",
        summary="What is lost there is not known: the buyer may wait for an answer.",
    )
    return (*lost, escalated)


def decision_as_told(decision: Decision, journal: Iterable[Entry]) -> Decision:
    """The decision; one whose record can't be read as its ticket's journal tells it."""
    if decision.unreadable is None:
        return decision
    for entry in journal:
        match entry.body:
            case DecisionChanged(decision=name) as told if name == decision.id:
                decision = _told(decision, entry, told)
            case _:
                pass
    return decision


def _told(decision: Decision, entry: Entry, told: DecisionChanged) -> Decision:
    if told.state in set(DecisionState):
        decision = replace(decision, state=DecisionState(told.state))
    if decision.state in READY:
        return replace(decision, final_input=told.input, final_hash=told.hash)
    if told.state != DecisionState.PENDING or decision.hash:
        return decision
    by_agent = entry.actor.kind is ActorKind.AGENT
    return replace(
        decision,
        run=RunId(entry.actor.name) if by_agent else decision.run,
        call=told.call or "",
        tool=told.tool,
        input=told.input,
        hash=told.hash,
        rule=told.rule,
        amount=amount_of(told.amount),
        currency=told.currency,
        based_on=entry.seq,
        proposed_at=entry.at,
        expires_at=_time(told.expires_at) or decision.expires_at,
    )


def action_as_told(action: Action, journal: Iterable[Entry]) -> Action:
    """The action; one whose record can't be read as its ticket's journal tells it."""
    if action.unreadable is None:
        return action
    given, answer, moved = _call(action, journal)
    events = tuple(_with_answer(event, answer) for event in action.events)
    if moved is None:
        return replace(action, input=given, events=events)
    return replace(
        action,
        input=given,
        amount=action.amount or amount_of(moved.amount),
        currency=action.currency or moved.currency,
        object=action.object or moved.object,
        events=events,
    )


def _call(
    action: Action, journal: Iterable[Entry]
) -> tuple[Json, ToolReturned | None, ActionChanged | None]:
    """What was asked for, what came back, and what the journal said of the row."""
    given, answer, moved = action.input, None, None
    for entry in journal:
        match entry.body:
            case ToolCalled(id=call, input=asked) if call == action.call:
                given = given or asked
            case DecisionChanged(decision=name, input=asked) if name == action.decision:
                given = action.input or asked
            case ToolReturned(id=call) as body if call == action.call:
                answer = body
            case ActionChanged(action=name) as body if name == action.id:
                moved = body
            case _:
                pass
    return given, answer, moved


def _with_answer(event: ActionEvent, answer: ToolReturned | None) -> ActionEvent:
    """An event with its tool's answer, where that is what can't be read."""
    ended = event.state in {ActionState.DONE, ActionState.FAILED}
    if not ended or event.result is not None or event.evidence is not None:
        return event
    if answer is not None:
        told = ToolResult(content=answer.content, is_error=answer.is_error)
        return replace(event, result=told)
    done = event.state is ActionState.DONE
    words = "It was carried out" if done else "It was not carried out"
    content = f"{words}; the record of its result can't be read."
    return replace(event, result=ToolResult(content=content, is_error=not done))


def amount_of(text: str | None) -> Decimal | None:
    """An amount as the journal tells it, or None."""
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return None


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None
