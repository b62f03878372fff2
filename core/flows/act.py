"""A tool call, from the model's words to a recorded result (rules 5, 6 and 7).

Between two transactions stands the call itself. Before it, the policy has allowed it
and, where it has consequences, its intent with the idempotency key is committed;
after it, the result. A call without an answer is in doubt and is looked at again by
`ledger.what_now`, in this run or in the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias

from core.boundary import seen_at
from core.builtin import BUILTINS
from core.decision import (
    READY,
    Decision,
    arguments_hash,
    cannot_be_read,
)
from core.errors import StaleHold, ToolLost
from core.flows.builtins import do_builtin
from core.flows.house import Hands, Work
from core.flows.recording import (
    Ask,
    Job,
    ask_people,
    moved,
    record,
    record_lost,
    refuse,
    returned,
    told,
)
from core.history import History
from core.journal import (
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
    Sums,
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
    text_argument,
)
from core.ports import Transaction
from core.ticket import ActorKind, Json
from core.tool import Consequence, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Underway:
    """Another console of the same holder waits for the answer: it is left alone."""


_Next: TypeAlias = Ask | Underway | None

_SLACK = timedelta(seconds=5)
"""How long after its time a call's answer may still come to the records."""


def all_specs(specs: tuple[ToolSpec, ...]) -> Mapping[str, ToolSpec]:
    """The agent's own tools and the servers', by name; its own win."""
    return {s.name: s for s in (*specs, *BUILTINS)}


async def carry_out(hands: Hands, work: Work, called: ToolCalled) -> None:
    """Carries out one of the agent's calls, as far as the policy lets it.

    Raises:
        StaleHold: The hold was lost; nothing more was stored.
    """
    call = ToolCall(id=called.id, name=called.name, input=called.input)
    await _perform(hands, work, Job(call=call))


async def execute(hands: Hands, work: Work, decision: Decision) -> Underway | None:
    """Executes an approved decision with exactly the approved arguments (rule 6).

    Returns:
        Whether it was underway already, and nothing was done here.

    Raises:
        StaleHold: The hold was lost; nothing more was stored.
    """
    call = ToolCall(id=decision.call, name=decision.tool, input=decision.final_input)
    return await _perform(hands, work, Job(call=call, decision=decision))


async def _perform(hands: Hands, work: Work, job: Job) -> Underway | None:
    ask = await hands.store.write(lambda tx: _prepare(tx, hands, work, job))
    if not isinstance(ask, Ask):
        return ask
    key = ask.action.key if ask.action is not None else None
    try:
        result = await hands.tools.call(
            job.call.name, job.call.input, key=key, timeout=ask.spec.policy.timeout
        )
    except ToolLost as lost:
        error = lost
        await hands.store.write(lambda tx: record_lost(tx, work, job, ask, error))
        return None
    await hands.store.write(lambda tx: record(tx, work, job, ask, result))
    return None


# Before the call


def _prepare(tx: Transaction, hands: Hands, work: Work, job: Job) -> _Next:
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


def _as_stored(job: Job, history: History) -> Job:
    """The job with its decision as it stands now: it may have been taken back."""
    if job.decision is None:
        return job
    return replace(job, decision=history.decision(job.decision.id) or job.decision)


def _weigh(
    tx: Transaction,
    hands: Hands,
    work: Work,
    job: Job,
    history: History,
    found: Action | None,
) -> _Next:
    spec = work.specs.get(job.call.name)
    if spec is None:
        refuse(tx, work, job, f"there is no tool {job.call.name!r}")
        return None
    if found is not None and _underway(tx, work, found, spec):
        return Underway()
    match what_now(found, spec.policy):
        case Execute():
            return _begin(tx, hands, work, job, history)
        case Reconcile(action=action):
            return Ask(spec=spec, action=action)
        case Reuse(result=result):
            returned(tx, work, job, history, result)
            return None
        case AskHuman(action=action):
            ask_people(tx, work, job, action)
            return None


