"""What the screen stands on: the services it is given, and the way to live data.

The app gets one `Services` from `console/wiring.py` and nothing else: no database,
no adapter and no clock is named below it. `Follower` turns the store's change feed
into three calls (changed, lost, back) and looks for the store again when it is
gone, so that a screen has only to re-read the rows it shows (rule "one wire").
Everything that is read, is read by the functions here, in one transaction each.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import TypeAlias

from console.canned import Files
from console.settings import Section
from core.decision import Decision, Operator
from core.errors import StoreReplaced, StoreUnreachable, UnknownTicket
from core.flows.answer import DIRECTLY, Leaving
from core.flows.house import Hands
from core.history import History, QueueRow
from core.journal import LockChanged
from core.ledger import OnObject
from core.ports import (
    Canned,
    Clock,
    Ids,
    Pause,
    Presence,
    QueueQuery,
    Store,
    Transaction,
)
from core.ticket import TicketId
from core.tool import ToolSpec

PAGE = 200
"""Rows that the queue reads at a time."""

OTHERS = 6
"""Other tickets of a customer that the chart names."""

RETRIES = (1, 2, 4, 8, 10)
"""Seconds until a lost store is looked for again; the last is repeated."""


OnObjects: TypeAlias = Mapping[str, tuple[OnObject, ...]]
"""What was done, or waits, on an object, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayIn:
    """One way to get tickets, as the first-run screen shows it.

    Attributes:
        name: In a word or two.
        command: What to type.
        words: What it does, in a line.
    """

    name: str
    command: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """All that the app needs of the world.

    Attributes:
        store: Where everything is kept.
        operator: Who sits here.
        clock: For waiting and for ages on the screen; decides nothing.
        ids: For new replies.
        title: Shown on the screen beside the name: a demo's stand-in model must be
            said here ("demo · scripted agent"); "" for none.
        zone: The person's time zone; None for the system's.
        tools: Reads the tools with their policies, so that an override is judged
            before it is stored; None where no tool server is configured.
        hands: Opens what is needed to use a tool; None where no server is configured.
        ways_in: For the first-run screen; () for the usual three.
        log_path: Where errors are written, told when the program fails.
        theme: The theme to start with.
        leaving: How a reply written here leaves.
        ascii: Whether the terminal can show nothing but ASCII.
        bell: Whether a notice of what waits for the person rings the bell.
        keys: Other keys for commands, by the command's id.
        settings: What is in force by configuration, for who sits here now.
        canned: Reads the written replies and macros that are files, by name; asked
            again whenever they are offered, since people write them meanwhile.
    """

    store: Store
    operator: Operator
    clock: Clock
    ids: Ids
    title: str = ""
    zone: tzinfo | None = None
    tools: Callable[[], Awaitable[Mapping[str, ToolSpec]]] | None = None
    hands: Callable[[], AbstractAsyncContextManager[Hands]] | None = None
    ways_in: tuple[WayIn, ...] = ()
    log_path: Path | None = None
    theme: str = "handoff-dark"
    leaving: Leaving = DIRECTLY
    ascii: bool = False
    bell: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    settings: Callable[[Operator], Sequence[Section]] = lambda _: ()
    canned: Callable[[], Files] = dict


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What the whole desk shows of the store, as of one transaction.

    Attributes:
        ids: The tickets of the page that was read, in the queue's order.
        rows: Their rows, and those asked for by name.
        counts: Tickets by view; empty where they were not asked for.
        workers: Worker processes that live.
        people: Names of the active operators.
        now: The database's clock.
        pause: Who stopped the agent everywhere, or None.
    """

    ids: tuple[TicketId, ...]
    rows: Mapping[TicketId, QueueRow]
    counts: Mapping[str, int]
    workers: int
    people: tuple[str, ...]
    now: datetime
    pause: Pause | None = None


async def glance(
    store: Store, query: QueueQuery, also: Sequence[TicketId] = ()
) -> Glance:
    """Reads a page of the queue, the counts and the workers."""

    def look(tx: Transaction) -> Glance:
        page = tx.queue(query)
        rows = {row.ticket: row for row in (*page, *tx.queue_rows(tuple(also)))}
        return Glance(
            ids=tuple(row.ticket for row in page),
            rows=rows,
            counts=tx.counts(query.operator),
            workers=sum(worker.alive for worker in tx.workers()),
            people=tuple(o.name for o in tx.operators() if not o.disabled),
            now=tx.now,
            pause=tx.pause(),
        )

    return await store.read(look)


async def rows_again(store: Store, tickets: Sequence[TicketId]) -> Glance:
    """Reads the rows that are on the screen again; no counts, which are dear."""

    def look(tx: Transaction) -> Glance:
        return Glance(
            ids=tuple(tickets),
            rows={row.ticket: row for row in tx.queue_rows(tickets)},
            counts={},
            workers=sum(worker.alive for worker in tx.workers()),
            people=tuple(o.name for o in tx.operators() if not o.disabled),
            now=tx.now,
            pause=tx.pause(),
        )

    return await store.read(look)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A ticket as the desk shows it.

    Attributes:
        history: Everything about it.
        others: The newest other tickets of the same verified customer.
        on_objects: What else was done, or waits, on what its open decisions act on.
    """

    history: History
    others: tuple[QueueRow, ...]
    on_objects: OnObjects


async def chart_of(store: Store, ticket: TicketId) -> Chart | None:
    """Reads everything about a ticket, or None where there is none such."""

    def look(tx: Transaction) -> Chart | None:
        try:
            history = tx.history(ticket)
        except UnknownTicket:
            return None
        identity = history.standing.identity
        others = () if identity is None else tx.of_customer(identity.customer)
        kept = tuple(row for row in others if row.ticket != ticket)[:OTHERS]
        on_objects = on_objects_of(tx, history.decisions)
        return Chart(history=history, others=kept, on_objects=on_objects)

    return await store.read(look)


