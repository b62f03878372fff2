"""The store: transactions as plain functions, and the feed of what they changed.

A method of `SqlTransaction` says which tickets must be at hand, and whether as the
holder, and leaves the rest to the file of its aggregate.
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
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import TypeVar

import sqlalchemy as sa

from core.decision import Decision, Operator, Role
from core.history import Draft, History, QueueRow, Reply
from core.journal import ActionChanged, Body, Entry
from core.ledger import Action, ActionEvent, OnObject, Sums, by_currency
from core.lock import Hold, Lock
from core.mending import action_as_told, amount_of, decision_as_told
from core.policy import Rules
from core.ports import (
    Canned,
    Damaged,
    HouseAct,
    Pause,
    Presence,
    QueueQuery,
    RunEnd,
    Spent,
    Transaction,
    Worker,
)
from core.standing import Standing
from core.ticket import Actor, RunId, Ticket, TicketId
from core.turn import ModelResponse, Run, RunRecord, Turn
from store import (
    canned,
    decisions,
    drafts,
    house,
    inspection,
    journal,
    ledger,
    locks,
    outbox,
    people,
    queue,
    revision,
    runs,
    tickets,
)
from store.at_hand import AtHand
from store.engine import Engine, open_engine

T = TypeVar("T")

_UNKNOWN = Decimal("Infinity")
"""An amount that is nowhere to be read exceeds every limit: people decide."""


class SqlStore:
    """A store in SQLite or PostgreSQL (`core.ports.Store`)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> "SqlStore":
        """The store at a URL, created or brought up to date.

        Args:
            url: `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`.

        Raises:
            BadConfiguration: The URL names no database that a store can be kept in.
            StoreTooNew: A newer program has written it.
            StoreUnreachable: It can't be reached or written.
        """
        engine = open_engine(url)
        try:
            revision.ensure(engine)
        except BaseException:
            engine.close()
            raise
        return cls(engine)

    @property
    def place(self) -> str:
        """Where it is, for people: a file, or host and database."""
        return self._engine.place

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        """Runs a transaction to its end and commits it (see `core.ports.Store`)."""

        def work(connection: sa.Connection) -> T:
            tx = SqlTransaction(self._engine, connection, writes=True)
            result = transact(tx)
            tx.flush()
            return result

        return await self._engine.write(work)

    async def read(self, look: Callable[[Transaction], T]) -> T:
        """Runs a function on one read-only snapshot (see `core.ports.Store`)."""

        def work(connection: sa.Connection) -> T:
            return look(SqlTransaction(self._engine, connection, writes=False))

        return await asyncio.wrap_future(self._engine.read(work))

    def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        """The change feed (see `core.ports.Store`)."""
        return self._engine.follow()

    async def close(self) -> None:
        """Lets what runs end, then ends the store's threads and connections."""
        await asyncio.to_thread(self._engine.close)


