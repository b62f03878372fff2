"""Which ticket stands in which row of the queue, the row that is kept among them.

A ticket that has left the view keeps its row for as long as the cursor is on it; the
rows below stand one lower meanwhile. Nothing here paints.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.ticket import TicketId


@dataclass(slots=True, kw_only=True)
class Places:
    """The rows that are loaded, of all that the view has.

    Attributes:
        total: Rows, loaded or not.
        kept: The row of a ticket that has left the view, or None.
    """

    total: int = 0
    kept: int | None = None
    _tickets: dict[int, TicketId] = field(default_factory=dict)

    def at(self, row: int) -> TicketId | None:
        """The ticket in a row, None where none is loaded."""
        return self._tickets.get(row)

    def row_of(self, ticket: TicketId) -> int | None:
        """The row of a ticket, None where it is not loaded."""
        return next((y for y, t in self._tickets.items() if t == ticket), None)

    def tickets(self) -> set[TicketId]:
        """All that are loaded."""
        return set(self._tickets.values())

    def load(
        self,
        ids: Sequence[TicketId],
        *,
        offset: int,
        total: int,
        chosen: tuple[TicketId, int] | None,
    ) -> None:
        """Takes rows as they were read.

        Args:
            ids: The tickets, in order.
            offset: The row of the first.
            total: Tickets in this view.
            chosen: The ticket under the cursor and its row, which stays; or None.
        """
        end = offset + len(ids)
        self.total = max(total, end) if ids or offset else 0
        self._tickets = dict(enumerate(ids, start=offset))
        kept, self.kept = self.kept, None
        if chosen is None or chosen[0] in ids:
            return
        at = min(chosen[1], self.total)
        if kept is not None or offset <= at <= end:
            self.keep(chosen[0], at)

    def keep(self, ticket: TicketId, at: int) -> None:
        """Puts a ticket into this row; those below it move down."""
        above = {y: t for y, t in self._tickets.items() if y < at}
        below = {y + 1: t for y, t in self._tickets.items() if y >= at}
        self._tickets = {**above, at: ticket, **below}
        self.kept = at
        self.total += 1

    def let_go(self) -> bool:
        """Takes the kept row away; those below it move up.

        Returns:
            Whether there was one.
        """
        at, self.kept = self.kept, None
        if at is None:
            return False
        above = {y: t for y, t in self._tickets.items() if y < at}
        below = {y - 1: t for y, t in self._tickets.items() if y > at}
        self._tickets = {**above, **below}
        self.total -= 1
        return True
