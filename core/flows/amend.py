"""What people set right on a ticket: triage, state, identity, who looks after it, when.

Triage and who looks after a ticket may be changed by anybody as long as no colleague
holds it; identity and the task state by its holder alone (rule 7).
"""

from collections.abc import Callable
from datetime import datetime

from core.builtin import CATEGORIES, PRIORITIES
from core.decision import Operator
from core.flows.drafts import UNSENT, drop_drafts, unsent
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
from core.history import History
from core.journal import (
    Body,
    Claimed,
    IdentityChanged,
    Note,
    Snoozed,
    StateAmended,
    Triaged,
)
from core.lock import Released, release
from core.ports import Store, Transaction
from core.standing import Standing
from core.stretch import ended
from core.ticket import JsonObject, TicketId, operator, system


async def set_triage(
    store: Store, ticket: TicketId, by: Operator, category: str, priority: str
) -> Done | Refusal:
    """Changes category and priority on purpose.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was stored.
    """
    if category not in CATEGORIES:
        return NotPossible(why=f"category must be one of {', '.join(CATEGORIES)}")
    if priority not in PRIORITIES:
        return NotPossible(why=f"priority must be one of {', '.join(PRIORITIES)}")
    triaged = Triaged(category=category, priority=priority)
    return await _beside(store, ticket, by, "triage", lambda _: triaged)


async def claim(
    store: Store, ticket: TicketId, by: Operator, *, drop: bool = False
) -> Done | Refusal:
    """Makes the ticket the operator's to look after, while the agent goes on.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was stored.
    """

    def claimed(standing: Standing) -> Body | NotPossible:
        if drop and standing.owner != by.name:
            return NotPossible(why="you do not look after it")
        if not drop and standing.owner == by.name:
            return NotPossible(why="you look after it already")
        return Claimed(owner=None if drop else by.name)

    return await _beside(store, ticket, by, "claim", claimed)


async def amend_state(
    store: Store, ticket: TicketId, by: Operator, patch: JsonObject
) -> Done | Refusal:
    """The holder amends the agent's working state by a JSON merge patch.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was stored.
    """
    amended = StateAmended(patch=patch)
    return await _as_holder(store, ticket, by, "amend the state", lambda _: amended)


async def verify(
    store: Store, ticket: TicketId, by: Operator, identity: IdentityChanged
) -> Done | Refusal:
    """The holder records who the buyer is, or that this no longer holds.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was stored.
    """

    def checked(standing: Standing) -> Body | NotPossible:
        known = standing.identity is not None or standing.identity_question is not None
        if not identity.verified and not known:
            return NotPossible(why="the buyer is not verified")
        if identity.verified and not (identity.customer or "").strip():
            return NotPossible(why="a customer's id is needed")
        if identity.verified and not identity.evidence.strip():
            return NotPossible(why="say what the verification rests on")
        return identity

    return await _as_holder(store, ticket, by, "verify the buyer", checked)


async def snooze(  # each by its name
    store: Store,
    ticket: TicketId,
    by: Operator,
    until: datetime,
    *,
    note: str = "",
    discard: bool = False,
) -> Done | Refusal:
    """Lets a ticket sleep until a time; a message of the buyer wakes it at once.

    A holder lets go of it with this; a ticket that nobody holds may be put to sleep
    by anybody, one that the agent works on can't.

    Args:
        store: The store.
        ticket: The ticket.
        by: Who lets it sleep.
        until: When it wakes.
        note: For the agent; "" for none.
        discard: Whether the holder's unsent drafts are discarded with it.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def sleep(tx: Transaction) -> Done | Refusal:
        history, now = tx.history(ticket), as_of_now(tx, by)
        if now.disabled:
            return disabled(by)
        if until <= tx.now:
            return NotPossible(why="that time has passed")
        hold = hold_of(history.lock, now)
        if isinstance(hold, NotHolder) and hold.holder is not None:
            return hold
        held = not isinstance(hold, NotHolder)
        if discard:
            drop_drafts(tx, history, by)
        elif held and unsent(history, by.name):
            return NotPossible(why=UNSENT)
        if note.strip():
            tx.append(ticket, operator(by.name), Note(text=note, for_agent=True))
        if held:
            _let_go(tx, history, by)
        body = Snoozed(until=until.isoformat())
        seq = tx.append(ticket, operator(by.name), body).seq
        return Done(seq=seq, let_go=held)

    return await _told(store, ticket, by, "snooze", sleep)


def _let_go(tx: Transaction, history: History, by: Operator) -> None:
    outcome = release(history.lock, history.lock.hold, tx.now)
    if isinstance(outcome, Released):
        over = ended(history.lock, "released", tx.now, to="queue")
        tx.append_as(history.lock.hold, operator(by.name), over)
        tx.save_lock(outcome.lock)


async def wake(store: Store) -> int:
    """Wakes the tickets whose time has come; returns how many."""
    due = await store.read(lambda tx: tx.snoozed_until(tx.now))
    for ticket in due:
        await store.write(_waking(ticket))
    return len(due)


def _waking(ticket: TicketId) -> Callable[[Transaction], None]:
    def wake_up(tx: Transaction) -> None:
        until = tx.standing(ticket).snoozed_until
        if until is not None and datetime.fromisoformat(until) <= tx.now:
            tx.append(ticket, system("snooze"), Snoozed(until=None))

    return wake_up


# The two ways of amending


async def _beside(
    store: Store,
    ticket: TicketId,
    by: Operator,
    what: str,
    make: Callable[[Standing], Body | NotPossible],
) -> Done | Refusal:
    """Appends as anybody, unless a colleague holds the ticket."""

    def amend(tx: Transaction) -> Done | Refusal:
        lock, now = tx.lock_of(ticket), as_of_now(tx, by)
        held = tx.standing(ticket).held_by
        if now.disabled:
            return disabled(by)
        if held is not None and held != by.name:
            return NotHolder(holder=lock.holder, since=lock.since)
        body = make(tx.standing(ticket))
        if isinstance(body, NotPossible):
            return body
        return Done(seq=tx.append(ticket, operator(by.name), body).seq)

    return await _told(store, ticket, by, what, amend)


async def _as_holder(
    store: Store,
    ticket: TicketId,
    by: Operator,
    what: str,
    make: Callable[[Standing], Body | NotPossible],
) -> Done | Refusal:
    """Appends as the holder (fenced)."""

    def amend(tx: Transaction) -> Done | Refusal:
        hold = hold_of(tx.lock_of(ticket), as_of_now(tx, by))
        if isinstance(hold, NotHolder):
            return hold
        body = make(tx.standing(ticket))
        if isinstance(body, NotPossible):
            return body
        return Done(seq=tx.append_as(hold, operator(by.name), body).seq)

    return await _told(store, ticket, by, what, amend)


async def _told(
    store: Store,
    ticket: TicketId,
    by: Operator,
    what: str,
    act: Callable[[Transaction], Done | Refusal],
) -> Done | Refusal:
    """Does it, and journals a refused try in a transaction of its own (rule 14)."""
    outcome = await store.write(act)
    await note_refusal(store, ticket, by, what, outcome)
    return outcome