class SqlTransaction:
    """One transaction, open for the length of one function (`core.ports`)."""

    def __init__(
        self, engine: Engine, connection: sa.Connection, *, writes: bool
    ) -> None:
        self._engine = engine
        self._connection = connection
        self._writes = writes
        self._at_hand = AtHand(engine, connection, writes=writes)

    @property
    def now(self) -> datetime:
        """The database's clock, one value for the whole transaction."""
        return self._at_hand.now

    # Tickets and their journal

    def open_ticket(self, ticket: Ticket) -> None:
        """Stores a new ticket with its free lock and an empty journal."""
        self._at_hand.open(ticket)

    def has_ticket(self, ticket: TicketId) -> bool:
        """Whether there is such a ticket."""
        return tickets.exists(self._connection, ticket)

    def history(self, ticket: TicketId) -> History:
        """Everything stored about a ticket; locks it within `write`."""
        touched = self._at_hand.find(ticket)
        c, entries = self._connection, self._at_hand.journal(ticket)
        actions = ledger.of_ticket(c, ticket)
        return History(
            ticket=touched.row.ticket,
            standing=touched.row.standing,
            lock=touched.lock,
            journal=entries,
            decisions=self._as_told(decisions.of_ticket(c, ticket)),
            actions=tuple(action_as_told(action, entries) for action in actions),
            runs=runs.of_ticket(c, ticket),
            outbox=outbox.of_ticket(c, ticket),
            drafts=drafts.of_ticket(c, ticket),
            now=self.now,
            stopped=self._stopped(),
            mended=touched.mended,
        )

    def backwards(self, ticket: TicketId) -> Iterator[Entry]:
        """The ticket's journal from its end, read as far as it is looked at."""
        self.flush()
        return journal.backwards(self._connection, ticket)

    def standing(self, ticket: TicketId) -> Standing:
        """Where the ticket stands; locks it within `write`."""
        return self._at_hand.find(ticket).row.standing

    def ticket(self, ticket: TicketId) -> Ticket:
        """The ticket as it was opened."""
        return self._at_hand.find(ticket).row.ticket

    def append(self, ticket: TicketId, actor: Actor, body: Body) -> Entry:
        """Appends what needs no hold."""
        touched = self._at_hand.find(ticket)
        return touched.append(self.now, actor, body)

    def append_as(self, hold: Hold, actor: Actor, body: Body) -> Entry:
        """Appends as the holder (fenced)."""
        self._at_hand.held(hold)
        return self.append(hold.ticket, actor, body)

    # Arrivals

    def arrived(self, channel: str, external_id: str) -> tuple[TicketId, int] | None:
        """Where a channel's message is stored, or None (rule 4)."""
        return tickets.arrived(self._connection, channel, external_id)

    def remember_arrival(
        self, channel: str, external_id: str, ticket: TicketId, seq: int
    ) -> None:
        """Stores that a channel's message is that journal entry."""
        at = (ticket, seq)
        tickets.remember_arrival(self._connection, channel, external_id, at)

    def thread_of(self, channel: str, references: Sequence[str]) -> TicketId | None:
        """The ticket of the newest known one among these message ids."""
        for message_id in reversed(references):
            arrival = tickets.arrived(self._connection, channel, message_id)
            if arrival is not None:
                return arrival[0]
            ours = outbox.ticket_by_message(self._connection, message_id)
            if ours is not None:
                return ours
        return None

    def participants(self, ticket: TicketId) -> frozenset[str]:
        """The addresses that are on a ticket, lower-cased."""
        return tickets.people_on(self._connection, ticket)

    def add_participants(self, ticket: TicketId, addresses: Sequence[str]) -> None:
        """Puts addresses on a ticket; those already there stay."""
        self._at_hand.find(ticket)
        tickets.add_people(self._connection, ticket, addresses)

    # The lock

    def lock_of(self, ticket: TicketId) -> Lock:
        """The ticket's lock; locks its row within `write`."""
        return self._at_hand.find(ticket).lock

    def save_lock(self, lock: Lock) -> None:
        """Stores the lock as a rule made it from `lock_of` of this transaction."""
        self._at_hand.save_lock(lock)

    # Runs

    def start_run(self, hold: Hold, run: Run) -> None:
        """Stores a run without turns (fenced)."""
        self._at_hand.held(hold)
        runs.insert(self._connection, run)

    def store_request(
        self, hold: Hold, run: RunId, turn: Turn, messages: Sequence[bytes]
    ) -> None:
        """Stores a turn and its messages as sent (fenced)."""
        self._at_hand.held(hold)
        runs.insert_request(self._connection, hold.ticket, run, turn, messages)

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
        self._at_hand.held(hold)
        runs.save_response(self._connection, run, number, response, applied=applied)

    def end_run(self, hold: Hold, run: RunId, end: RunEnd) -> None:
        """Stores how a run of the held ticket ended (fenced)."""
        self._at_hand.held(hold).changed = True
        runs.save_end(self._connection, hold.ticket, run, end, self.now)

    def model_costs(self, since: datetime) -> Spent:
        """What the runs cost that ended since then."""
        return runs.costs(self._connection, since)

    def run_record(self, run: RunId) -> RunRecord | None:
        """A run with its messages as sent, or None."""
        return runs.record(self._connection, run)

    # Decisions and the ledger

    def propose(self, hold: Hold, decision: Decision) -> None:
        """Stores a new decision (fenced)."""
        self._at_hand.held(hold).changed = True
        decisions.insert(self._connection, decision)

    def save_decision(self, decision: Decision) -> None:
        """Stores a decision as `settle`, or its execution, made it."""
        self._at_hand.find(decision.ticket).changed = True
        decisions.save(self._connection, decision)

    def decision(self, decision: str) -> Decision | None:
        """A decision by its id; locks its ticket within `write`."""
        ticket = decisions.ticket_of(self._connection, decision)
        if ticket is None:
            return None
        self._at_hand.find(ticket)
        found = self._as_told((decisions.read(self._connection, decision),))
        return found[0] if found else None

    def decisions(self, *, open_only: bool) -> tuple[Decision, ...]:
        """Decisions of all tickets, oldest first."""
        found = decisions.all_of_them(self._connection, open_only=open_only)
        return self._as_told(found)

    def _as_told(self, found: Sequence[Decision | None]) -> tuple[Decision, ...]:
        """Those whose record can't be read as their tickets' journals tell them."""
        return tuple(
            d
            if d.unreadable is None
            else decision_as_told(d, self._at_hand.told(d.ticket))
            for d in found
            if d is not None
        )

    def intend(self, hold: Hold, action: Action) -> None:
        """Stores an action with its first event (fenced)."""
        self._at_hand.held(hold).changed = True
        ledger.insert(self._connection, action)

    def record(self, hold: Hold, action: str, event: ActionEvent) -> None:
        """Adds a dated event to an action (fenced)."""
        self._at_hand.held(hold).changed = True
        ledger.add_event(self._connection, hold.ticket, action, event)

    def spent_today(self, tool: str) -> Sums:
        """What done and open actions of a tool moved since midnight UTC."""
        if self._writes:  # a limit of the day spans tickets: one at a time counts
            self._engine.alone(self._connection, f"handoff spent {tool}")
        midnight = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        moved = ledger.moved(self._connection, midnight, tool)
        return by_currency((self._amount(m, _UNKNOWN), m.currency) for m in moved)

    def moved_since(self, since: datetime) -> Mapping[str, Sums]:
        """What done and open actions moved that were begun since, by tool."""
        moved = ledger.moved(self._connection, since)
        return {
            tool: by_currency((self._amount(m, None), m.currency) for m in its)
            for tool, its in groupby(moved, key=lambda m: m.tool)
        }

    def _amount(self, moved: ledger.Moved, unknown: Decimal | None) -> Decimal | None:
        """The amount, or where it can't be read what the journal tells."""
        if moved.amount is not None:
            return moved.amount
        told = (
            amount_of(entry.body.amount)
            for entry in self._at_hand.told(moved.ticket)
            if isinstance(entry.body, ActionChanged)
            and entry.body.action == moved.action
        )
        return next((amount for amount in told if amount is not None), unknown)

    def open_elsewhere(
        self, ticket: TicketId, tool: str, acted_on: str
    ) -> TicketId | None:
        """Another ticket where this tool has something open on the same object."""
        if self._writes:
            self._engine.alone(self._connection, f"handoff object {tool} {acted_on}")
        self.flush()
        found = ledger.open_on(self._connection, tool, acted_on)
        found |= decisions.open_on(self._connection, tool, acted_on)
        return min(found - {ticket}, default=None)

    def on_object(self, acted_on: str) -> tuple[OnObject, ...]:
        """What was done to an object on all tickets; then what waits to be."""
        self.flush()
        done = ledger.on_object(self._connection, acted_on)
        begun = {one.decision for one in done}
        waits = self._as_told(decisions.open_of(self._connection, acted_on))
        return (*done, *(decisions.waiting(d) for d in waits if d.id not in begun))

    def keep_rules(self, rules: Rules) -> None:
        """Stores the tools' rules, unless this version is there already."""
        house.keep_rules(self._connection, rules, self.now)

    def rules(self) -> tuple[Rules, ...]:
        """All rules that ever judged a call, the newest first."""
        return house.read_rules(self._connection)

    # Replies on their way to the buyer

    def enqueue(self, hold: Hold, reply: Reply) -> None:
        """Puts a reply into the outbox (fenced)."""
        self._at_hand.held(hold).changed = True
        outbox.insert(self._connection, reply, self.now)

    def save_reply(self, reply: Reply) -> None:
        """Stores a reply's new state, attempts and outcome."""
        self._at_hand.find(reply.ticket).changed = True
        outbox.save(self._connection, reply, self.now)

    def reply(self, message_id: str) -> Reply | None:
        """A reply by its id; locks its ticket within `write`."""
        ticket = outbox.ticket_of(self._connection, message_id)
        if ticket is None:
            return None
        self._at_hand.find(ticket)
        return outbox.read(self._connection, message_id)

    def outbox(self) -> tuple[Reply, ...]:
        """All replies still on their way, and the last 200 that were."""
        return outbox.overview(self._connection)

    def deliverable(self, limit: int) -> tuple[Reply, ...]:
        """Replies that a sender may take up: `queued`, or `sending` too long."""
        stopped = self.pause() is not None
        return outbox.deliverable(self._connection, self.now, limit, stopped=stopped)

    # People, drafts, workers

    def operators(self, *, alone: bool = False) -> tuple[Operator, ...]:
        """Everybody, by name; `alone`, others who ask so wait for the end."""
        if alone:
            self._engine.alone(self._connection, "handoff people")
        return people.read_operators(self._connection)

    def save_operator(self, operator: Operator) -> None:
        """Stores a new or changed operator."""
        people.save_operator(self._connection, operator)

    def login(self) -> str | None:
        """Who the database says is connected, where it knows (PostgreSQL)."""
        return self._engine.login(self._connection)

    def drafts(self, ticket: TicketId) -> tuple[Draft, ...]:
        """The unsent texts on a ticket."""
        return drafts.of_ticket(self._connection, ticket)

    def save_draft(self, draft: Draft) -> None:
        """Keeps unsent text; an empty text discards the draft."""
        self._at_hand.find(draft.ticket)
        drafts.save(self._connection, draft)

    def report_alive(self, worker: Worker) -> None:
        """Stores that a worker process lives."""
        people.save_worker(self._connection, worker, self.now)

    def retire(self, worker: str) -> None:
        """Forgets a worker that ended in order."""
        people.remove_worker(self._connection, worker)

    def workers(self) -> tuple[Worker, ...]:
        """Worker processes that reported within the last day."""
        return people.read_workers(self._connection, self.now)

    # The whole house

    def admit(self, login: str, role: Role | None) -> tuple[str, ...]:
        """Gives a database login the rights of a role, or says who has to."""
        return self._engine.admit(self._connection, login, role)

    def expel(self, login: str) -> tuple[str, ...]:
        """Takes all rights from a database login, or says who has to."""
        return self._engine.expel(self._connection, login)

    def pause(self) -> Pause | None:
        """Why the agent is stopped everywhere, or None."""
        return house.read_pause(self._connection)

    def _stopped(self) -> str | None:
        pause = self.pause()
        if pause is None:
            return None
        return f"{pause.by}: {pause.why}" if pause.why else pause.by

    def keep_act(self, act: HouseAct) -> None:
        """Stores what was done to the whole house; tells all followers."""
        house.keep_act(self._connection, act)
        self._engine.wake(self._connection)

    def house_acts(self) -> tuple[HouseAct, ...]:
        """All that was done to the whole house, oldest first."""
        return house.read_acts(self._connection)

    def canned(self) -> tuple[Canned, ...]:
        """What the team has written already, by name."""
        return canned.read(self._connection)

    def save_canned(self, said: Canned) -> None:
        """Stores a reply over what had its name; an empty text removes it."""
        canned.save(self._connection, said)

    def report_presence(self, presence: Presence) -> None:
        """Stores what a console says of itself, now."""
        house.save_presence(self._connection, presence, self.now)

    def presences(self) -> tuple[Presence, ...]:
        """The consoles that reported within the last half hour."""
        return house.read_presences(self._connection, self.now)

    # Overviews

    def snoozed_until(self, time: datetime) -> tuple[TicketId, ...]:
        """Tickets that sleep until a time that has come."""
        self.flush()
        return queue.asleep_until(self._connection, time)

    def of_customer(self, customer: str) -> tuple[QueueRow, ...]:
        """The tickets whose buyer is verified as this customer, newest first."""
        self.flush()
        rebuilt = self._at_hand.rebuilt
        return queue.of_customer(self._connection, customer, rebuilt)

    def stranded(self, channels: Collection[str]) -> tuple[Reply, ...]:
        """Replies without a channel whose channel is one of these."""
        return outbox.stranded(self._connection, channels)

    def ticket_of_action(self, action: str) -> TicketId | None:
        """The ticket of a ledger row, or None."""
        return ledger.ticket_of(self._connection, action)

    def due(self, limit: int) -> tuple[TicketId, ...]:
        """Tickets that a run may take: held by a dead run, or due and free."""
        self.flush()
        if self.pause() is not None:
            return ()
        dead = locks.dead_runs(self._connection, self.now, limit)
        waiting = queue.due(self._connection, limit)
        return tuple(dict.fromkeys((*dead, *waiting)))[:limit]

    def queue(self, query: QueueQuery) -> tuple[QueueRow, ...]:
        """Rows of the queue, by harm."""
        self.flush()
        return queue.rows(self._connection, query, self._at_hand.rebuilt)

    def queue_rows(self, tickets: Sequence[TicketId]) -> tuple[QueueRow, ...]:
        """The rows of these tickets, for a screen that shows them already."""
        self.flush()
        return queue.rows_of(self._connection, tickets, self._at_hand.rebuilt)

    def counts(self, operator: str) -> Mapping[str, int]:
        """How many tickets each view holds."""
        self.flush()
        return queue.counts(self._connection, operator)

    def damaged(self) -> tuple[Damaged, ...]:
        """The records that can't be read, of all that are stored: takes a while."""
        return inspection.damaged(self._connection)

    def busy(self) -> bool:
        """Whether a run holds a ticket, or a reply is on its way.

        What waits for the agent to go on does not count.
        """
        c, stopped = self._connection, self.pause() is not None
        running = locks.any_run(c, self.now, stopped=stopped)
        return running or outbox.any_waiting(c, stopped=stopped)

    def flush(self) -> None:
        """Writes what was appended and not written yet."""
        self._at_hand.flush()
