"""What a tool call leaves in the records: result, doubt, or why it was not made.

Each is written in one transaction with the ledger's event and the journal's entries,
fenced by the hold of whoever made the call.
"""

import json
from dataclasses import dataclass, replace

from core.decision import READY, Decision, DecisionState
from core.errors import ToolLost
from core.flows.house import Work
from core.history import History, open_calls
from core.identity import proven_by, weighed
from core.journal import (
    ActionChanged,
    DecisionChanged,
    Escalated,
    IdentityChanged,
    Refused,
    ToolReturned,
)
from core.ledger import Action, ActionEvent, ActionState
from core.ports import Transaction
from core.ticket import ActorKind, Json, system
from core.tool import ToolCall, ToolResult, ToolSpec

IN_DOUBT = (
    "It is not known whether this was done: the tool gave no answer. Colleagues are "
    "checking. Do not call it again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One call that is to be made: the agent's, or a decision's."""

    call: ToolCall
    decision: Decision | None = None

    @property
    def cause(self) -> str:
        """What the idempotency key is derived from: the decision, else the call."""
        return self.decision.id if self.decision is not None else self.call.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The tool is asked, outside of any transaction."""

    spec: ToolSpec
    action: Action | None


def told(
    decision: Decision, *, why: str | None = None, policy: str | None = None
) -> DecisionChanged:
    """A decision's present state as its journal entry."""
    amount, currency = decision.moves
    return DecisionChanged(
        decision=decision.id,
        state=decision.state.value,
        tool=decision.tool,
        input=decision.stands,
        hash=decision.stands_hash,
        rule=decision.rule,
        call=decision.call,
        why=why or decision.why,
        amount=str(amount) if amount is not None else None,
        currency=currency,
        expires_at=decision.expires_at.isoformat(),
        policy=policy,
    )


def record(tx: Transaction, work: Work, job: Job, ask: Ask, result: ToolResult) -> None:
    """Stores what the tool answered, and what that proves about the buyer."""
    history = tx.history(work.hold.ticket)
    if ask.action is not None:
        state = ActionState.FAILED if result.is_error else ActionState.DONE
        _happened(tx, work, ask.action, state, result=result)
    returned(tx, work, job, history, result)
    proven = proven_by(ask.spec.policy, job.call, result)
    if proven is not None:
        _identify(tx, work, history, proven)


def _identify(
    tx: Transaction, work: Work, history: History, proven: IdentityChanged
) -> None:
    """Stores what a lookup says of the buyer; a contradiction is people's (rule 7)."""
    s = history.standing
    new = weighed(proven, s.identity, s.identity_question)
    if new is None:
        return
    tx.append_as(work.hold, work.actor, new)
    if new.contradicts is not None and work.actor.kind is ActorKind.AGENT:
        escalated = Escalated(
            reason="a lookup found another customer than the verified one",
            tried=new.evidence,
            summary=f"{new.contradicts} was verified, then {new.customer} was found: "
            "record which of them is writing, or revoke.",
        )
        tx.append(work.hold.ticket, system("identity"), escalated)


def returned(
    tx: Transaction, work: Work, job: Job, history: History, result: ToolResult
) -> None:
    """Stores what the model is told, and closes the decision that was executed."""
    if job.decision is not None:
        done = replace(job.decision, state=DecisionState.EXECUTED)
        tx.save_decision(done)
        tx.append_as(work.hold, work.actor, told(done))
    if _is_open(history, job):
        _result(tx, work, job.call.id, result.content, is_error=result.is_error)
        return
    action = history.action_of(job.cause) or history.action_for(job.call.id)
    if action is not None:
        state = ActionState.FAILED if result.is_error else ActionState.DONE
        told_of = moved(action, state, evidence=_as_text(result.content))
        tx.append_as(work.hold, work.actor, told_of)


def _is_open(history: History, job: Job) -> bool:
    """Whether the call, whoever asked for it, still waits for its result."""
    return any(c.id == job.call.id for _, c in open_calls(history.journal, None))


def _as_text(content: Json) -> str:
    return content if isinstance(content, str) else json.dumps(content)


def record_lost(
    tx: Transaction, work: Work, job: Job, ask: Ask, lost: ToolLost
) -> None:
    """Stores that no answer came: nothing was done, or it is in doubt."""
    history = tx.history(work.hold.ticket)
    if ask.action is not None and lost.started:
        why = f"{lost} (key {ask.action.key})"
        _happened(tx, work, ask.action, ActionState.IN_DOUBT, evidence=why)
        return
    failed = ToolResult(content=f"Not done: {lost}", is_error=True)
    if ask.action is not None:
        _happened(tx, work, ask.action, ActionState.FAILED, result=failed)
    returned(tx, work, job, history, failed)


def ask_people(tx: Transaction, work: Work, job: Job, action: Action) -> None:
    """In doubt, and calling again could act twice: people look, with the evidence."""
    if action.state is ActionState.INTENDED:
        why = f"the run ended between the call and its result (key {action.key})"
        _happened(tx, work, action, ActionState.IN_DOUBT, evidence=why)
    if _is_open(tx.history(work.hold.ticket), job):
        _result(tx, work, job.call.id, IN_DOUBT, is_error=True)
    if job.decision is not None:
        begun = replace(job.decision, state=DecisionState.EXECUTED)
        tx.save_decision(begun)
        tx.append_as(work.hold, work.actor, told(begun))
    escalated = Escalated(
        reason=f"{action.tool} is in doubt",
        tried=f"{action.tool} was called with the key {action.key}; no answer came",
        summary=f"Check with the provider whether {action.key} was carried out.",
    )
    tx.append(work.hold.ticket, system("ledger"), escalated)


def _happened(
    tx: Transaction,
    work: Work,
    action: Action,
    state: ActionState,
    *,
    result: ToolResult | None = None,
    evidence: str | None = None,
) -> None:
    n = len(action.events) + 1
    event = ActionEvent(
        n=n, at=tx.now, state=state, by=work.actor, result=result, evidence=evidence
    )
    tx.record(work.hold, action.id, event)
    doubt = evidence if state is ActionState.IN_DOUBT else None
    tx.append_as(work.hold, work.actor, moved(action, state, evidence=doubt))


def moved(
    action: Action,
    state: ActionState,
    evidence: str | None = None,
    policy: str | None = None,
) -> ActionChanged:
    """A ledger row's new state as its journal entry."""
    return ActionChanged(
        action=action.id,
        state=state.value,
        tool=action.tool,
        call=action.call,
        amount=str(action.amount) if action.amount is not None else None,
        currency=action.currency,
        object=action.object,
        evidence=evidence,
        policy=policy,
    )


def refuse(tx: Transaction, work: Work, job: Job, why: str) -> None:
    """Tells the model why a call was not made, and keeps it for people (rule 14)."""
    refused = Refused(
        what=job.call.name, rule=why, call=job.call.id, policy=work.policy
    )
    tx.append_as(work.hold, system("policy"), refused)
    if job.decision is not None and job.decision.state not in READY:
        return  # it was taken back: what the model is told follows from that
    if job.decision is not None:
        closed = replace(job.decision, state=DecisionState.EXPIRED)
        tx.save_decision(closed)
        tx.append_as(work.hold, system("policy"), told(closed, why=why))
    if _is_open(tx.history(work.hold.ticket), job):
        _result(tx, work, job.call.id, f"Not done: {why}", is_error=True)


def _result(
    tx: Transaction, work: Work, call: str, content: Json, *, is_error: bool
) -> None:
    returned = ToolReturned(
        id=call, content=content, is_error=is_error, policy=work.policy
    )
    tx.append_as(work.hold, work.actor, returned)
