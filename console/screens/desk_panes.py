"""What the desk's panes show, painted from what was read."""

from collections.abc import Mapping

from textual.widgets import Input

from console.keymap import Command, Here, key_of
from console.live import Lost, Services
from console.measures import span_of, when
from console.screens.acts import Acts
from console.screens.desk_reads import Reads
from console.screens.desk_writing import Drafts
from console.screens.first_run import first_run_lines
from console.screens.front import Front
from console.widgets.banner import Taking, banner_line
from console.widgets.bars import Top, hint_line, lost_line, top_lines
from console.widgets.card_lines import barred, inline_lines
from console.widgets.chart import chart_lines, strip_lines
from console.widgets.composer import Composer, Editor
from console.widgets.line_view import LineView
from console.widgets.queue import Queue
from console.widgets.sight import Sight, asked_of, paused_at
from console.widgets.spans import Line, Span, line
from console.widgets.timeline import Timeline
from console.widgets.timeline_values import Reader
from console.wording import doing, proposal_words, stopped_words
from core.cleanse import one_line
from core.decision import READY, Decision, DecisionState, Operator, Role
from core.history import History, Reply, under_way
from core.ports import Presence
from core.standing import Standing
from core.ticket import TicketId, operator


class DeskPanes(Front, inherit_bindings=False):
    """The desk's state, and how it is painted."""

    services: Services
    acts: Acts
    reads: Reads
    drafts: Drafts
    commands: tuple[Command, ...]
    keys: Mapping[str, str]

    def __init__(self) -> None:
        super().__init__()
        self.live = False
        self.lost: Lost | None = None
        self.taking: Taking | None = None
        self.noting = False
        self.composing: TicketId | None = None
        self.writing: tuple[TicketId, str] | None = None
        self.writing_seen = 0
        self.nearby: tuple[Presence, ...] = ()
        self.reading = False

    def ticket(self) -> TicketId | None:
        """The ticket under the cursor; the desk answers."""
        return None

    @property
    def me(self) -> str:
        """Who sits here."""
        return self.services.operator.name

    @property
    def history(self) -> History | None:
        """What was read of the ticket under the cursor, None until it is."""
        history = self.reads.history
        if history is None or history.ticket.id != self.ticket():
            return None
        return history

    def standing(self) -> Standing | None:
        """Where the ticket under the cursor stands, from its row or its chart."""
        ticket = self.ticket()
        row = self.query_one(Queue).row(ticket) if ticket is not None else None
        history = self.history
        if history is None:
            return row.standing if row is not None else None
        if row is not None and row.standing.last_seq > history.standing.last_seq:
            return row.standing
        return history.standing

    def pending(self) -> Decision | None:
        """The first decision that waits on the ticket."""
        if self.history is None:
            return None
        waiting = (
            d for d in self.history.decisions if d.state is DecisionState.PENDING
        )
        return next(waiting, None)

    def _decides(self) -> bool:
        """Whether the person may approve what waits, as far as that is read."""
        supervises, decision = self.supervises, self.pending()
        if decision is None:
            return supervises
        return not barred(decision, self.me, supervisor=supervises)

    @property
    def supervises(self) -> bool:
        """Whether the person is a supervisor."""
        return self.person.role is Role.SUPERVISOR and not self.person.disabled

    @property
    def person(self) -> Operator:
        """Who sits here, as the store has them since it was looked at."""
        seen = self.reads.mine
        known = None if seen is None else seen.person
        return self.services.operator if known is None else known

    def approved(self) -> Decision | None:
        """The first decision that is approved and not carried out yet."""
        if self.history is None:
            return None
        return next((d for d in self.history.decisions if d.state in READY), None)

    def undoable(self) -> Reply | None:
        """The person's reply that has not left yet and can be taken back."""
        if self.history is None:
            return None
        for reply in reversed(self.history.outbox):
            off = reply.not_before
            if reply.state == "queued" and off is not None and off > self.reads.now():
                return reply if reply.author == operator(self.me) else None
        return None

    def restorable(self) -> bool:
        """Whether a text that the person discarded can be brought back."""
        ticket = self.ticket()
        return ticket is not None and self.drafts.can_restore(ticket)

    def here(self) -> Here:
        """Where the person stands."""
        standing, ticket = self.standing(), self.ticket()
        pane = self.pane()
        timeline = self.query_one(Timeline)
        item = timeline.item
        return Here(
            pane=pane,
            typing=isinstance(self.focused, Input | Editor),
            ticket=standing is not None,
            awaits=self.query_one(Queue).awaits,
            mine=standing is not None and standing.held_by == self.me,
            held=standing is not None and standing.held_by is not None,
            pending=standing is not None and bool(standing.pending),
            decides=self._decides(),
            withheld=standing is not None and bool(standing.withheld),
            opens=item is not None and item.opens,
            searching=bool(timeline.needle),
            narrow=self.has_class("-narrow"),
            away=pane != "queue" or bool(self.reads.filter) or self.has_class("-zoom"),
            lost=self.lost is not None,
            supervisor=self.supervises,
            undo=self.undoable() is not None or self.restorable(),
            drafted=ticket is not None and bool(self.drafts.unsent_on(ticket)),
            runs=self.history is not None and bool(self.history.runs),
            noting=self.noting,
            doubts=standing is not None and bool(standing.doubts),
            ready=standing is not None and bool(standing.ready),
            offered=standing is not None and standing.offered_to == self.me,
            offers=standing is not None and standing.offered_by == self.me,
            match=timeline.match if pane == "timeline" else "",
        )

    def pane(self) -> str:
        """The pane that has the keys."""
        focused = self.focused
        names = {"queue": "queue", "timeline": "timeline", "chart": "chart"}
        names |= {"editor": "composer", "find": "find"}
        return names.get(focused.id or "", "queue") if focused is not None else "queue"

    def sight(self, width: int) -> Sight:
        """For whom and when something is drawn."""
        return Sight(
            me=self.me,
            now=self.reads.now(),
            zone=self.services.zone,
            width=width,
            stopped=stopped_words(self.reads.pause),
            presence=self.presence_words(),
            others=self.reads.others,
            on_objects=self.reads.on_objects,
            asked=asked_of(self.history),
            tool=self._awaited(),
            approved=proposal_words(self.approved()),
            paused_at=paused_at(self.history),
            supervisor=self.supervises,
            keys=self.keys,
        )

    def _awaited(self) -> str | None:
        """The tool that a take-over waits for; looked for only while one waits."""
        if self.taking is None or self.history is None:
            return None
        return under_way(self.history)

    def presence_words(self) -> dict[str, str]:
        """What colleagues do at this ticket, by their name."""
        now, ticket = self.reads.now(), self.ticket()
        return {
            p.operator: words
            for p in self.nearby
            if p.operator != self.me and (words := doing(p, ticket, now))
        }

    # Painting

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
