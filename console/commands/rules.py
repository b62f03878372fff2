"""`handoff why` and `handoff rules`: what the rules said, and what they said then."""

import click

from console import plain, shapes_work
from console.commands import base, opened, options
from console.commands.base import USAGE, fail
from console.commands.desk import ticket_argument
from core.judged import judged
from core.policy import Rules
from core.ticket import TicketId


@click.command(cls=options.Command)
@ticket_argument
@click.argument("name", required=False)
def why(ticket: str, name: str | None) -> None:
    """Show why each tool call on a ticket was made, asked about or refused.

    NAME is a call, a decision or an action. The rule is shown as it was in force then.
    """

    async def work() -> None:
        async with opened.with_store() as store:
            history, kept = await store.read(
                lambda tx: (tx.history(TicketId(ticket)), tx.rules())
            )
        found = judged(history, kept)
        if name is not None:
            calls = {a.call for a in history.actions if a.id == name}
            found = tuple(
                j for j in found if name in (j.call, j.decision) or j.call in calls
            )
            if not found:
                fail(f"{ticket} has no call, decision or action {name}", USAGE)
        base.show([shapes_work.judged(j) for j in found], lambda: plain.judged(found))

    base.run(work())


@click.command(cls=options.Command)
@click.argument("version", required=False)
def rules(version: str | None) -> None:
    """Show the versions of the tools' rules that ever judged a call, or one of them.

    The first letters of VERSION are enough.
    """

    async def work() -> tuple[Rules, ...]:
        async with opened.with_store() as store:
            return await store.read(lambda tx: tx.rules())

    kept = base.run(work())
    if version is None:
        base.show([shapes_work.rules(r) for r in kept], lambda: plain.versions(kept))
        return
    found = [r for r in kept if r.version.startswith(version)]
    if len(found) != 1:
        many = f"{len(found)} versions begin" if found else "no version begins"
        fail(f"{many} with {version}", USAGE)
    base.show(shapes_work.rules(found[0]), lambda: plain.rules(found[0]))
