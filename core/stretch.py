"""The beginning and the end of a hold as journal entries, made from the lock itself."""

from datetime import datetime

from core.journal import Entry, LockChanged
from core.lock import Holder, HolderKind, Lock
from core.ticket import UNKNOWN_TIME, Actor, JsonObject, RunId, agent, operator


def named(holder: Holder) -> JsonObject:
    """A holder as the journal writes it."""
    return {"kind": holder.kind.value, "name": holder.name}


def as_actor(holder: Holder) -> Actor:
    """The holder as one who acts."""
    if holder.kind is HolderKind.OPERATOR:
        return operator(holder.name)
    return agent(RunId(holder.name))


def begun(lock: Lock, change: str, why: str | None = None) -> LockChanged:
    """The entry for a lock that was just given to its holder."""
    holder = named(lock.holder) if lock.holder is not None else {}
    return LockChanged(change=change, holder=holder, token=lock.token, why=why)


def takes_over(entry: Entry) -> bool:
    """Whether a human stretch begins with this entry."""
    body = entry.body
    return (
        isinstance(body, LockChanged)
        and body.holder.get("kind") == HolderKind.OPERATOR.value
        and body.change in {"acquired", "handed_over", "forced"}
    )


def ended(
    lock: Lock,
    change: str,
    now: datetime,
    *,
    to: str | None = None,
    carry_on: bool = False,
    why: str | None = None,
) -> LockChanged:
    """The entry for a hold that ends now: who held it, from when to when.

    Args:
        lock: As it was held.
        change: `released` or `expired`.
        now: The database's clock.
        to: Where the ticket goes, for the end of a human stretch.
        carry_on: Whether the agent is to go on without a new message.
        why: A reason, where one was given.
    """
    return LockChanged(
        change=change,
        holder=named(lock.holder) if lock.holder is not None else {},
        token=lock.token,
        since=None if lock.since in {None, UNKNOWN_TIME} else lock.since.isoformat(),
        until=now.isoformat(),
        to=to,
        carry_on=carry_on,
        why=why,
    )
