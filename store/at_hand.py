"""The tickets that a transaction has at hand: what it found, and what it makes of it.

Entries are folded into the standing at once, and written together before the next
read that needs them and at the end; so a turn that appends ten entries writes the
ticket's row once. Within `write`, finding a ticket takes its lock row first, and what
is read after it stays true until the commit.

A ticket whose row can't be read is not lost: where it stands is what its journal comes
to, so it is folded anew, and the next transaction that writes stores it.
"""

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial, reduce

import sqlalchemy as sa

from core import mending
from core.errors import UnknownTicket
from core.journal import Body, DecisionChanged, Entry, LockChanged, Message
from core.lock import FencingToken, Hold, Lock
from core.standing import Standing, fold
from core.ticket import Actor, Ticket, TicketId, system
from store import fence, journal, locks, tickets
from store.clauses import Clock
from store.engine import Engine
from store.prepared import Prepared
from store.reading import Row
from store.schema import locks as lock_rows
from store.schema import tickets as ticket_rows
from store.tickets import TicketRow

_FOUND = (
    sa.select(*locks.READ, *tickets.READ)
    .join_from(lock_rows, ticket_rows, ticket_rows.c.id == lock_rows.c.ticket_id)
    .where(ticket_rows.c.id == sa.bindparam("ticket"))
)
_LOCKED = _FOUND.with_for_update(key_share=True, of=(lock_rows, ticket_rows)).subquery()
_FIND = Prepared(_FOUND.add_columns(Clock().label("now")))
_FIND_AND_LOCK = Prepared(sa.select(_LOCKED, Clock().label("now")))
"""Lock and ticket at once, both rows locked, and then the time.

PostgreSQL gives the newest version of each row that it had to wait for, as long as it
locks that row itself; and the subquery makes it look at the clock after the wait.
"""
_WITHOUT_LOCK = sa.select(*locks.GONE, *tickets.READ).where(
    ticket_rows.c.id == sa.bindparam("ticket")
)
_ALONE = _WITHOUT_LOCK.with_for_update(key_share=True, of=ticket_rows).subquery()
_FIND_ALONE = Prepared(_WITHOUT_LOCK.add_columns(Clock().label("now")))
_FIND_ALONE_AND_LOCK = Prepared(sa.select(_ALONE, Clock().label("now")))
"""The same of a ticket whose lock is gone, which only a damaged store has."""

_NOW = Prepared(sa.select(Clock().label("now")))

_AWAITED = {"released", "handed_over", "forced", "wanted"}
_SETTLED = {"approved", "overridden", "rejected"}


@dataclass(slots=True, kw_only=True)
class Touched:
    """A ticket within a transaction.

    Attributes:
        found: The lock as the transaction found it.
        lock: The lock as it has made it.
        journal: All entries with those that are not written yet, once they were read.
        new: Entries that are not written yet.
        changed: Whether the row is to be written.
        awaited: Whether somebody waits for what was appended.
        mended: Whether a part of the row can't be read.
        lockless: Whether there is no row of the lock.
    """

    row: TicketRow
    found: Lock
    lock: Lock
    journal: tuple[Entry, ...] | None = None
    new: list[Entry] = field(default_factory=list)
    changed: bool = False
    awaited: bool = False
    mended: bool = False
    lockless: bool = False

    def append(self, now: datetime, actor: Actor, body: Body) -> Entry:
        """The next entry, folded into the standing."""
        before = self.row.standing
        entry = Entry(seq=before.last_seq + 1, at=now, actor=actor, body=body)
        self.row.standing = fold(before, entry)
        self.new.append(entry)
        if self.journal is not None:
            self.journal = (*self.journal, entry)
        self.changed = True
        self.awaited = self.awaited or _is_awaited(before, body)
        return entry


