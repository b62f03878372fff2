"""An operator at a ticket: who they are now, whether they hold it, what is refused.

Which refusals stay in the record is decided here, by kind (rule 14 keeps what anybody
did). A try that somebody had no right to is evidence: their role does not allow it,
they are disabled, or a colleague holds the ticket on which they would have spoken or
acted. What was merely not possible did nothing and leaves nothing: an unsent draft,
nothing to take back, a ticket that nobody or the agent holds, what is so already.
Hammering a key writes no noise into what the agent and auditors read. Verdicts and
tool calls that the policy refuses are kept by `supervise` and `recording`.
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
    """A rule said no; nothing was done.

    Attributes:
        why: One line for the operator.
        barred: Whether a right was missing, which stays in the record.
    """

    why: str
    barred: bool = False


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
    return NotPossible(why=f"the operator {by.name} is disabled", barred=True)


def _evidence(outcome: Refusal) -> str | None:
    """The rule under which a refused try stays in the record, or None."""
    match outcome:
        case NotPossible(why=why, barred=barred):
            return why if barred else None
        case NotHolder(disabled=True):
            return "the operator is disabled"
        case NotHolder(holder=Holder(kind=HolderKind.OPERATOR)):
            return not_holder(outcome)
        case NotHolder():
            return None


async def note_refusal(
    store: Store, ticket: TicketId, by: Operator, what: str, outcome: object
) -> None:
    """Journals a refused try, in a transaction of its own, where it is evidence."""
    rule = _evidence(outcome) if isinstance(outcome, NotHolder | NotPossible) else None
    if rule is not None:
        refused = Refused(what=what, rule=rule)
        await store.write(lambda tx: tx.append(ticket, operator(by.name), refused))
