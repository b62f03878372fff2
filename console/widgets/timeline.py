"""The timeline: a virtual list of items with their own heights.

Lines are made once for each item, width and state. Of a long journal the newest
items come first and the older ones are made in slices while nothing else happens,
so that 10,000 entries show at once. New entries follow only who stands at the end;
whoever reads further up keeps the line and is told how many came below.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeAlias

from textual import events
from textual.geometry import Size
from textual.message import Message
from typing_extensions import override

from console.keytable import KEYS
from console.widgets.line_view import Painted
from console.widgets.spans import EMPTY, Line, line, marked
from console.widgets.timeline_items import Item
from console.widgets.timeline_lines import lines_of
from console.widgets.timeline_values import Reader

SLICE = 100
"""Items whose lines are made at a time."""

PAUSE = 0.03
"""Seconds between two slices, in which keys are looked at."""

Made: TypeAlias = tuple[Line, ...]


def _two_blanks(above: Sequence[Line], below: Sequence[Line]) -> bool:
    """Whether a blank line would follow another."""
    return bool(above and below) and not above[-1] and not below[0]


class Timeline(Painted, can_focus=True, inherit_bindings=False):
    """A ticket's journal, for people."""

    class Moved(Message):
        """The cursor or what is below the screen changed."""

    def __init__(self, *, newest: str = KEYS["last"], id: str) -> None:  # noqa: A002 # Textual's word
        """Shows nothing yet; `newest` is the person's key that goes to the end."""
        super().__init__(id=id)
        self.newest = newest
        self.items: tuple[Item, ...] = ()
        self.reader: Reader | None = None
        self.cursor = -1
        self.unseen = 0
        self.needle = ""
        self._matches: tuple[str, object, tuple[int, ...]] = ("", None, ())
        self._opened: set[int] = set()
        self._made: dict[tuple[object, ...], Made] = {}
        self._lines: list[Line] = []
        self._starts: list[int] = []
        self._from = 0
        self._follows = True
        self._filling = False

    # What is shown

    def show(self, items: tuple[Item, ...], reader: Reader, *, fresh: bool) -> None:
        """Shows a ticket's items.

        Args:
            items: All of them.
            reader: For whom.
            fresh: Another ticket: begins at the end, nothing opened.
        """
        if items is self.items and reader == self.reader and not fresh:
            return
        follow = fresh or self._follows
        before = len(self.items)
        if fresh:
            self._opened.clear()
            self.unseen = 0
            self.needle = ""
        if fresh or self.reader is None or reader != self.reader:
            self._made.clear()
        self.items, self.reader = items, reader
        self._from = (
            max(0, len(items) - SLICE)
            if fresh
            else min(self._from, max(0, len(items) - 1))
        )
        if fresh or (follow and self.cursor >= before - 1):
            self.cursor = len(items) - 1
        if not follow:
            self.unseen += max(0, len(items) - before)
        self._lay_out()
        if follow:
            self._to_bottom()
        self._fill()

    @property
    def at_end(self) -> bool:
        """Whether the newest line is on the screen."""
        return self.scroll_offset.y + self.size.height >= len(self._lines)

    @property
    def item(self) -> Item | None:
        """The item under the cursor."""
        return self.items[self.cursor] if 0 <= self.cursor < len(self.items) else None

    def to_end(self) -> None:
        """Shows the newest entry."""
        self.cursor = len(self.items) - 1
        self._to_bottom()

    def _to_bottom(self) -> None:
        """Shows the last line; the cursor stays where the person put it."""
        self.unseen = 0
        self._follows = True
        self.to_row(len(self._lines) - self.size.height)
        self.refresh()
        self.post_message(self.Moved())

    # The cursor

    def step(self, items: int) -> None:
        """Moves by so many items; within an item taller than the screen, by lines."""
        start, end = self._extent(self.cursor)
        top, height = self.scroll_offset.y, self.size.height
        if items > 0 and end > top + height:
            self.to_row(min(top + max(1, height // 2), end - height))
            return
        if items < 0 and start < top:
            self.to_row(max(top - max(1, height // 2), start))
            return
        self._land(self.cursor + items)

    def first(self) -> None:
        """Moves to the first entry."""
        while self._from:
            self._earlier()
        self._land(0)

    def page(self, pages: float) -> None:
        """Scrolls by so many screens, the cursor with it."""
        top = self.scroll_offset.y + round(pages * max(1, self.size.height - 2))
        top = max(0, min(top, len(self._lines) - self.size.height))
        self.to_row(top)
        inside = top if pages < 0 else top + self.size.height - 1
        self.cursor = self._item_at(inside)
        self._told()

    def toggle(self) -> None:
        """Opens or closes the item under the cursor."""
        item = self.item
        if item is None or not item.opens:
            return
        self._opened ^= {item.entry.seq}
        top = self.scroll_offset.y
        self._lay_out()
        self.to_row(min(top, max(0, self._extent(self.cursor)[0])))
        self.refresh()

    def find(self, wanted: Callable[[Item], bool], *, forward: bool) -> bool:
        """Moves to the next item that is wanted, around the ends.

        Returns:
            Whether there is one.
        """
        count = len(self.items)
        step = 1 if forward else -1
        for n in range(1, count + 1):
            at = (self.cursor + step * n) % count
            if wanted(self.items[at]):
                while at < self._from:
                    self._earlier()
                self._land(at)
                return True
        return False

    def _land(self, at: int) -> None:
        if not self.items:
            return
        self.cursor = max(self._from, min(at, len(self.items) - 1))
        start, end = self._extent(self.cursor)
        top, height = self.scroll_offset.y, self.size.height
        if start < top:
            self.to_row(start)
        elif end > top + height:
            self.to_row(min(start, end - height) if end - start <= height else start)
        self._told()

    def _told(self) -> None:
        if self.at_end:
            self.unseen = 0
        self.refresh()
        self.post_message(self.Moved())

    # Layout

    def _lay_out(self) -> None:
        if self.reader is None:
            return
        known, self._made = self._made, {}
        self._lines, self._starts = self._laid(self.items[self._from :], known)
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _laid(
        self, items: tuple[Item, ...], known: dict[tuple[object, ...], Made]
    ) -> tuple[list[Line], list[int]]:
        """The lines of some items, and where each begins."""
        lines: list[Line] = []
        starts: list[int] = []
        for item in items:
            opened = item.entry.seq in self._opened
            key = (item.key, opened)
            made = known.get(key)
            if made is None and self.reader is not None:
                made = tuple(lines_of(item, self.reader, opened=opened))
            self._made[key] = made = made or (EMPTY,)
            starts.append(len(lines))
            lines.extend(made[1:] if _two_blanks(lines, made) else made)
        return lines, starts

    def _fill(self) -> None:
        """Makes the older items little by little, between whatever else is done."""
        if self._from and not self._filling:
            self._filling = True
            self.set_timer(PAUSE, self._filled)

    def _filled(self) -> None:
        self._filling = False
        self._earlier()
        self._fill()

    def _earlier(self) -> None:
        """Makes another slice of older items, above what is on the screen."""
        if not self._from or self.reader is None:
            return
        end, top = self._from, self.scroll_offset.y
        self._from = max(0, end - SLICE)
        lines, starts = self._laid(self.items[self._from : end], {})
        twice = _two_blanks(lines, self._lines)
        more = len(lines) - twice
        later = (max(len(lines), start + more) for start in self._starts)
        self._starts = [*starts, *later]
        self._lines = [*lines, *(self._lines[1:] if twice else self._lines)]
        self.virtual_size = Size(0, len(self._lines))
        self.to_row(top + more)
        self.refresh()

    def _extent(self, at: int) -> tuple[int, int]:
        """First line of an item, and the first one after it."""
        n = at - self._from
        if not 0 <= n < len(self._starts):
            return 0, 0
        following = self._starts[n + 1 : n + 2]
        return self._starts[n], following[0] if following else len(self._lines)

    def _item_at(self, y: int) -> int:
        return self._from + max(0, bisect_right(self._starts, y) - 1)

    # Painting

    @override
    def line_at(self, y: int) -> Line:
        """The line at this row; the last one says what came below."""
        if self.unseen and y == self.scroll_offset.y + self.size.height - 1:
            key = f" · {self.newest}" if self.newest else ""
            return line((f" ▼ {self.unseen} new below{key} ", "solid-yours"))
        if not 0 <= y < len(self._lines):
            return EMPTY
        return marked(self._lines[y], self.needle) if self.needle else self._lines[y]

    @property
    def match(self) -> str:
        """Which match of how many the cursor stands on, as in `2 of 5`, or ""."""
        if not self.needle:
            return ""
        needle, items, at = self._matches
        if needle != self.needle or items is not self.items:
            at = tuple(n for n, i in enumerate(self.items) if self.holds(i))
            self._matches = (self.needle, self.items, at)
        number = bisect_right(at, self.cursor) if self.cursor in at else 0
        return f"{number or '?'} of {len(at)}" if at else "none"

    def holds(self, item: Item) -> bool:
        """Whether an entry holds what is searched."""
        return self.needle in item.words().casefold()

    @override
    def ground_at(self, y: int) -> str:
        """The item under the cursor, while the timeline has the keys."""
        if not self.has_focus:
            return ""
        start, end = self._extent(self.cursor)
        return "cursor" if start <= y < end and self.line_at(y) else ""

    def on_resize(self) -> None:
        """Wraps anew and stays at the end, or at the item under the cursor."""
        if self.reader is None:
            return
        if self.reader.width == self.inner_width:
            if self._follows:
                self._to_bottom()
            return
        self._made.clear()
        if self._follows:
            self._from = max(0, min(self.cursor, len(self.items) - SLICE))
        self.reader = Reader(
            me=self.reader.me,
            buyer=self.reader.buyer,
            zone=self.reader.zone,
            width=self.inner_width,
        )
        self._lay_out()
        if self._follows and self.cursor == len(self.items) - 1:
            self._to_bottom()
        else:
            self._land(self.cursor)
        self._fill()

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Forgets what was new below once it is seen."""
        super().watch_scroll_y(old_value, new_value)
        self._follows = self.at_end
        if self.unseen and self.at_end:
            self.unseen = 0
            self.refresh()

    def on_focus(self, event: events.Focus) -> None:
        """Shows the cursor."""
        del event
        self.refresh()

    def on_blur(self, event: events.Blur) -> None:
        """Hides the cursor."""
        del event
        self.refresh()

    def on_painted_pressed(self, event: Painted.Pressed) -> None:
        """A click moves the cursor; on the item's own line it opens or closes."""
        event.stop()
        if self.unseen and event.y == self.scroll_offset.y + self.size.height - 1:
            self.to_end()
            return
        at = self._item_at(event.y)
        again = at == self.cursor
        self.focus()
        self._land(at)
        if again:
            self.toggle()
