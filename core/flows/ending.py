"""How a run ends: handed over, given to people, or with nothing left to do.

Each ending is one transaction with what caused it: the run's outcome, the end of its
stretch in the journal, and the lock.
"""

from dataclasses import dataclass

from core.boundary import gone_on_with
from core.errors import StaleHold
from core.flows.holding import seat, withhold
from core.flows.house import Work
from core.history import History
from core.journal import Escalated, RunChanged, ToolCalled
from core.lock import HandedOver, Lost, Released, hand_over, is_current, release
from core.ports import RunEnd, Transaction
from core.stretch import begun, ended
from core.ticket import system
from core.turn import Run, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """The run has ended; the lock is somebody else's or free.

    Attributes:
        stop: Its stop reason.
        why: What went wrong, in one line, where something did.
        key_refused: The provider refuses our key: no run can do anything until a
            person has mended that.
        voice_refused: The provider takes no system messages: the next run must tell
            facts between marks.
    """

    stop: Stop
    why: str | None = None
    key_refused: bool = False
    voice_refused: bool = False


def own(history: History, taken: Work) -> Run:
    """The run's own row, as long as it holds the ticket.

    Raises:
        StaleHold: It no longer does.
    """
    run = history.run(taken.run)
    if run is None or not is_current(history.lock, taken.hold):
        raise StaleHold(f"{taken.hold.ticket} is no longer held by {taken.run}")
    return run


def hand_to_operator(tx: Transaction, taken: Work, history: History) -> Over:
    """Gives the lock to the operator who wants it, with no gap.

    Raises:
        StaleHold: The hold is not the current one; nothing was stored.
    """
    outcome = hand_over(history.lock, taken.hold, tx.now)
    if isinstance(outcome, Lost):
        raise StaleHold(f"{taken.hold.ticket} is no longer held by {taken.run}")
    seat(tx, history, outcome)
    return Over(stop=Stop.HANDED_OVER)


def escalate(
    tx: Transaction, taken: Work, history: History, stop: Stop, why: str | None
) -> Over:
    """Hands the ticket to people, with what they need to know (rule 15)."""
    if why is not None:
        escalated = Escalated(
            reason=why, tried=_tried(history, taken), summary=_summary(history)
        )
        tx.append(taken.hold.ticket, system("agent"), escalated)
    return end(tx, taken, history, stop, detail=why)


def _tried(history: History, taken: Work) -> str:
    run = history.run(taken.run)
    turns = len(run.turns) if run is not None else 0
    used = dict.fromkeys(
        e.body.name
        for e in history.journal
        if isinstance(e.body, ToolCalled) and e.actor == taken.actor
    )
    tools = f", with {', '.join(used)}" if used else ""
    return f"{turns} {'turn' if turns == 1 else 'turns'}{tools}"


def _summary(history: History) -> str:
    """Where the ticket stands, for the colleague who takes it."""
    s = history.standing
    lines = [f"{len(s.unanswered)} unanswered"]
    if s.identity is not None:
        lines.append(f"verified as {s.identity.name or s.identity.customer}")
    if s.triage is not None:
        lines.append(", ".join(s.triage))
    lines += [f"{k}: {v}" for k, v in s.task_state.items()]
    return "; ".join(lines)


def end(
    tx: Transaction,
    taken: Work,
    history: History,
    stop: Stop,
    *,
    detail: str | None = None,
) -> Over:
    """Ends the run and gives the lock back: the check is `next_step`'s (rule 3).

    Raises:
        StaleHold: The hold is not the current one; nothing was stored.
    """
    run = own(history, taken)
    seen = _seen(history, run) if stop is not Stop.PAUSED else None
    now = tx.standing(taken.hold.ticket)
    end = RunEnd(
        stop=stop,
        detail=detail,
        escalated=now.with_people is not None,
        task_state=now.task_state,
        cost_usd=run.final_cost_usd,
    )
    tx.end_run(taken.hold, taken.run, end)
    over = RunChanged(run=taken.run, change="ended", stop=stop.value, seen=seen)
    tx.append_as(taken.hold, taken.actor, over)
    outcome = release(history.lock, taken.hold, tx.now)
    match outcome:
        case Released(lock=lock, ended=before):
            tx.append_as(taken.hold, taken.actor, ended(before, "released", tx.now))
            tx.save_lock(lock)
        case HandedOver():
            tx.save_lock(outcome.lock)
            tx.append(
                taken.hold.ticket, taken.actor, begun(outcome.lock, "handed_over")
            )
            withhold(tx, tx.history(taken.hold.ticket))
        case Lost():
            raise StaleHold(f"{taken.hold.ticket} is no longer held by {taken.run}")
    return Over(stop=stop, why=detail)


def _seen(history: History, run: Run) -> int | None:
    """The last seq that the agent was shown and answered to."""
    turns = (t for r in gone_on_with(history, run) for t in reversed(r.turns))
    return next((t.built_at for t in turns if t.applied and t.folds is None), None)