class AtHand:
    """The tickets of one transaction."""

    def __init__(
        self, engine: Engine, connection: sa.Connection, *, writes: bool
    ) -> None:
        self._engine = engine
        self._connection = connection
        self._writes = writes
        self._touched: dict[TicketId, Touched] = {}
        self._now: datetime | None = None
        self._numbered = False

    @property
    def now(self) -> datetime:
        """The database's clock, one value for the whole transaction."""
        if self._now is None:
            self._now = _NOW.rows(self._connection)[0].now
        return self._now

    def open(self, ticket: Ticket) -> None:
        """Stores a new ticket with its free lock and an empty journal."""
        row = TicketRow(ticket=ticket, standing=Standing(), version=1)
        self._number()
        tickets.insert(self._connection, row)
        lock = Lock(ticket=ticket.id, token=FencingToken(0))
        locks.insert(self._connection, lock)
        self._touched[ticket.id] = Touched(row=row, found=lock, lock=lock, journal=())

    def find(self, ticket: TicketId) -> Touched:
        """The ticket; within `write` its row is locked from now on.

        Raises:
            UnknownTicket: There is none.
        """
        touched = self._touched.get(ticket)
        if touched is None:
            query = _FIND_AND_LOCK if self._writes else _FIND
            found = query.each(
                self._connection,
                partial(self._read, ticket),
                partial(self._mend, ticket),
                ticket=ticket,
            )
            touched = found[0] if found else self._find_without_lock(ticket)
            self._touched[ticket] = touched
        return touched

    def _find_without_lock(self, ticket: TicketId) -> Touched:
        query = _FIND_ALONE_AND_LOCK if self._writes else _FIND_ALONE
        mend = partial(self._mend, ticket)
        found = query.each(self._connection, mend, ticket=ticket)
        if not found:
            raise UnknownTicket(f"there is no ticket {ticket}")
        found[0].lockless = True
        return found[0]

    def save_lock(self, lock: Lock) -> None:
        """Stores a lock as a rule made it."""
        touched = self.find(lock.ticket)
        touched.lock = lock
        if touched.lockless:
            locks.insert(self._connection, lock)
            touched.lockless = False
        else:
            locks.save(self._connection, lock)

    def told(self, ticket: TicketId) -> tuple[Entry, ...]:
        """The ticket's journal as it is stored, without locking the ticket."""
        return journal.read(self._connection, ticket)

    def rebuilt(self, ticket: TicketId) -> Standing:
        """Where the ticket stands by its journal alone."""
        return mending.rebuilt(self.told(ticket))

    def _read(self, ticket: TicketId, row: Row) -> Touched:
        lock = locks.read(row, ticket)
        touched = Touched(row=tickets.read(row, ticket), found=lock, lock=lock)
        self._now = self._now or row.now
        return touched

    def _mend(self, ticket: TicketId, row: Row) -> Touched:
        """A ticket of whose row a part is damaged; stored whole by who writes."""
        self._now = self._now or row.now
        entries = self.told(ticket)
        lock = locks.mended(row, ticket, entries)
        if not self._writes:
            whole = tickets.mended(row, ticket, mending.rebuilt(entries))
            return Touched(row=whole, found=lock, lock=lock, mended=True)
        if row.holder_kind in locks.KINDS:  # else only who takes it by force ends it
            locks.save(self._connection, lock)
        whole = tickets.mended(row, ticket, reduce(fold, entries, Standing()))
        touched = Touched(row=whole, found=lock, lock=lock, changed=True, mended=True)
        for body in mending.to_be_told(entries, ticket if lock.unreadable else None):
            touched.append(self.now, system("store"), body)
        return touched

    def journal(self, ticket: TicketId) -> tuple[Entry, ...]:
        """The ticket's whole journal, read once and appended to since."""
        touched = self.find(ticket)
        if touched.journal is None:
            stored = journal.read(self._connection, ticket)
            touched.journal = (*stored, *touched.new)
        return touched.journal

    def held(self, hold: Hold) -> Touched:
        """The ticket, if this is its current hold (rule 1).

        Raises:
            StaleHold: It is not.
        """
        touched = self.find(hold.ticket)
        fence.check(hold, touched.found, touched.lock)
        return touched

    def flush(self) -> None:
        """Writes what was changed and not written yet."""
        for touched in self._touched.values():
            if touched.changed:
                self._write(touched)

    def _write(self, touched: Touched) -> None:
        row = touched.row
        if touched.new:
            journal.insert(self._connection, row.ticket.id, touched.new)
            touched.new = []
        row.version += 1
        self._number()
        tickets.save(self._connection, row)
        if touched.awaited:
            self._engine.wake(self._connection)
        touched.changed = touched.awaited = False

    def _number(self) -> None:
        if not self._numbered:
            self._engine.number(self._connection)
            self._numbered = True


def _is_awaited(before: Standing, body: Body) -> bool:
    """Whether somebody waits for this entry, so that a follower should look now."""
    match body:
        case Message(direction="in"):  # a run looks at its next boundary anyway
            return before.run is None
        case LockChanged(change=change):
            return change in _AWAITED
        case DecisionChanged(state=state):
            return state in _SETTLED
        case _:
            return False
