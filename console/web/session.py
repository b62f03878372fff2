"""One console for one browser: a process of its own, and the wire between the two.

The library's service starts its program through a shell, prints the program's errors
among our output and asks it to quit without keeping what was typed last; so the start,
the reading and the end are ours, the packets are the library's.
"""

import asyncio
import json
import os
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager
from typing_extensions import override

from core.cleanse import one_line

_ROOT = Path(__file__).parents[2]
_GRACE = 5.0
"""Seconds that a console has to keep drafts before it is killed."""

_PRELUDE = b"__GANGLION__\n"
_CLEAR = "\x1b[?1049l\x1b[?1000l\x1b[?1003l\x1b[?25l\x1b[0m\x1b[2J\x1b[H"
"""Leaves nobody's data on the page of a console that has ended."""

_LARGEST = 1000
"""Columns and lines that a browser can ask for."""


class Session(AppService):
    """A console that a browser shows.

    Attributes:
        socket: The browser's.
        environment: What the console's process is given.
    """

    def __init__(
        self, socket: web.WebSocketResponse, environment: Mapping[str, str]
    ) -> None:
        super().__init__(
            "",
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._close,
            download_manager=DownloadManager(),
        )
        self.socket = socket
        self.environment = environment
        self._errors = TemporaryFile()  # noqa: SIM115 # lives as long as this object

    async def _close(self) -> None:
        await self.socket.close()

    @override
    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        return {
            **self.environment,
            "PYTHONPATH": path,
            "PYTHONUTF8": "1",
            "TEXTUAL_DRIVER": "console.web.driver:BrowserDriver",
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "COLUMNS": str(width),
            "ROWS": str(height),
        }

    @override
    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # a folder `console` where one stands is not ours
            "-m",
            "console.cli",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=self._build_environment(width, height),
        )
        self._process, self._stdin = process, process.stdin
        return process

    @override
    async def start(self, width: int, height: int) -> None:
        """Starts the console at this size; `run` then shows it."""
        await self._open_app_process(_bounded(width), _bounded(height))

    @override
    async def run(self) -> None:
        """Shows the console until it ends, and says how it ended."""
        process = self._process
        if process is None or process.stdout is None:
            return
        with suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
            await self._show(process.stdout)
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            await self.stop()
        if not self.socket.closed:
            await self.remote_write_bytes(f"{_CLEAR}{self._last_words()}".encode())
            await self._close()

    async def _show(self, stdout: asyncio.StreamReader) -> None:
        while await stdout.readline() not in {_PRELUDE, b""}:
            pass
        while True:
            kind = await stdout.readexactly(1)
            size = int.from_bytes(await stdout.readexactly(4), "big")
            payload = await stdout.readexactly(size)
            if kind == b"D":
                await self.on_data(payload)
            elif kind == b"M" and json.loads(payload)["type"] == "exit":
                return

    def _last_words(self) -> str:
        """Why the console ended, as it would have said on a terminal."""
        self._errors.seek(0)
        lines = self._errors.read(4096).decode(errors="replace").splitlines()
        return one_line(lines[-1], 300) if lines else "The console was left."

    @override
    async def stop(self) -> None:
        """Ends the console, which keeps what was written.

        Its input ends, not the process: so it has read every key before it leaves.
        """
        process = self._process
        if process is None or process.returncode is not None:
            return
        self.stdin.close()
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def take(self, said: object) -> None:
        """Passes on what the browser says; what is no such thing is dropped."""
        match said:
            case ["stdin", str(text)]:
                await self.send_bytes(text.encode(errors="replace"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                await self.set_terminal_size(_bounded(width), _bounded(height))
            case ["ping", str(when)]:
                await self.remote_write_str(json.dumps(["pong", when]))
            case ["focus"]:
                await self.focus()
            case ["blur"]:
                await self.blur()
            case _:
                pass


def _bounded(cells: int) -> int:
    return max(1, min(cells, _LARGEST))
