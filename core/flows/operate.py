"""An operator uses a tool: under the same policy and ledger as the agent (rule 5).

The call is journaled as the operator's, judged, and carried out by the very flow that
carries out the agent's calls; what it came to is read from the records afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from core.decision import READY, Decision, Operator
from core.flows.act import carry_out, execute
from core.flows.house import Hands, Work, at_work
from core.flows.person import (
    Done,
    NotHolder,
    NotPossible,
    Refusal,
    as_of_now,
    hold_of,
    note_refusal,
)
from core.history import History
from core.journal import ActionChanged, Refused, ToolCalled, ToolReturned
from core.ledger import ActionEvent, ActionState
from core.ports import Store, Transaction
from core.ticket import Json, TicketId, operator
from core.tool import ToolResult, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """The tool answered; what it said is journaled."""

    call: str
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """The policy asks a supervisor first."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt:
    """The tool gave no answer; `key` is what its provider can be asked for."""

    action: str
    key: str


Operated: TypeAlias = Used | Proposed | InDoubt | Refusal


async def use_tool(
    hands: Hands, ticket: TicketId, by: Operator, tool: str, arguments: Json
) -> Operated:
    """The holder uses a tool.

    Raises:
        UnknownTicket: There is none.
        ToolLost: The tool servers can't be asked which tools there are.
        StoreUnreachable: Nothing was done.
    """
    specs = {s.name: s for s in await hands.tools.specs()}
    call = ToolCalled(id=hands.ids.new("C"), name=tool, input=arguments)

    def begin(tx: Transaction) -> tuple[Work, int] | NotHolder:
        hold = hold_of(tx.lock_of(ticket), as_of_now(tx, by))
        if isinstance(hold, NotHolder):
            return hold
        me = operator(by.name)
        since = tx.append_as(hold, me, call).seq
        return at_work(tx, hold, me, specs), since

    begun = await hands.store.write(begin)
    if isinstance(begun, NotHolder):
        await note_refusal(hands.store, ticket, by, tool, begun)
        return begun
    work, since = begun
    await carry_out(hands, work, call)
    history = await hands.store.read(lambda tx: tx.history(ticket))
    return _came_to(history, call.id, since)


async def execute_decision(
    hands: Hands, ticket: TicketId, by: Operator, decision_id: str
) -> Operated:
    """The holder executes an approved decision, with the approved arguments (rule 6).

    Raises:
        UnknownTicket: There is none.
        ToolLost: The tool servers can't be asked which tools there are.
        StoreUnreachable: Nothing was done.
    """
    specs: Mapping[str, ToolSpec] = {s.name: s for s in await hands.tools.specs()}

    def begin(tx: Transaction) -> tuple[Work, Decision, int] | Refusal:
        history = tx.history(ticket)
        hold = hold_of(history.lock, as_of_now(tx, by))
        decision = history.decision(decision_id)
        if isinstance(hold, NotHolder):
            return hold
        if decision is None:
            return NotPossible(why=f"{ticket} has no decision {decision_id}")
        if decision.state not in READY:
            return NotPossible(why=f"{decision_id} is {decision.state.value}")
        me = operator(by.name)
        work = at_work(tx, hold, me, specs)
        return work, decision, history.standing.last_seq

    begun = await hands.store.write(begin)
    await note_refusal(hands.store, ticket, by, decision_id, begun)
    if not isinstance(begun, tuple):
        return begun
    work, decision, since = begun
    if await execute(hands, work, decision) is not None:
        busy = NotPossible(why=f"{decision_id} is being carried out already: wait")
        await note_refusal(hands.store, ticket, by, decision_id, busy)
        return busy
    history = await hands.store.read(lambda tx: tx.history(ticket))
    return _came_to(history, decision.call, since)


def _came_to(history: History, call: str, since: int) -> Operated:
    """What the records say of a call that was just made."""
    action = history.action_for(call)
    if action is not None and action.open:
        return InDoubt(action=action.id, key=action.key)
    decision = history.decision_for(call)
    if decision is not None and decision.open:
        return Proposed(decision=decision)
    for entry in (e for e in history.journal if e.seq > since):
        match entry.body:
            case Refused(rule=rule, call=id_) if id_ == call:
                return NotPossible(why=rule)
            case ToolReturned(id=id_, content=content, is_error=failed) if id_ == call:
                return Used(
                    call=call, result=ToolResult(content=content, is_error=failed)
                )
            case ActionChanged(call=id_, state=state, evidence=told) if (
                id_ == call and told is not None
            ):
                failed = state != ActionState.DONE.value
                return Used(call=call, result=ToolResult(content=told, is_error=failed))
            case _:
                pass
    return NotPossible(why="nothing is known of the call")


async def settle_doubt(
    store: Store,
    ticket: TicketId,
    by: Operator,
    action_id: str,
    *,
    happened: bool,
    evidence: str,
) -> Done | Refusal:
    """The holder says what became of an action in doubt, and on what evidence.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was stored.
    """
    if not evidence.strip():
        return NotPossible(why="say how you know: the evidence is kept")

    def settle(tx: Transaction) -> Done | Refusal:
        history = tx.history(ticket)
        hold = hold_of(history.lock, as_of_now(tx, by))
        if isinstance(hold, NotHolder):
            return hold
        action = next((a for a in history.actions if a.id == action_id), None)
        if action is None:
            return NotPossible(why=f"{ticket} has no action {action_id}")
        if not action.open:
            return NotPossible(why=f"{action_id} is {action.state.value}")
        me = operator(by.name)
        state = ActionState.DONE if happened else ActionState.NOT_RUN
        n = len(action.events) + 1
        event = ActionEvent(n=n, at=tx.now, state=state, by=me, evidence=evidence)
        tx.record(hold, action_id, event)
        moved = ActionChanged(
            action=action.id,
            state=state.value,
            tool=action.tool,
            call=action.call,
            amount=str(action.amount) if action.amount is not None else None,
            currency=action.currency,
            object=action.object,
            evidence=f"{by.name} checked: {evidence}",
        )
        return Done(seq=tx.append_as(hold, me, moved).seq)

    outcome = await store.write(settle)
    await note_refusal(store, ticket, by, f"settle {action_id}", outcome)
    return outcome


async def ticket_of_action(store: Store, action_id: str) -> TicketId | None:
    """The ticket of an action, or None where there is no such action."""
    return await store.read(lambda tx: tx.ticket_of_action(action_id))
