"""Questions of one line at the desk, and the ticket that sleeps until an answer."""

from collections.abc import Callable, Coroutine
from datetime import datetime

from console.screens.acts import Said, no
from console.screens.ask import AskPanel
from console.screens.desk_canned import DeskCanned
from console.when import moment
from core.cleanse import one_line
from core.ticket import TicketId


class DeskSleeping(DeskCanned, inherit_bindings=False):
    """Snoozing, by itself or as a way of giving back."""

    def ask_for(
        self,
        panel: AskPanel,
        act: Callable[[str], Coroutine[None, None, Said]],
        then: Callable[[Said], None] = lambda _: None,
    ) -> None:
        """Asks for a line with which something is done at once."""
        if not self.refuse_lost():
            self.open_for(panel, act, then)

    def _ask_first(self, panel: AskPanel, then: Callable[[str], None]) -> None:
        """Asks for a line after which more is asked."""

        def answer(text: str | None) -> None:
            if text is not None:
                then(text)

        if not self.refuse_lost():
            self.app.push_screen(panel, answer)

    def ask_until(
        self,
        ticket: TicketId,
        note: str = "",
        *,
        discard: bool = False,
        then: Callable[[Said], None] = lambda _: None,
    ) -> None:
        """Asks for a time and lets the ticket sleep.

        Args:
            ticket: The ticket.
            note: For the agent.
            discard: Whether what is written and not sent is discarded with it.
            then: What follows, whatever it came to.
        """

        async def sleep(text: str) -> Said:
            until = self._moment(text)
            if until is None:  # the panel saw to that, but time goes on
                return no(self._no_moment(text) or "")
            self.note_own(ticket)
            await self.keep_drafts()
            said = await self.team.snooze(ticket, until, note=note, discard=discard)
            if said.done and discard:
                self.drafts.discarded(ticket)
                self.composer_again()
            return said

        panel = AskPanel(
            f"Let {one_line(ticket, 40)} sleep until",
            hint="30m, 3h, 2d, 17:30, tomorrow, mon 9:00",
            does="lets it sleep",
            words="A message of the buyer wakes it at once. Who holds it lets go.",
            needs="a time",
            wrong=self._no_moment,
        )
        self.ask_for(panel, sleep, then)

    def _moment(self, text: str) -> datetime | None:
        return moment(text, self.reads.now(), self.services.zone)

    def _no_moment(self, text: str) -> str | None:
        """Why a ticket can't sleep until then."""
        until, said = self._moment(text), one_line(text, 16)
        if until is None:
            return f"“{said}” is no time: 30m, 3h, 2d, 17:30, mon 9:00"
        return f"“{said}” has passed" if until <= self.reads.now() else None