def _underway(tx: Transaction, work: Work, action: Action, spec: ToolSpec) -> bool:
    """Whether the same person began it, and its answer may still come.

    One hold of a person is that of all their consoles; a run has a hold of its own,
    and whoever holds the ticket after another knows that the other is gone.
    """
    return (
        work.actor.kind is ActorKind.OPERATOR
        and action.state is ActionState.INTENDED
        and action.token == work.hold.token
        and tx.now < action.events[-1].at + spec.policy.timeout + _SLACK
    )


def _begin(
    tx: Transaction, hands: Hands, work: Work, job: Job, history: History
) -> _Next:
    """A call that was never begun: the policy judges it."""
    spec = work.specs[job.call.name]
    if job.decision is not None:
        changed = _changed_since(job.decision, job.call.input, history, tx)
        if changed is not None:
            refuse(tx, work, job, changed)
            return None
    judged = judge(job.call, spec, history, spent_today=_spent_today(tx, spec))
    if isinstance(judged, Allow | NeedsDecision):  # an override may name another object
        taken = _taken_elsewhere(tx, spec, job, history)
        judged = judged if taken is None else Forbid(why=taken)
    match judged:
        case Allow():
            return _start(tx, hands, work, job, history)
        case NeedsDecision(four_eyes=True) if _by_one(job.decision):
            refuse(tx, work, job, _ONE_OF_TWO)
            return None
        case NeedsDecision() if job.decision is not None:
            return _start(tx, hands, work, job, history)
        case NeedsDecision(rule=rule, four_eyes=four_eyes):
            asked = NeedsDecision(rule=rule, four_eyes=four_eyes)
            _propose(tx, hands, work, job, history, asked)
            return None
        case NeedsIdentity(why=why) | Forbid(why=why):
            refuse(tx, work, job, why)
            return None


_ONE_OF_TWO = "it was approved by one person, and the rules ask for two by now"


def _by_one(decision: Decision | None) -> bool:
    """Whether only one person has approved it: the rules may have changed since."""
    return decision is not None and decision.first in {None, decision.decided_by}


def _start(
    tx: Transaction, hands: Hands, work: Work, job: Job, history: History
) -> Ask:
    """The ledger takes the call; what only reads may as well be asked again."""
    spec = work.specs[job.call.name]
    if spec.policy.consequence is Consequence.NONE:
        return Ask(spec=spec, action=None)
    return _intend(tx, hands, work, job, history)


def _taken_elsewhere(
    tx: Transaction, spec: ToolSpec, job: Job, history: History
) -> str | None:
    """Why nothing is begun on an object: another ticket is not done with it."""
    name = text_argument(spec.policy.object, job.call.input)
    if name is None or spec.policy.consequence is Consequence.NONE:
        return None
    other = tx.open_elsewhere(history.ticket.id, spec.name, name)
    if other is None:
        return None
    return f"{other} has something open on {name}; its end must be known first"


def _spent_today(tx: Transaction, spec: ToolSpec) -> Sums:
    limited = spec.policy.limit_per_day is not None
    return tx.spent_today(spec.name) if limited else {}


def _changed_since(
    decision: Decision, given: Json, history: History, tx: Transaction
) -> str | None:
    """Why an approved decision must not be executed with these arguments, or None."""
    if decision.state not in READY:
        return f"{decision.id} is {decision.state.value}"
    if decision.unreadable is not None:
        return cannot_be_read(decision)
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
    tx: Transaction, hands: Hands, work: Work, job: Job, history: History
) -> Ask:
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
        policy=work.policy,
    )
    tx.intend(work.hold, action)
    begun = moved(action, ActionState.INTENDED, policy=work.policy)
    tx.append_as(work.hold, work.actor, begun)
    return Ask(spec=spec, action=action)


def _propose(
    tx: Transaction,
    hands: Hands,
    work: Work,
    job: Job,
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
        policy=work.policy,
        amount_in=spec.policy.amount,
        currency_in=spec.policy.currency,
        object_in=spec.policy.object,
    )
    tx.propose(work.hold, decision)
    tx.append_as(work.hold, work.actor, told(decision, policy=work.policy))


def _read_so_far(history: History) -> tuple[int, ...]:
    """The seqs of the tool results that the agent has read."""
    read = [e.seq for e in history.journal if isinstance(e.body, ToolReturned)]
    return tuple(read[-20:])
