"""What people look at: the queue, a ticket's chart, and the chart as a file."""

import click

from console import page, plain, shapes
from console.commands import base, opened, options
from console.commands.base import USAGE, fail
from console.commands.desk import ticket_argument
from console.plain_journal import stamp
from console.wording import MENDED, lost_of
from core.ports import QueueQuery
from core.ticket import TicketId

_VIEWS = ("human", "approvals", "mine", "agent", "waiting", "resolved", "all")
_ALL = 1_000_000


@click.command(
    cls=options.Command,
    examples=['handoff tickets --view human --search "lamp broken"'],
)
@options.one_of("--view", _VIEWS, "V", default="all", show_default=True)
@click.option("--search", default="", metavar="TEXT", help="Words that must be there.")
@click.option(
    "--customer", default=None, metavar="ID", help="Only those of a verified customer."
)
def tickets(view: str, search: str, customer: str | None) -> None:
    """Show the queue."""

    async def work() -> None:
        async with opened.at_desk() as desk:
            query = QueueQuery(
                view=view, search=search, operator=desk.me.name, limit=_ALL
            )
            rows = await desk.store.read(lambda tx: tx.queue(query))
            if customer is not None:
                theirs = await desk.store.read(lambda tx: tx.of_customer(customer))
                names = {row.ticket for row in theirs}
                rows = tuple(row for row in rows if row.ticket in names)
            pause = await desk.store.read(lambda tx: tx.pause())
            there = await desk.store.read(lambda tx: tx.presences())
            if not rows:
                await opened.tell_if_empty(desk.store)
        if pause is not None:
            since = stamp(pause.at)
            base.warn(f"{pause.by} stopped the agent everywhere {since}: {pause.why}")
        base.warn_of(f"{row.ticket}: {MENDED}" for row in rows if row.mended)
        base.show([shapes.queue_row(r, there) for r in rows], lambda: plain.queue(rows))

    base.run(work())


@click.command(cls=options.Command)
@ticket_argument
def show(ticket: str) -> None:
    """Show the full session chart of a ticket."""

    async def work() -> None:
        async with opened.with_store() as store:
            history, there = await store.read(
                lambda tx: (tx.history(TicketId(ticket)), tx.presences())
            )
        base.warn_of(f"{ticket}: {words}" for words in lost_of(history))
        base.show(shapes.chart(history, there), lambda: plain.chart(history, there))

    base.run(work())


@click.command(
    cls=options.Command,
    examples=["handoff export T-7K3QF2M --format html > chart.html"],
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", *page.FORMS]),
    default="json",
    show_default=True,
    help="As what.",
)
@ticket_argument
def export(ticket: str, form: str) -> None:
    """Print the chart of a ticket as a file: JSON, Markdown or an HTML page."""
    if form != "json" and options.asked().json:
        fail(f"either --format {form} or --json", USAGE)

    async def work() -> None:
        async with opened.with_store() as store:
            history = await store.read(lambda tx: tx.history(TicketId(ticket)))
        base.warn_of(f"{ticket}: {words}" for words in lost_of(history))
        if form == "json":
            base.show_json(shapes.chart(history))
        else:
            click.echo(page.FORMS[form](history))

    base.run(work())
