"""What a run does next, decided from stored records alone (rules 3, 8 and 15).

A run has no memory of its own: after every stored step it asks `next_step` anew, so
that a process killed at any instruction is continued by another one that asks the
same question of the same records.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from core.decision import READY, Decision, DecisionState
from core.history import History, open_calls
from core.journal import Entry, Quarantined, RunChanged, ToolCalled
from core.limits import Limits
from core.pieces import RESULT_LOST
from core.quarantine import lost_result, unreported
from core.stretch import takes_over
from core.ticket import ActorKind, RunId
from core.trouble import trouble
from core.turn import Run, Stop, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """An operator wants the ticket: the lock goes over now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryOut:
    """A tool call of the agent is still to be carried out."""

    call: ToolCalled


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """An approved decision is to be executed."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitDecision:
    """All that is left waits for a supervisor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalate:
    """People go on; the run ends.

    Attributes:
        stop: The run's stop reason.
        why: One line for people, or None where the journal has said it already.
    """

    stop: Stop
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Something stored can't be read: people are told, and go on (rule 15).

    Attributes:
        found: What, each named.
    """

    found: tuple[Quarantined, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The agent was stopped: the run ends here and goes on when it may."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Nothing is left to do: the lock is given back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    """The model is asked.

    Attributes:
        unrun: Calls that get a result first, each with what the model is told.
    """

    unrun: tuple[tuple[ToolCalled, str], ...]


NextStep: TypeAlias = (
    HandOver
    | CarryOut
    | Execute
    | AwaitDecision
    | Escalate
    | Report
    | Pause
    | Release
    | Continue
)

WAITING = (
    "Proposed as {decision}; it waits for a supervisor's decision and was not done "
    "yet. You will be told the outcome. Do not propose it again."
)
REJECTED = "Not done: the proposal was rejected by {by}. Reason: {why}"
EXPIRED = "Not done: nobody decided the proposal in time and it has expired."
WITHDRAWN = "Not done: the proposal was withdrawn."
TAKEN_OVER = "Not run: a colleague took the ticket over before this call was made."
NOT_RUN = "Not run: the run ended before this call was made."


def next_step(history: History, run: Run, limits: Limits) -> NextStep:
    """What the run that holds the ticket does next."""
    if history.lock.wanted_by is not None:
        return HandOver()
    if history.standing.with_people is not None:
        return Escalate(stop=Stop.ESCALATED, why=None)
    stopped = history.stopped or history.standing.paused
    if stopped is not None:
        return Pause(why=stopped)
    unread = unreported(history)
    if unread:
        return Report(found=unread)
    todo = _carry_on(history, run)
    if todo is not None:
        return todo
    last = last_applied(history, run)
    news = _news(history, last)
    if last is not None and not news:
        if _answered(history, run, last):
            return Release()
        if _only_waiting(history, run, last):
            return AwaitDecision()
    stop = _limit(run, history, limits)
    return stop if stop is not None else Continue(unrun=_unrun(history, run))


def _carry_on(history: History, run: Run) -> CarryOut | Execute | None:
    """The first thing that was decided on and is not done."""
    for entry, call in open_calls(history.journal):
        if history.decision_for(call.id) is None and is_live(history, run, entry):
            return CarryOut(call=call)
    for decision in history.decisions:
        if decision.state in READY:
            return Execute(decision=decision)
    return None


def is_live(history: History, run: Run, entry: Entry) -> bool:
    """Whether a call without a result is this run's to carry out.

    It is when this run asked for it, or a run that was cut off did and nobody has held
    the ticket since. What the ledger has taken is always looked after: it was begun,
    and what became of it, also where a person found it out, is its result.
    """
    call = entry.body
    if isinstance(call, ToolCalled) and history.action_for(call.id) is not None:
        return True
    return entry.actor.name in {r.id for r in gone_on_with(history, run)}


_CUT_OFF = {Stop.CRASHED, Stop.PAUSED}


def gone_on_with(history: History, run: Run) -> tuple[Run, ...]:
    """The runs that are one with this, newest first.

    A run that was cut off ends nothing: what it was in the middle of is what the next
    one is in the middle of (rule 8), unless a person held the ticket in between.
    """
    together = [run]
    for earlier in reversed(history.runs[: _place(history, run)]):
        if earlier.stop not in _CUT_OFF or _taken_over_since(history, earlier):
            break
        together.append(earlier)
    return tuple(together)


def _place(history: History, run: Run) -> int:
    return next(n for n, r in enumerate((*history.runs, run)) if r.id == run.id)


def _taken_over_since(history: History, earlier: Run) -> bool:
    started = (
        e.seq
        for e in history.journal
        if isinstance(e.body, RunChanged) and e.body.run == earlier.id
    )
    since = next(started, 0)
    return any(takes_over(e) for e in history.journal if e.seq > since)


def last_applied(history: History, run: Run) -> Turn | None:
    """The turn whose answer the run is in the middle of; it may be a cut-off run's."""
    made = (r.turns[-1] for r in gone_on_with(history, run) if r.turns)
    last = next(made, None)
    return last if last is not None and last.applied and last.folds is None else None


