"""The store that a command works on, who gives the command, and what was configured."""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass

from console import wiring
from console.commands.base import USAGE, fail, warn
from console.commands.options import asked
from console.config import Config, load
from core.decision import Operator
from core.errors import UnknownTicket
from core.ports import QueueQuery, Store
from core.who import nobody


def config() -> Config:
    """The configuration of this call."""
    return load(file=asked().config, store=asked().store)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An open store and who sits before it."""

    config: Config
    store: Store
    me: Operator


@asynccontextmanager
async def at_desk() -> AsyncIterator[Desk]:
    """Opens the store and finds out who is there."""
    said = config()
    async with wiring.open_store(said) as store:
        me = await wiring.operator(store, asked().name)
        async with _telling(store):
            yield Desk(config=said, store=store, me=me)


@asynccontextmanager
async def with_store(
    tell_first: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[Store]:
    """Opens the store for a command that nobody in particular gives.

    Whoever says who they are must be somebody all the same.

    Args:
        tell_first: Told who the first supervisor is, where the store is new.
    """
    async with wiring.open_store(config(), tell_first) as store:
        if asked().name is not None:
            await wiring.operator(store, asked().name)
        async with _telling(store):
            yield store


@asynccontextmanager
async def _telling(store: Store) -> AsyncIterator[None]:
    """Where a ticket is not known, it may be the store that is another.

    Raises:
        UnknownTicket: As it came, with the store where that one is empty.
    """
    try:
        yield
    except UnknownTicket as wrong:
        said = await _emptiness(store)
        if not said:
            raise
        raise UnknownTicket(f"{wrong}; {said}") from None


async def tell_if_empty(store: Store) -> None:
    """Says which store was read, where there is no ticket in it at all."""
    said = await _emptiness(store)
    if said:
        warn(said)


async def _emptiness(store: Store) -> str:
    """Which store has no ticket at all, and how to read another; "" where it has."""
    if await store.read(lambda tx: tx.queue(QueueQuery(limit=1))):
        return ""
    return (
        f"this store has no ticket yet: {config().store} (another one: --store, "
        "HANDOFF_STORE, or a folder with a handoff.toml)"
    )


async def must_be_somebody(
    store: Store, name: str, places: Collection[str] = ()
) -> None:
    """Ends the command where no operator has this name, and no place that is meant too.

    Raises:
        Failed: None has.
    """
    people = [o.name for o in await store.read(lambda tx: tx.operators())]
    names = {*people, *places}
    if name not in names:
        fail(nobody(name, sorted(names)), USAGE)
