"""`handoff web` as a process of its own."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass
class Served:
    """A running server."""

    process: asyncio.subprocess.Process
    url: str

    @property
    def base(self) -> str:
        return self.url.partition("/?")[0]

    @property
    def token(self) -> str:
        return self.url.partition("token=")[2]

    def consoles(self) -> list[int]:
        """The processes that it has started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text("utf-8").split()]

    async def ended(self, number: int) -> int:
        """The exit code after a signal."""
        self.process.send_signal(number)
        return await self.process.wait()


def environment_of(pid: int) -> str:
    """The variables that a process was started with."""
    return Path(f"/proc/{pid}/environ").read_text("utf-8")


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except OSError:
        return False


async def code_of(*words: str) -> int:
    """The exit code of a command."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "console.cli", *words, env=_environment()
    )
    return await process.wait()


@asynccontextmanager
async def served(
    url: str, *options: str, env: dict[str, str] | None = None
) -> AsyncIterator[Served]:
    """Serves a store, as Noor."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "console.cli", "--store", url, "--as", "Noor"),
        *("web", "--port", "0", "--json", *options),
        stdout=asyncio.subprocess.PIPE,
        env={**_environment(), **(env or {})},
    )
    assert process.stdout is not None
    said = ""
    while not said.rstrip().endswith("}"):
        line = await process.stdout.readline()
        if not line:
            await process.communicate()
        assert line, f"it ended: {said}"
        said += line.decode()
    try:
        yield Served(process, json.loads(said)["url"])
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.wait()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}
