"""Programs that start at once: forked from one that has loaded what they need.

A new Python that loads the worker's libraries takes two seconds of a processor, and
the console's one; a fork takes none. How the real commands start is looked at where
that is the question.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from console import cli

LOADED = (
    "anthropic",
    "anyio._backends._asyncio",
    "console.checks",
    "console.commands.running",
    "core.adapters.anthropic_model",
    "core.adapters.jsonl_channel",
    "core.adapters.mcp_tools",
    "httpcore2",
    "mcp",
    "store.engine_postgres",
    "tests.console.steps",
    "tests.faults.traced_worker",
    "textual.drivers.linux_driver",
    "truststore",
)
"""What is loaded before the fork."""

_CONTEXT = multiprocessing.get_context("forkserver")
_STARTING = threading.Lock()  # a start looks after all other children as well


def start(main: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """Starts a function of a module as a process of its own."""
    _CONTEXT.set_forkserver_preload([__name__, *LOADED])
    process = _CONTEXT.Process(target=main, args=arguments, daemon=True)
    with _STARTING:
        process.start()
    return process


def code_of(process: ForkServerProcess, seconds: float) -> int | None:
    """Its exit code, negative where a signal ended it; None: it goes on."""
    connection.wait([process.sentinel], seconds)
    with _STARTING:
        process.join(0)
    return process.exitcode


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of `handoff`, in a session of its own.

    Attributes:
        words: As typed.
        environment: Variables that it has besides ours.
        log: Takes what it writes.
    """

    words: Sequence[str]
    environment: Mapping[str, str]
    log: Path


def run(command: Command) -> None:
    """Runs a command, and ends the process with its exit code."""
    os.setsid()
    log = os.open(command.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.environ.update(command.environment)
    code = cli.run(command.words)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@dataclass(frozen=True, slots=True, kw_only=True)
class InTerminal:
    """A pseudo-terminal to be that of a program.

    Attributes:
        path: Its device.
        environment: All variables of the program.
        opened: Closed as soon as the program has the terminal.
    """

    path: str
    environment: Mapping[str, str]
    opened: Connection


def pipe() -> tuple[Connection, Connection]:
    """What one reads, and what a started process may hold and close."""
    return _CONTEXT.Pipe(duplex=False)


def in_terminal(place: InTerminal, words: Sequence[str]) -> None:
    """Runs a module in a terminal, as its session's leader, and ends the process."""
    os.setsid()
    device = os.open(place.path, os.O_RDWR)  # a leader's first is its own
    for stream in (0, 1, 2):
        os.dup2(device, stream)
    os.close(device)
    place.opened.close()
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8")  # noqa: SIM115 # stays
    os.environ.clear()
    os.environ.update(place.environment)
    sys.argv = list(words)
    code = 0
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
