"""The tickets that a transaction has at hand: what it found, and what it makes of it.

Entries are folded into the standing at once, and written together before the next
read that needs them and at the end; so a turn that appends ten entries writes the
ticket's row once. Within `write`, finding a ticket takes its lock row first, and what
is read after it stays true until the commit.
"""

from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa

from core.errors import UnknownTicket
from core.journal import Body, DecisionChanged, Entry, LockChanged, Message
from core.lock import Hold, Lock
from core.standing import Standing, fold
from core.ticket import Actor, Ticket, TicketId
from store import fence, journal, locks, tickets
from store.engine import Engine
from store.tickets import TicketRow

_AWAITED = {"released", "handed_over", "forced", "wanted"}
_SETTLED = {"approved", "overridden", "rejected"}


@dataclass(slots=True, kw_only=True)
class Touched:
    """A ticket within a transaction.

    Attributes:
        found: The lock as the transaction found it.
        lock: The lock as it has made it.
        new: Entries that are not written yet.
        changed: Whether the row is to be written.
        awaited: Whether somebody waits for what was appended.
    """

    row: TicketRow
    found: Lock
    lock: Lock
    new: list[Entry] = field(default_factory=list)
    changed: bool = False
    awaited: bool = False

    def append(self, now: datetime, actor: Actor, body: Body) -> Entry:
        """The next entry, folded into the standing."""
        before = self.row.standing
        entry = Entry(seq=before.last_seq + 1, at=now, actor=actor, body=body)
        self.row.standing = fold(before, entry)
        self.new.append(entry)
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
        self._stamp: int | None = None

    def open(self, ticket: Ticket) -> None:
        """Stores a new ticket with its free lock and an empty journal."""
        row = TicketRow(ticket=ticket, standing=Standing(), version=1)
        tickets.insert(self._connection, row, self._number())
        lock = locks.insert(self._connection, ticket.id)
        self._touched[ticket.id] = Touched(row=row, found=lock, lock=lock)

    def find(self, ticket: TicketId) -> Touched:
        """The ticket; within `write` its row is locked from now on.

        Raises:
            UnknownTicket: There is none.
        """
        touched = self._touched.get(ticket)
        if touched is None:
            # the lock first: what is read after it is the newest there is
            lock = locks.read(self._connection, ticket, hold=self._writes)
            row = tickets.read(self._connection, ticket) if lock else None
            if lock is None or row is None:
                raise UnknownTicket(f"there is no ticket {ticket}")
            touched = Touched(row=row, found=lock, lock=lock)
            self._touched[ticket] = touched
        return touched

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
        tickets.save(self._connection, row, self._number())
        if touched.awaited:
            self._engine.wake(self._connection)
        touched.changed = touched.awaited = False

    def _number(self) -> int:
        if self._stamp is None:
            self._stamp = self._engine.stamp(self._connection)
        return self._stamp


def _is_awaited(before: Standing, body: Body) -> bool:
    """Whether somebody waits for this entry, so that a follower should look now."""
    match body:
        case Message(direction="in"):
            return before.run is None and before.held_by is None
        case LockChanged(change=change):
            return change in _AWAITED
        case DecisionChanged(state=state):
            return state in _SETTLED
        case _:
            return False
