"""What people do with a ticket: take over, speak, note, give back.

Enforced here and in the store, never only on a screen: each act reads the lock in the
transaction that writes, and a refused try is journaled in one of its own (rule 14).
"""

from dataclasses import dataclass, replace

from core.decision import Operator, Role
from core.flows.answer import DIRECTLY, Leaving, answer_as, said_already
from core.flows.drafts import UNSENT, drop_drafts, unsent
from core.flows.holding import seat, store_acquisition
from core.flows.offer import offer
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
from core.journal import LockChanged, Note, Refused
from core.lock import (
    Acquired,
    Acquisition,
    Hold,
    HolderKind,
    Lock,
    Released,
    acquire_for_operator,
    force,
    release,
)
from core.ports import Store, Transaction
from core.stretch import ended
from core.ticket import Origin, TicketId, operator
from core.who import nobody
from core.written import CARRY_ON

PLACES = {"agent", "queue", "resolved"}
"""Where a ticket may go that is no colleague."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveBack:
    """Where a ticket goes when its holder lets go.

    Attributes:
        to: `agent`, `queue`, `resolved` or the name of a colleague, who is asked.
        note: For the agent, or "".
        carry_on: Whether the agent is to go on without a new message.
        forced: A supervisor gives it for another's hold.
        why: The reason for a forced one.
        seen: To resolve: the last seq that was looked at; the newest where None.
        discard: Whether the holder's unsent drafts are discarded with it.
    """

    to: str
    note: str = ""
    carry_on: bool = False
    forced: bool = False
    why: str = ""
    seen: int | None = None
    discard: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBack:
    """The ticket was given back.

    Attributes:
        seq: The journal entry that ends the stretch.
        workers_alive: Whether a worker is there to go on; else people are told so.
        stopped: Why the agent may not go on here, or None.
        withheld: The agent's withheld replies that nobody decided on; they stay.
    """

    seq: int
    workers_alive: bool
    stopped: str | None = None
    withheld: int = 0


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
        return Done(seq=tx.append(ticket, operator(by.name), body).seq)

    outcome = await store.write(keep)
    await note_refusal(store, ticket, by, "note", outcome)
    return outcome


async def give_back(
    store: Store, ticket: TicketId, by: Operator, how: GiveBack
) -> GivenBack | Refusal:
    """The holder lets go (protocol "Release").

    The end of the stretch is journaled from the lock's own change, in the same
    transaction as the change and the note.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def release_it(tx: Transaction) -> GivenBack | Refusal:
        return _give_back(tx, ticket, by, how)

    outcome = await store.write(release_it)
    await note_refusal(store, ticket, by, "give back", outcome)
    return outcome


def _give_back(
    tx: Transaction, ticket: TicketId, by: Operator, how: GiveBack
) -> GivenBack | Refusal:
    history, now = tx.history(ticket), as_of_now(tx, by)
    if how.forced and (now.disabled or now.role is not Role.SUPERVISOR):
        why = "only a supervisor may give back another's ticket"
        return NotPossible(why=why)
    hold = history.lock.hold if how.forced else hold_of(history.lock, now)
    if isinstance(hold, NotHolder):
        return hold
    holder = history.lock.holder
    if holder is None or holder.kind is not HolderKind.OPERATOR:
        return NotHolder(holder=holder, since=history.lock.since)
    wrong = why_not_back(tx, history, holder.name, how)
    if wrong is not None:
        return NotPossible(why=wrong)
    if how.discard and not how.forced:
        drop_drafts(tx, history, by)
    if how.note.strip():
        for_agent = Note(text=how.note, for_agent=True)
        tx.append_as(hold, operator(by.name), for_agent)
    return _let_go(tx, history, hold, by, how)


def why_not_back(
    tx: Transaction, history: History, holder: str, how: GiveBack
) -> str | None:
    """Why a holder's ticket can't be given back so, or None."""
    drafted = unsent(history, holder) and not how.discard
    if drafted and not how.forced:
        return UNSENT
    if history.standing.withheld and how.to == "agent" and not how.forced:
        return "the agent's withheld replies must be sent or discarded first"
    if history.ticket.origin is Origin.IMPORTED and how.to == "agent":
        return "an imported ticket is finished; the agent does not work it"
    newest = history.newest_buyer_seq()
    if how.to == "resolved" and how.seen is not None and newest > how.seen:
        return f"the buyer wrote #{newest} meanwhile: look at it first"
    if how.to in PLACES:
        return None
    colleagues = [o.name for o in tx.operators() if not o.disabled]
    if how.to not in colleagues:
        names = (*sorted(PLACES), CARRY_ON, *colleagues)
        return nobody(how.to, names, what="active operator")
    return "it is yours already" if how.to == holder else None


def _let_go(
    tx: Transaction, history: History, hold: Hold, by: Operator, how: GiveBack
) -> GivenBack:
    me = operator(by.name)
    alive = any(w.alive for w in tx.workers())
    undecided = len(history.standing.withheld)
    if how.to not in PLACES:
        offered = offer(tx, history, hold, me, how.to, how.why or None)
        return GivenBack(seq=offered, workers_alive=alive, withheld=undecided)
    _drop_agents_drafts(tx, history)
    outcome = release(history.lock, hold, tx.now)
    entry = tx.append_as(
        hold,
        me,
        ended(
            history.lock,
            "released",
            tx.now,
            to=how.to,
            carry_on=how.carry_on,
            why=how.why or None,
        ),
    )
    if isinstance(outcome, Released):
        tx.save_lock(outcome.lock)
    stopped = history.stopped or history.standing.paused
    return GivenBack(
        seq=entry.seq, workers_alive=alive, stopped=stopped, withheld=undecided
    )


def _drop_agents_drafts(tx: Transaction, history: History) -> None:
    """What the agent would have said before this stretch is of no use after it."""
    runs = {run.id for run in history.runs}
    for draft in history.drafts:
        if draft.operator in runs:
            tx.save_draft(replace(draft, text=""))
