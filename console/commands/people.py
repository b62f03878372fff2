"""`handoff operator`: who works here."""

from collections.abc import Awaitable, Callable

import click

from console import plain, shapes, shapes_values
from console.commands import base, opened, options
from console.commands.base import REFUSED, USAGE, Failed, fail
from core.cleanse import one_line
from core.decision import Role
from core.flows import people
from core.flows.people import Changed
from core.flows.person import NotPossible

_ROLES = click.Choice([r.value for r in Role])


@click.group(cls=options.Group)
def operator() -> None:
    """Show, add, change and disable the people who work here."""


@operator.command("list")
def list_() -> None:
    """Show everybody."""

    async def work() -> None:
        async with opened.with_store(_tell_first) as store:
            found = await store.read(lambda tx: tx.operators())
        base.show([shapes.person(o) for o in found], lambda: plain.people(found))

    base.run(work())


def _tell_first(name: str) -> None:
    if not options.asked().json:
        base.warn(f"made the tables; {name} is the first supervisor")


@operator.command()
@click.option(
    "--role",
    type=_ROLES,
    default=Role.AGENT.value,
    show_default=True,
    help="What they may do.",
)
@click.argument("name")
def add(name: str, role: str) -> None:
    """Add somebody; on PostgreSQL, a database login."""
    # one that can't be shown as it is could pass for another, on screens and in SQL
    unclear = name.strip() != name or name != one_line(name)
    if not name or unclear or name in {"agent", "queue", "resolved"}:
        fail(f"{name!r} can't be a name", USAGE)
    _change(lambda at: people.add(at.store, at.me, name, Role(role)))


@operator.command("role")
@click.argument("name")
@click.argument("role", type=_ROLES)
def role_(name: str, role: str) -> None:
    """Give somebody another role."""
    _change(lambda at: people.give_role(at.store, at.me, name, Role(role)), name)


@operator.command()
@click.argument("name")
def disable(name: str) -> None:
    """Let somebody work here no more; what they hold goes back to the queue."""
    _change(lambda at: people.disable(at.store, at.me, name), name)


@operator.command()
@click.argument("name")
def enable(name: str) -> None:
    """Let somebody who was disabled work here again."""
    _change(lambda at: people.enable(at.store, at.me, name), name)


@operator.command()
@click.argument("login")
def grant(login: str) -> None:
    """On PostgreSQL, give a login what a worker needs; it is no person."""

    async def work() -> tuple[str, ...]:
        async with opened.at_desk() as desk:
            to_run = await people.admit_worker(desk.store, desk.me, login)
            if isinstance(to_run, NotPossible):
                raise Failed(to_run.why, REFUSED)
            return to_run

    to_run = base.run(work())
    said: shapes_values.Shape = {"login": login, "to_run": list(to_run)}
    _show(said, f"{login} may run a worker", to_run)


def _change(
    act: Callable[[opened.Desk], Awaitable[Changed | NotPossible]],
    must_exist: str | None = None,
) -> None:
    async def work() -> Changed:
        async with opened.at_desk() as desk:
            if must_exist is not None:
                await opened.must_be_somebody(desk.store, must_exist)
            changed = await act(desk)
            if isinstance(changed, NotPossible):
                raise Failed(changed.why, REFUSED)
            return changed

    changed = base.run(work())
    new = changed.operator
    said = {**shapes.person(new), "to_run": list(changed.to_run)}
    _show(said, plain.person(new), changed.to_run)


def _show(said: shapes_values.Shape, words: str, to_run: tuple[str, ...]) -> None:
    """Tells what was done; on stdout what is left to run, so that psql can take it."""
    if not to_run:
        base.show(said, lambda: words)
        return
    base.warn("this login may not do all of it; a database administrator has to run:")
    base.show(said, lambda: "\n".join(f"{statement};" for statement in to_run))
