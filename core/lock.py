"""The ticket's one lock: who may act on it now (rules 1, 2 and 11).

Everything that decides who holds a ticket is in this file, pure. A holder is a run
of the agent, whose hold is a lease that must be renewed, or an operator, whose hold
ends only when a person ends it. Every acquisition raises the fencing token by one;
a write made as the holder carries the token it was acquired with, and tokens decide,
not clocks. `now` is always the database's clock.

An operator who asks for a ticket that a run works on is written down as `wanted_by`.
From then on nobody but this operator can get the lock: the run hands it over at its
next boundary, and if the run is dead, whoever finds its lease expired passes the
lock on to the operator. There is no instant at which somebody else could step in.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType, TypeAlias

from core.ticket import TicketId

FencingToken = NewType("FencingToken", int)


class HolderKind(StrEnum):
    """A run of the agent, or a person."""

    RUN = "run"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a ticket: a run by its id, an operator by name."""

    kind: HolderKind
    name: str

    @property
    def called(self) -> str:
        """The name for people, who may meet one that can't be read."""
        return self.name or "somebody unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """How long a run's hold lasts without renewal."""

    length: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What a holder carries: every fenced write is checked against it (rule 1)."""

    ticket: TicketId
    token: FencingToken


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The lock's stored state.

    Attributes:
        ticket: Whose lock it is.
        token: Grows by one at every acquisition; 0 before the first.
        holder: Who holds, or None.
        since: When the holder acquired it; renewals don't change it.
        expires_at: End of a run's lease; None for operators and free locks.
        wanted_by: The operator who waits for a run's boundary.
        wanted_since: Since when.
        unreadable: Whether who holds can't be read: it counts as a person's, so that
            the agent is silent (rule 2); a supervisor takes it by force.
    """

    ticket: TicketId
    token: FencingToken
    holder: Holder | None = None
    since: datetime | None = None
    expires_at: datetime | None = None
    wanted_by: str | None = None
    wanted_since: datetime | None = None
    unreadable: bool = False

    def expired(self, now: datetime) -> bool:
        """Whether the holder is a run whose lease has run out."""
        return self.expires_at is not None and self.expires_at <= now

    def held(self, now: datetime) -> bool:
        """Whether somebody holds it and may go on holding it."""
        return self.holder is not None and not self.expired(now)

    @property
    def hold(self) -> Hold:
        """The present holder's hold."""
        return Hold(ticket=self.ticket, token=self.token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired:
    """The lock is the asker's.

    Attributes:
        lock: Its state now.
        displaced: The lock as it was, where a dead run or a forced holder lost it.
    """

    lock: Lock
    displaced: Lock | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOn:
    """A dead run's lock went to the operator who had asked for it, not to the asker."""

    lock: Lock
    displaced: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyYours:
    """The asker holds it already; nothing changed."""

    lock: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBy:
    """Somebody else holds it, or has a prior claim on it; nothing changed."""

    holder: Holder
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverWanted:
    """A run holds it and will hand it over to the asker at its next boundary."""

    lock: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """The lease runs from now again."""

    lock: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The run gave the lock to the operator who wanted it.

    Attributes:
        lock: Its state now, held by the operator.
        ended: The lock as the run held it.
    """

    lock: Lock
    ended: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The lock is free.

    Attributes:
        lock: Its state now.
        ended: The lock as it was held, for the end of the stretch.
    """

    lock: Lock
    ended: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The hold is not the current one; nothing changed."""


Acquisition: TypeAlias = Acquired | PassedOn | AlreadyYours | HeldBy | TakeoverWanted


def acquire_for_run(
    lock: Lock, run: Holder, now: datetime, lease: Lease
) -> Acquired | PassedOn | HeldBy:
    """A run asks for the lock.

    Returns:
        Acquired: It was free, or its holder was a run whose lease had run out.
        PassedOn: Its holder was dead and an operator had asked first.
        HeldBy: Somebody holds it.
    """
    if lock.holder is not None and lock.since is not None and not lock.expired(now):
        return HeldBy(holder=lock.holder, since=lock.since)
    displaced = lock if lock.holder is not None else None
    if displaced is not None and lock.wanted_by is not None:
        return PassedOn(lock=_give(lock, _person(lock.wanted_by), now), displaced=lock)
    granted = replace(_give(lock, run, now), expires_at=now + lease.length)
    return Acquired(lock=granted, displaced=displaced)


def acquire_for_operator(lock: Lock, name: str, now: datetime) -> Acquisition:
    """An operator asks for the lock (protocol "Take over").

    Returns:
        Acquired: It was free, or its holder was dead and nobody had asked before.
        AlreadyYours: The operator holds it.
        TakeoverWanted: A run holds it; stored, the run hands over at its boundary.
        PassedOn: Its holder was dead and another operator had asked first.
        HeldBy: Another operator holds it, or has asked for it first.
    """
    if lock.holder == _person(name):
        return AlreadyYours(lock=lock)
    if lock.holder is None or lock.since is None:
        return Acquired(lock=_give(lock, _person(name), now), displaced=None)
    if lock.holder.kind is HolderKind.OPERATOR:
        return HeldBy(holder=lock.holder, since=lock.since)
    if lock.wanted_by is not None and lock.wanted_by != name:
        first = _person(lock.wanted_by)
        if lock.expired(now):
            return PassedOn(lock=_give(lock, first, now), displaced=lock)
        return HeldBy(holder=first, since=lock.wanted_since or lock.since)
    if lock.expired(now):
        return Acquired(lock=_give(lock, _person(name), now), displaced=lock)
    wanted = replace(lock, wanted_by=name, wanted_since=lock.wanted_since or now)
    return TakeoverWanted(lock=wanted)


def force(lock: Lock, name: str, now: datetime) -> Acquired | AlreadyYours:
    """A supervisor takes the lock at once, whoever holds it.

    Safe because of the token: the displaced holder can write nothing more.
    """
    if lock.holder == _person(name):
        return AlreadyYours(lock=lock)
    displaced = lock if lock.holder is not None else None
    return Acquired(lock=_give(lock, _person(name), now), displaced=displaced)


def renew(lock: Lock, hold: Hold, now: datetime, lease: Lease) -> Renewed | Lost:
    """A run keeps its hold. An expired lease nobody took can still be renewed."""
    if not is_current(lock, hold) or lock.expires_at is None:
        return Lost()
    return Renewed(lock=replace(lock, expires_at=now + lease.length))


def hand_over(lock: Lock, hold: Hold, now: datetime) -> HandedOver | Lost:
    """A run gives the lock to the operator who wanted it, with no gap."""
    if not is_current(lock, hold) or lock.wanted_by is None:
        return Lost()
    return HandedOver(lock=_give(lock, _person(lock.wanted_by), now), ended=lock)


def release(lock: Lock, hold: Hold, now: datetime) -> Released | HandedOver | Lost:
    """The holder lets go. A run that is wanted by an operator hands over instead."""
    if not is_current(lock, hold):
        return Lost()
    if lock.wanted_by is not None:
        return hand_over(lock, hold, now)
    free = Lock(ticket=lock.ticket, token=lock.token)
    return Released(lock=free, ended=lock)


def is_current(lock: Lock, hold: Hold) -> bool:
    """Whether the hold is the lock's present one. Tokens decide, not clocks."""
    return lock.holder is not None and lock.token == hold.token


def _person(name: str) -> Holder:
    return Holder(kind=HolderKind.OPERATOR, name=name)


def _give(lock: Lock, holder: Holder, now: datetime) -> Lock:
    token = FencingToken(lock.token + 1)
    return Lock(ticket=lock.ticket, token=token, holder=holder, since=now)
