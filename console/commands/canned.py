"""`handoff canned`: what the team has written already, and using it."""

from collections.abc import Iterable
from typing import BinaryIO

import click

from console import canned as written
from console import plain, shapes, shapes_values, wiring
from console.canned import Kept, values_of
from console.commands import base, opened, options
from console.commands.base import REFUSED, USAGE, Failed, fail
from console.commands.desk import not_leaving, refusal, ticket_argument
from core.cleanse import one_line
from core.flows import canned as flow
from core.flows.giving_back import PLACES
from core.flows.macro import Performed, Use, perform
from core.flows.person import NotPossible
from core.history import History
from core.ports import Store
from core.ticket import TicketId
from core.who import is_it, nobody
from core.written import CARRY_ON, Unreadable, Written, filled, gaps, read

_name = click.argument("name")


@click.group(cls=options.Group)
def canned() -> None:
    """Show, keep and use written replies and macros.

    A macro is a Markdown file with a front matter: note, note_for_agent, state and
    release, each optional. Files in `replies` beside handoff.toml count too.
    """


@canned.command("list")
@click.option("--search", default="", metavar="TEXT", help="Words that must be there.")
def list_(search: str) -> None:
    """Show what is written already."""

    async def work() -> tuple[Kept, ...]:
        async with opened.with_store() as store:
            team = await store.read(lambda tx: tx.canned())
        return written.kept(_files(), team)

    words = search.casefold().split()
    found = [
        k
        for k in base.run(work())
        if all(word in f"{k.name}\n{k.text}".casefold() for word in words)
    ]
    base.show([shapes.canned(k) for k in found], lambda: plain.canned(found))


@canned.command(examples=["handoff canned add carrier carrier.md"])
@_name
@click.argument("file", metavar="FILE|-", type=click.File("rb"))
def add(name: str, file: BinaryIO) -> None:
    """Supervisors: keep a reply or macro for the team, over what had its name."""
    if not name or name.strip() != name or name != one_line(name, 60):
        fail(f"{one_line(name, 60)!r} can't be a name", USAGE)
    try:
        text = file.read().decode()
    except UnicodeDecodeError:
        fail(f"{name}: expected UTF-8 text; nothing was stored", USAGE)
    said = read(name, text)
    if isinstance(said, Unreadable):
        fail(f"{name}: {said.why}; nothing was stored", USAGE)

    async def work() -> flow.Kept:
        async with opened.at_desk() as desk:
            stored = _stored(await flow.keep(desk.store, desk.me, name, text))
            await _warn_of_release(desk.store, said)
            return stored

    kept = base.run(work()).canned
    shown = Kept(name=name, text=kept.text, canned=kept)
    base.show(shapes.canned(shown), lambda: f"{name} is there for everybody")


@canned.command()
@_name
def remove(name: str) -> None:
    """Supervisors: remove one of the team's."""

    async def work() -> flow.Kept:
        async with opened.at_desk() as desk:
            team = [c.name for c in await desk.store.read(lambda tx: tx.canned())]
            if name not in team:
                fail(_no_such(name, team, "the team has written nothing"), USAGE)
            return _stored(await flow.remove(desk.store, desk.me, name))

    base.run(work())
    base.show({"name": name, "removed": True}, lambda: f"{name} is gone")


@canned.command(examples=["handoff canned use carrier T-7K3QF2M --set order=S-1"])
@click.option(
    "--set",
    "said",
    multiple=True,
    metavar="NAME=VALUE",
    help="For a name in braces; once for each.",
)
@options.seen
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@_name
@ticket_argument
def use(
    name: str,
    ticket: str,
    said: tuple[str, ...],
    seen: int | None,
    dry_run: bool,  # noqa: FBT001 # click's way to say an option
) -> None:
    """Send a reply or do a macro on a ticket, as its holder."""
    more = dict(_pair(one) for one in said)

    async def work() -> tuple[Written, Performed | None]:
        async with opened.at_desk() as desk:
            team = await desk.store.read(lambda tx: tx.canned())
            history = await desk.store.read(lambda tx: tx.history(TicketId(ticket)))
            use = Use(
                written=_named(name, written.shelf(_files(), team)),
                values=values_of(history, desk.me.name) | more,
                seen=_seen(history, seen),
                leaving=wiring.leaving(desk.config),
            )
            missing = gaps(use.written, use.values)
            if missing:
                wanted = " ".join(f"--set '{gap}=…'" for gap in missing)
                fail(f"the chart does not say {', '.join(missing)}: {wanted}", REFUSED)
            came = None
            if dry_run:
                await _warn_of_release(desk.store, use.written)
            else:
                came = await perform(desk.store, TicketId(ticket), desk.me, use)
            return filled(use.written, use.values), came

    ready, came = base.run(work())
    _tell(ticket, ready, came)


def _tell(ticket: str, ready: Written, came: Performed | None) -> None:
    shown = shapes.written(ready) | {"ticket": ticket}
    if came is None:
        base.show(shown | {"done": []}, lambda: plain.macro(ready))
        return
    done: shapes_values.Shape = {"done": list(came.done)}
    if came.refusal is not None:
        words = ", ".join(written.STEP_WORDS[step] for step in came.done) or "nothing"
        fail(f"{refusal(came.refusal)}; done: {words}", REFUSED)
    if came.stays is not None:
        base.warn(not_leaving(came.stays))
    words = ", ".join(written.STEP_WORDS[step] for step in came.done)
    base.show(shown | done, lambda: f"{ticket}: {words}")


def _seen(history: History, said: int | None) -> int:
    return history.standing.last_seq if said is None else said


def _named(name: str, shelf: written.Shelf) -> Written:
    said = shelf.get(name)
    if said is None:
        fail(_no_such(name, shelf, "nothing written is"), USAGE)
    if isinstance(said, Unreadable):
        fail(f"{name}: {said.why}", USAGE)
    return said


def _no_such(name: str, names: Iterable[str], nothing: str) -> str:
    return f"{nothing} named {name}; {is_it(name, names) or _SEE}"


_SEE = "see `handoff canned list`"


async def _warn_of_release(store: Store, said: Written) -> None:
    """Says where a macro gives the ticket to somebody who is not there."""
    people = await store.read(lambda tx: tx.operators())
    names = {*PLACES, CARRY_ON, *(o.name for o in people if not o.disabled)}
    if said.release is not None and said.release not in names:
        wrong = nobody(said.release, sorted(names), what="active operator")
        base.warn(f"{said.name}: its release will be refused: {wrong}")


def _pair(said: str) -> tuple[str, str]:
    name, equals, value = said.partition("=")
    if not equals or not value.strip():
        fail("--set: expected NAME=VALUE", USAGE)
    return name.strip(), value


def _files() -> written.Files:
    return written.files_beside(opened.config().file)


def _stored(outcome: flow.Kept | NotPossible) -> flow.Kept:
    if isinstance(outcome, NotPossible):
        raise Failed(outcome.why, REFUSED)
    return outcome
