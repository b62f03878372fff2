"""What the flows need of the outside: store, model, tools, channel, clock, ids.

A transaction is a plain function of a `Transaction`, run to its end on a thread of
the store: it can't await, so nothing outside can happen while it is open, and a
cancelled task can't leave it half done. `write` commits what the function returned
from; if it raises, nothing was stored.

A method whose first argument is a `Hold` is fenced: it raises `StaleHold`, and the
whole transaction is undone, unless the hold is the ticket's current one (rule 1).
Reading a ticket within `write` locks its row, so that what a rule decided from it is
still true when it is stored. Every `append` folds the entry into the ticket's
standing and leaves a change in the feed.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol, TypeVar

from core.decision import Decision, Operator, Role
from core.history import Draft, History, QueueRow, Reply
from core.journal import Body, Entry
from core.ledger import Action, ActionEvent, OnObject, Sums
from core.lock import Hold, Lock
from core.policy import Rules
from core.standing import Standing
from core.ticket import Actor, Json, JsonObject, RunId, Ticket, TicketId
from core.tool import ToolResult, ToolSpec
from core.turn import ModelResponse, Request, Run, RunRecord, Stop, Turn

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended, as stored on its row; `cost_usd` is None where not known."""

    stop: Stop
    detail: str | None
    escalated: bool
    task_state: JsonObject
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the model cost since some time.

    Attributes:
        runs: How many ended since then.
        cost_usd: What those cost whose cost is known.
        unknown: Of how many it is not known.
    """

    runs: int
    cost_usd: Decimal
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A process that runs agents, as it last reported.

    Attributes:
        id: Made at its start.
        seen_at: Its last report, by the database's clock.
        alive: Whether that was recent enough.
        channels: Names of the channels by which it delivers.
    """

    id: str
    host: str
    pid: int
    started_at: datetime
    seen_at: datetime
    alive: bool
    channels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The agent is stopped everywhere: by whom, why and since when."""

    by: str
    why: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseAct:
    """What somebody did to the whole house and not to a ticket.

    Attributes:
        by: The operator.
        act: `paused`, `resumed`, `added`, `made agent`, `made supervisor`,
            `disabled`, `enabled`, `wrote a reply`, `removed a reply` or `refused`.
        whom: The operator it was done to, or None.
        why: In words, or "".
        at: The database's clock.
    """

    by: str
    act: str
    whom: str | None
    why: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Canned:
    """A reply or macro that the team has written already, as `core.written` reads it.

    Attributes:
        name: What people call it.
        text: Markdown; "" removes it.
        by: The operator who wrote it.
        at: The database's clock.
    """

    name: str
    text: str
    by: str
    at: datetime


HERE = timedelta(seconds=45)
"""A console that has not reported for so long is gone."""

CLOSED = "closed"
"""What a console does that was left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """What an operator's console last said of itself.

    Attributes:
        operator: Whose.
        ticket: The ticket on the screen, or None.
        doing: `watching`, `typing` or, as its last word, `closed`.
        active_at: The last key, by the database's clock.
        seen_at: The last report, by the database's clock.
        console: Which of the operator's consoles.
        here: Whether it still reported when this was read, by the database's clock.
    """

    operator: str
    ticket: TicketId | None
    doing: str
    active_at: datetime
    seen_at: datetime
    console: str = ""
    here: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """A stored record that can't be read as it was written.

    Attributes:
        ticket: Whose, or None where it is the whole house's.
        kind: Such as `ticket`, `entry` or `decision`.
        name: Its id, or what else people know it by.
    """

    ticket: TicketId | None
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueQuery:
    """Which rows of the queue.

    Attributes:
        view: `human`, `approvals`, `mine`, `agent`, `waiting`, `resolved`, `all`.
        search: Words that ticket, subject, buyer or a message must hold, or "".
        operator: For `mine`: whose.
        offset: Rows to leave out.
        limit: Rows at most.
    """

    view: str = "all"
    search: str = ""
    operator: str = ""
    offset: int = 0
    limit: int = 200


