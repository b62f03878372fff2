"""`handoff operator`: who works here."""

from collections.abc import Callable
from dataclasses import replace

import click

from console import plain, shapes
from console.commands import base
from console.commands.base import REFUSED, USAGE, Failed
from core.decision import Operator, Role
from core.ports import Transaction

_ROLES = click.Choice([r.value for r in Role])


@click.group(cls=base.Group)
def operator() -> None:
    """Show, add, change and disable the people who work here."""


@operator.command("list")
def list_() -> None:
    """Show everybody."""

    async def work() -> None:
        async with base.with_store() as store:
            found = await store.read(lambda tx: tx.operators())
        base.show([shapes.person(o) for o in found], lambda: plain.people(found))

    base.run(work())


@operator.command()
@click.option("--role", type=_ROLES, default=Role.AGENT.value, show_default=True)
@click.argument("name")
def add(name: str, role: str) -> None:
    """Add somebody."""

    def change(found: Operator | None) -> Operator:
        if found is not None:
            raise Failed(f"there is an operator named {name} already", REFUSED)
        if not name.strip() or name in {"agent", "queue", "resolved"}:
            raise Failed(f"{name!r} can't be a name", USAGE)
        return Operator(name=name, role=Role(role))

    _change(name, change)


@operator.command("role")
@click.argument("name")
@click.argument("role", type=_ROLES)
def role_(name: str, role: str) -> None:
    """Give somebody another role."""
    _change(name, lambda found: replace(_there(found, name), role=Role(role)))


@operator.command()
@click.argument("name")
def disable(name: str) -> None:
    """Let somebody work here no more; what they did stays theirs."""
    _change(name, lambda found: replace(_there(found, name), disabled=True))


@operator.command()
@click.argument("name")
def enable(name: str) -> None:
    """Let somebody who was disabled work here again."""
    _change(name, lambda found: replace(_there(found, name), disabled=False))


def _there(found: Operator | None, name: str) -> Operator:
    if found is None:
        raise Failed(f"there is no operator named {name}", USAGE)
    return found


def _change(name: str, change: Callable[[Operator | None], Operator]) -> None:
    """A supervisor changes somebody; there is always one supervisor left."""

    async def work() -> Operator:
        async with base.at_desk() as desk:
            me = desk.me.name

            def store(tx: Transaction) -> Operator:
                people = {o.name: o for o in tx.operators()}
                mine = people.get(me)
                if mine is None or mine.role is not Role.SUPERVISOR or mine.disabled:
                    raise Failed("only a supervisor may change people", REFUSED)
                new = change(people.get(name))
                people[name] = new
                if not any(_decides(o) for o in people.values()):
                    raise Failed(f"{name} is the last supervisor", REFUSED)
                tx.save_operator(new)
                return new

            return await desk.store.write(store)

    new = base.run(work())
    base.show(shapes.person(new), lambda: plain.people([new]))


def _decides(who: Operator) -> bool:
    return who.role is Role.SUPERVISOR and not who.disabled
