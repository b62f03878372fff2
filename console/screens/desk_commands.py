"""What the commands do that work a ticket: take, write, send, give back."""

import time
from functools import partial

from console.screens.acts import Said, taken_words
from console.screens.ask import SurePanel
from console.screens.background import in_background
from console.screens.desk_giving import DeskGiving
from console.screens.overlays import HelpPanel, LeavePanel
from console.screens.withheld import Caught, WithheldPanel
from console.widgets.banner import Taking
from console.widgets.card_lines import stale_lines
from console.widgets.composer import Composer
from console.widgets.timeline import Timeline
from core.cleanse import one_line
from core.flows.drafts import words_for
from core.history import History
from core.ticket import TicketId

_PRESS = 3.0
"""Seconds between two looks whether a run that should stop is dead."""


class DeskCommands(DeskGiving, inherit_bindings=False):
    """`_do_ID` for each id of the table."""

    def __init__(self) -> None:
        super().__init__()
        self._asked_at = 0.0
        self._pressed_at = 0.0
        self._sending = False

    # Acting on the ticket

    def _do_take(self) -> None:
        ticket = self.ticket()
        if ticket is None or self.refuse_lost():
            return
        self.note_own(ticket)
        self.taking = Taking(ticket=ticket, since=self.reads.now())
        self._asked_at = self._pressed_at = time.monotonic()
        self.paint_banner()
        self.act(self.acts.take(ticket), self._take_asked)

    def _take_asked(self, said: Said) -> None:
        if not said.done:
            self.taking = None
            self.paint_banner()
            self.write_now()

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
            self.act(self.acts.press(self.taking.ticket))

    def _do_reply(self) -> None:
        self._write("reply", noting=False)

    def _do_note(self) -> None:
        self._write("note", noting=True)

    def _write(self, command: str, *, noting: bool) -> None:
        if self.history is None:  # the composer is still the one of another ticket
            self.write_later(command)
            return
        self.noting = noting
        self.composer_again()
        self.go("composer")
        learn = partial(self.learn_drafts, self.history.ticket.id)
        in_background(self, learn, "Reading drafts", group="draft")

    async def learn_drafts(self, ticket: TicketId) -> None:
        """Reads what was written elsewhere; the desk answers."""

    def _do_send(self) -> None:
        history, writing = self.history, self.writing
        if history is None or writing is None or writing[0] != history.ticket.id:
            return
        if self._sending or self.refuse_lost():
            return
        self.keep_written()
        ticket, mode = writing
        text = self.drafts.text(ticket, mode)
        if not text.strip():
            self.tell("There is nothing to send", good=False)
            return
        missing = self.gaps_in(text) if mode == "reply" else ()
        if missing:
            names = one_line(", ".join(f"{{{name}}}" for name in missing), 60)
            self.tell(f"Fill in {names} first; nothing was sent", good=False)
            return
        newest = history.newest_buyer_seq()
        if mode == "reply" and newest > self.drafts.begun(ticket, mode):
            self._ask_stale(history)
            return
        self._send(history, mode, text)

    def _ask_stale(self, history: History) -> None:
        """Asks once whether a reply stands that was begun before the last message."""
        ticket, newest = history.ticket.id, history.newest_buyer_seq()

        def answer(sure: bool | None) -> None:  # noqa: FBT001 # Textual's own form
            if sure:
                self.drafts.stands(ticket, "reply", newest)
                self._do_send()

        panel = SurePanel(stale_lines(history), "sends it as it is", "nothing was sent")
        self.app.push_screen(panel, answer)

    def _send(self, history: History, mode: str, text: str) -> None:
        self._sending = True
        ticket, seen = history.ticket.id, history.standing.last_seq

        async def say() -> Said:
            await self.keep_drafts()  # the very draft that goes with what is sent
            if mode == "note":
                return await self.acts.note(ticket, text)
            return await self.acts.reply(ticket, text, seen)

        self.act(say(), lambda said: self._sent(said, ticket, mode, text))

    def _sent(self, said: Said, ticket: TicketId, mode: str, text: str) -> None:
        self._sending = False
        if not said.done:
            return
        self.keep_written()
        if self.drafts.text(ticket, mode) == text:
            self.drafts.write(ticket, mode, "", self.writing_seen)
        self.act(self.keep_drafts())
        self.noting = False
        self.go("timeline")  # where `u` is a key and no letter
        self.composer_again()
        self.query_one(Timeline).to_end()

    def on_composer_slash(self, event: Composer.Slash) -> None:
        """Offers written replies where nothing is written yet."""
        event.stop()
        self.run_command("canned")

    def _do_withheld(self) -> None:
        history = self.history
        if history is None:
            return
        caught = [r for r in history.outbox if r.state == "withheld"]
        if not caught:
            return
        ticket, seen = history.ticket.id, history.standing.last_seq
        mode = words_for(caught[0].seq)

        def keep(text: str) -> None:
            if text != self.drafts.text(ticket, mode):
                self.drafts.write(ticket, mode, text, seen)
                self.save_soon()

        begun = self.drafts.text(ticket, mode)
        panel = WithheldPanel(caught, self.services.zone, begun, keep)
        self.open_for(panel, partial(self._settle_withheld, ticket))

    async def _settle_withheld(self, ticket: TicketId, what: Caught) -> Said:
        await self.keep_drafts()
        said = await self.acts.withheld(ticket, what)
        if said.done:
            self.drafts.write(ticket, words_for(what.seq), "", self.writing_seen)
            await self.keep_drafts()
        return said

    # The desk itself

    def _do_retry(self) -> None:
        self.find_store()

    def find_store(self) -> None:
        """Looks for a lost store at once; the desk answers."""

    def _do_help(self) -> None:
        self.app.push_screen(HelpPanel(self.commands, self.here()))

    def _do_theme(self) -> None:
        light = self.app.theme == "handoff-light"
        self.app.theme = "handoff-dark" if light else "handoff-light"

    def _do_quit(self) -> None:
        self.keep_written()
        here = int(self.here().mine)  # the count may be a second old
        held = max(here, self.reads.counts.get("mine", 0))
        if held or self.drafts.unsent:
            self._ask_leave(held)
        else:
            self._leave()

    def _ask_leave(self, held: int) -> None:
        """Asks once, and says what would be lost where the store is away."""
        lost = self.lost is not None and not self.drafts.saved

        def answer(leave: bool | None) -> None:  # noqa: FBT001 # Textual's own form
            if leave:
                self._leave(anyway=lost)

        panel = LeavePanel(held, unsent=self.drafts.unsent, lost=lost)
        self.app.push_screen(panel, answer)

    def _leave(self, *, anyway: bool = False) -> None:
        def kept(said: Said) -> None:
            if said.done or anyway:
                self.app.exit()
            else:
                self.tell("What you wrote can't be stored now: still here", good=False)

        self.act(self._last(), kept)

    async def _last(self) -> Said:
        said = await self.keep_drafts()
        if said.done and self.lost is None:
            await self.say_goodbye()
        return said

    async def say_goodbye(self) -> None:
        """Tells colleagues that nobody sits here any more; the desk answers."""
