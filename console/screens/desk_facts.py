"""Where the person stands at the desk: which ticket, what waits, what may be done."""

from collections.abc import Mapping

from textual.widgets import Input

from console.keymap import Command, Here
from console.live import Lost, Services
from console.screens.acts import Acts
from console.screens.desk_reads import Reads
from console.screens.desk_writing import Drafts
from console.screens.front import Front
from console.widgets.banner import Taking
from console.widgets.card_lines import barred
from console.widgets.composer import Editor
from console.widgets.queue import Queue
from console.widgets.sight import Sight, asked_of, paused_at
from console.widgets.timeline import Timeline
from console.wording import doing, proposal_words, stopped_words
from core.decision import READY, Decision, DecisionState, Operator, Role
from core.history import History, Reply, under_way
from core.ports import Presence
from core.standing import Standing
from core.ticket import TicketId, operator


class DeskFacts(Front, inherit_bindings=False):
    """The desk's state, and what follows from it."""

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
            begun=self._begun(),
            supervisor=self.supervises,
            keys=self.keys,
        )

    def _begun(self) -> frozenset[str]:
        """The decisions whose call is made and not answered."""
        actions = () if self.history is None else self.history.actions
        return frozenset(a.decision for a in actions if a.open and a.decision)

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
