"""Everything stored about a ticket as of one transaction: the session chart.

One read, several renderers: `context` renders it for the model, the timeline and
chart for people, `handoff show` as JSON; `boundary` decides from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from core.decision import Decision
from core.journal import (
    DecisionChanged,
    Entry,
    LockChanged,
    Message,
    RunChanged,
    ToolCalled,
    ToolReturned,
)
from core.ledger import Action, ActionState, Sums, by_currency
from core.lock import Lock
from core.standing import Standing, fold
from core.ticket import Actor, ActorKind, RunId, Status, Ticket, TicketId
from core.turn import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A row of the outbox: a reply that is committed (protocol "Delivery").

    Attributes:
        message_id: Stable; a second delivery carries the same.
        seq: The journal entry that it is.
        author: Agent or operator.
        covers: The last seq that its author had seen.
        state: `queued`, `sending`, `withheld`, `delivered`, `failed`, `in_doubt`,
            `no_channel` or `discarded`.
        attempts: Deliveries tried.
        provider_id: The channel's own id, once delivered.
        why: What went wrong, in words.
        not_before: Until then it can be taken back; None: it goes at once.
        unreadable: What of its record can't be read, in words: it is not delivered.
    """

    message_id: str
    ticket: TicketId
    seq: int
    author: Actor
    channel: str
    to: str
    subject: str
    text: str
    covers: int
    state: str
    created_at: datetime
    attempts: int = 0
    delivered_at: datetime | None = None
    provider_id: str | None = None
    why: str | None = None
    in_reply_to: str | None = None
    not_before: datetime | None = None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Unsent text, kept per operator, ticket and mode.

    Attributes:
        operator: Whose; a run's id for what the agent would have said.
        mode: `reply`, `note` or, for new words to a withheld reply, `words for #SEQ`;
            a draft's visibility is its own.
        written_at_seq: The journal seq that it was written against.
    """

    ticket: TicketId
    operator: str
    mode: str
    text: str
    written_at_seq: int
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All that is stored about a ticket, read in one transaction.

    Attributes:
        journal: In order of seq.
        runs: Oldest first, with their turns.
        now: The database's clock at the read.
        stopped: Why the agent is stopped everywhere, or None.
        mended: Whether the ticket's own row can't be read: where it stands is what the
            journal comes to.
    """

    ticket: Ticket
    standing: Standing
    lock: Lock
    journal: tuple[Entry, ...]
    decisions: tuple[Decision, ...]
    actions: tuple[Action, ...]
    runs: tuple[Run, ...]
    outbox: tuple[Reply, ...]
    drafts: tuple[Draft, ...]
    now: datetime
    stopped: str | None = None
    mended: bool = False

    def as_of(self, seq: int) -> "History":
        """The chart as its journal told it up to a seq, for rebuilding requests."""
        journal = tuple(e for e in self.journal if e.seq <= seq)
        return replace(self, journal=(), standing=Standing()).plus(*journal)

    def plus(self, *entries: Entry) -> "History":
        """The chart with entries that were appended in the same transaction."""
        standing = self.standing
        for entry in entries:
            standing = fold(standing, entry)
        return replace(self, journal=(*self.journal, *entries), standing=standing)

    def run(self, run: RunId) -> Run | None:
        """One of the ticket's runs."""
        return next((r for r in self.runs if r.id == run), None)

    def decision(self, decision: str) -> Decision | None:
        """One of the ticket's decisions."""
        return next((d for d in self.decisions if d.id == decision), None)

    def decision_for(self, call: str) -> Decision | None:
        """The decision that a tool call became."""
        return next((d for d in self.decisions if d.call == call), None)

    def action_for(self, call: str) -> Action | None:
        """The newest ledger row of a tool call."""
        found = [a for a in self.actions if a.call == call]
        return found[-1] if found else None

    def action_of(self, decision: str) -> Action | None:
        """The ledger row of a decision."""
        return next((a for a in self.actions if a.decision == decision), None)

    def spent_on_ticket(self) -> Sums:
        """What done and open actions of all tools on this ticket have moved."""
        moved = [a for a in self.actions if a.open or a.state is ActionState.DONE]
        return by_currency((a.amount, a.currency) for a in moved)

    def newest_buyer_seq(self) -> int:
        """The seq of the buyer's newest message, or 0."""
        return self.standing.last_buyer_seq


def open_calls(
    journal: Iterable[Entry], of: ActorKind | None = ActorKind.AGENT
) -> tuple[tuple[Entry, ToolCalled], ...]:
    """Tool calls that have no result yet, in order: the agent's, or everybody's."""
    calls: dict[str, tuple[Entry, ToolCalled]] = {}
    for entry in journal:
        match entry.body:
            case ToolCalled(id=call) as body if of in {None, entry.actor.kind}:
                calls[call] = (entry, body)
            case ToolReturned(id=call):
                calls.pop(call, None)
            case _:
                pass
    return tuple(calls.values())


def under_way(history: History) -> str | None:
    """The tool whose answer the run that holds the ticket waits for, or None.

    A take-over waits for it too: it is finished and recorded first.
    """
    if history.standing.run is None:
        return None
    asked = [
        call.name
        for entry, call in open_calls(history.journal)
        if entry.actor.name == history.standing.run
        and history.decision_for(call.id) is None
    ]
    begun = [a.tool for a in history.actions if a.state is ActionState.INTENDED]
    return next(iter((*begun, *asked)), None)


def ran_out(journal: Iterable[Entry]) -> str | None:
    """What is to be said of a decision that ran out since a run or a person let go.

    Nobody has looked at it, or it was approved and came too late, or can't be executed
    any more: people must know. None where there is none.
    """
    found = None
    for entry in journal:
        match entry.body:
            case DecisionChanged(state="expired", decision=name, why=str(why)) if (
                entry.actor.name == "policy"
            ):
                found = f"{name} was approved and not executed: {why}"
            case DecisionChanged(state="expired", decision=name):
                found = f"{name} ran out: nobody decided or did it in time"
            case RunChanged(change="ended"):
                found = None
            case LockChanged(holder=holder) if holder.get("kind") == "operator":
                found = None
            case _:
                pass
    return found


def last_word(journal: Iterable[Entry]) -> Entry | None:
    """The newest message, in either direction."""
    newest = None
    for entry in journal:
        if isinstance(entry.body, Message):
            newest = entry
    return newest


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """A ticket as the queue shows it: no journal, one row of the store.

    Attributes:
        buyer: The verified name, else the claimed address.
        version: Grows with every change of the ticket.
        mended: Whether its row can't be read: this one is made of the journal.
    """

    ticket: TicketId
    subject: str
    channel: str
    buyer: str
    status: Status
    standing: Standing
    created_at: datetime
    updated_at: datetime
    version: int
    owner: str | None = None
    mended: bool = False