def seen_at(history: History, call: str) -> int:
    """The last seq that was seen by who asked for a tool call, or 0.

    A person has seen all that was there when they asked. The agent's call may be
    carried out by a run that goes on where the one that asked was cut off.
    """
    for entry in history.journal:
        if isinstance(entry.body, ToolCalled) and entry.body.id == call:
            if entry.actor.kind is ActorKind.OPERATOR:
                return entry.seq
            asker = history.run(RunId(entry.actor.name))
            turns = asker.turns if asker is not None else ()
            return max((t.built_at for t in turns if t.built_at < entry.seq), default=0)
    return 0


def _news(history: History, last: Turn | None) -> bool:
    """Whether something came that the agent has not been shown (rule 3)."""
    s = history.standing
    asked = s.last_buyer_seq if s.unanswered else 0
    seen = last.built_at if last is not None else 0
    return max(asked, s.wake_seq) > seen


def _answered(history: History, run: Run, last: Turn) -> bool:
    """Whether the run's last answer asked for no tool."""
    return not _asked(history, run, last)


def _only_waiting(history: History, run: Run, last: Turn) -> bool:
    """Whether calls of the run's last answer wait for a decision."""
    left = open_calls(history.journal)
    waiting = {call.id for _, call in left if _pending(history, call.id)}
    return bool(_asked(history, run, last) & waiting)


def _asked(history: History, run: Run, last: Turn) -> set[str]:
    """The calls of the run's last answer."""
    ours = {r.id for r in gone_on_with(history, run)}
    return {
        e.body.id
        for e in history.journal
        if e.seq > last.built_at
        and isinstance(e.body, ToolCalled)
        and e.actor.name in ours
    }


def _pending(history: History, call: str) -> bool:
    decision = history.decision_for(call)
    return decision is not None and decision.state is DecisionState.PENDING


def _limit(run: Run, history: History, limits: Limits) -> Escalate | None:
    if len(run.turns) >= limits.max_turns:
        why = f"the agent made {len(run.turns)} turns without an end"
        return Escalate(stop=Stop.TURN_LIMIT, why=why)
    cost = run.cost_usd
    if cost is not None and cost > limits.max_cost_usd:
        why = f"the run cost {cost:.2f} USD, over {limits.max_cost_usd}"
        return Escalate(stop=Stop.COST_LIMIT, why=why)
    most = limits.max_ticket_cost_usd
    spent = sum((r.cost_usd or Decimal(0) for r in history.runs), Decimal(0))
    if most is not None and spent > most:
        why = f"the ticket's runs cost {spent:.2f} USD, over {most}"
        return Escalate(stop=Stop.COST_LIMIT, why=why)
    if history.now - run.started_at > limits.max_run:
        minutes = limits.max_run.total_seconds() / 60
        why = f"the run took longer than {minutes:.0f} minutes"
        return Escalate(stop=Stop.TURN_LIMIT, why=why)
    stuck = trouble(history.journal, run, limits)
    return Escalate(stop=Stop.ERROR, why=stuck) if stuck is not None else None


def _unrun(history: History, run: Run) -> tuple[tuple[ToolCalled, str], ...]:
    """Calls that no run will make now, each with the truth about it."""
    unrun = []
    for entry, call in open_calls(history.journal):
        decision = history.decision_for(call.id)
        if decision is not None:
            unrun.append((call, told_of(decision)))
        elif lost_result(history.journal, entry):
            unrun.append((call, RESULT_LOST))
        elif not is_live(history, run, entry):
            taken = any(takes_over(e) for e in history.journal if e.seq > entry.seq)
            unrun.append((call, TAKEN_OVER if taken else NOT_RUN))
    return tuple(unrun)


def told_of(decision: Decision) -> str:
    """What the model is told of a call that became a decision and was not done."""
    match decision.state:
        case DecisionState.REJECTED:
            return REJECTED.format(by=decision.decided_by, why=decision.why)
        case DecisionState.EXPIRED:
            return EXPIRED
        case DecisionState.WITHDRAWN:
            return WITHDRAWN
        case _:
            return WAITING.format(decision=decision.id)
