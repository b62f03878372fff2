"""What each command of the table does on the desk."""

import time
from collections.abc import Callable, Coroutine

from console.keymap import COMMANDS, possible
from console.screens.acts import Said, taken_words
from console.screens.decision import DecisionPanel, Ruling
from console.screens.desk_moving import DeskMoving
from console.screens.give_back import GiveBackPanel
from console.screens.overlays import HelpPanel, LeavePanel, PalettePanel
from console.screens.withheld import Caught, WithheldPanel
from console.widgets.banner import Taking
from console.widgets.timeline import Timeline
from core.decision import Decision
from core.flows.handoff import GiveBack
from core.history import History
from core.ticket import TicketId

_PRESS = 3.0
"""Seconds between two looks whether a run that should stop is dead."""


class DeskCommands(DeskMoving, inherit_bindings=False):
    """The desk's commands: `_do_ID` for each id of the table."""

    def __init__(self) -> None:
        super().__init__()
        self._asked_at = 0.0
        self._pressed_at = 0.0
        self._sending = False

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
        self.composer_again()
        self.go("composer")

    def _do_note(self) -> None:
        if self.history is not None:
            self.noting = True
            self.composer_again()
            self.go("composer")

    def _do_send(self) -> None:
        history, writing = self.history, self.writing
        if history is None or writing is None or writing[0] != history.ticket.id:
            return
        if self._sending or self._refuse_lost():
            return
        self.keep_written()
        ticket, mode = writing
        text = self.drafts.text(ticket, mode)
        if not text.strip():
            self.tell("There is nothing to send", good=False)
            return
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
        self.keep_written()
        if self.drafts.text(ticket, mode) == text:
            self.drafts.write(ticket, mode, "")
        self._act(self.keep_drafts(), lambda _: None)
        if mode == "note":
            self.noting = False
            self.go("timeline")
        self.composer_again()
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
            try:
                said = await act
            except Exception:
                then(Said(words="", done=False))
                raise
            if said.words:
                self.tell(said.words, good=said.done)
            then(said)

        self.run_worker(run(), name="An act", group="acts", exit_on_error=False)

    def _refuse_lost(self) -> bool:
        """Whether nothing can be stored now, which is said."""
        if self.lost is not None:
            self.tell("The store can't be reached: nothing was changed", good=False)
        return self.lost is not None
