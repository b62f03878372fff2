"""`handoff pause` and `handoff resume`: the kill switch."""

import click

from console import shapes_values
from console.commands import base, opened, options
from console.commands.desk import done
from core.flows import switch
from core.ticket import TicketId


@click.command(cls=options.Command)
@click.option("--why", default="", metavar="TEXT", help="The reason, for everybody.")
@click.argument("ticket", required=False)
def pause(ticket: str | None, why: str) -> None:
    """Stop the agent on a ticket, or everywhere.

    Everywhere is for supervisors.
    """

    async def work() -> None:
        async with opened.at_desk() as desk:
            at = TicketId(ticket) if ticket is not None else None
            done(await switch.pause(desk.store, desk.me, why, at))

    base.run(work())
    _told(ticket, paused=True, words="The agent is stopped")


@click.command(cls=options.Command)
@click.argument("ticket", required=False)
def resume(ticket: str | None) -> None:
    """Let the agent go on, on a ticket or everywhere.

    Everywhere is for supervisors.
    """

    async def work() -> None:
        async with opened.at_desk() as desk:
            at = TicketId(ticket) if ticket is not None else None
            done(await switch.resume(desk.store, desk.me, at))

    base.run(work())
    _told(ticket, paused=False, words="The agent may go on")


def _told(ticket: str | None, *, paused: bool, words: str) -> None:
    said: shapes_values.Shape = {"ticket": ticket, "paused": paused}
    base.show(said, lambda: f"{words}: {ticket or 'everywhere'}")
