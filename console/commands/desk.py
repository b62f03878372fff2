"""What people do with tickets: take over, answer, note, give back."""

import asyncio
from typing import NoReturn

import click

from console import plain, shapes, shapes_values, wiring
from console.commands import base, opened, options
from console.commands.base import REFUSED, USAGE, Failed, fail
from console.plain_journal import stamp
from console.wording import undecided_words
from core.cleanse import one_line
from core.flows import giving_back, handoff, offer
from core.flows.giving_back import PLACES, GiveBack
from core.flows.person import Done, NotHolder, NotPossible
from core.history import under_way
from core.lock import (
    Acquired,
    AlreadyYours,
    HeldBy,
    Holder,
    HolderKind,
    Lock,
    PassedOn,
    TakeoverWanted,
)
from core.ticket import TicketId

_LOOK_AGAIN = 0.05

ticket_argument = click.argument("ticket")


@click.command(
    cls=options.Command,
    examples=[
        "handoff take T-7K3QF2M --wait 60",
        'handoff take T-7K3QF2M --force --why "on leave"',
    ],
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="How long to wait for a run to hand it over.",
)
@click.option("--force", is_flag=True, help="Supervisors: take it at once.")
@click.option("--why", default="", metavar="TEXT", help="The reason, with --force.")
@ticket_argument
def take(ticket: str, wait: float, force: bool, why: str) -> None:  # noqa: FBT001 # click's way to say an option
    """Acquire a ticket and hold it; prints the token.

    A run that works on it hands it over at its next boundary: --wait waits for that.
    """
    if why.strip() and not force:
        fail("--why goes with --force", USAGE)

    async def work() -> Lock:
        async with opened.at_desk() as desk:
            outcome = await handoff.take_over(
                desk.store, TicketId(ticket), desk.me, forced=force, why=why
            )
            if isinstance(outcome, TakeoverWanted):
                await _say_what_runs(desk, TicketId(ticket))
                if not wait:
                    _asked(outcome.lock)
                return await _handed_over(desk, outcome.lock, wait)
            return _yours(outcome, desk.me.name)

    lock = base.run(work())
    if force and not why.strip():
        base.warn("by force without a reason: --why TEXT tells colleagues")
    said: shapes_values.Shape = {"ticket": ticket, **shapes.lock(lock)}
    base.show(said, lambda: f"{ticket} is yours, token {lock.token}")


async def _say_what_runs(desk: opened.Desk, ticket: TicketId) -> None:
    """What the operator waits for: a model call is cancelled, a tool call is not."""
    history = await desk.store.read(lambda tx: tx.history(ticket))
    tool = under_way(history)
    if tool is not None:
        name = one_line(tool, 40)
        base.warn(f"{name} is under way; it is finished and recorded first")
    else:
        base.warn("a run works on it; waiting for its next boundary")


async def _handed_over(desk: opened.Desk, lock: Lock, seconds: float) -> Lock:
    """The lock once the run has handed it over."""
    me = Holder(kind=HolderKind.OPERATOR, name=desk.me.name)
    try:
        async with asyncio.timeout(seconds):
            while lock.holder != me:
                await asyncio.sleep(_LOOK_AGAIN)
                lock = await handoff.settle_wanted(desk.store, lock.ticket)
                if lock.holder != me and lock.wanted_by != desk.me.name:
                    fail(_taken(lock), REFUSED)
    except TimeoutError:
        _asked(lock)
    return lock


def _asked(lock: Lock) -> NoReturn:
    """Ends the command: the wish is stored, which a script sees in `wanted_by`.

    Raises:
        Failed: Always: the ticket is a run's for now.
    """
    if options.asked().json:
        base.show_json({"ticket": lock.ticket, **shapes.lock(lock)})
    fail(
        f"asked for; it is yours as soon as the agent stops: {plain.holder(lock)}; "
        f"to wait for that: handoff take {lock.ticket} --wait SECONDS",
        REFUSED,
    )


def _yours(
    outcome: Acquired | AlreadyYours | PassedOn | HeldBy | NotPossible, me: str
) -> Lock:
    match outcome:
        case Acquired(lock=lock) | AlreadyYours(lock=lock):
            return lock
        case PassedOn(lock=lock) if lock.holder is not None and lock.holder.name == me:
            return lock
        case PassedOn(lock=lock):
            raise Failed(_taken(lock), REFUSED)
        case HeldBy(holder=holder, since=since):
            raise Failed(
                f"held by {holder.called} since {stamp(since)}; "
                "one ticket has one holder",
                REFUSED,
            )
        case NotPossible(why=why):
            raise Failed(why, REFUSED)


def _taken(lock: Lock) -> str:
    return f"it went to somebody else: {plain.holder(lock)}"


@click.command(
    cls=options.Command,
    examples=[
        'handoff reply T-7K3QF2M "It leaves tomorrow."',
        "handoff reply T-7K3QF2M - < answer.txt",
    ],
)
@options.seen
@ticket_argument
@click.argument("text")
def reply(ticket: str, text: str, seen: int | None) -> None:
    """Answer the buyer, as the holder; "-" reads the text from stdin."""
    said = base.text_or_stdin(text)

    async def work() -> Done:
        async with opened.at_desk() as desk:
            leaving, name = wiring.leaving(desk.config), TicketId(ticket)
            return done(
                await handoff.reply(
                    desk.store, name, desk.me, said, seen=seen, leaving=leaving
                )
            )

    replied(ticket, base.run(work()))


@click.command(cls=options.Command)
@ticket_argument
@click.argument("text")
def note(ticket: str, text: str) -> None:
    """Leave a note for colleagues; "-" reads the text from stdin."""
    _note(ticket, text, for_agent=False)


