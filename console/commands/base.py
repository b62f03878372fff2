"""What all commands share: who sits where, output and exit codes.

With `--json` nothing but JSON goes to stdout, and it is ASCII, so
that nothing in it can steer a terminal. Everything else that is said goes to stderr or
is cleansed.

The exit codes are those of `codes`.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Coroutine,
    Iterable,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NoReturn, TypeVar

import click

from console import codes, wiring
from console.arriving import BadLine, json_of
from console.commands.options import asked
from console.config import Config, load
from console.shapes import Shape
from core.cleanse import one_line
from core.decision import Operator
from core.errors import UnknownTicket
from core.ports import QueueQuery, Store
from core.ticket import Json
from core.who import nobody

T = TypeVar("T")

REFUSED, USAGE = codes.REFUSED, codes.USAGE
UNREACHABLE, INTERRUPTED = codes.UNREACHABLE, codes.INTERRUPTED


class Failed(Exception):
    """A command ends here, with one line for the person and an exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def fail(message: str, code: int) -> NoReturn:
    """Ends the command.

    Raises:
        Failed: Always, with this message and code.
    """
    raise Failed(message, code) from None


def leave(code: int) -> NoReturn:
    """Ends the command with a code, where all was said already.

    Raises:
        Exit: Always.
    """
    raise click.exceptions.Exit(code)


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


def run(work: Coroutine[object, object, T]) -> T:
    """Runs a command's work to its end."""
    return asyncio.run(work)


def show(document: Json, plain: Callable[[], str]) -> None:
    """Prints the document as JSON, or what a person reads."""
    if asked().json:
        show_json(document)
    else:
        click.echo(plain())


def show_json(document: Json) -> None:
    """Prints the document as JSON."""
    click.echo(json.dumps(document, indent=2))


def line(document: Shape) -> None:
    """Prints one JSON object on one line, at once."""
    click.echo(json.dumps(document))


def warn(text: str) -> None:
    """Says something beside the result."""
    click.echo(f"handoff: {one_line(text, 1000)}", err=True)


def warn_of(lines: Iterable[str]) -> None:
    """Says several things beside the result."""
    for text in lines:
        warn(text)


def log_to_stderr(form: str = "handoff: %(message)s") -> None:
    """Lets our own log lines, which hold no secret and no message, go to stderr.

    What takes long says there what it waits for.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(form))
    logging.getLogger("handoff").handlers = [handler]


def at_terminal() -> bool:
    """Whether a person sits at a terminal, or at a browser that stands for one."""
    at_both = sys.stdin.isatty() and sys.stdout.isatty()
    return at_both or "TEXTUAL_DRIVER" in os.environ


def text_or_stdin(text: str) -> str:
    """The argument, or what stdin holds for `-`."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError:
        fail("the text on stdin is not UTF-8; nothing was stored", USAGE)


def json_argument(text: str, what: str) -> Json:
    """The value that a JSON argument holds; ends the command if it is none."""
    try:
        return json_of(text)
    except BadLine as wrong:
        fail(f'{what}: {wrong}; expected such as {{"key": "value"}}', USAGE)
