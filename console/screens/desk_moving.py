"""Moving on the desk: between tickets, entries and panes, and finding."""

from contextlib import suppress

from textual.widgets import Input

from console.screens.background import in_background
from console.screens.desk_panes import DeskPanes
from console.screens.pace import paced
from console.widgets.composer import Composer, Editor
from console.widgets.line_view import LineView
from console.widgets.one_line import OneLine
from console.widgets.queue import Queue
from console.widgets.timeline import Timeline
from core.cleanse import cleanse
from core.errors import StoreUnreachable
from core.journal import Message, Note
from core.ticket import TicketId

PAUSE = 1.0
"""Seconds without a key after which somebody has noticed that they write nowhere."""


class DeskMoving(DeskPanes, inherit_bindings=False):
    """The commands that change nothing but what is looked at.

    Attributes:
        answering: Whether what is told now answers the key that was just pressed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._before_find = "queue"
        self.answering = False

    # Moving

    def _do_down(self) -> None:
        self._step(1)

    def _do_up(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        match self.pane():
            case "timeline":
                self.query_one(Timeline).step(by)
            case "chart":
                self._scroll_chart(by)
            case _:
                self.query_one(Queue).step(by)

    def _do_first(self) -> None:
        match self.pane():
            case "timeline":
                self.query_one(Timeline).first()
            case "chart":
                self._scroll_chart(-100_000)
            case _:
                self.query_one(Queue).first()

    def _do_last(self) -> None:
        match self.pane():
            case "timeline":
                self.query_one(Timeline).to_end()
            case "chart":
                self._scroll_chart(100_000)
            case _:
                self.query_one(Queue).last()

    def _do_page_down(self) -> None:
        self._page(1)

    def _do_page_up(self) -> None:
        self._page(-1)

    def _page(self, pages: int) -> None:
        match self.pane():
            case "timeline":
                self.query_one(Timeline).page(pages)
            case "chart":
                self._scroll_chart(pages * self.view("chart").size.height)
            case _:
                self.query_one(Queue).page(pages)

    def _scroll_chart(self, lines: int) -> None:
        chart = self.view("chart")
        lowest = max(0, len(chart.lines) - chart.size.height)
        chart.to_row(max(0, min(chart.scroll_offset.y + lines, lowest)))

    # Panes

    def _do_open(self) -> None:
        self.go("timeline")

    def _do_back(self) -> None:
        pane = self.pane()
        if pane == "find":
            self.find_left()
        elif pane == "composer":
            self.noting = False
            self.composer_again()
            self.go("timeline")
        elif self.has_class("-zoom"):
            self.remove_class("-zoom")
        elif pane == "timeline" and self.query_one(Timeline).needle:
            self.query_one(Timeline).needle = ""
        elif pane != "queue":
            self.go("queue")
        elif self.reads.filter:
            self.filter_by("")

    def _do_next_pane(self) -> None:
        self._turn(1)

    def _do_previous_pane(self) -> None:
        self._turn(-1)

    def _turn(self, by: int) -> None:
        panes = ["queue", "timeline"]
        if self.query_one(Composer).has_class("-open"):
            panes.append("composer")
        panes.append("chart")
        at = panes.index(self.pane()) if self.pane() in panes else 0
        self.go(panes[(at + by) % len(panes)])

    def go(self, pane: str) -> None:
        """Gives the keys to a pane, and shows it where only one is shown."""
        place = {"queue": "-at-queue", "chart": "-at-chart"}.get(pane, "-at-ticket")
        for name in ("-at-queue", "-at-ticket", "-at-chart"):
            self.set_class(name == place, name)
        found = {
            "queue": self.query_one(Queue),
            "timeline": self.query_one(Timeline),
            "chart": self.query_one("#chart", LineView),
            "composer": self.query_one("#editor", Editor),
        }[pane]
        self.set_focus(found)
        self.call_after_refresh(self._arrive, found)

    def leave_composer(self) -> None:
        """Goes from the composer to the timeline; what is written is kept."""
        self.keep_written()
        if self.pane() == "composer":
            self.go("timeline")

    def _arrive(self, widget: LineView | Queue | Timeline | Editor) -> None:
        """Paints once the pane is laid out; a pane just shown may have lost focus."""
        if self.focused is None:
            self.set_focus(widget)
        self.paint()

    def _do_zoom(self) -> None:
        self.toggle_class("-zoom")
        self.go(self.pane())

    def to_view(self, view: str) -> None:
        """Shows another view of the queue from its beginning, this one as it is now."""
        if view == self.reads.view:
            self.read_window(self.query_one(Queue).window, anew=True)
            self.go("queue")
            return
        self.reads.look_at(view)
        self.paint_top()
        self._read_anew()
        self.go("queue")

    def _read_anew(self) -> None:
        """Reads another view or filter from its beginning."""
        self.query_one(Queue).expect()
        self.read_window(0)

    def read_window(self, offset: int, *, anew: bool = False) -> None:
        """Reads a part of the queue in the background."""

        async def read() -> None:
            with suppress(StoreUnreachable):  # the feed says so, and reads all later
                await self.reads.read_window(offset, anew=anew)

        in_background(self, read, "Reading the queue", group="window", exclusive=True)

    # Finding

    def _do_find(self) -> None:
        self._before_find = "timeline" if self.pane() == "timeline" else "queue"
        box = self.query_one("#find", OneLine)
        searching = self._before_find == "timeline"
        box.hints("search this ticket" if searching else "filter the queue")
        with box.prevent(Input.Changed):
            box.value = "" if searching else self.reads.filter
        box.display = True
        self.set_focus(box)

    def find_typed(self, words: str) -> None:
        """Filters or searches while it is typed."""
        if self._before_find == "queue":
            self.set_timer(0.15, lambda: self._filter_if(words))
            return
        self.query_one(Timeline).needle = words.casefold()
        self.query_one(Timeline).refresh()
        if words:
            self._match(forward=True, stay=True)

    def _filter_if(self, words: str) -> None:
        box = self.query_one("#find", Input)
        if box.display and box.value == words:  # it may have been left meanwhile
            self.filter_by(words)

    def filter_by(self, words: str) -> None:
        """Shows only the tickets that hold these words."""
        if words != self.reads.filter:
            self.reads.filter = words
            self.paint_top()
            self._read_anew()

    def _do_of_buyer(self) -> None:
        """By the address that the ticket claims, in every state; esc shows all again.

        A search finds whoever else speaks of the address, as one that is typed does.
        """
        if self.history is None:
            return
        claim = self.history.ticket.claim
        if not claim.strip():
            self.tell("This ticket has no address", good=False)
            return
        if (self.reads.view, self.reads.filter) != ("all", claim):
            self.reads.look_at("all")
            self.reads.filter = claim
            self.paint_top()
            self._read_anew()
        self.go("queue")

    def find_done(self) -> None:
        """Leaves the search line; what was found stays."""
        if self._before_find == "queue":
            self.filter_by(self.query_one("#find", Input).value)
        self._close_find()

    def find_left(self) -> None:
        """Leaves the search line and takes the filter back."""
        if self._before_find == "queue":
            self.filter_by("")
        else:
            self.query_one(Timeline).needle = ""
        self._close_find()

    def _close_find(self) -> None:
        self.query_one("#find", Input).display = False
        self.go(self._before_find)

    def _do_next_match(self) -> None:
        self._match(forward=True)

    def _do_previous_match(self) -> None:
        self._match(forward=False)

    def _match(self, *, forward: bool, stay: bool = False) -> None:
        timeline = self.query_one(Timeline)
        if stay and timeline.item is not None and timeline.holds(timeline.item):
            timeline.refresh()
        elif not timeline.find(timeline.holds, forward=forward):
            self.tell("Not found in this ticket", good=False)

    def _do_next_person(self) -> None:
        self.query_one(Timeline).find(lambda item: item.by_person, forward=True)

    def _do_next_error(self) -> None:
        if not self.query_one(Timeline).find(lambda item: item.failed, forward=True):
            self.tell("No tool error in this ticket", good=False)

    def _do_expand(self) -> None:
        self.query_one(Timeline).toggle()

    def go_to(self, ticket: TicketId) -> None:
        """Shows a ticket, whichever view it is in; the desk answers."""

    def _do_copy(self) -> None:
        item = self.query_one(Timeline).item
        ticket = self.ticket()
        if self.pane() == "timeline" and item is not None:
            body = item.entry.body
            said = isinstance(body, Message | Note)
            text = body.text if said else item.words()  # type: ignore[union-attr] # as just checked
            self.app.copy_to_clipboard(cleanse(text, limit=100_000, lines=5000))
            self.tell("The entry's text is copied")
        elif ticket is not None:
            self.app.copy_to_clipboard(ticket)
            self.tell(f"{ticket} is copied")

    def composer_again(self) -> None:
        """Shows the composer for what it is for now."""
        if self.history is not None:
            self.paint_ticket(self.history)

    def _after_dropped(self, words: str) -> str:
        """A notice that takes the place of one that a key before it did nothing."""
        dropped = paced(self.app).dropped(PAUSE)
        return f"{dropped[0].upper()}{dropped[1:]}. {words}" if dropped else words

    def tell(self, words: str, *, good: bool = True, lasts: float = 4) -> None:
        """One line about what the person just did."""
        self.notify(
            self._after_dropped(words) if self.answering else words,
            severity="information" if good else "warning",
            markup=False,
            timeout=lasts,
        )
