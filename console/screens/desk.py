"""The desk: the one screen that matters.

It ties three things together and decides nothing itself: what the store says
(`Reads`), what the person does (`keymap` and `Acts`), and the panes. Every act goes
to the ticket under the queue's cursor, whose name the banner shows at once; a ticket
that slips away under the hand is never acted on. What is on the screen is painted in
`desk_panes`, what a command does stands in `desk_commands`.
"""

from contextlib import suppress
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input
from textual.worker import Worker, WorkerState
from typing_extensions import override

from console.keymap import command_for, key_names, needed_for, with_keys, writes_for
from console.keytable import COMMANDS
from console.live import Follower, Glance, Lost, Services
from console.screens.acts import Acts
from console.screens.background import in_background
from console.screens.card import CardPanel
from console.screens.desk_reads import Reads, Window
from console.screens.desk_upsets import DeskUpsets
from console.screens.desk_writing import Drafts
from console.screens.supervisor import SupervisorPanel
from console.screens.team_acts import TeamActs
from console.screens.work_acts import WorkActs
from console.widgets.composer import Composer
from console.widgets.line_view import LineView, Painted
from console.widgets.one_line import OneLine
from console.widgets.queue import Queue
from console.widgets.timeline import Timeline
from console.wording import empty_words
from core.errors import StoreUnreachable
from core.history import History
from core.ticket import TicketId

REST = 0.1
"""Seconds that the cursor rests on a ticket before it is read."""

LATE = 0.1
"""Seconds of reading after which the panes of the ticket before are blank."""

HOUSE = 2
"""Seconds after which an open overview is read again."""

SAVE = 0.7
"""Seconds after the last letter before a draft is stored."""