class Transaction(Protocol):
    """One transaction of the store, open for the length of one plain function."""

    @property
    def now(self) -> datetime:
        """The database's clock, one value for the whole transaction."""

    # Tickets and their journal

    def open_ticket(self, ticket: Ticket) -> None:
        """Stores a new ticket with its free lock and an empty journal."""

    def has_ticket(self, ticket: TicketId) -> bool:
        """Whether there is such a ticket."""

    def history(self, ticket: TicketId) -> History:
        """Everything stored about a ticket; locks it within `write`.

        Raises:
            UnknownTicket: There is none.
        """

    def backwards(self, ticket: TicketId) -> Iterator[Entry]:
        """The ticket's journal from its end, read as far as it is looked at.

        Of a ticket that there is not, nothing. Only within the transaction.
        """

    def standing(self, ticket: TicketId) -> Standing:
        """Where the ticket stands, without its journal; locks it within `write`.

        Raises:
            UnknownTicket: There is none.
        """

    def ticket(self, ticket: TicketId) -> Ticket:
        """The ticket as it was opened.

        Raises:
            UnknownTicket: There is none.
        """

    def append(self, ticket: TicketId, actor: Actor, body: Body) -> Entry:
        """Appends what needs no hold: arrivals, notes, verdicts, refusals.

        Raises:
            UnknownTicket: There is none.
        """

    def append_as(self, hold: Hold, actor: Actor, body: Body) -> Entry:
        """Appends as the holder (fenced)."""

    # Arrivals

    def arrived(self, channel: str, external_id: str) -> tuple[TicketId, int] | None:
        """Where a channel's message is stored: ticket and seq, or None (rule 4)."""

    def remember_arrival(
        self, channel: str, external_id: str, ticket: TicketId, seq: int
    ) -> None:
        """Stores that a channel's message is that journal entry."""

    def thread_of(self, channel: str, references: Sequence[str]) -> TicketId | None:
        """The ticket of the newest known one among these message ids, ours included."""

    def participants(self, ticket: TicketId) -> frozenset[str]:
        """The addresses that are on a ticket, lower-cased."""

    def add_participants(self, ticket: TicketId, addresses: Sequence[str]) -> None:
        """Puts addresses on a ticket; those already there stay."""

    # The lock

    def lock_of(self, ticket: TicketId) -> Lock:
        """The ticket's lock; locks its row within `write`."""

    def save_lock(self, lock: Lock) -> None:
        """Stores the lock as a rule made it from `lock_of` of this transaction."""

    # Runs

    def start_run(self, hold: Hold, run: Run) -> None:
        """Stores a run without turns (fenced)."""

    def store_request(
        self, hold: Hold, run: RunId, turn: Turn, messages: Sequence[bytes]
    ) -> None:
        """Stores a turn and its messages as sent (fenced).

        Args:
            hold: The run's hold.
            run: The run.
            turn: With `upto` as the number of all messages.
            messages: Canonical JSON of every message of the request, in order; what
                is stored already is not stored again.
        """

    def store_response(
        self,
        hold: Hold,
        run: RunId,
        number: int,
        response: ModelResponse,
        *,
        applied: bool,
    ) -> None:
        """Stores what the model returned for a turn (fenced)."""

    def end_run(self, hold: Hold, run: RunId, end: RunEnd) -> None:
        """Stores how a run of the held ticket ended (fenced)."""

    def model_costs(self, since: datetime) -> Spent:
        """What the runs cost that ended since then."""

    def run_record(self, run: RunId) -> RunRecord | None:
        """A run with its messages as sent, or None."""

    # Decisions and the ledger

    def propose(self, hold: Hold, decision: Decision) -> None:
        """Stores a new decision (fenced)."""

    def save_decision(self, decision: Decision) -> None:
        """Stores a decision as `settle`, or its execution, made it."""

    def decision(self, decision: str) -> Decision | None:
        """A decision by its id; locks its ticket within `write`."""

    def decisions(self, *, open_only: bool) -> tuple[Decision, ...]:
        """Decisions of all tickets, oldest first."""

    def intend(self, hold: Hold, action: Action) -> None:
        """Stores an action with its first event (fenced)."""

    def record(self, hold: Hold, action: str, event: ActionEvent) -> None:
        """Adds a dated event to an action (fenced)."""

    def spent_today(self, tool: str) -> Sums:
        """What done and open actions of a tool moved since midnight UTC."""

    def moved_since(self, since: datetime) -> Mapping[str, Sums]:
        """What done and open actions moved that were begun since, by tool."""

    def open_elsewhere(
        self, ticket: TicketId, tool: str, acted_on: str
    ) -> TicketId | None:
        """Another ticket where this tool has something open on the same object.

        That is a decision that is not executed yet, or an action whose end nobody
        knows. Within `write`, others who ask of this object wait for the end.
        """

    def on_object(self, acted_on: str) -> tuple[OnObject, ...]:
        """What was done to an object on all tickets; then what waits to be."""

    def keep_rules(self, rules: Rules) -> None:
        """Stores the tools' rules, unless this version is there already."""

    def rules(self) -> tuple[Rules, ...]:
        """All rules that ever judged a call, the newest first."""

    # Replies on their way to the buyer

    def enqueue(self, hold: Hold, reply: Reply) -> None:
        """Puts a reply into the outbox (fenced)."""

    def save_reply(self, reply: Reply) -> None:
        """Stores a reply's new state, attempts and outcome."""

    def reply(self, message_id: str) -> Reply | None:
        """A reply by its id; locks its ticket within `write`."""

    def outbox(self) -> tuple[Reply, ...]:
        """All replies still on their way, and the last 200 that were."""

    def deliverable(self, limit: int) -> tuple[Reply, ...]:
        """Replies that a sender may take up: `queued`, or `sending` too long."""

    # People, drafts, workers

    def operators(self, *, alone: bool = False) -> tuple[Operator, ...]:
        """Everybody, by name.

        Args:
            alone: Whether others who ask so wait until this transaction has ended.
        """

    def save_operator(self, operator: Operator) -> None:
        """Stores a new or changed operator."""

    def login(self) -> str | None:
        """Who the database says is connected, where it knows (PostgreSQL)."""

    def admit(self, login: str, role: Role | None) -> tuple[str, ...]:
        """Gives a database login the rights of a role; None: those of a worker.

        Returns:
            What an administrator has to run, where this login may not; empty where
            it is done, and always on SQLite.

        Raises:
            UnfitName: The database can have no such login; nothing was done yet.
        """

    def expel(self, login: str) -> tuple[str, ...]:
        """Takes all rights on the store from a database login.

        Returns:
            As `admit`.
        """

    def drafts(self, ticket: TicketId) -> tuple[Draft, ...]:
        """The unsent texts on a ticket."""

    def save_draft(self, draft: Draft) -> None:
        """Keeps unsent text; an empty text discards the draft."""

    def report_alive(self, worker: Worker) -> None:
        """Stores that a worker process lives."""

    def retire(self, worker: str) -> None:
        """Forgets a worker that ended in order."""

    def workers(self) -> tuple[Worker, ...]:
        """Worker processes that reported within the last day."""

    def pause(self) -> Pause | None:
        """Why the agent is stopped everywhere, or None."""

    def keep_act(self, act: HouseAct) -> None:
        """Stores what was done to the whole house; tells all followers.

        `paused` and `resumed` are what `pause` reads.
        """

    def house_acts(self) -> tuple[HouseAct, ...]:
        """All that was done to the whole house, oldest first."""

    def canned(self) -> tuple[Canned, ...]:
        """What the team has written already, by name."""

    def save_canned(self, said: Canned) -> None:
        """Stores a reply over what had its name; an empty text removes it."""

    def report_presence(self, presence: Presence) -> None:
        """Stores what a console says of itself; `seen_at` is this transaction's now."""

    def presences(self) -> tuple[Presence, ...]:
        """The consoles that reported within the last half hour."""

    # Overviews

    def snoozed_until(self, time: datetime) -> tuple[TicketId, ...]:
        """Tickets that sleep until a time that has come."""

    def of_customer(self, customer: str) -> tuple[QueueRow, ...]:
        """The tickets whose buyer is verified as this customer, newest first."""

    def stranded(self, channels: Collection[str]) -> tuple[Reply, ...]:
        """Replies without a channel whose channel is one of these."""

    def ticket_of_action(self, action: str) -> TicketId | None:
        """The ticket of a ledger row, or None."""

    def due(self, limit: int) -> tuple[TicketId, ...]:
        """Tickets that a run may take: due and free, or held by a dead run.

        Longest waiting first.
        """

    def queue(self, query: QueueQuery) -> tuple[QueueRow, ...]:
        """Rows of the queue, by harm: in doubt, waiting longest, expiring, rest."""

    def queue_rows(self, tickets: Sequence[TicketId]) -> tuple[QueueRow, ...]:
        """The rows of these tickets, for a screen that shows them already."""

    def counts(self, operator: str) -> Mapping[str, int]:
        """How many tickets each view holds.

        `approvals` counts what waits for a person; `approved` what else is listed
        there: what the agent's next run carries out.
        """

    def damaged(self) -> tuple[Damaged, ...]:
        """The records that can't be read, of all that are stored: takes a while."""

    def busy(self) -> bool:
        """Whether a run holds a ticket, dead or alive, or a reply is on its way.

        What waits for the agent to go on (a pause) does not count.
        """


