"""When a SQLite file has been committed to, by whichever process.

`PRAGMA data_version` on a connection of its own says so for 5 microseconds a look.
When to look is told by the kernel where it can: a commit is written to the file's WAL,
and inotify wakes us. It wakes us before the commit can be seen, so what follows is a
look each millisecond for a short while. Elsewhere the looks are 10 ms apart. This
process's own commits are told without any of it (`poke`).
"""

import asyncio
import ctypes
import os
import sqlite3
import sys
from pathlib import Path

from store.same_file import SameFile

_EAGER, _EAGER_FOR = 0.001, 0.025
"""After the kernel's hint: seconds between looks, and how long so."""

_UNHINTED, _SAFE = 0.01, 0.25
"""Seconds between looks without hints, and with them in case one was missed."""

_IN_MODIFY = 0x2


class Watch:
    """Follows the commits of one SQLite file, within one event loop."""

    def __init__(self, path: Path, file: SameFile) -> None:
        self._loop = asyncio.get_running_loop()
        self._look = asyncio.Event()
        self._file = file
        self._eager_until = 0.0
        self._wal = f"{path.name}-wal".encode()
        self._connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False
        )
        try:
            self._seen = self._version()
        except sqlite3.Error:
            self._connection.close()
            raise
        self._hints = _watched(path.parent)
        if self._hints is not None:
            self._loop.add_reader(self._hints, self._hinted)

    async def commit(self) -> None:
        """Waits until there is a commit that the last wait didn't know of.

        Raises:
            StoreUnreachable: The file is another one, or gone.
        """
        while (version := self._version()) == self._seen:
            self._file.check()
            self._look.clear()
            timer = self._loop.call_later(self._pause(), self._look.set)
            try:
                await self._look.wait()
            finally:
                timer.cancel()
        self._seen = version

    def poke(self) -> None:
        """Looks at once; to be called from any thread."""
        self._loop.call_soon_threadsafe(self._look.set)

    def close(self) -> None:
        """Ends the watch."""
        self._connection.close()
        if self._hints is not None:
            self._loop.remove_reader(self._hints)
            os.close(self._hints)

    def _version(self) -> int:
        found: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return found

    def _pause(self) -> float:
        if self._loop.time() < self._eager_until:
            return _EAGER
        return _UNHINTED if self._hints is None else _SAFE

    def _hinted(self) -> None:
        if self._hints is None or self._wal not in os.read(self._hints, 65536):
            return
        self._eager_until = self._loop.time() + _EAGER_FOR
        self._look.set()


def _watched(folder: Path) -> int | None:
    """A descriptor that is readable when a file of the folder is written, or None.

    The folder and not the WAL, which comes and goes.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    try:
        told: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watched: int = libc.inotify_add_watch(told, os.fsencode(folder), _IN_MODIFY)
    except AttributeError:  # a C library without it
        return None
    if told >= 0 and watched < 0:
        os.close(told)
    return told if told >= 0 and watched >= 0 else None