def on_objects_of(tx: Transaction, decisions: Iterable[Decision]) -> OnObjects:
    """What was done, or waits, on what open decisions act on, by that."""
    names = {d.acts_on for d in decisions if d.open and d.acts_on is not None}
    return {name: tx.on_object(name) for name in sorted(names)}


async def on_objects(store: Store, history: History) -> OnObjects:
    """As `on_objects_of`, read anew: another ticket may have changed it."""
    return await store.read(lambda tx: on_objects_of(tx, history.decisions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    """What concerns the person who sits here, wherever they look.

    Attributes:
        held: The tickets that they hold, with the seq of the buyer's last message.
        unanswered: Which of them wait for an answer.
        ready: On which of them something approved is to be carried out.
        decisions: Open decisions, with their ticket.
        offered: The tickets that colleagues ask them to take.
        asked: The tickets that they offer and nobody has answered for.
        declined: Who declined one of them since the last look, by ticket.
        person: As they are now: a supervisor may have changed them.
    """

    held: Mapping[TicketId, int]
    unanswered: frozenset[TicketId]
    decisions: Mapping[str, TicketId]
    offered: frozenset[TicketId] = frozenset()
    asked: frozenset[TicketId] = frozenset()
    declined: Mapping[TicketId, str] = field(default_factory=dict)
    ready: frozenset[TicketId] = frozenset()
    person: Operator | None = None


async def mine(store: Store, me: str, offers: Sequence[TicketId] = ()) -> Mine:
    """Reads what waits for somebody, and what came of the tickets that they offer."""

    def look(tx: Transaction) -> Mine:
        rows = tx.queue(QueueQuery(view="mine", operator=me, limit=PAGE))
        held = {r.ticket: r.standing for r in rows if r.standing.held_by == me}
        asked = tx.queue(QueueQuery(view="approvals", operator=me, limit=PAGE))
        passed = tx.queue_rows(offers) if offers else ()
        open_ = frozenset(r.ticket for r in passed if r.standing.offered_by == me)
        over = [r.ticket for r in passed if r.ticket not in open_]
        return Mine(
            held={ticket: s.last_buyer_seq for ticket, s in held.items()},
            unanswered=frozenset(t for t, s in held.items() if s.unanswered),
            ready=frozenset(t for t, s in held.items() if s.ready),
            decisions={d: r.ticket for r in asked for d in r.standing.pending},
            offered=frozenset(r.ticket for r in rows if r.standing.offered_to == me),
            asked=open_,
            declined={t: who for t in over if (who := _declined_by(tx, t)) is not None},
            person=next((o for o in tx.operators() if o.name == me), None),
        )

    return await store.read(look)


def _declined_by(tx: Transaction, ticket: TicketId) -> str | None:
    """Who said no, if that is the last that was said of who has the ticket."""
    said = (e.body for e in tx.backwards(ticket))
    last = next((body for body in said if isinstance(body, LockChanged)), None)
    if last is None or last.change != "declined":
        return None
    return str(last.holder.get("name"))


async def team_replies(store: Store) -> tuple[Canned, ...]:
    """Reads what the team has written already."""
    return await store.read(lambda tx: tx.canned())


async def meet(store: Store, said: Presence) -> tuple[Presence, ...]:
    """Tells colleagues where this person is, and reads where they are."""

    def tell(tx: Transaction) -> tuple[Presence, ...]:
        tx.report_presence(said)
        return tx.presences()

    return await store.write(tell)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The store can't be reached.

    Attributes:
        why: In one line.
        since: Since when.
        retry_at: When it is looked for again.
        tries: How often it was looked for since.
        replaced: Whether its file is another one now, which no waiting mends.
    """

    why: str
    since: datetime
    retry_at: datetime
    tries: int
    replaced: bool = False


@dataclass(slots=True, kw_only=True)
class Follower:
    """Follows the change feed for as long as it runs.

    Attributes:
        store: Whose feed.
        clock: Waits between tries.
        changed: Called with the tickets that changed; with an empty set when
            everything shown must be read again.
        lost: Called when the store is gone, once for each try.
        back: Called when it is there again.
    """

    store: Store
    clock: Clock
    changed: Callable[[frozenset[TicketId]], None]
    lost: Callable[[Lost], None]
    back: Callable[[], None]
    _hurry: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Follows until it is cancelled."""
        gone: Lost | None = None
        while True:
            try:
                async for tickets in self.store.follow():
                    if gone is not None:
                        gone = None
                        self.back()
                    self.changed(tickets)
            except StoreUnreachable as error:
                gone = self._gone(str(error), gone)
                gone = replace(gone, replaced=isinstance(error, StoreReplaced))
            else:
                gone = self._gone("the change feed ended", gone)
            self.lost(gone)
            await self._wait(gone)

    def hurry(self) -> None:
        """Looks for a lost store at once."""
        self._hurry.set()

    def _gone(self, why: str, before: Lost | None) -> Lost:
        now = self.clock.now()
        tries = 0 if before is None else before.tries + 1
        wait = RETRIES[min(tries, len(RETRIES) - 1)]
        return Lost(
            why=why,
            since=now if before is None else before.since,
            retry_at=now + timedelta(seconds=wait),
            tries=tries,
        )

    async def _wait(self, gone: Lost) -> None:
        seconds = (gone.retry_at - self.clock.now()).total_seconds()
        self._hurry.clear()
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._hurry.wait()
        except TimeoutError:
            pass
