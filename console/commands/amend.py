"""What people set right: who looks after a ticket, when, triage, state, identity."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

import click

from console.commands import base, opened, options
from console.commands.base import USAGE, fail
from console.commands.desk import done, stored, ticket_argument
from console.plain_journal import stamp
from console.when import moment
from console.wording import LET_GO
from core.builtin import CATEGORIES, PRIORITIES
from core.flows import amend
from core.flows.person import Done, Refusal
from core.journal import IdentityChanged
from core.ticket import TicketId


def _does(
    ticket: str, act: Callable[[opened.Desk], Awaitable[Done | Refusal]], words: str
) -> None:
    """Runs a flow of the desk and says what came of it."""

    async def work() -> Done:
        async with opened.at_desk() as desk:
            return done(await act(desk))

    stored(ticket, base.run(work()), words)


@click.command(cls=options.Command)
@click.option("--drop", is_flag=True, help="No longer look after it.")
@ticket_argument
def claim(ticket: str, drop: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """Look after a ticket while the agent goes on."""
    _does(
        ticket,
        lambda at: amend.claim(at.store, TicketId(ticket), at.me, drop=drop),
        "You no longer look after it" if drop else "You look after it",
    )


@click.command(
    cls=options.Command,
    examples=["handoff snooze T-7K3QF2M 3h", 'handoff snooze T-7K3QF2M "mon 9:00"'],
)
@click.option("--discard-draft", is_flag=True, help="Discard what you have not sent.")
@ticket_argument
@click.argument("time")
def snooze(ticket: str, time: str, discard_draft: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """Let a ticket sleep until TIME.

    TIME is 30m, 3h, 2d, 1w, 17:30, 5pm, tomorrow, mon, "mon 9:00", or in full such as
    2026-12-24T09:00:00Z. A message of the buyer wakes it at once. Whoever holds it
    lets go of it.
    """

    async def work() -> tuple[Done, datetime]:
        async with opened.at_desk() as at:
            until = _until(time, await at.store.read(lambda tx: tx.now))
            if until is None:
                fail(_NO_TIME, USAGE)
            name = TicketId(ticket)
            slept = await amend.snooze(
                at.store, name, at.me, until, discard=discard_draft
            )
            return done(slept), until

    kept, until = base.run(work())
    words = f"{ticket} sleeps until {stamp(until)}; a message of the buyer wakes it"
    stored(ticket, kept, f"{words}{LET_GO if kept.let_go else ''}")


_NO_TIME = (
    "TIME: expected a time in the future, such as 30m, 3h, 2d, 17:30, tomorrow, "
    "mon 9:00 or 2026-12-24T09:00:00Z"
)


def _until(text: str, now: datetime) -> datetime | None:
    """The moment that is meant, as at the desk or as RFC 3339; None for none."""
    at = moment(text, now, None)
    if at is not None:
        return at
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


@click.command(
    cls=options.Command,
    examples=["handoff triage T-7K3QF2M --category refund --priority high"],
)
@options.one_of("--category", CATEGORIES, "C", required=True)
@options.one_of("--priority", PRIORITIES, "P", required=True)
@ticket_argument
def triage(ticket: str, category: str, priority: str) -> None:
    """Set a ticket's category and priority."""
    _does(
        ticket,
        lambda at: amend.set_triage(
            at.store, TicketId(ticket), at.me, category, priority
        ),
        f"{category}, {priority}",
    )


@click.command(
    cls=options.Command,
    examples=[
        'handoff state T-7K3QF2M \'{"waits_for": "the carrier"}\'',
        "handoff state T-7K3QF2M '{\"waits_for\": null}'",
    ],
)
@ticket_argument
@click.argument("patch", metavar="JSON")
def state(ticket: str, patch: str) -> None:
    """Amend the agent's working state by a JSON merge patch, as the holder."""
    given = base.json_argument(patch, "JSON")
    if not isinstance(given, Mapping):
        fail("JSON: expected an object", USAGE)
    _does(
        ticket,
        lambda at: amend.amend_state(at.store, TicketId(ticket), at.me, given),
        "The state is amended",
    )


@click.command(
    cls=options.Command,
    examples=[
        'handoff identity T-7K3QF2M --customer C-1 --evidence "called"',
        "handoff identity T-7K3QF2M --revoke",
    ],
)
@click.option("--customer", default=None, metavar="ID", help="Who the buyer is.")
@click.option("--name", default=None, metavar="TEXT", help="The customer's name.")
@click.option(
    "--method",
    default="operator",
    show_default=True,
    metavar="M",
    help="How it was found out.",
)
@click.option("--evidence", default="", metavar="TEXT", help="What it rests on.")
@click.option("--revoke", is_flag=True, help="This no longer holds.")
@ticket_argument
def identity(  # one argument for each option
    ticket: str,
    customer: str | None,
    name: str | None,
    method: str,
    evidence: str,
    revoke: bool,  # noqa: FBT001 # click's way to say an option
) -> None:
    """Record who the buyer was verified to be, as the holder, or revoke it."""
    if revoke == (customer is not None):
        fail("either --customer ID with --evidence TEXT, or --revoke", USAGE)
    if revoke and name is not None:
        fail("--name goes with --customer ID", USAGE)
    if not revoke and not evidence.strip():
        fail("--customer needs --evidence TEXT", USAGE)
    said = IdentityChanged(
        verified=not revoke,
        customer=customer,
        name=name,
        method=method,
        evidence=evidence,
    )
    _does(
        ticket,
        lambda at: amend.verify(at.store, TicketId(ticket), at.me, said),
        "The identity is revoked" if revoke else "The identity is recorded",
    )
