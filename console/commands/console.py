"""The console: its frame at once, and the desk behind it loaded while that is shown.

So nothing is imported here that the frame does not need.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from console.app import run_console
from console.commands import base, options
from console.screens.front import Front


def open_console() -> None:
    """Opens the console on the configured store.

    Raises:
        Failed: There is no terminal, or JSON is asked for.
    """
    if options.asked().json:
        base.fail("--json goes with a command; see `handoff --help`", base.USAGE)
    if not base.at_terminal():
        base.fail("the console needs a terminal; see `handoff --help`", base.USAGE)
    base.run(run_console(_opening))


@asynccontextmanager
async def _opening() -> AsyncIterator[Front]:
    behind = await asyncio.to_thread(import_module, "console.commands.behind")
    async with behind.desk() as front:
        yield front
