"""What each command of the table does on the desk."""

import time
from collections.abc import Callable, Coroutine
from contextlib import suppress

from textual.widgets import Input

from console.keymap import COMMANDS, possible
from console.screens.acts import Said, taken_words
from console.screens.decision import DecisionPanel, Ruling
from console.screens.desk_panes import DeskPanes
from console.screens.give_back import GiveBackPanel
from console.screens.overlays import HelpPanel, LeavePanel, PalettePanel
from console.screens.withheld import Caught, WithheldPanel
from console.widgets.banner import Taking
from console.widgets.composer import Composer, Editor
from console.widgets.line_view import LineView
from console.widgets.queue import Queue
from console.widgets.timeline import Timeline
from console.widgets.timeline_items import Item
from core.cleanse import cleanse
from core.decision import Decision
from core.errors import StoreUnreachable
from core.flows.handoff import GiveBack
from core.history import History
from core.journal import Message, Note
from core.ticket import TicketId

_PRESS = 3.0
"""Seconds between two looks whether a run that should stop is dead."""


class DeskCommands(DeskPanes, inherit_bindings=False):
    """The desk's commands: `_do_ID` for each id of the table."""

    def __init__(self) -> None:
        super().__init__()
        self._asked_at = 0.0
        self._pressed_at = 0.0
        self._sending = False
        self._before_find = "queue"

    def run_command(self, name: str) -> None:
        """Runs a command of the table, where it is possible now."""
        here = self.here()
        command = next((c for c in COMMANDS if c.id == name), None)
        if name.startswith("theme:"):
            self.app.theme = name.removeprefix("theme:")
        elif command is None or not possible(command, here):
            return
        elif name.startswith("view:"):
            self.to_view(name.removeprefix("view:"))
        else:
            getattr(self, f"_do_{name}")()
        self.paint_hints()

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
            self._composer_again()
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

    def _arrive(self, widget: LineView | Queue | Timeline | Editor) -> None:
        """Paints once the pane is laid out; a pane just shown may have lost focus."""
        if self.focused is None:
            self.set_focus(widget)
        self.paint()

    def _do_zoom(self) -> None:
        self.toggle_class("-zoom")
        self.go(self.pane())

    def to_view(self, view: str) -> None:
        """Shows another view of the queue from its beginning."""
        if view == self.reads.view:
            self.go("queue")
            return
        self.reads.view = view
        self.paint_top()
        self.read_window(0, fresh=True)
        self.go("queue")

    def read_window(self, offset: int, *, fresh: bool) -> None:
        """Reads a part of the queue in the background."""

        async def read() -> None:
            with suppress(StoreUnreachable):  # the feed says so, and reads all later
                await self.reads.read_window(offset, fresh=fresh)

        self.run_worker(
            read(),
            name="Reading the queue",
            group="window",
            exclusive=True,
            exit_on_error=False,
        )

    # Finding

    def _do_find(self) -> None:
        self._before_find = "timeline" if self.pane() == "timeline" else "queue"
        box = self.query_one("#find", Input)
        searching = self._before_find == "timeline"
        box.placeholder = "search this ticket" if searching else "filter the queue"
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
        if words:
            self._match(forward=True, stay=True)

    def _filter_if(self, words: str) -> None:
        if self.query_one("#find", Input).value == words:
            self.filter_by(words)

    def filter_by(self, words: str) -> None:
        """Shows only the tickets that hold these words."""
        if words != self.reads.filter:
            self.reads.filter = words
            self.paint_top()
            self.read_window(0, fresh=True)

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
        needle = timeline.needle

        def holds(item: Item) -> bool:
            return needle in item.words().casefold()

        if stay and timeline.item is not None and holds(timeline.item):
            return
        if not timeline.find(holds, forward=forward):
            self.tell("Not found in this ticket", good=False)

    def _do_next_person(self) -> None:
        self.query_one(Timeline).find(lambda item: item.by_person, forward=True)

    def _do_next_error(self) -> None:
        if not self.query_one(Timeline).find(lambda item: item.failed, forward=True):
            self.tell("No tool error in this ticket", good=False)

    def _do_expand(self) -> None:
        self.query_one(Timeline).toggle()

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

    # Acting on the ticket

    def _do_take(self) -> None:
        ticket = self.ticket()
        if ticket is None or self._refuse_lost():
            return
        self.taking = Taking(ticket=ticket, since=self.reads.now())
        self._asked_at = self._pressed_at = time.monotonic()
        self.paint_banner()
        self._act(self.acts.take(ticket), self._take_asked)

    def _take_asked(self, said: Said) -> None:
        if not said.done:
            self.taking = None
            self.paint_banner()

    def follow_take_over(self, history: History) -> None:
        """Says "yours" once the ticket is, and brings up what was withheld."""
        taking = self.taking
        if taking is None or taking.ticket != history.ticket.id:
            return
        if history.standing.held_by == self.me:
            self.taking = None
            self.tell(taken_words(taking.ticket, time.monotonic() - self._asked_at))
            self.paint_banner()
            if history.standing.withheld:
                self._do_withheld()
        elif history.standing.held_by is not None:
            self.taking = None
            self.paint_banner()

    def press_take_over(self) -> None:
        """Looks again whether a run that should hand over is dead."""
        now = time.monotonic()
        if self.taking is not None and now - self._pressed_at > _PRESS:
            self._pressed_at = now
            self._act(self.acts.press(self.taking.ticket), lambda _: None)

    def _do_reply(self) -> None:
        self.noting = False
        self._composer_again()
        self.go("composer")

    def _do_note(self) -> None:
        if self.history is not None:
            self.noting = True
            self._composer_again()
            self.go("composer")

    def _composer_again(self) -> None:
        if self.history is not None:
            self.paint_ticket(self.history)

    def _do_send(self) -> None:
        history, composer = self.history, self.query_one(Composer)
        text, mode = composer.text, composer.mode
        if history is None or self._sending or self._refuse_lost():
            return
        if not text.strip():
            self.tell("There is nothing to send", good=False)
            return
        ticket = history.ticket.id
        self.drafts.write(ticket, mode, text)
        self._sending = True
        seen = history.standing.last_seq
        act = (
            self.acts.note(ticket, text)
            if mode == "note"
            else self.acts.reply(ticket, text, seen)
        )
        self._act(act, lambda said: self._sent(said, ticket, mode, text))

    def _sent(self, said: Said, ticket: TicketId, mode: str, text: str) -> None:
        self._sending = False
        if not said.done:
            return
        if self.drafts.text(ticket, mode) == text:
            self.drafts.write(ticket, mode, "")
        self._act(self.keep_drafts(), lambda _: None)
        if mode == "note":
            self.noting = False
            self.go("timeline")
        self._composer_again()
        self.query_one(Timeline).to_end()

    async def keep_drafts(self) -> Said:
        """Stores every unsent text, the last letters included."""
        self.keep_written()
        return Said(words="", done=await self.drafts.save())

    def _do_give_back(self) -> None:
        history = self.history
        if history is None or self._refuse_lost():
            return

        panel = GiveBackPanel(
            history.ticket.id,
            names=[name for name in self.reads.people if name != self.me],
            workers=self.reads.workers or 0,
            unread=bool(history.standing.unanswered),
        )
        self.app.push_screen(panel, self._given(history.ticket.id))

    def _given(self, ticket: TicketId) -> Callable[[GiveBack | None], None]:
        def answer(how: GiveBack | None) -> None:
            if how is not None:
                self._act(self._give(ticket, how), lambda _: None)

        return answer

    async def _give(self, ticket: TicketId, how: GiveBack) -> Said:
        await self.keep_drafts()
        return await self.acts.give_back(ticket, how)

    def _do_decide(self) -> None:
        history, decision = self.history, self.pending()
        if history is None or decision is None or self._refuse_lost():
            return
        panel = DecisionPanel(decision, history, self.sight)
        self.app.push_screen(panel, self._ruled(decision))

    def _ruled(self, decision: Decision) -> Callable[[Ruling | None], None]:
        def answer(ruling: Ruling | None) -> None:
            if ruling is not None:
                self._act(self.acts.decide(decision, ruling), lambda _: None)

        return answer

    def _do_withheld(self) -> None:
        history = self.history
        if history is None:
            return
        caught = [r for r in history.outbox if r.state == "withheld"]
        if not caught:
            return
        ticket = history.ticket.id

        def answer(what: Caught | None) -> None:
            if what is not None:
                self._act(self.acts.withheld(ticket, what), lambda _: None)

        panel = WithheldPanel(caught, self.services.zone)
        self.app.push_screen(panel, answer)

    # The desk itself

    def _do_retry(self) -> None:
        self.find_store()

    def find_store(self) -> None:
        """Looks for a lost store at once; the desk answers."""

    def _do_palette(self) -> None:
        themes = sorted(self.app.available_themes)

        def answer(name: str | None) -> None:
            if name is not None:
                self.run_command(name)

        self.app.push_screen(PalettePanel(self.here(), themes), answer)

    def _do_help(self) -> None:
        self.app.push_screen(HelpPanel(self.here()))

    def _do_theme(self) -> None:
        light = self.app.theme == "handoff-light"
        self.app.theme = "handoff-dark" if light else "handoff-light"

    def _do_quit(self) -> None:
        held = self.reads.counts.get("mine", 0)
        if not held and not self.drafts.unsent:
            self._leave()
            return

        def answer(leave: bool | None) -> None:  # noqa: FBT001 # Textual's own form
            if leave:
                self._leave()

        self.app.push_screen(LeavePanel(held, unsent=self.drafts.unsent), answer)

    def _leave(self) -> None:
        self._act(self.keep_drafts(), lambda _: self.app.exit())

    # How acts are told

    def _act(
        self, act: Coroutine[None, None, Said], then: Callable[[Said], None]
    ) -> None:
        """Runs an act in the background and says what it came to."""

        async def run() -> None:
            said = await act
            if said.words:
                self.tell(said.words, good=said.done)
            then(said)

        self.run_worker(run(), name="An act", group="acts", exit_on_error=False)

    def _refuse_lost(self) -> bool:
        """Whether nothing can be stored now, which is said."""
        if self.lost is not None:
            self.tell("The store can't be reached: nothing was changed", good=False)
        return self.lost is not None

    def tell(self, words: str, *, good: bool = True) -> None:
        """One line about what the person just did."""
        self.notify(
            words,
            severity="information" if good else "warning",
            markup=False,
            timeout=4,
        )