class Store(Protocol):
    """Where everything is kept."""

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        """Runs a transaction and commits it.

        Raises:
            StaleHold: A fenced write's hold was not the current one; nothing stored.
            StoreUnreachable: The store can't be reached or written.
        """

    async def read(self, look: Callable[[Transaction], T]) -> T:
        """Runs a function on one consistent, read-only snapshot.

        Raises:
            StoreUnreachable: The store can't be reached.
        """

    def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        """The change feed: sets of tickets that have changed.

        The first set is empty and says that the feed has taken its position: read
        what is shown then. A later empty one says that something has changed which
        concerns all tickets, such as a pause of everything. No committed change
        after the first is missed; one may be told twice.

        Raises:
            StoreUnreachable: The store can't be reached; follow again.
        """

    async def close(self) -> None:
        """Ends the store's threads and connections."""


class Model(Protocol):
    """What answers a request."""

    async def respond(self, request: Request) -> ModelResponse:
        """The model's answer.

        Raises:
            ModelFailed: There is no usable answer.
        """


class Tools(Protocol):
    """The tools of all tool servers."""

    async def specs(self) -> tuple[ToolSpec, ...]:
        """The tools there are, sorted by name, with their policies.

        Raises:
            ToolLost: A server can't be reached; names it.
        """

    async def call(
        self,
        name: str,
        arguments: Json,
        *,
        key: str | None,
        timeout: timedelta,  # noqa: ASYNC109 # the server must be told, not only us
    ) -> ToolResult:
        """Calls a tool, passing an idempotency key as its policy says.

        Raises:
            ToolLost: There was no answer.
        """


class Channel(Protocol):
    """A way to the buyer."""

    async def deliver(self, reply: Reply) -> str | None:
        """Delivers a reply under its stable message id.

        Returns:
            The channel's own id of it, where there is one.

        Raises:
            DeliveryFailed: It was not taken.
        """

    async def find(self, message_id: str) -> bool:
        """Whether the channel has taken a reply of this id already."""


class Feed(Protocol):
    """The store's change feed within a worker, shared by its runs."""

    def watch(self, ticket: TicketId) -> AbstractContextManager[asyncio.Event]:
        """An event that is set whenever the ticket may have changed."""


class Clock(Protocol):
    """Time for waiting; the database's clock decides, never this one."""

    def now(self) -> datetime:
        """This machine's time, aware, UTC; for showing only."""

    async def sleep(self, seconds: float) -> None:
        """Waits."""


class Ids(Protocol):
    """Names for new things."""

    def new(self, prefix: str) -> str:
        """A fresh id such as `T-7K3QF2M`, hard to guess wrong and easy to type."""
