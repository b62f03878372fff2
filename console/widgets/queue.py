"""The queue: 100,000 tickets as a window of rows, its cursor a ticket and no number.

Only the window around what is shown is loaded; a row outside is asked for with
`Wanted`. The list re-sorts under the cursor: the ticket stays selected and its row
stays where it was on the screen. When the ticket leaves the view, its row is kept in
its place, marked with where the ticket is now, until the cursor moves off it: a key
must never act on a ticket that slipped under the hand, nor on one that nobody sees.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, tzinfo

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from typing_extensions import override

from console.live import PAGE, Glance
from console.widgets.line_view import Painted
from console.widgets.queue_lines import queue_line
from console.widgets.queue_places import Places
from console.widgets.spans import EMPTY, Line, fit, line, paragraph
from console.wording import Word, approval_of, now_in, state_of
from core.history import QueueRow
from core.ticket import TicketId

_LEAD = 60
"""Rows above the first one shown that a window holds."""

_TICK = 5
"""Seconds after which ages are painted anew."""


class Queue(Painted, can_focus=True, inherit_bindings=False):
    """The list of tickets."""

    class Chosen(Message):
        """The cursor stands on another ticket."""

        def __init__(self, ticket: TicketId | None) -> None:
            super().__init__()
            self.ticket = ticket

    class Opened(Message):
        """The ticket under the cursor was clicked again or entered."""

    class Wanted(Message):
        """Rows are shown that are not loaded."""

        def __init__(self, offset: int) -> None:
            super().__init__()
            self.offset = offset

    def __init__(
        self,
        *,
        me: str,
        zone: tzinfo | None = None,
        id: str | None = None,  # noqa: A002 # Textual's word
    ) -> None:
        super().__init__(id=id)
        self.me = me
        self.zone = zone
        self.cursor: TicketId | None = None
        self.cursor_at = 0
        self.empty_words = ""
        self.view = ""
        self.agents, self.stopped = 0, False
        self.now: datetime | None = None
        self.places = Places()
        self.awaits = False
        self._rows: dict[TicketId, QueueRow] = {}
        self._strips: dict[TicketId, tuple[tuple[object, ...], Strip]] = {}
        self._empty: list[Line] = []
        self._read: dict[TicketId, int] = {}
        self._since: datetime | None = None

    # What is shown

    def expect(self) -> None:
        """Lets go of the cursor until the rows of another view or filter are here.

        Keys that move it meanwhile count on the rows that come; no act is about a
        ticket that nobody has seen yet.
        """
        self.awaits = True
        self.cursor, self.cursor_at = None, 0
        self.places.let_go()
        self.refresh()

    def show(
        self, glance: Glance, *, offset: int, total: int, anew: bool = False
    ) -> None:
        """Shows a window of the queue as it was read.

        In another view or filter the cursor goes to the first row, or to where the
        keys went since `expect`.

        Args:
            glance: The rows, in the queue's order.
            offset: Where they begin.
            total: Tickets in this view.
            anew: Whether a ticket that has left the view keeps no row.
        """
        fresh = self.awaits and not offset
        if fresh:
            self.cursor, self.awaits = None, False
            self.places.kept = None
        if anew and self._has_left(glance, offset):
            self.cursor = None
        chosen = None if self.cursor is None else (self.cursor, self.cursor_at)
        self.places.load(glance.ids, offset=offset, total=total, chosen=chosen)
        if self.places.kept is not None:
            self.cursor_at = self.places.kept
        self._take(glance)
        self.virtual_size = Size(0, self.total)
        if fresh:
            self.to_row(0)
        self._follow_cursor()
        self._wrap_empty()
        self.refresh()

    def _has_left(self, glance: Glance, offset: int) -> bool:
        """Whether the selected ticket is not where these rows say it should be."""
        inside = offset <= self.cursor_at <= offset + len(glance.ids)
        here = self.places.kept is not None or inside
        return here and self.cursor not in glance.ids

    def renew(self, glance: Glance) -> None:
        """Shows rows that were read again; the order stays."""
        self._take(glance)
        self.refresh()

    def row(self, ticket: TicketId) -> QueueRow | None:
        """A row that is loaded."""
        return self._rows.get(ticket)

    def shown(self) -> tuple[TicketId, ...]:
        """The tickets on the screen, and the selected one."""
        top = self.scroll_offset.y
        seen = range(top, top + self.size.height)
        ids = {t: None for y in seen if (t := self.places.at(y)) is not None}
        if self.cursor is not None:
            ids[self.cursor] = None
        return tuple(ids)

    @property
    def total(self) -> int:
        """Rows that there are to scroll."""
        return self.places.total

    @property
    def window(self) -> int:
        """Where a window around the rows on the screen begins."""
        return 0 if self.awaits else max(0, self.scroll_offset.y - _LEAD)

    def _take(self, glance: Glance) -> None:
        kept: Mapping[TicketId, QueueRow] = self._rows
        if len(kept) > 10 * PAGE:
            loaded = self.places.tickets()
            kept = {t: r for t, r in kept.items() if t in loaded}
            self._strips.clear()
        self._rows = {**kept, **glance.rows}
        self.agents, self.now = glance.workers, glance.now
        self.stopped = glance.pause is not None
        self._since = self._since or glance.now

    @property
    def below(self) -> TicketId | None:
        """The ticket in the row below the selected one."""
        return self.places.at(self.cursor_at + 1)

    def forget(self, ticket: TicketId) -> None:
        """Drops a ticket that is not there any more; the next rows read show who is."""
        self._rows.pop(ticket, None)
        self._strips.pop(ticket, None)
        if self.cursor == ticket:
            self.cursor = None
            self.places.let_go()
        self.refresh()

    def mark_read(self, ticket: TicketId, seq: int) -> None:
        """Takes note up to where a ticket was on the screen."""
        self._read[ticket] = seq
        self.refresh()

    def _mark(self, row: QueueRow, y: int) -> str:
        return now_in(row, self.me, self.view) if y == self.places.kept else ""

    def _word(self, row: QueueRow, y: int, now: datetime) -> Word:
        asks = approval_of(row, self.me, workers=self.agents)
        word = (asks if self.view == "approvals" else None) or state_of(
            row,
            self.me,
            now,
            workers=self.agents,
            stopped=self.stopped,
            zone=self.zone,
        )
        mark = self._mark(row, y)
        return replace(word, words=mark, tail="", role="dim") if mark else word

    def _unread(self, row: QueueRow) -> bool:
        """Whether the buyer wrote since it was shown here, or since the start."""
        s = row.standing
        if row.ticket in self._read:
            return s.last_buyer_seq > self._read[row.ticket]
        since, at = self._since, s.last_buyer_at
        return since is not None and at is not None and at > since

    def _follow_cursor(self) -> None:
        """Keeps the selected ticket selected, and its row where it was."""
        if self.cursor is None:
            self._land(self.cursor_at)
            return
        found = self.places.row_of(self.cursor)
        if found is None:
            self.cursor_at = max(0, min(self.cursor_at, self.total - 1))
            return
        moved, self.cursor_at = found - self.cursor_at, found
        top = self.scroll_offset.y
        if moved and 0 <= found - moved - top < self.size.height:
            self.to_row(top + moved)

    # The cursor

    def step(self, rows: int) -> None:
        """Moves the cursor by so many rows."""
        self._land(self.cursor_at + rows)

    def first(self) -> None:
        """Moves the cursor to the first ticket."""
        self._land(0)

    def last(self) -> None:
        """Moves the cursor to the last ticket."""
        self._land(sys.maxsize)

    def page(self, pages: float) -> None:
        """Moves the cursor by so many screens."""
        self._land(self.cursor_at + round(pages * max(1, self.size.height - 1)))

    def select(self, ticket: TicketId) -> None:
        """Selects a ticket, whether the view holds it or not."""
        self.awaits = False
        if ticket != self.cursor:
            self.places.let_go()
            self.cursor = ticket
            if self.places.row_of(ticket) is None:
                self.cursor_at = min(self.cursor_at, self.total)
                self.places.keep(ticket, self.cursor_at)
            self.virtual_size = Size(0, self.total)
        self._follow_cursor()
        self.reveal()
        self.post_message(self.Chosen(ticket))
        self.refresh()

    @property
    def in_sight(self) -> bool:
        """Whether the row of the selected ticket is on the screen."""
        top = self.scroll_offset.y
        inside = top <= self.cursor_at < top + self.size.height
        return inside and self.places.at(self.cursor_at) == self.cursor

    def reveal(self) -> None:
        """Scrolls until the selected row is on the screen."""
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.cursor_at < top:
            self.to_row(self.cursor_at)
        elif self.cursor_at >= top + height:
            self.to_row(self.cursor_at - height + 1)

    def _land(self, at: int) -> None:
        before, was_at = self.cursor, self.cursor_at
        if self.awaits:
            self.cursor_at = max(0, at)
            return
        at = max(0, min(at, self.total - 1))
        kept = self.places.kept
        if kept is not None and at != kept and self.places.let_go():
            at -= at > kept
            self.virtual_size = Size(0, self.total)
            self.refresh()
        self.cursor_at = at
        self.cursor = self.places.at(at)
        self.refresh_line(was_at)
        self.refresh_line(at)
        self.reveal()
        if self.cursor != before:
            self.post_message(self.Chosen(self.cursor))
        if self.cursor is None and self.total:
            self.post_message(self.Wanted(max(0, self.cursor_at - PAGE // 2)))

    # Painting

    @override
    def line_at(self, y: int) -> Line:
        """The ticket at a row, a placeholder while it is read, or why it is empty."""
        if not self.total:
            return self._empty[y] if 0 <= y < len(self._empty) else EMPTY
        ticket = self.places.at(y)
        row = self._rows.get(ticket) if ticket is not None else None
        if row is None or self.now is None:
            name = f"  {fit(ticket, 9)}" if ticket is not None else "  ·"
            return line((name, "faint")) if 0 <= y < self.total else EMPTY
        return queue_line(
            row,
            self.inner_width,
            word=self._word(row, y, self.now),
            now=self.now,
            unread=self._unread(row),
        )

    @override
    def ground_at(self, y: int) -> str:
        """The row under the cursor, where its ticket is really there."""
        if self.cursor is None or self.places.at(y) != self.cursor:
            return ""
        return "cursor" if self.has_focus else "still"

    @override
    def strip_at(self, y: int, width: int) -> Strip:
        """A row, painted once for each of its versions."""
        ticket = self.places.at(y)
        row = self._rows.get(ticket) if ticket is not None else None
        if ticket is None or row is None or self.now is None:
            return super().strip_at(y, width)
        ground = self.ground_at(y)
        tick = int(self.now.timestamp()) // _TICK
        asked = self.view == "approvals"
        seen = (self._unread(row), self._mark(row, y), asked, self.inner_width, width)
        agent = (self.agents > 0, self.stopped)
        key = (row.version, row.status, ground, tick, agent, seen)
        known = self._strips.get(ticket)
        if known is None or known[0] != key:
            known = (key, self.painted(self.line_at(y), width, ground))
            self._strips[ticket] = known
        return known[1]

    @override
    def notify_style_update(self) -> None:
        """Forgets what was painted in the theme before."""
        self._strips.clear()
        super().notify_style_update()

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Asks for rows that came into view and are not loaded."""
        super().watch_scroll_y(old_value, new_value)
        top = round(new_value)
        seen = range(top, min(self.total, top + self.size.height))
        if any(self.places.at(y) is None for y in (*seen[:1], *seen[-1:])):
            self.post_message(self.Wanted(max(0, top - _LEAD)))

    def on_resize(self) -> None:
        """Keeps the cursor on the screen."""
        self._wrap_empty()
        height = max(1, self.size.height)
        if self.cursor_at >= self.scroll_offset.y + height:
            self.to_row(self.cursor_at - height + 1)

    def on_focus(self, event: events.Focus) -> None:
        """Shows the cursor as live."""
        del event
        self.refresh()

    def on_blur(self, event: events.Blur) -> None:
        """Shows the cursor as resting."""
        del event
        self.refresh()

    def on_painted_pressed(self, event: Painted.Pressed) -> None:
        """A click selects, a click on the selected ticket opens it."""
        event.stop()
        if self.cursor is not None and self.places.at(event.y) == self.cursor:
            self.post_message(self.Opened())
        elif event.y < self.total:
            self._land(event.y)

    def _wrap_empty(self) -> None:
        width = max(10, self.inner_width - 4)
        self._empty = [EMPTY, *paragraph(self.empty_words, width, "dim", indent=2)]
