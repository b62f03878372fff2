"""What the desk does with what is written already."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from functools import partial

from console.canned import Shelf, shelf, values_of
from console.live import team_replies
from console.screens.acts import Said
from console.screens.canned import CannedPanel
from console.screens.desk_acting import DeskActing
from console.screens.macro import MacroPanel
from console.screens.team_acts import TeamActs
from console.widgets.composer import Composer
from core.cleanse import one_line
from core.errors import StoreUnreachable
from core.flows.macro import Use
from core.history import History
from core.ports import Canned
from core.ticket import TicketId
from core.written import Written, filled, gaps, gaps_left, names_in


class DeskCanned(DeskActing, inherit_bindings=False):
    """Written replies, macros, and the gaps that neither may leave."""

    team: TeamActs

    def __init__(self) -> None:
        super().__init__()
        self._shelf: Shelf | None = None
        self._team: tuple[Canned, ...] = ()
        self._filled_in: dict[tuple[TicketId, str], Mapping[str, str]] = {}

    @property
    def written(self) -> Shelf:
        """Everything written, as far as it was read."""
        if self._shelf is None:
            self._shelf = shelf(self.services.canned(), ())
        return self._shelf

    async def read_written(self) -> Shelf:
        """Reads files, and what the team keeps in the store, as they are by now."""
        files = await asyncio.to_thread(self.services.canned)
        with suppress(StoreUnreachable):  # the feed says so
            self._team = await team_replies(self.services.store)
        self._shelf = shelf(files, self._team)
        return self._shelf

    def gaps_in(self, text: str) -> tuple[str, ...]:
        """Names of written replies that still stand in a text in braces."""
        there = [s for s in self.written.values() if isinstance(s, Written)]
        return gaps_left(text, frozenset(n for said in there for n in names_in(said)))

    def _do_canned(self) -> None:
        history = self.history
        if history is None:
            self.write_later("canned")
            return
        pane, noting = self.pane(), self.noting
        if pane != "composer":
            self.noting = False
            self.composer_again()
        values = values_of(history, self.me)
        panel = CannedPanel(self.written, partial(filled, values=values))

        def answer(said: Written | None) -> None:
            if said is not None:
                self._chosen(history, values, said)
                return
            if noting and self.ticket() == history.ticket.id:
                self.noting = True
                self.composer_again()
            self.go(pane)

        self.app.push_screen(panel, answer)
        self.act(self._learn_written(panel))

    def use_written(self, said: Written) -> None:
        """Writes a reply into the composer, or shows what a macro will do."""
        history = self.history
        if history is None:
            self.tell("The ticket is still being read: once more", good=False)
        else:
            self.noting = False
            self.composer_again()
            self._chosen(history, values_of(history, self.me), said)

    async def _learn_written(self, panel: CannedPanel) -> Said:
        found = await self.read_written()
        if panel.is_attached:
            panel.learn(found)
        return Said(words="", done=True)

    def _chosen(
        self, history: History, values: Mapping[str, str], said: Written
    ) -> None:
        if said.is_macro:
            before = self._filled_in.get((history.ticket.id, said.name), {})
            panel = MacroPanel(history.ticket.id, said, values, before)
            self.open_for(panel, partial(self._perform, history, said))
        else:
            self.go("composer")
            self.query_one(Composer).insert(filled(said, values).reply)
            missing = gaps(said, values)
            if missing:
                names = one_line(", ".join(missing), 60)
                self.tell(f"The chart does not say {names}: fill it in", good=False)

    def _perform(
        self, history: History, said: Written, values: Mapping[str, str]
    ) -> Coroutine[None, None, Said]:
        use = Use(
            written=said,
            values=values,
            seen=history.standing.last_seq,
            leaving=self.services.leaving,
        )
        if said.release is not None:
            self.note_own(history.ticket.id)
            self.leave_composer()  # to where `u` is a key and no letter
        self._filled_in[history.ticket.id, said.name] = values
        return self._macro(history.ticket.id, use)

    async def _macro(self, ticket: TicketId, use: Use) -> Said:
        await self.keep_drafts()
        said = await self.team.macro(ticket, use)
        if said.done:
            self._filled_in.pop((ticket, use.written.name), None)
        return said
