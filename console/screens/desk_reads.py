"""How the desk keeps up with the store: what is read, and when.

A change is shown at once and a flood ten times a second: while one look runs, what
changes meanwhile is gathered for the next. Only rows on the screen are read again;
the order of the list at most once a second; the chart of a ticket once the cursor
has rested on it.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from console.live import (
    PAGE,
    Glance,
    Mine,
    OnObjects,
    Services,
    chart_of,
    glance,
    mine,
    on_objects,
    rows_again,
)
from console.widgets.timeline_items import Item, items_of
from core.errors import StoreUnreachable
from core.history import History, QueueRow
from core.ports import Pause, QueueQuery
from core.ticket import TicketId

BEAT = 0.1
"""Seconds between two looks."""

RESORT = 1.0
"""Seconds between two readings of the list's order."""

_START = ("human", "approvals", "mine", "agent", "all")
"""Where a desk starts: the first of these views that has a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A part of the queue as it was read.

    Attributes:
        glance: The rows.
        offset: Where they begin.
        total: Tickets in the view.
        anew: Whether no ticket that has left the view keeps its row.
    """

    glance: Glance
    offset: int
    total: int
    anew: bool = False


class Shown(Protocol):
    """The desk, as what is read for it."""

    def looked_at(self) -> tuple[TicketId, ...]:
        """The tickets whose rows are on the screen."""

    def ticket(self) -> TicketId | None:
        """The ticket under the cursor."""

    def window_at(self) -> int:
        """Where the rows around the screen begin."""

    def window_read(self, window: Window) -> None:
        """Shows a part of the queue."""

    def rows_read(self, rows: Glance) -> None:
        """Shows rows that were read again."""

    def chart_read(self, history: History) -> None:
        """Shows a ticket."""

    def chart_gone(self, ticket: TicketId) -> None:
        """Shows that a ticket is not there any more."""

    def mine_read(self, before: Mine | None, now: Mine) -> None:
        """Tells what is new for the person who sits here."""


