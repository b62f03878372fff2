"""Decisions at the desk: the card of the one that waits, and then the next card.

In the view of approvals the card of the ticket below comes up by itself once a verdict
is stored, unless the person has pressed a key meanwhile: then they meant something
else. `y` closed the one card and would approve on the next, so there it counts only
after a while (`decision`).
"""

from collections.abc import Coroutine
from functools import partial

from console.live import OnObjects
from console.screens.acts import Said
from console.screens.decision import DecisionPanel, Ruling
from console.screens.desk_sleeping import DeskSleeping
from console.widgets.queue import Queue
from core.decision import Decision
from core.history import History
from core.ticket import TicketId


class DeskDeciding(DeskSleeping, inherit_bindings=False):
    """The desk's card."""

    def __init__(self) -> None:
        super().__init__()
        self._one_by_one = False
        self._next_card: TicketId | None = None
        self.reasons: dict[str, str] = {}

    def stay(self) -> None:
        """No card comes up by itself: a key was pressed for something else."""
        self._one_by_one = False
        self._next_card = None

    def _do_decide(self) -> None:
        self._open_card(came=False)

    def _open_card(self, *, came: bool) -> None:
        history, decision = self.history, self.pending()
        if history is None or decision is None or self.refuse_lost():
            return
        panel = DecisionPanel(
            decision,
            history,
            self.sight,
            look_up=self._look_up,
            reasons=self.reasons,
            came=came,
        )

        def then(said: Said) -> None:
            self._one_by_one = self._one_by_one and not panel.went_on
            if said.done:
                self.reasons.pop(decision.id, None)
            self._decided(decision.ticket, said)

        self.open_for(panel, partial(self._ruled, decision), then)
        self.act(self._learn_tool(panel))

    async def _look_up(self, name: str) -> OnObjects:
        return await self.services.store.read(lambda tx: {name: tx.on_object(name)})

    async def _learn_tool(self, panel: DecisionPanel) -> Said:
        """Asks the tool server for the schema; that may take a while, or fail."""
        if self.services.tools is not None:
            tools = await self.services.tools()
            if panel.is_attached:
                panel.learn(tools.get(panel.decision.tool))
        return Said(words="", done=True)

    def _ruled(self, decision: Decision, ruling: Ruling) -> Coroutine[None, None, Said]:
        self._one_by_one = self.reads.view == "approvals"
        return self.acts.decide(decision, ruling)

    def _decided(self, ticket: TicketId, said: Said) -> None:
        queue = self.query_one(Queue)
        meant = said.done and self._one_by_one and queue.cursor == ticket
        if meant and queue.below is not None:
            self._next_card = queue.below
            queue.select(queue.below)

    def bring_next_card(self, history: History) -> None:
        """Opens the card of a ticket that was moved to for it, now that it is read.

        What lies beneath is painted before: no card stands over another's ticket.
        """
        if history.ticket.id == self._next_card and self.is_current:
            self.call_after_refresh(self._bring, history.ticket.id)

    def _bring(self, ticket: TicketId) -> None:
        if ticket == self._next_card == self.ticket() and self.is_current:
            self._next_card = None
            self._open_card(came=True)
