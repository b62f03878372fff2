"""A tool call, from the model's words to a recorded result (rules 5, 6 and 7).

Between two transactions stands the call itself. Before it, the policy has allowed it
and, where it has consequences, its intent with the idempotency key is committed;
after it, the result. A call without an answer is in doubt and is looked at again by
`ledger.what_now`, in this run or in the next.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from core.boundary import seen_at
from core.builtin import BUILTINS
from core.decision import (
    READY,
    Decision,
    DecisionState,
    arguments_hash,
)
from core.errors import StaleHold, ToolLost
from core.flows.builtins import do_builtin
from core.flows.house import Hands, Work
from core.history import History, open_calls
from core.identity import proven_by
from core.journal import (
    ActionChanged,
    DecisionChanged,
    Escalated,
    Refused,
    ToolCalled,
    ToolReturned,
)
from core.ledger import (
    Action,
    ActionEvent,
    ActionState,
    AskHuman,
    Execute,
    Reconcile,
    Reuse,
    idempotency_key,
    what_now,
)
from core.lock import is_current
from core.policy import (
    Allow,
    Forbid,
    NeedsDecision,
    NeedsIdentity,
    amount_of,
    judge,
    policy_version,
    text_argument,
)
from core.ports import Transaction
from core.ticket import Json, system
from core.tool import Consequence, ToolCall, ToolResult, ToolSpec

IN_DOUBT = (
    "It is not known whether this was done: the tool gave no answer. Colleagues are "
    "checking. Do not call it again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One call that is to be made: the agent's, or a decision's."""

    call: ToolCall
    decision: Decision | None = None

    @property
    def cause(self) -> str:
        return self.decision.id if self.decision is not None else self.call.id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """The tool is asked, outside of any transaction."""

    spec: ToolSpec
    action: Action | None


_Next: TypeAlias = _Ask | None


def all_specs(specs: tuple[ToolSpec, ...]) -> Mapping[str, ToolSpec]:
    """The agent's own tools and the servers', by name; its own win."""
    return {s.name: s for s in (*specs, *BUILTINS)}


async def carry_out(hands: Hands, work: Work, called: ToolCalled) -> None:
    """Carries out one of the agent's calls, as far as the policy lets it.

    Raises:
        StaleHold: The hold was lost; nothing more was stored.
    """
    call = ToolCall(id=called.id, name=called.name, input=called.input)
    await _perform(hands, work, _Job(call=call))


async def execute(hands: Hands, work: Work, decision: Decision) -> None:
    """Executes an approved decision with exactly the approved arguments (rule 6).

    Raises:
        StaleHold: The hold was lost; nothing more was stored.
    """
    call = ToolCall(id=decision.call, name=decision.tool, input=decision.final_input)
    await _perform(hands, work, _Job(call=call, decision=decision))


async def _perform(hands: Hands, work: Work, job: _Job) -> None:
    ask = await hands.store.write(lambda tx: _prepare(tx, hands, work, job))
    if ask is None:
        return
    key = ask.action.key if ask.action is not None else None
    try:
        result = await hands.tools.call(
            job.call.name, job.call.input, key=key, timeout=ask.spec.policy.timeout
        )
    except ToolLost as lost:
        error = lost
        await hands.store.write(lambda tx: _record_lost(tx, work, job, ask, error))
        return
    await hands.store.write(lambda tx: _record(tx, work, job, ask, result))


# Before the call


def _prepare(tx: Transaction, hands: Hands, work: Work, job: _Job) -> _Next:
    history = tx.history(work.hold.ticket)
    if not is_current(history.lock, work.hold):
        raise StaleHold(f"{work.hold.ticket} is no longer held by {work.run}")
    spec = work.specs.get(job.call.name)
    if spec is not None and spec.builtin and job.decision is None:
        do_builtin(tx, work, history, job.call)
        return None
    job = _as_stored(job, history)
    found = (
        history.action_of(job.decision.id)
        if job.decision is not None
        else history.action_for(job.call.id)
    )
    return _weigh(tx, hands, work, job, history, found)


def _as_stored(job: _Job, history: History) -> _Job:
    """The job with its decision as it stands now: it may have been taken back."""
    if job.decision is None:
        return job
    return replace(job, decision=history.decision(job.decision.id) or job.decision)


