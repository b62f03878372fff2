"""How a command of the desk is run, and how it is said what became of it."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TypeVar

from textual import events
from typing_extensions import override

from console.keymap import Command, command_for, possible
from console.screens.acts import Said
from console.screens.background import in_background
from console.screens.desk_moving import DeskMoving
from console.screens.pace import paced
from console.screens.panel import Panel
from console.widgets.queue import Queue
from core.cleanse import one_line
from core.ticket import TicketId

R = TypeVar("R")

_LOST = "The store can't be reached: nothing was changed"


def _looks(command: Command) -> bool:
    return command.group in {"Move", "Views"} or command.id in {"help", "palette"}


class DeskActing(DeskMoving, inherit_bindings=False):
    """The way from a key to `_do_ID`, and from an act to a line about it.

    Attributes:
        acts_running: How many acts are begun, and what follows from them not done.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[TicketId, float] = {}
        self.about_to_take: TicketId | None = None
        self.acts_running = 0

    def run_command(self, name: str, *, pressed: bool = False) -> None:
        """Runs a command of the table, where it is possible now.

        Args:
            name: Its id.
            pressed: Whether its own key was pressed; it must have been meant.
        """
        command = next((c for c in self.commands if c.id == name), None)
        if name.startswith("theme:"):
            self.app.theme = name.removeprefix("theme:")
        elif name.startswith("ticket:"):
            self.go_to(TicketId(name.removeprefix("ticket:")))
        elif command is None or not possible(command, self.here()):
            return
        elif name.startswith("view:"):
            self.to_view(name.removeprefix("view:"))
        elif pressed and command.group == "Ticket" and self._out_of_sight():
            pass
        elif pressed and command.meant:
            self._do_if_meant(command)
        else:
            self._do(name)
        self.paint_hints()

    def _do(self, name: str) -> None:
        getattr(self, f"_do_{name}")()

    def _out_of_sight(self) -> bool:
        """Whether the list is scrolled away from its ticket, which then comes back."""
        queue = self.query_one(Queue)
        if self.pane() != "queue" or queue.in_sight:
            return False
        queue.reveal()
        name = one_line(self.ticket() or "", 40)
        self.tell(f"{name} was out of sight: once more, if meant", good=False)
        return True

    def _do_if_meant(self, command: Command) -> None:
        """Does what is not to be done by somebody who only types."""
        ticket = self.ticket()
        takes = command.id == "take"

        def do() -> None:
            self.about_to_take = None
            if self.ticket() == ticket and possible(command, self.here()):
                self._do(command.id)
            self.write_now()

        def dropped() -> None:
            self.about_to_take = None
            self.write_now()

        self.about_to_take = ticket if takes else None
        writing = {key for c in self.commands if c.writes for key in c.keys}
        if not paced(self.app).meant(
            do,
            command.meant,
            after=command.after,
            behind=frozenset(writing if takes else ()),
            dropped=dropped,
        ):
            self.about_to_take = None

    def note_own(self, ticket: TicketId) -> None:
        """Takes note that this console is about to change who has a ticket."""
        self.asked[ticket] = time.monotonic()

    def open_for(
        self,
        panel: Panel[R],
        act: Callable[[R], Coroutine[None, None, Said] | None],
        then: Callable[[Said], None] = lambda _: None,
    ) -> None:
        """Opens a panel whose answer is an act; it stays until that is stored.

        Args:
            panel: The panel.
            act: What is done with the answer, or None where nothing is left to do.
            then: What follows, whatever it came to.
        """

        def hand(answer: R) -> None:
            if self.lost is not None:
                panel.refused(_LOST)
                return
            doing = act(answer)
            if doing is None:
                panel.stored()
            else:
                self.act(doing, then, panel)

        panel.hand_to(hand)
        self.app.push_screen(panel)

    def act(
        self,
        act: Coroutine[None, None, Said],
        then: Callable[[Said], None] = lambda _: None,
        panel: Panel[R] | None = None,
    ) -> None:
        """Runs an act in the background and says what it came to.

        Args:
            act: What is done.
            then: What follows, whatever it came to.
            panel: Where it was asked for: it closes when it is stored, and says why
                where it is refused.
        """
        doing = asyncio.ensure_future(act)  # also where the desk closes just now
        self.acts_running += 1

        async def run() -> None:
            try:
                said = await doing
            except Exception:
                if panel is not None:
                    panel.refused("That failed: nobody knows whether it is stored")
                then(Said(words="", done=False))
                raise
            else:
                self._came_to(said, panel)
                then(said)
            finally:
                self.acts_running -= 1

        at = self.ticket()
        name = "An act" if at is None else f"An act at {one_line(at, 24)}"
        in_background(self, run, name, group="acts")

    def _came_to(self, said: Said, panel: Panel[R] | None) -> None:
        """Says what an act came to, in its panel or as a notice."""
        if panel is not None and panel.is_attached and not (said.done or said.over):
            panel.refused(said.words)
        elif said.words:
            self.tell(said.words, good=said.done)
        if panel is not None and (said.done or said.over):
            panel.stored()

    @override
    def begin_with(self, keys: Sequence[events.Key]) -> None:
        """Looks where keys ask for that were pressed before the desk was there.

        Whoever pressed them had seen no ticket: the first that does more than look
        ends it, and so does one that opens a panel.
        """
        for key in keys:
            command = command_for(self.commands, key.key, self.here())
            if self.app.screen is not self or command is None or not _looks(command):
                self.tell("Keys pressed before the desk was there were not used")
                return
            self.run_command(command.id)

    @override
    async def keep_drafts(self) -> Said:
        """Stores every unsent text, the last letters included."""
        self.keep_written()
        return Said(words="", done=await self.drafts.save())

    def refuse_lost(self) -> bool:
        """Whether nothing can be stored now, which is said."""
        if self.lost is not None:
            self.tell(_LOST, good=False)
        return self.lost is not None
