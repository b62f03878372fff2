"""What the desk's panes show, painted from what was read."""

from console.keymap import key_of
from console.measures import span_of, when
from console.screens.desk_facts import DeskFacts
from console.screens.first_run import first_run_lines
from console.widgets.banner import banner_line
from console.widgets.bars import Top, hint_line, lost_line, top_lines
from console.widgets.card_lines import inline_lines
from console.widgets.chart import chart_lines, strip_lines
from console.widgets.composer import Composer
from console.widgets.line_view import LineView
from console.widgets.queue import Queue
from console.widgets.spans import Line, Span, line
from console.widgets.timeline import Timeline
from console.widgets.timeline_values import Reader
from console.wording import stopped_words
from core.cleanse import one_line
from core.history import History, Reply
from core.standing import Standing


class DeskPanes(DeskFacts, inherit_bindings=False):
    """How the desk is painted."""

    def paint(self) -> None:
        """Paints everything anew."""
        self.paint_top()
        self.paint_lost()
        self.paint_banner()
        self.paint_hints()
        if self.history is not None:
            self.paint_ticket(self.history)
        elif self.ticket() is None and not self.query_one(Queue).awaits:
            self.paint_nothing()
        if self.has_class("-empty"):
            ways = self.services.ways_in
            self.view("first-run").draw(lambda width: first_run_lines(ways, width))

    def view(self, name: str) -> LineView:
        """One of the painted panes."""
        return self.query_one(f"#{name}", LineView)

    def _paused(self) -> str:
        """Who stopped the agent everywhere, when and why, whatever ticket is shown."""
        pause = self.reads.pause
        if pause is None:
            return ""
        at = when(pause.at, self.reads.now(), self.services.zone)
        return f"PAUSED {at} {stopped_words(pause)}"

    def paint_top(self) -> None:
        """Who, what, live, and the views."""
        top = Top(
            operator=self.person,
            title=self.services.title,
            view=self.reads.view,
            counts=self.reads.counts,
            workers=self.reads.workers,
            live=self.live,
            filter=self.reads.filter,
            paused=self._paused(),
            keys=self.keys,
        )
        self.view("top").draw(lambda width: top_lines(top, width))

    def paint_lost(self) -> None:
        """The banner of a store that is gone."""
        lost = self.lost
        if lost is not None:
            left = lost.retry_at - self.services.clock.now()
            seconds = round(left.total_seconds())
            self.view("lost").draw(lambda width: [lost_line(lost, seconds, width)])

    def paint_hints(self) -> None:
        """The keys that make sense now."""
        here, commands = self.here(), self.commands
        self.view("hints").draw(lambda width: [hint_line(commands, here, width)])

    def paint_banner(self) -> None:
        """The most important line."""
        view = self.view("banner")
        ticket, standing = self.ticket(), self.standing()
        if self.query_one(Queue).awaits:
            return
        if ticket is None or standing is None:
            view.draw(lambda _: [])
            return
        workers, taking = self.reads.workers or 0, self.taking

        def make(width: int) -> list[Line]:
            sight = self.sight(width)
            return [
                banner_line(ticket, standing, sight, workers=workers, taking=taking)
            ]

        view.draw(make)

    def paint_nothing(self) -> None:
        """No ticket is selected."""
        for name in ("strip", "strip-rule", "chart", "inline-card"):
            self.view(name).draw(lambda _: [])
        self.query_one("#inline").remove_class("-open")
        reader = self._reader("", self.query_one(Timeline).inner_width)
        self.query_one(Timeline).show((), reader, fresh=True)
        self.composing = None
        self.paint_composer()
        self.paint_banner()

    def paint_reading(self) -> None:
        """The ticket is being read; what is written stays where it is."""
        self.reads.history, self.reading = None, True
        for name in ("strip", "chart"):
            self.view(name).draw(lambda _: [line(("reading…", "faint"))])
        for name in ("strip-rule", "inline-card"):
            self.view(name).draw(lambda _: [])
        self.query_one("#inline").remove_class("-open")
        reader = self._reader("", self.query_one(Timeline).inner_width)
        self.query_one(Timeline).show((), reader, fresh=True)

    def paint_ticket(self, history: History) -> None:
        """Timeline, chart, card and composer of a ticket."""
        timeline = self.query_one(Timeline)
        identity = history.standing.identity
        name = one_line(identity.name or "", 60) if identity is not None else ""
        fresh = self.composing != history.ticket.id
        reader = self._reader(name, timeline.inner_width)
        timeline.show(self.reads.items, reader, fresh=fresh or self.reading)
        self.reading = False
        self.paint_chart(history)
        self._paint_inline(history)
        if fresh:
            self.noting = False
        self.composing = history.ticket.id
        self.paint_composer()
        self.paint_banner()
        self.paint_hints()

    def _reader(self, buyer: str, width: int) -> Reader:
        zone = self.services.zone
        return Reader(me=self.me, buyer=buyer, zone=zone, width=max(20, width))

    def paint_chart(self, history: History) -> None:
        """Who the buyer is, who has the ticket, and all that stands beside it."""
        self.view("chart").draw(lambda w: chart_lines(history, self.sight(w)))
        self.view("strip").draw(lambda w: strip_lines(history, self.sight(w)))
        self.view("strip-rule").draw(lambda w: [line(("─" * w, "faint"))])

    def _paint_inline(self, history: History) -> None:
        decision = self.pending() or self.approved()
        box = self.query_one("#inline")
        box.set_class(decision is not None, "-open")
        if decision is not None:
            self.view("inline-card").draw(
                lambda w: inline_lines(decision, history, self.sight(w))
            )

    def paint_composer(self) -> None:
        """For whom the composer is, and what is written in it."""
        composer = self.query_one(Composer)
        self.keep_written()
        standing = self.standing()
        mine = standing is not None and standing.held_by == self.me
        mode = "note" if self.noting else "reply"
        open_ = self.composing is not None and (mine or self.noting)
        theirs = composer.mode == "reply" or self.composing is None  # not esc in a note
        closes = not open_ and theirs and self.focused is composer.editor
        composer.present(mode=mode, open_=open_, words=self._composer_words(mine=mine))
        self.writing = None
        if self.composing is not None:
            self.writing = (self.composing, mode)
            self.writing_seen = self.history.standing.last_seq if self.history else 0
            composer.fill(self.drafts.text(self.composing, mode))
        if closes:
            self.composer_closed()

    def write_later(self, command: str) -> bool:
        """Somebody goes to write who can't yet; the desk answers."""
        del command
        return False

    def write_now(self) -> None:
        """Lets them write, or tells their letters from commands; the desk answers."""

    def composer_closed(self) -> None:
        """The composer closed while somebody wrote in it; the desk answers."""

    def keep_written(self) -> None:
        """Takes note of the last letters, before the editor is for something else."""
        composer = self.query_one(Composer)
        if self.writing is not None and composer.changed:
            self.drafts.write(*self.writing, composer.take_text(), self.writing_seen)
            self.save_soon()

    def save_soon(self) -> None:
        """Something written is not stored yet; the desk answers."""

    def _composer_words(self, *, mine: bool) -> Line:
        standing, ticket = self.standing(), self.composing
        if ticket is None or standing is None:
            return line(("", "dim"))
        if self.noting:
            return line(("Note", "note"), (" only colleagues see this", "note"))
        reply = self.undoable()
        if reply is not None:
            return self._leaving_words(reply, standing)
        if mine:
            who = (
                one_line(standing.identity.name or "", 40) if standing.identity else ""
            )
            to = f" to {who}" if who else " to the buyer"
            typing = [n for n, w in self.presence_words().items() if "types" in w]
            also = f" · {one_line(typing[0], 30)} types too" if typing else ""
            return line(
                ("Reply", "yours"),
                (to, "text"),
                (also, "wait"),
            )
        kept = "Your draft is kept. " if self.drafts.text(ticket, "reply") else ""
        if standing.held_by is not None:
            who = one_line(standing.held_by, 30)
            there = self.presence_words().get(standing.held_by, "")
            does = there if there.startswith(",") else " and writes"  # or is away
            return line(
                (f"{who} holds it{does}. {kept}", "dim"),
                Span(self.keys["note"], "key", "note"),
                (" leaves a note", "dim"),
            )
        take = "it over to go on" if kept else "the ticket over to write yourself"
        return line(
            (f"{kept}Take {take}: ", "dim"),
            Span(self.keys["take"], "key", "take"),
            ("   note: ", "dim"),
            Span(self.keys["note"], "key", "note"),
        )

    def _leaving_words(self, reply: Reply, standing: Standing) -> Line:
        """How long a reply can still be taken back, and who keeps one from it."""
        left = span_of((reply.not_before or self.reads.now()) - self.reads.now())
        holder, run = standing.held_by, standing.run is not None
        if run or holder not in {None, self.me}:
            who = "the agent" if run else one_line(holder or "", 30)
            why = f"{who} has the ticket now: it can't be taken back"
            return line((f"Sends in {left} ", "wait"), (why, "dim"))
        return line(
            (f"Sends in {left} ", "wait"),
            (key_of(self.commands, "undo", self.here()), "key"),
            (" takes it back", "dim"),
        )
