"""What all commands share: output and exit codes.

With `--json` nothing but JSON goes to stdout, and it is ASCII, so
that nothing in it can steer a terminal. Everything else that is said goes to stderr or
is cleansed.

The exit codes are those of `codes`. The console's frame waits for what is loaded here:
the store that a command works on, and who sits there, stand in `opened`.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import NoReturn, TypeVar

import click

from console import codes
from console.arriving import BadLine, json_of
from console.commands.options import asked
from core.cleanse import one_line
from core.ticket import Json

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


def line(document: Mapping[str, Json]) -> None:
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
