"""The palette on the desk: what it can find, and what is done with it."""

from collections.abc import Sequence

from typing_extensions import override

from console.keymap import possible, why_not
from console.keytable import MINE
from console.live import glance
from console.screens.acts import Said
from console.screens.desk_team import DeskTeam
from console.screens.palette import PalettePanel
from core.errors import StoreUnreachable
from core.history import QueueRow
from core.ports import QueueQuery
from core.written import Written

MOST = 20
"""Tickets that the palette offers."""


class DeskFinding(DeskTeam, inherit_bindings=False):
    """Finding by name."""

    def _do_palette(self) -> None:
        here = self.here()

        def answer(name: str | None) -> None:
            if name is not None:
                self.run_command(name)

        panel = PalettePanel(
            self.commands,
            here,
            shelf=self.written,
            themes=sorted(self.app.available_themes),
            tickets=self._tickets,
        )
        self.app.push_screen(panel, answer)
        self.act(self._learn_shelf(panel))

    async def _learn_shelf(self, panel: PalettePanel) -> Said:
        found = await self.read_written()
        if panel.is_attached:
            panel.learn(found)
        return Said(words="", done=True)

    async def _tickets(self, words: str) -> Sequence[QueueRow]:
        """The first tickets that hold these words, none where the store is away."""
        query = QueueQuery(search=words, operator=self.me, limit=MOST)
        try:
            found = await glance(self.services.store, query)
        except StoreUnreachable:  # the feed says so
            return ()
        return tuple(found.rows[ticket] for ticket in found.ids)

    @override
    def run_command(self, name: str, *, pressed: bool = False) -> None:
        """Runs a command, or uses what the palette found; says why it can't."""
        command = next((c for c in self.commands if c.id == name), None)
        if name.startswith("written:"):
            self._use_written(name.removeprefix("written:"))
        elif command is not None and not possible(command, self.here()):
            if needed := why_not(command, self.here()):
                self.tell(needed, good=False)
        else:
            super().run_command(name, pressed=pressed)

    def _use_written(self, name: str) -> None:
        said = self.written.get(name)
        if not self.here().mine:
            self.tell(MINE, good=False)
        elif isinstance(said, Written):
            self.use_written(said)
