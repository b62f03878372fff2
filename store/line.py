"""The line in which processes wait for their turn to write to a SQLite file.

SQLite's own busy handler starves waiters: with many writers some wait for seconds
while one goes round. A kernel lock on a file beside the store wakes them in turn.
The lock goes with the process, however it ends. A holder that hangs, stopped in its
debugger for one, is named after a while instead of being waited for without end.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StoreUnreachable

if sys.platform != "win32":
    import fcntl

PATIENCE = 15.0
"""Seconds after which who waits in line is told instead."""


@contextmanager
def in_line(store: Path) -> Iterator[None]:
    """Waits for the turn to write, and gives it up at the end.

    Raises:
        StoreUnreachable: Another process has kept its turn for too long.
    """
    if sys.platform == "win32":  # no such lock: the busy handler has to do
        yield
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    turn = os.open(f"{store}.lock", flags, 0o600)
    try:
        try:
            fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _wait(turn, store)
        yield
    finally:
        os.close(turn)


def _wait(turn: int, store: Path) -> None:
    """Waits on a thread of its own, which can be left behind: a kernel wait can't."""
    came = threading.Event()

    def wait() -> None:
        fcntl.flock(turn, fcntl.LOCK_EX)  # freed by the close, if nobody waits by then
        came.set()

    threading.Thread(target=wait, name="store-line", daemon=True).start()
    if not came.wait(PATIENCE):
        raise StoreUnreachable(
            f"the store {store}: another process of Handoff has been writing for"
            f" {PATIENCE:.0f} seconds: end the one that hangs"
        )
