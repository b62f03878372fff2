"""Programs that start at once: forked from one that has loaded what they need.

A new Python that loads the worker's libraries takes two seconds of a processor, and
the console's one; a fork takes none. How the real commands start is looked at where
that is the question.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import connection
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