class Desk(DeskUpsets):
    """Queue, timeline, chart and composer on one live screen."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.services = services
        self.look, self.ascii = services.theme, services.ascii
        self.log_path = services.log_path
        self.commands = with_keys(COMMANDS, services.keys)
        self.keys = key_names(self.commands)
        self.acts = Acts(services)
        self.team = TeamActs(services)
        self.work = WorkActs(services)
        self.reads = Reads(services, self)
        self.drafts = Drafts(acts=self.acts)
        self.follower = Follower(
            store=services.store,
            clock=services.clock,
            changed=self._feed_changed,
            lost=self._feed_lost,
            back=self._feed_back,
        )
        self._rest: Timer | None = None
        self._saving: Timer | None = None
        self._undo_shown = False
        self._ticks = 0

    @override
    def compose(self) -> ComposeResult:
        yield LineView(id="top")
        yield LineView(id="lost")
        yield LineView(id="first-run")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield Queue(
                    me=self.services.operator.name,
                    zone=self.services.zone,
                    id="queue",
                )
            with Vertical(id="middle"):
                yield LineView(id="banner")
                yield LineView(id="strip")
                yield LineView(id="strip-rule")
                yield Timeline(newest=self.keys["last"], id="timeline")
                with Vertical(id="inline"):
                    yield LineView(id="inline-card")
                yield Composer(id="composer")
            with Vertical(id="right"):
                yield LineView(id="chart")
        yield OneLine(id="find", compact=True)
        yield LineView(id="hints")

    def on_mount(self) -> None:
        """Begins to follow the store."""
        self.query_one("#find", Input).display = False
        self.query_one(Composer).editor.display = False
        chart = self.query_one("#chart", LineView)
        chart.can_focus = True
        self.add_class("-at-queue")
        queue = self.query_one(Queue)
        queue.focus()
        queue.expect()
        in_background(self, self.follower.run, "The feed", group="feed")
        in_background(self, self.read_written, "Reading replies", group="written")
        self.app.app_resume_signal.subscribe(self, self.came_back)
        self.set_interval(1.0, self._tick)
        self.call_after_refresh(self.paint)

    # Live

    def _feed_changed(self, tickets: frozenset[TicketId]) -> None:
        self.live = True
        list_changed = self.reads.note(tickets)
        if self.reads.chart_changed:
            in_background(
                self, self.reads.follow_chart, "Reading a ticket", group="chart"
            )
        if list_changed:
            in_background(self, self.reads.catch_up, "Reading", group="look")

    def _feed_lost(self, lost: Lost) -> None:
        self.live = False
        self.lost = lost
        self.add_class("-lost")
        self.paint()

    def _feed_back(self) -> None:
        self.lost = None
        self.remove_class("-lost")
        self._save_drafts()
        self.paint()

    @override
    def look_again(self) -> None:
        """Reads everything again that is shown."""
        self._feed_changed(frozenset())

    def _tick(self) -> None:
        self.look_at_clock()
        self.paint_banner()
        self.paint_lost()
        self.press_take_over()
        self.tell_presence()
        undo = self.undoable() is not None or self.restorable()
        if undo or self._undo_shown:
            self._undo_shown = undo
            self.composer_again()
        self._ticks += 1
        if self._ticks % HOUSE == 0 and isinstance(self.app.screen, SupervisorPanel):
            self.act(self.renew_house())

    @override
    def find_store(self) -> None:
        """Looks for a lost store at once."""
        self.follower.hurry()

    # What was read (`desk_reads.Shown`)

    def looked_at(self) -> tuple[TicketId, ...]:
        """The tickets whose rows are on the screen."""
        return self.query_one(Queue).shown()

    @override
    def ticket(self) -> TicketId | None:
        """The ticket under the cursor: the one that every act is about."""
        return self.query_one(Queue).cursor

    def window_at(self) -> int:
        """Where the rows around the screen begin."""
        return self.query_one(Queue).window

    def window_read(self, window: Window) -> None:
        """Shows a part of the queue."""
        queue = self.query_one(Queue)
        words = empty_words(self.reads.view, self.reads.workers, self.keys)
        if self.reads.filter:
            back = self.keys["back"]
            clears = f" {back} clears the filter." if back else ""
            words = f"Nothing matches “{self.reads.filter}”.{clears}"
        queue.empty_words, queue.view = words, self.reads.view
        queue.show(
            window.glance, offset=window.offset, total=window.total, anew=window.anew
        )
        nothing = self.reads.counts.get("all", 1) == 0 and not self.reads.filter
        changed = nothing != self.has_class("-empty")
        self.set_class(nothing, "-empty")
        if changed or self.ticket() is None:
            self.paint()
        else:
            self.paint_top()
            self.paint_banner()
            self.paint_hints()

    def rows_read(self, rows: Glance) -> None:
        """Shows rows that were read again."""
        self.query_one(Queue).renew(rows)
        self.paint_top()
        self.paint_banner()

    def chart_read(self, history: History) -> None:
        """Shows a ticket."""
        self.keep_written()
        self.drafts.learn(history.ticket.id, history.drafts, self.me)
        self._look_for_drafts(history)
        self.paint_ticket(history)
        queue = self.query_one(Queue)
        queue.mark_read(history.ticket.id, history.standing.last_seq)
        above = self.app.screen
        if isinstance(above, CardPanel):
            above.renew(history)
        self.follow_take_over(history)
        self.write_now()
        self.bring_next_card(history)

    # What the panes tell

    def on_queue_chosen(self, event: Queue.Chosen) -> None:
        """Shows another ticket's banner at once, the rest when the cursor rests."""
        event.stop()
        self._save_drafts()
        self.paint_banner()
        self.paint_hints()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST, self._rested)

    def _rested(self) -> None:
        ticket = self.ticket()
        if ticket is None:
            self.reads.history = None
            self.paint_nothing()
            return
        read = partial(self._read, ticket)
        in_background(self, read, "Reading a ticket", group="detail", exclusive=True)
        self._rest = self.set_timer(LATE, self._late)

    def _late(self) -> None:
        """The ticket before is not shown for long under the banner of this one."""
        if self.ticket() is not None and self.history is None:
            self.paint_reading()

    async def _read(self, ticket: TicketId) -> None:
        with suppress(StoreUnreachable):  # the feed says so, and reads all later
            await self.reads.read_chart(ticket)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Never leaves another ticket's panes under a banner they don't belong to."""
        over = event.state in {WorkerState.SUCCESS, WorkerState.ERROR}
        if event.worker.group == "detail" and over and self.history is None:
            self.paint_nothing()
        if event.worker.error is not None and over:
            self.post_message(self.Failed(event.worker.name, event.worker.error))

    def on_queue_wanted(self, event: Queue.Wanted) -> None:
        """Reads rows that came into view."""
        event.stop()
        self.read_window(event.offset)

    def on_queue_opened(self, event: Queue.Opened) -> None:
        """Goes into the ticket."""
        event.stop()
        self.run_command("open")

    def on_timeline_moved(self, event: Timeline.Moved) -> None:
        """The keys that make sense may be others now."""
        event.stop()
        self.paint_hints()

    def on_painted_asked(self, event: Painted.Asked) -> None:
        """A command was clicked."""
        event.stop()
        self.run_command(event.act)

    def on_composer_edited(self, event: Composer.Edited) -> None:
        """Keeps what is written."""
        event.stop()
        self.keep_written()

    @override
    async def learn_drafts(self, ticket: TicketId) -> None:
        """Takes what the same person wrote in another console since."""
        before = {} if self.acts_running else self.drafts.as_stored(ticket)
        with suppress(StoreUnreachable):  # the feed says so
            stored = await self.services.store.read(lambda tx: tx.drafts(ticket))
            self.keep_written()
            self.drafts.learn(ticket, stored, self.me)
            own = self.acts_running  # such as one that sends it from here
            gone = not own and self.drafts.gone(ticket, before, stored, self.me)
            self.paint_composer()
            if gone and self.composing == ticket:
                self.tell("What stood here was sent or discarded in another console")

    def _look_for_drafts(self, history: History) -> None:
        """Looks again where a draft is gone: it may be stored since that was read."""
        there = {d.mode for d in history.drafts if d.operator == self.me}
        ticket = history.ticket.id
        if not self.acts_running and self.drafts.as_stored(ticket).keys() - there:
            look = partial(self.learn_drafts, ticket)
            in_background(self, look, "Reading drafts", group="draft")

    @override
    def save_soon(self) -> None:
        """Stores what is written, a little after the last letter."""
        if self._saving is not None:
            self._saving.stop()
        self._saving = self.set_timer(SAVE, self._save_drafts)

    def _save_drafts(self) -> None:
        in_background(self, self.keep_drafts, "Keeping a draft", group="draft")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filters the queue, or searches the timeline, as it is typed."""
        event.stop()
        self.find_typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Leaves the search line, with what was found."""
        event.stop()
        self.find_done()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Other keys make sense elsewhere."""
        del event
        self.paint_hints()

    def on_resize(self, event: events.Resize) -> None:
        """Paints anew in the new widths, once they are known."""
        del event
        self.call_after_refresh(self.paint)

    @override
    def take_key(self, event: events.Key) -> bool:
        """Runs the command that a key has here, unless letters are text.

        Returns:
            Whether the key is done with.
        """
        self.touched()
        self.stay()
        self.answering = True
        try:
            return self.typed_on(event) or self._answer(event)
        finally:
            self.answering = False

    def _answer(self, event: events.Key) -> bool:
        here = self.here()
        command = None if here.typing else command_for(self.commands, event.key, here)
        if command is not None:
            self.run_command(command.id, pressed=True)
        elif needed := needed_for(self.commands, event.key, here):
            writing = writes_for(self.commands, event.key)
            if not writing or not self.write_later(writing):
                self.tell(needed, good=False)
        return command is not None

    def on_key(self, event: events.Key) -> None:
        """Runs a command while somebody types, after the letters before it."""
        command = command_for(self.commands, event.key, self.here())
        if command is not None:
            event.stop()
            event.prevent_default()
            self.run_command(command.id, pressed=True)
