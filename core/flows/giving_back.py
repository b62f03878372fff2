"""An operator lets a ticket go: to the agent, the queue, a colleague, or resolved.

The end of a human stretch is an entry of its own, in the transaction in which the lock
changes. What is written and not sent is in the way of it (protocol "Release").
"""

from dataclasses import dataclass, replace

from core.decision import Operator, Role
from core.flows.drafts import UNSENT, drop_drafts, unsent
from core.flows.offer import offer
from core.flows.person import (
    NotHolder,
    NotPossible,
    Refusal,
    as_of_now,
    hold_of,
    note_refusal,
)
from core.history import History
from core.journal import Note
from core.lock import (
    Hold,
    HolderKind,
    Released,
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
