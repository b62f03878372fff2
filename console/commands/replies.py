"""What becomes of replies: shown, caught ones sent or discarded, taken back."""

import click

from console import plain, shapes, shapes_values, wiring
from console.commands import base, opened, options
from console.commands.base import REFUSED, USAGE, fail
from console.commands.desk import done, refusal, replied, stored, ticket_argument
from core.flows.drafts import discard_drafts, unsent
from core.flows.person import NotHolder, NotPossible
from core.flows.unsend import TakenBack
from core.flows.unsend import unsend as take_back
from core.flows.withheld import discard_withheld, send_withheld
from core.ticket import TicketId


@click.command(cls=options.Command, examples=["handoff withheld T-7K3QF2M --send"])
@click.option("--send", is_flag=True, help="Send it as it is.")
@click.option("--discard", is_flag=True, help="Discard it.")
@click.option("--edit", default=None, metavar="TEXT", help="Send this instead.")
@click.option(
    "--seq",
    type=int,
    default=None,
    metavar="SEQ",
    help="Which, where there are several.",
)
@ticket_argument
def withheld(
    ticket: str,
    send: bool,  # noqa: FBT001 # click's way to say an option
    discard: bool,  # noqa: FBT001
    edit: str | None,
    seq: int | None,
) -> None:
    """Show, send or discard the agent's replies that a take-over has caught."""
    if send + discard + (edit is not None) > 1:
        fail("one of --send, --discard and --edit", USAGE)
    if seq is not None and not (send or discard or edit is not None):
        fail("--seq goes with --send, --discard or --edit", USAGE)
    name = TicketId(ticket)

    async def work() -> None:
        async with opened.at_desk() as desk:
            history = await desk.store.read(lambda tx: tx.history(name))
            caught = [r for r in history.outbox if r.state == "withheld"]
            if not (send or discard or edit is not None):
                rows = [shapes.reply(r) for r in caught]
                base.show(rows, lambda: plain.outbox(caught))
                return
            which = seq if seq is not None else _only([r.seq for r in caught])
            if discard:
                gone = done(await discard_withheld(desk.store, name, desk.me, which))
                stored(ticket, gone, "Discarded")
                return
            leaving = wiring.leaving(desk.config)
            sent = await send_withheld(
                desk.store, name, desk.me, which, edit, leaving=leaving
            )
            replied(ticket, done(sent))

    base.run(work())


@click.command(cls=options.Command)
@click.option(
    "--seq", type=int, default=None, metavar="SEQ", help="Which; your newest otherwise."
)
@ticket_argument
def unsend(ticket: str, seq: int | None) -> None:
    """Take back a reply of your own that has not left; prints its text.

    If you have let the ticket go since, it is yours again, unless somebody has it.
    """

    async def work() -> TakenBack:
        async with opened.at_desk() as desk:
            taken = await take_back(desk.store, TicketId(ticket), desk.me, seq)
            if isinstance(taken, NotHolder | NotPossible):
                fail(refusal(taken), REFUSED)
            return taken

    taken = base.run(work())
    said: shapes_values.Shape = {
        "ticket": ticket,
        "seq": taken.seq,
        "text": taken.text,
        "yours_again": taken.yours_again,
        "stays": list(taken.stays),
    }
    yours = ", and the ticket is yours again" if taken.yours_again else ""
    stays = f"; {taken.stays_words}" if taken.stays else ""
    head = f"Taken back, not sent{yours}{stays}"
    base.show(said, lambda: f"{head}:\n{plain.value(taken.text)}")


@click.command(cls=options.Command, examples=["handoff draft T-7K3QF2M --discard"])
@click.option("--discard", is_flag=True, help="Discard it.")
@ticket_argument
def draft(ticket: str, discard: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """Show, or discard, what you have written at the desk and not sent."""
    name = TicketId(ticket)

    async def work() -> None:
        async with opened.at_desk() as desk:
            if discard:
                kept = await discard_drafts(desk.store, name, desk.me)
            else:
                history = await desk.store.read(lambda tx: tx.history(name))
                kept = unsent(history, desk.me.name)
        head = "Discarded" if discard else "Unsent"
        lines = [f"{head} {d.mode}:\n{plain.value(d.text)}" for d in kept]
        rows = [shapes.draft(d) for d in kept]
        base.show(rows, lambda: "\n".join(lines) or "Nothing unsent is written here")

    base.run(work())


def _only(seqs: list[int]) -> int:
    if not seqs:
        fail("no reply is withheld", REFUSED)
    if len(seqs) != 1:
        fail(f"{len(seqs)} replies are withheld; say which with --seq", REFUSED)
    return seqs[0]


@click.command(cls=options.Command)
def outbox() -> None:
    """Show the replies and how far they are."""

    async def work() -> None:
        async with opened.with_store() as store:
            rows = await store.read(lambda tx: tx.outbox())
            if not rows:
                await opened.tell_if_empty(store)
        base.warn_of(
            f"{r.ticket}, {r.message_id}: {r.unreadable} is damaged"
            for r in rows
            if r.unreadable is not None
        )
        base.show([shapes.reply(r) for r in rows], lambda: plain.outbox(rows))

    base.run(work())
