"""An operator at a ticket: who they are now, whether they hold it, what is refused.

Every refused try stays in the record, in a transaction of its own (rule 14): who asks
months later why a ticket went as it did must find it. What a person can see to be
impossible is not tried: the desk asks nothing of the store then.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from core.decision import Operator
from core.journal import Refused
from core.lock import Hold, Holder, HolderKind, Lock
from core.ports import Store, Transaction
from core.ticket import TicketId, operator


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHolder:
    """The operator does not hold the ticket; nothing was done.

    Attributes:
        holder: Who does, or None.
        since: Since when.
        disabled: Whether they may do nothing here any more.
    """

    holder: Holder | None
    since: datetime | None
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPossible:
    """A rule said no; nothing was done. `why` is one line for the operator."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It is stored.

    Attributes:
        seq: The journal entry.
        message_id: For a reply: its stable id in the outbox.
        stays: For a reply: why it does not leave now, or None.
        let_go: Whether the person held the ticket and no longer does.
    """

    seq: int
    message_id: str | None = None
    stays: str | None = None
    let_go: bool = False


Refusal: TypeAlias = NotHolder | NotPossible


def as_of_now(tx: Transaction, by: Operator) -> Operator:
    """The operator as stored now: a right may be gone since the screen was opened."""
    return {o.name: o for o in tx.operators()}.get(by.name, by)


def hold_of(lock: Lock, by: Operator) -> Hold | NotHolder:
    """The operator's hold, or who holds instead."""
    mine = Holder(kind=HolderKind.OPERATOR, name=by.name)
    if by.disabled or lock.holder != mine:
        return NotHolder(holder=lock.holder, since=lock.since, disabled=by.disabled)
    return lock.hold


def not_holder(outcome: NotHolder) -> str:
    """One line for somebody who does not hold the ticket."""
    if outcome.holder is None:
        return "nobody holds the ticket; take it over first"
    return f"{outcome.holder.called} holds the ticket"


def disabled(by: Operator) -> NotPossible:
    """Who may work here no more does nothing."""
    return NotPossible(why=f"the operator {by.name} is disabled")


async def note_refusal(
    store: Store, ticket: TicketId, by: Operator, what: str, outcome: object
) -> None:
    """Journals what came of a try, in a transaction of its own, if it was refused."""
    match outcome:
        case NotHolder(disabled=True):
            rule = "the operator is disabled"
        case NotHolder():
            rule = not_holder(outcome)
        case NotPossible(why=why):
            rule = why
        case _:
            return
    refused = Refused(what=what, rule=rule)
    await store.write(lambda tx: tx.append(ticket, operator(by.name), refused))
