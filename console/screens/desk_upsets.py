"""What happens to a person at the desk without their doing.

The ticket on which they write is taken or deleted, the clock is set, the lid is closed
and opened, the terminal is put aside. Nothing written is lost, no letter of a sentence
becomes a command, and what is shown is read again.
"""

import time
from datetime import datetime

from textual import events
from typing_extensions import override

from console.keymap import command_for, possible
from console.screens.card import CardPanel
from console.screens.desk_moving import PAUSE
from console.screens.desk_notices import DeskNotices
from console.screens.panel import Panel
from console.widgets.queue import Queue
from console.widgets.timeline import Timeline
from core.cleanse import one_line
from core.ticket import TicketId

_LATE = 5.0
"""Seconds between two ticks after which the clock was set, or time stood still."""


class DeskUpsets(DeskNotices, inherit_bindings=False):
    """Interruptions, and what follows from them."""

    def __init__(self) -> None:
        super().__init__()
        self._typed_on = 0.0
        self._typed_told = False
        self._later: tuple[str, TicketId] | None = None
        self._ticked_at: datetime | None = None

    @override
    def composer_closed(self) -> None:
        """Takes the keys of somebody whose composer closes while they write."""
        self._typed_on, self._typed_told = time.monotonic(), True
        self.set_focus(self.query_one(Timeline))
        ticket, standing = self.composing, self.standing()
        if ticket is None or standing is None or not self.drafts.text(ticket, "reply"):
            return
        name, who = one_line(ticket, 24), one_line(standing.held_by or "", 30)
        now = f"{who} has {name} now" if who else f"{name} is not yours any more"
        self.tell(f"{now}: your text is kept", good=False)

    @override
    def write_later(self, command: str) -> bool:
        """Takes the keys of somebody who goes to write before they can.

        They write as soon as the ticket is theirs and read. Where it will not be
        theirs, their letters are no commands until they have noticed.

        Returns:
            Whether they were told.
        """
        ticket = self.ticket()
        reads = self.history is None and self.standing() is not None
        if ticket is None or self.lost is not None or not (self._takes() or reads):
            self._typed_on, self._typed_told = time.monotonic(), False
            return False
        self._later = (command, ticket)
        self.tell("You write as soon as it is yours: no key acts till then · esc")
        return True

    @override
    def write_now(self) -> None:
        """Goes to write for who wanted to, once they can; or it is said why not."""
        if self._later is None:
            return
        name, ticket = self._later
        command = next(c for c in self.commands if c.id == name)
        if ticket == self.ticket() and possible(command, self.here()):
            self._later = None
            above = self.app.screen is not self  # such as a reply that was withheld
            self.run_command("reply" if above and name == "canned" else name)
        elif ticket != self.ticket() or not self._takes():
            self._later = None
            self._typed_on, self._typed_told = time.monotonic(), False

    def _takes(self) -> bool:
        """Whether the ticket under the cursor is being taken over."""
        ticket = self.ticket()
        asked = None if self.taking is None else self.taking.ticket
        return ticket is not None and ticket in {asked, self.about_to_take}

    def typed_on(self, event: events.Key) -> bool:
        """Whether a key is text for a composer that has closed, or is not there yet."""
        now = time.monotonic()
        text = event.is_printable or event.key in {"enter", "backspace", "delete"}
        if self._later is not None and self._later[1] == self.ticket():
            if not text:
                self._later = None
            return text or event.key == "escape"
        if now - self._typed_on > PAUSE:
            return False
        command = command_for(self.commands, event.key, self.here())
        if command is not None and command.id == "take":
            return False  # what one was told to do first, and a letter alone at that
        self._typed_on = now
        if text and not self._typed_told:
            self._typed_told = True
            words = "You write nowhere yet: no key acts until you pause"
            self.tell(words, good=False)
        return text

    def chart_gone(self, ticket: TicketId) -> None:
        """The ticket on the screen is not in the store any more."""
        self.drafts.drop(ticket)
        above = self.app.screen
        if isinstance(above, Panel):
            above.dismiss(None)
        self.query_one(Queue).forget(ticket)
        self.paint_nothing()
        self.look_again()
        self.tell(f"{one_line(ticket, 24)} was deleted", good=False)

    def look_at_clock(self) -> None:
        """Reads everything again where the time went on without us, or was set.

        What is shown by this machine's clock, such as ages and what is left of an
        undo, is measured anew against the database's with every read.
        """
        now = self.services.clock.now()
        before, self._ticked_at = self._ticked_at, now
        if before is not None and not -1 < (now - before).total_seconds() < _LATE:
            self.look_again()
        above = self.app.screen
        if isinstance(above, CardPanel):
            above.tick()

    def look_again(self) -> None:
        """Reads everything again; the desk answers."""

    def _do_suspend(self) -> None:
        driver = self.app._driver  # noqa: SLF001 # the library has no other way to ask
        if driver is None or not driver.can_suspend:
            self.tell("Only a terminal can put the console aside", good=False)
            return
        self.act(self.keep_drafts(), lambda _: self.app.action_suspend_process())

    def came_back(self, _: object) -> None:
        """The terminal is ours again."""
        self.app.refresh(layout=True)
        self.refresh(layout=True)
        self.look_again()