class Reads:
    """What the desk has read, and the reading."""

    def __init__(self, services: Services, shown: Shown) -> None:
        self._services = services
        self._shown = shown
        self.view = "human"
        self.filter = ""
        self.counts: dict[str, int] = {}
        self.workers: int | None = None
        self.people: tuple[str, ...] = ()
        self.history: History | None = None
        self.others: tuple[QueueRow, ...] = ()
        self.on_objects: OnObjects = {}
        self.items: tuple[Item, ...] = ()
        self.pause: Pause | None = None
        self.mine: Mine | None = None
        self._offers: set[TicketId] = set()
        self._landed = False
        self._chart_changed = False
        self._following = False
        self._changed: set[TicketId] = set()
        self._all = False
        self._busy = False
        self._sorted_at = 0.0
        self._unsorted = False
        self._begun = self._newest = 0
        self._ahead = services.clock.now() - services.clock.now()

    def now(self) -> datetime:
        """The database's time, by this machine's clock since the last read."""
        return self._services.clock.now() + self._ahead

    def note(self, tickets: frozenset[TicketId]) -> bool:
        """Takes note of changes; an empty set means everything.

        Returns:
            Whether `catch_up` must be started.
        """
        self._changed |= tickets
        self._chart_changed |= self._shown.ticket() in tickets
        self._all = self._all or not tickets
        return not self._busy

    @property
    def chart_changed(self) -> bool:
        """Whether `follow_chart` must be started."""
        return self._chart_changed and not self._following

    async def catch_up(self) -> None:
        """Reads until nothing that changed is left to be read."""
        if self._busy:
            return
        self._busy = True
        try:
            while self._changed or self._all or self._unsorted:
                changed, everything = self._changed, self._all
                self._changed, self._all = set(), False
                await self._look(changed, everything=everything)
                await asyncio.sleep(BEAT)
        except StoreUnreachable:
            self._all = True  # the feed tells when it is back
        finally:
            self._busy = False

    async def _look(self, changed: set[TicketId], *, everything: bool) -> None:
        seen = self._shown.looked_at()
        if everything or time.monotonic() - self._sorted_at >= RESORT:
            await self.read_window(self._shown.window_at())
            await self._read_mine()
            await self._read_on_objects()
        else:
            self._unsorted = True
            if not changed.isdisjoint(seen):
                rows = await rows_again(self._services.store, seen)
                self._took(rows)
                self._shown.rows_read(rows)
        ticket = self._shown.ticket()
        if ticket is not None and everything:
            await self.read_chart(ticket)

    async def follow_chart(self) -> None:
        """Reads the ticket under the cursor again, at once and then ten times a second.

        It does not wait for the list, so that what a buyer writes is there before one
        has looked up.
        """
        if self._following:
            return
        self._following = True
        try:
            while self._chart_changed:
                self._chart_changed = False
                ticket = self._shown.ticket()
                if ticket is not None:
                    await self.read_chart(ticket)
                await asyncio.sleep(BEAT)
        except StoreUnreachable:
            self._all = True  # the feed tells when it is back
        finally:
            self._following = False

    async def read_window(self, offset: int, *, anew: bool = False) -> None:
        """Reads a part of the queue and shows it.

        Of two readings at once, the one that began first is done again where it ends
        last; and what changes during one is not in it, so the list is not sorted yet.

        Args:
            offset: Where it begins.
            anew: Whether no ticket that has left the view keeps its row.
        """
        self._begun += 1
        begun, unsorted, self._unsorted = self._begun, self._unsorted, False
        try:
            await self._read_window(offset, begun, anew=anew)
        except BaseException:
            self._unsorted = self._unsorted or unsorted
            raise

    async def _read_window(self, offset: int, begun: int, *, anew: bool) -> None:
        view, words = self.view, self.filter
        query = QueueQuery(
            view=view,
            search=words,
            operator=self._services.operator.name,
            offset=offset,
            limit=PAGE,
        )
        ticket = self._shown.ticket()
        also = () if ticket is None else (ticket,)
        found = await glance(self._services.store, query, also)
        if (view, words) != (self.view, self.filter):
            return
        if begun < self._newest:
            await self.read_window(offset, anew=anew)
            return
        self._newest, self._sorted_at = begun, time.monotonic()
        self._took(found)
        if not self._landed and not found.ids and self._first_with_rows():
            await self.read_window(0)
            return
        self._landed = self._landed or bool(found.ids)
        end = offset + len(found.ids)
        more = PAGE if len(found.ids) == PAGE else 0
        total = end + more if words else max(self._listed(view), end)
        window = Window(glance=found, offset=offset, total=total, anew=anew)
        self._shown.window_read(window)

    def _listed(self, view: str) -> int:
        """How many rows a view has; among the approvals not all wait for a person."""
        more = self.counts.get("approved", 0) if view == "approvals" else 0
        return self.counts.get(view, 0) + more

    def look_at(self, view: str) -> None:
        """Shows another view from now on, chosen by the person."""
        self.view, self._landed = view, True

    def _first_with_rows(self) -> bool:
        """Goes to the first view that has something to see, at the start only."""
        for view in _START:
            if self.counts.get(view):
                self.view, self._landed = view, True
                return True
        return False

    async def _read_mine(self) -> None:
        offers = tuple(self._offers)
        now = await mine(self._services.store, self._services.operator.name, offers)
        self._offers -= set(offers) - now.asked
        before, self.mine = self.mine, now
        self._shown.mine_read(before, now)

    async def _read_on_objects(self) -> None:
        """Another ticket's refund changes what the card of this one has to say."""
        history = self.history
        if history is not None and self.on_objects:
            found = await on_objects(self._services.store, history)
            if self.history is history:
                self.on_objects = found

    async def read_chart(self, ticket: TicketId) -> None:
        """Reads a ticket whole and shows it, if the cursor is still on it."""
        chart = await chart_of(self._services.store, ticket)
        if chart is None:
            if self.history is not None and self.history.ticket.id == ticket:
                self.history = None
                self._shown.chart_gone(ticket)
            return
        zone = self._services.zone  # a long ticket's items take longer than a key may
        items = await asyncio.to_thread(items_of, chart.history, zone)
        if self._shown.ticket() == ticket:
            self.history, self.others = chart.history, chart.others
            self.on_objects = chart.on_objects
            self.items = items
            self._shown.chart_read(chart.history)

    def _took(self, found: Glance) -> None:
        self.counts = dict(found.counts) or self.counts
        self.workers = found.workers
        self.people = found.people
        self.pause = found.pause
        self._ahead = found.now - self._services.clock.now()
        me = self._services.operator.name
        rows = found.rows.values()
        self._offers |= {r.ticket for r in rows if r.standing.offered_by == me}
