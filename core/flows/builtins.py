"""What the agent's own tools do: each within the transaction that asks for it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from core.boundary import seen_at
from core.builtin import BUILTINS, ESCALATE, SET_TRIAGE, UPDATE_STATE, WITHDRAW
from core.decision import DecisionState
from core.fitting import invalid_arguments
from core.flows.house import Work
from core.flows.speak import say
from core.history import History
from core.journal import (
    DecisionChanged,
    Escalated,
    StateAmended,
    ToolReturned,
    Triaged,
)
from core.ports import Transaction
from core.ticket import Json, JsonObject
from core.tool import ToolCall

_SPECS = {s.name: s for s in BUILTINS}


def do_builtin(tx: Transaction, work: Work, history: History, call: ToolCall) -> None:
    """Does what the call asks for and stores what the model is told."""
    given = call.input
    wrong = invalid_arguments(_SPECS[call.name], given)
    if wrong is not None or not isinstance(given, Mapping):
        _tell(tx, work, call, f"Not done: {wrong}", is_error=True)
        return
    _DOES[call.name](tx, work, history, call, given)


def _triage(
    tx: Transaction, work: Work, history: History, call: ToolCall, given: JsonObject
) -> None:
    wanted = (str(given.get("category")), str(given.get("priority")))
    known = history.standing.triage
    if known is not None and known != wanted and given.get("change") is not True:
        kept = f"Kept as it was: {known[0]}, {known[1]}. To change it, say change=true."
        _tell(tx, work, call, kept)
        return
    if known != wanted:
        triaged = Triaged(category=wanted[0], priority=wanted[1])
        tx.append_as(work.hold, work.actor, triaged)
    _tell(tx, work, call, f"Triaged as {wanted[0]}, {wanted[1]}.")


def _update_state(
    tx: Transaction, work: Work, _history: History, call: ToolCall, given: JsonObject
) -> None:
    patch = given.get("patch")
    amended = StateAmended(patch=patch if isinstance(patch, Mapping) else {})
    tx.append_as(work.hold, work.actor, amended)
    _tell(tx, work, call, "Noted.")


def _escalate(
    tx: Transaction, work: Work, history: History, call: ToolCall, given: JsonObject
) -> None:
    _tell(tx, work, call, "Handed to people. Your work on the ticket ends here.")
    escalated = Escalated(
        reason=str(given.get("reason")),
        tried=str(given.get("tried")),
        summary=str(given.get("summary")),
    )
    message = given.get("message_to_buyer")
    seen = seen_at(history, call.id)
    if isinstance(message, str) and message.strip() and seen:
        words, hold_off = message.strip(), work.hold_off
        say(tx, work.hold, history, work.actor, words, seen, hold_off=hold_off)
    tx.append_as(work.hold, work.actor, escalated)


def _withdraw(
    tx: Transaction, work: Work, history: History, call: ToolCall, given: JsonObject
) -> None:
    decision = history.decision(str(given.get("decision")))
    if decision is None:
        _tell(
            tx, work, call, "There is no such proposal on this ticket.", is_error=True
        )
        return
    if decision.state is not DecisionState.PENDING:
        told = f"Too late: {decision.id} is {decision.state.value}."
        _tell(tx, work, call, told, is_error=True)
        return
    why = str(given.get("why"))
    tx.save_decision(replace(decision, state=DecisionState.WITHDRAWN, why=why))
    withdrawn = DecisionChanged(
        decision=decision.id,
        state=DecisionState.WITHDRAWN.value,
        tool=decision.tool,
        input=decision.input,
        hash=decision.hash,
        rule=decision.rule,
        call=decision.call,
        why=why,
    )
    tx.append_as(work.hold, work.actor, withdrawn)
    _tell(tx, work, call, f"{decision.id} is withdrawn.")


_DOES: Mapping[
    str, Callable[[Transaction, Work, History, ToolCall, JsonObject], None]
] = {
    SET_TRIAGE: _triage,
    UPDATE_STATE: _update_state,
    ESCALATE: _escalate,
    WITHDRAW: _withdraw,
}


def _tell(
    tx: Transaction, work: Work, call: ToolCall, text: Json, *, is_error: bool = False
) -> None:
    returned = ToolReturned(id=call.id, content=text, is_error=is_error)
    tx.append_as(work.hold, work.actor, returned)