def _weigh(
    tx: Transaction,
    hands: Hands,
    work: Work,
    job: _Job,
    history: History,
    found: Action | None,
) -> _Next:
    spec = work.specs.get(job.call.name)
    if spec is None:
        _refuse(tx, work, job, f"there is no tool {job.call.name!r}")
        return None
    match what_now(found, spec.policy):
        case Execute():
            return _begin(tx, hands, work, job, history)
        case Reconcile(action=action):
            return _Ask(spec=spec, action=action)
        case Reuse(result=result):
            _returned(tx, work, job, history, result)
            return None
        case AskHuman(action=action):
            _ask_people(tx, work, job, action)
            return None


def _begin(
    tx: Transaction, hands: Hands, work: Work, job: _Job, history: History
) -> _Next:
    """A call that was never begun: the policy judges it."""
    spec = work.specs[job.call.name]
    if job.decision is not None:
        changed = _changed_since(job.decision, job.call.input, history, tx)
        if changed is not None:
            _refuse(tx, work, job, changed)
            return None
    match judge(job.call, spec, history, spent_today=_spent_today(tx, spec)):
        case Allow():
            return _start(tx, hands, work, job, history)
        case NeedsDecision() if job.decision is not None:
            return _start(tx, hands, work, job, history)
        case NeedsDecision(rule=rule, four_eyes=four_eyes):
            asked = NeedsDecision(rule=rule, four_eyes=four_eyes)
            _propose(tx, hands, work, job, history, asked)
            return None
        case NeedsIdentity(why=why) | Forbid(why=why):
            _refuse(tx, work, job, why)
            return None


def _start(
    tx: Transaction, hands: Hands, work: Work, job: _Job, history: History
) -> _Ask:
    """The ledger takes the call; what only reads may as well be asked again."""
    spec = work.specs[job.call.name]
    if spec.policy.consequence is Consequence.NONE:
        return _Ask(spec=spec, action=None)
    return _intend(tx, hands, work, job, history)


def _spent_today(tx: Transaction, spec: ToolSpec) -> Decimal:
    limited = spec.policy.limit_per_day is not None
    return tx.spent_today(spec.name) if limited else Decimal(0)


def _changed_since(
    decision: Decision, given: Json, history: History, tx: Transaction
) -> str | None:
    """Why an approved decision must not be executed with these arguments, or None."""
    if decision.state not in READY:
        return f"{decision.id} is {decision.state.value}"
    asked = arguments_hash(decision.tool, given)
    if (
        not asked
        == decision.final_hash
        == arguments_hash(decision.tool, decision.final_input)
    ):
        return f"{decision.id} was changed since its approval"
    if decision.expires_at <= tx.now:
        return f"the approval of {decision.id} has expired"
    known = history.standing.identity
    if decision.identity is not None and (
        known is None or known.customer != decision.identity
    ):
        return "the buyer's identity has changed since the approval"
    return None


def _intend(
    tx: Transaction, hands: Hands, work: Work, job: _Job, history: History
) -> _Ask:
    spec, ticket = work.specs[job.call.name], work.hold.ticket
    known = history.standing.identity
    event = ActionEvent(n=1, at=tx.now, state=ActionState.INTENDED, by=work.actor)
    action = Action(
        id=hands.ids.new("A"),
        ticket=ticket,
        key=idempotency_key(ticket, job.cause, spec.name, job.call.input),
        call=job.call.id,
        decision=job.decision.id if job.decision is not None else None,
        tool=spec.name,
        input=job.call.input,
        amount=amount_of(spec.policy, job.call.input),
        currency=text_argument(spec.policy.currency, job.call.input),
        object=text_argument(spec.policy.object, job.call.input),
        identity=known.customer if known is not None else None,
        token=work.hold.token,
        by=work.actor,
        events=(event,),
    )
    tx.intend(work.hold, action)
    tx.append_as(work.hold, work.actor, _moved(action, ActionState.INTENDED))
    return _Ask(spec=spec, action=action)