@click.command(cls=options.Command)
@ticket_argument
@click.argument("text")
def whisper(ticket: str, text: str) -> None:
    """Leave a note that the agent reads too; "-" reads the text from stdin."""
    _note(ticket, text, for_agent=True)


def _note(ticket: str, text: str, *, for_agent: bool) -> None:
    said = base.text_or_stdin(text)

    async def work() -> Done:
        async with opened.at_desk() as desk:
            kept = await handoff.note(
                desk.store, TicketId(ticket), desk.me, said, for_agent=for_agent
            )
            return done(kept)

    stored(ticket, base.run(work()), "The note is kept")


@click.command(
    cls=options.Command,
    examples=[
        'handoff release T-7K3QF2M --note "be brief" --carry-on',
        "handoff release T-7K3QF2M --to queue",
        'handoff release T-7K3QF2M --to Mira --why "knows the carrier"',
        "handoff release T-7K3QF2M --resolve",
    ],
)
@click.option(
    "--to",
    default=None,
    metavar="agent|queue|resolved|NAME",
    help="Where it goes.  [default: agent]",
)
@click.option("--note", "for_agent", default="", metavar="TEXT", help="For the agent.")
@click.option("--carry-on", is_flag=True, help="Let the agent go on at once.")
@click.option("--discard-draft", is_flag=True, help="Discard what you have not sent.")
@click.option("--resolve", is_flag=True, help="The matter is done.")
@click.option("--force", is_flag=True, help="Supervisors: end another's hold.")
@click.option(
    "--why", default="", metavar="TEXT", help="The reason; needed with --force."
)
@ticket_argument
def release(  # noqa: PLR0913 # one argument for each option
    ticket: str,
    to: str | None,
    for_agent: str,
    carry_on: bool,  # noqa: FBT001 # click's way to say an option
    discard_draft: bool,  # noqa: FBT001
    resolve: bool,  # noqa: FBT001
    force: bool,  # noqa: FBT001
    why: str,
) -> None:
    """Let go of a ticket: to the agent, the queue or a colleague, or resolved.

    A colleague is asked: `take` accepts it, `decline` gives it to the queue.
    """
    if resolve and to is not None:
        fail("either --to or --resolve", USAGE)
    if carry_on and (resolve or to not in {None, "agent"}):
        fail("--carry-on goes with --to agent", USAGE)
    if force and not why.strip():
        fail("--force needs --why TEXT", USAGE)
    how = GiveBack(
        to="resolved" if resolve else to or "agent",
        note=for_agent,
        carry_on=carry_on,
        forced=force,
        why=why,
        discard=discard_draft,
    )

    async def work() -> giving_back.GivenBack:
        async with opened.at_desk() as desk:
            if how.to not in PLACES:
                await opened.must_be_somebody(desk.store, how.to, PLACES)
            name = TicketId(ticket)
            given = await giving_back.give_back(desk.store, name, desk.me, how)
            if isinstance(given, NotHolder | NotPossible):
                fail(refusal(given), REFUSED)
            return given

    given = base.run(work())
    if how.to == "agent" and given.stopped is not None:
        base.warn(f"the agent is stopped: {given.stopped}")
    elif how.to == "agent" and not given.workers_alive:
        base.warn("no agent is running: start one with `handoff worker`")
    if given.withheld:
        base.warn(f"{undecided_words(given.withheld)}: see `handoff withheld {ticket}`")
    verb = "given back:" if how.to in PLACES else "offered to"
    base.show(
        {"ticket": ticket, "seq": given.seq, "to": how.to},
        lambda: f"{ticket} is {verb} {how.to}",
    )


@click.command(cls=options.Command)
@click.option("--why", default="", metavar="TEXT", help="Why not.")
@ticket_argument
def decline(ticket: str, why: str) -> None:
    """Say no to a ticket that a colleague offers you; `take` accepts it."""

    async def work() -> Done:
        async with opened.at_desk() as desk:
            return done(await offer.decline(desk.store, TicketId(ticket), desk.me, why))

    stored(ticket, base.run(work()), "Declined; it is before everybody now")


def done(outcome: Done | NotHolder | NotPossible) -> Done:
    """What was done; ends the command where a rule said no.

    Raises:
        Failed: It did.
    """
    if isinstance(outcome, Done):
        return outcome
    raise Failed(refusal(outcome), REFUSED)


def refusal(outcome: NotHolder | NotPossible) -> str:
    """One line for somebody to whom a rule said no."""
    match outcome:
        case NotPossible(why=why):
            return why
        case NotHolder(disabled=True):
            return "a supervisor has disabled you: nothing was done"
        case NotHolder(holder=None):
            return "nobody holds the ticket: only its holder may do this; take it first"
        case NotHolder(holder=holder, since=since):
            name = holder.called if holder is not None else ""
            return f"held by {name} since {stamp(since)}: only the holder may do this"


def replied(ticket: str, kept: Done) -> None:
    """Tells of a reply, and where it does not leave now, why."""
    if kept.stays is not None:
        base.warn(not_leaving(kept.stays))
    stored(ticket, kept, "The reply is on its way" if kept.stays is None else "Stored")


def not_leaving(why: str) -> str:
    """The warning for who has answered a buyer and isn't heard yet."""
    return f"{why}: the reply is stored, and leaves once a worker can deliver it"


def stored(ticket: str, kept: Done, words: str) -> None:
    """Tells what was stored and where."""
    said: shapes_values.Shape = {"ticket": ticket, "seq": kept.seq}
    if kept.message_id is not None:
        said |= {"message_id": kept.message_id, "stays": kept.stays}
    base.show(said, lambda: f"{words}: {ticket} #{kept.seq}")
