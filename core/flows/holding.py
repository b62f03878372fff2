"""What every change of holder does within its transaction, whoever causes it."""

from dataclasses import replace
from typing import TypeAlias

from core.history import History
from core.journal import Delivery, LockChanged, Refused, RunChanged
from core.lock import (
    Acquired,
    Acquisition,
    AlreadyYours,
    HandedOver,
    HeldBy,
    HolderKind,
    Lock,
    PassedOn,
    TakeoverWanted,
)
from core.ports import RunEnd, Transaction
from core.stretch import as_actor, begun, ended
from core.ticket import Actor, ActorKind, RunId, operator, system
from core.turn import Stop

Granted: TypeAlias = Acquired | PassedOn | HandedOver

LEASE = system("lease")


def seat(
    tx: Transaction,
    history: History,
    granted: Granted,
    *,
    forced_by: Actor | None = None,
    why: str | None = None,
) -> None:
    """Stores a new holder: the lock, both stretches, and what is withheld (rule 2).

    Args:
        tx: The transaction in which the lock was read.
        history: The ticket before the change.
        granted: What the lock rule answered.
        forced_by: Who took it by force, where somebody did.
        why: The reason given for it.
    """
    lock = granted.lock
    tx.save_lock(lock)
    change = "forced" if forced_by is not None else "acquired"
    match granted:
        case HandedOver(ended=before):
            change = "handed_over"
            _end(tx, history, before, lock, forced_by, Stop.HANDED_OVER)
        case PassedOn(displaced=before):
            _end(tx, history, before, lock, None, Stop.CRASHED)
        case Acquired(displaced=displaced):
            if displaced is not None:
                dead = displaced.expired(tx.now)
                stop = Stop.CRASHED if dead else Stop.HANDED_OVER
                _end(tx, history, displaced, lock, forced_by, stop)
    if lock.holder is not None:
        tx.append_as(lock.hold, as_actor(lock.holder), begun(lock, change, why))
        if lock.holder.kind is HolderKind.OPERATOR:
            withhold(tx, history)


def store_acquisition(
    tx: Transaction,
    history: History,
    outcome: Acquisition,
    name: str,
    forced_why: str | None = None,
) -> None:
    """Stores what came of an operator's asking for the lock, refusal included.

    Args:
        tx: The transaction in which the lock was read.
        history: The ticket before the change.
        outcome: What the lock rule answered.
        name: Who asked.
        forced_why: The reason given, where it was taken by force.
    """
    me = operator(name)
    match outcome:
        case Acquired():
            forced_by = me if forced_why is not None else None
            seat(tx, history, outcome, forced_by=forced_by, why=forced_why)
        case PassedOn():
            seat(tx, history, outcome)
        case TakeoverWanted(lock=lock) if lock.wanted_by != history.lock.wanted_by:
            tx.save_lock(lock)
            wanted = LockChanged(
                change="wanted",
                holder={"kind": "operator", "name": name},
                token=lock.token,
            )
            tx.append(lock.ticket, me, wanted)
        case HeldBy(holder=holder):
            refused = Refused(what="take over", rule=f"held by {holder.called}")
            tx.append(history.ticket.id, me, refused)
        case TakeoverWanted() | AlreadyYours():
            pass


def withhold(tx: Transaction, history: History) -> None:
    """Keeps back every reply of the agent that has not been handed to its channel."""
    for reply in history.outbox:
        waiting = reply.state in {"queued", "no_channel"}
        if waiting and reply.author.kind is ActorKind.AGENT:
            tx.save_reply(replace(reply, state="withheld"))
            held = Delivery(message_seq=reply.seq, state="withheld")
            tx.append(history.ticket.id, system("delivery"), held)


def _end(  # one end of a stretch
    tx: Transaction,
    history: History,
    before: Lock,
    after: Lock,
    by: Actor | None,
    stop: Stop,
) -> None:
    """Journals the end of the stretch before, and of the run that held it."""
    if before.holder is None or after.holder is None:
        return
    dead = stop is Stop.CRASHED
    actor = LEASE if dead else (by or as_actor(before.holder))
    person = before.holder.kind is HolderKind.OPERATOR
    to = after.holder.name if person else None
    change = "expired" if dead else "released"
    tx.append(after.ticket, actor, ended(before, change, tx.now, to=to))
    if not person:
        run = RunId(before.holder.name)
        standing = tx.standing(after.ticket)
        costs = {r.id: r.final_cost_usd for r in history.runs}
        end = RunEnd(
            stop=stop,
            detail=None,
            escalated=False,
            task_state=standing.task_state,
            cost_usd=costs.get(run),
        )
        tx.end_run(after.hold, run, end)
        tx.append(
            after.ticket, actor, RunChanged(run=run, change="ended", stop=stop.value)
        )