def _propose(
    tx: Transaction,
    hands: Hands,
    work: Work,
    job: _Job,
    history: History,
    asked: NeedsDecision,
) -> None:
    spec, known = work.specs[job.call.name], history.standing.identity
    decision = Decision(
        id=hands.ids.new("D"),
        ticket=work.hold.ticket,
        run=work.run,
        proposed_by=work.actor.name,
        call=job.call.id,
        tool=spec.name,
        input=job.call.input,
        hash=arguments_hash(spec.name, job.call.input),
        rule=asked.rule,
        amount=amount_of(spec.policy, job.call.input),
        currency=text_argument(spec.policy.currency, job.call.input),
        object=text_argument(spec.policy.object, job.call.input),
        identity=known.customer if known is not None else None,
        evidence=_read_so_far(history),
        based_on=seen_at(history, job.call.id),
        four_eyes=asked.four_eyes,
        proposed_at=tx.now,
        expires_at=tx.now + spec.policy.expires,
        policy=policy_version(work.specs.values()),
    )
    tx.propose(work.hold, decision)
    tx.append_as(work.hold, work.actor, told(decision))


def told(decision: Decision, *, why: str | None = None) -> DecisionChanged:
    """A decision's present state as its journal entry."""
    settled = decision.final_input is not None and decision.state in READY
    return DecisionChanged(
        decision=decision.id,
        state=decision.state.value,
        tool=decision.tool,
        input=decision.final_input if settled else decision.input,
        hash=(decision.final_hash if settled else None) or decision.hash,
        rule=decision.rule,
        call=decision.call,
        why=why or decision.why,
        amount=str(decision.amount) if decision.amount is not None else None,
        currency=decision.currency,
        expires_at=decision.expires_at.isoformat(),
    )


def _read_so_far(history: History) -> tuple[int, ...]:
    """The seqs of the tool results that the agent has read."""
    read = [e.seq for e in history.journal if isinstance(e.body, ToolReturned)]
    return tuple(read[-20:])


# After the call


def _record(
    tx: Transaction, work: Work, job: _Job, ask: _Ask, result: ToolResult
) -> None:
    history = tx.history(work.hold.ticket)
    if ask.action is not None:
        state = ActionState.FAILED if result.is_error else ActionState.DONE
        _happened(tx, work, ask.action, state, result=result)
    _returned(tx, work, job, history, result)
    proven = proven_by(ask.spec.policy, job.call, result)
    known = history.standing.identity
    if proven is not None and (known is None or known.customer != proven.customer):
        tx.append_as(work.hold, work.actor, proven)


def _returned(
    tx: Transaction, work: Work, job: _Job, history: History, result: ToolResult
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
        moved = _moved(action, state, evidence=_as_text(result.content))
        tx.append_as(work.hold, work.actor, moved)


def _is_open(history: History, job: _Job) -> bool:
    """Whether the call, whoever asked for it, still waits for its result."""
    return any(c.id == job.call.id for _, c in open_calls(history.journal, None))


def _as_text(content: Json) -> str:
    return content if isinstance(content, str) else json.dumps(content)


def _record_lost(
    tx: Transaction, work: Work, job: _Job, ask: _Ask, lost: ToolLost
) -> None:
    history = tx.history(work.hold.ticket)
    if ask.action is not None and lost.started:
        why = f"{lost} (key {ask.action.key})"
        _happened(tx, work, ask.action, ActionState.IN_DOUBT, evidence=why)
        return
    failed = ToolResult(content=f"Not done: {lost}", is_error=True)
    if ask.action is not None:
        _happened(tx, work, ask.action, ActionState.FAILED, result=failed)
    _returned(tx, work, job, history, failed)


def _ask_people(tx: Transaction, work: Work, job: _Job, action: Action) -> None:
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
    tx.append_as(work.hold, work.actor, _moved(action, state, evidence=doubt))


def _moved(
    action: Action, state: ActionState, evidence: str | None = None
) -> ActionChanged:
    return ActionChanged(
        action=action.id,
        state=state.value,
        tool=action.tool,
        call=action.call,
        amount=str(action.amount) if action.amount is not None else None,
        currency=action.currency,
        object=action.object,
        evidence=evidence,
    )


def _refuse(tx: Transaction, work: Work, job: _Job, why: str) -> None:
    """Tells the model why a call was not made, and keeps it for people (rule 14)."""
    refused = Refused(what=job.call.name, rule=why)
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
    returned = ToolReturned(id=call, content=content, is_error=is_error)
    tx.append_as(work.hold, work.actor, returned)
