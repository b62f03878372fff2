"""A person at the desk, with one ticket before them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from console.app import HandoffApp
from console.widgets.composer import Composer
from core.history import History
from core.ticket import TicketId
from tests.console.counter import Counter
from tests.console.steps import app_on, desk_of, pane_text, press, until

WIDE = (200, 50)


@asynccontextmanager
async def sitting(
    counter: Counter, ticket: TicketId, *, holds: bool = False, **services: object
) -> AsyncIterator[tuple[Pilot[None], HandoffApp]]:
    """Noor's desk with this ticket on it, held by her where that is said."""
    app = app_on(counter.store, **services)  # type: ignore[arg-type] # as Services has
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: desk_of(app).reads.counts)
        desk_of(app).to_view("all")
        desk_of(app).go_to(ticket)
        await until(pilot, lambda: ticket in pane_text(app, "banner"))
        await until(pilot, lambda: desk_of(app).history is not None)
        if holds:
            await press(pilot, "t")
            await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"))
            await until(
                pilot, lambda: desk_of(app).query_one(Composer).has_class("-open")
            )
        yield pilot, app


async def stored(counter: Counter, ticket: TicketId) -> History:
    """Everything about a ticket."""
    return await counter.store.read(lambda tx: tx.history(ticket))
