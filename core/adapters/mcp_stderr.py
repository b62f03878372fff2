"""What a tool server's program says on stderr: kept in a file, its last words at hand.

It goes through a pipe of ours, so that a program that dies at its start leaves what it
said. Once a program has started, what it says may hold a buyer's words, and is only
passed on.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from core.cleanse import one_line

_KEPT = 4096
_SHOWN = 200
_LATE = 0.3
"""Seconds that the last words of a program may take that has ended."""


@dataclass(slots=True)
class Heard:
    """What a program said while it started.

    Attributes:
        started: Whether it has; from then on nothing is kept.
    """

    started: bool = False
    _said: bytes = b""

    def take(self, said: bytes) -> None:
        """Keeps the end of what was said."""
        if not self.started:
            self._said = (self._said + said)[-_KEPT:]

    @property
    def last_line(self) -> str:
        """Its last line that is not blank, cleansed and cut, or ""."""
        lines = self._said.decode(errors="replace").splitlines()
        said = next((line for line in reversed(lines) if line.strip()), "")
        return one_line(said.strip(), _SHOWN)


@asynccontextmanager
async def stderr_of(heard: Heard, file: Path) -> AsyncIterator[TextIO]:
    """A program's stderr, which goes on into the file."""
    out, into = os.pipe()
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(out, "rb")
    )

    async def pass_on() -> None:
        with file.open("ab", buffering=0) as kept:
            while said := await reader.read(_KEPT):
                heard.take(said)
                kept.write(said)

    async with asyncio.TaskGroup() as tasks:
        passing = tasks.create_task(pass_on())
        try:
            with os.fdopen(into, "w", encoding="utf-8") as stderr:
                yield stderr
        finally:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_LATE):
                    await passing
            transport.close()
