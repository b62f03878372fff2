"""What people do with a ticket: take it over, speak, note.

How it is let go is in `giving_back`. Enforced here and in the store, never only on a
screen: each act reads the lock in the transaction that writes, and a refused try is
journaled in one of its own (rule 14).
"""

from dataclasses import replace

from core.decision import Operator, Role
from core.flows.answer import DIRECTLY, Leaving, answer_as, said_already
from core.flows.drafts import drop_sent
from core.flows.holding import seat, store_acquisition
from core.flows.person import (
    Done,
    NotHolder,
    NotPossible,
    Refusal,
    as_of_now,
    disabled,
    hold_of,
    note_refusal,
)
from core.journal import LockChanged, Note, Refused
from core.lock import (
    Acquired,
    Acquisition,
    Lock,
    acquire_for_operator,
    force,
)
from core.ports import Store, Transaction
from core.ticket import TicketId, operator


async def take_over(
    store: Store,
    ticket: TicketId,
    by: Operator,
    *,
    forced: bool = False,
    why: str = "",
) -> Acquisition | NotPossible:
    """An operator asks for a ticket (protocol "Take over").

    Returns:
        Acquired: It is theirs.
        TakeoverWanted: A run hands it over at its next boundary; see `holds`.
        HeldBy, PassedOn: A colleague has it or asked first.
        NotPossible: Force is for supervisors.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def take(tx: Transaction) -> Acquisition | NotPossible:
        history = tx.history(ticket)
        wrong = _may_not_take(as_of_now(tx, by), forced=forced)
        if wrong is not None:
            refused = Refused(what="take over", rule=wrong)
            tx.append(ticket, operator(by.name), refused)
            return NotPossible(why=wrong)
        outcome = (
            force(history.lock, by.name, tx.now)
            if forced
            else acquire_for_operator(history.lock, by.name, tx.now)
        )
        store_acquisition(tx, history, outcome, by.name, why if forced else None)
        return outcome

    return await store.write(take)


def _may_not_take(by: Operator, *, forced: bool) -> str | None:
    if by.disabled:
        return f"the operator {by.name} is disabled"
    if forced and by.role is not Role.SUPERVISOR:
        return "only a supervisor may take a ticket by force"
    return None


async def settle_wanted(store: Store, ticket: TicketId) -> Lock:
    """The lock now; a dead run's is passed on to the operator who wants it."""

    def look(tx: Transaction) -> Lock:
        lock = tx.lock_of(ticket)
        if lock.wanted_by is None or not lock.expired(tx.now):
            return lock
        outcome = acquire_for_operator(lock, lock.wanted_by, tx.now)
        if isinstance(outcome, Acquired):
            seat(tx, tx.history(ticket), outcome)
            return outcome.lock
        return lock

    return await store.write(look)


async def stop_wanting(store: Store, ticket: TicketId, by: Operator) -> None:
    """The operator no longer asks for the ticket that a run holds."""

    def withdraw(tx: Transaction) -> None:
        lock = tx.lock_of(ticket)
        if lock.wanted_by != by.name or lock.wanted_since is None:
            return
        tx.save_lock(replace(lock, wanted_by=None, wanted_since=None))
        no_more = LockChanged(
            change="wanted",
            holder={"kind": "operator", "name": by.name},
            token=lock.token,
            since=lock.wanted_since.isoformat(),
            until=tx.now.isoformat(),
        )
        tx.append(ticket, operator(by.name), no_more)

    await store.write(withdraw)


async def reply(  # what a reply is made of
    store: Store,
    ticket: TicketId,
    by: Operator,
    text: str,
    *,
    seen: int | None = None,
    leaving: Leaving = DIRECTLY,
) -> Done | Refusal:
    """The holder answers the buyer.

    Args:
        store: The store.
        ticket: The ticket.
        by: The operator, who must hold it.
        text: What the buyer is told.
        seen: The last seq that the author had looked at; the newest where None.
        leaving: How it leaves.

    Returns:
        What became of it; the very words that the buyer was just sent are refused.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was stored.
    """
    if not text.strip():
        return NotPossible(why="an empty reply is not sent")

    def send(tx: Transaction) -> Done | Refusal:
        history = tx.history(ticket)
        hold = hold_of(history.lock, as_of_now(tx, by))
        if isinstance(hold, NotHolder):
            return hold
        again = said_already(history, by, text, tx.now)
        if again is not None:
            return NotPossible(why=again)
        newest = history.standing.last_seq
        covers = newest if seen is None else min(seen, newest)
        drop_sent(tx, history.drafts, by, "reply", text)
        return answer_as(tx, hold, history, by, text, covers, leaving)

    outcome = await store.write(send)
    await note_refusal(store, ticket, by, "reply", outcome)
    return outcome


async def note(
    store: Store, ticket: TicketId, by: Operator, text: str, *, for_agent: bool = False
) -> Done | NotPossible:
    """Anybody who works here leaves a note; it never reaches the buyer.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was stored.
    """
    if not text.strip():
        return NotPossible(why="an empty note is not kept")
    body = Note(text=text, for_agent=for_agent)

    def keep(tx: Transaction) -> Done | NotPossible:
        if as_of_now(tx, by).disabled:
            return disabled(by)
        drop_sent(tx, tx.drafts(ticket), by, "note", text)
        return Done(seq=tx.append(ticket, operator(by.name), body).seq)

    outcome = await store.write(keep)
    await note_refusal(store, ticket, by, "note", outcome)
    return outcome
