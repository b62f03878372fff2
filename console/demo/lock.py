"""One demo at a time on a store: whoever runs it keeps a lock file until it ends.

Two would write every buyer's message twice over, and `--fresh` would take the store
from under a demo that runs. The lock is the kernel's and goes with the processes that
have it open, the demo and its worker, however they end; what the file holds only names
the demo for people. A worker whose demo was killed ends at once, so it is waited for.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import HandoffError

if sys.platform != "win32":
    import fcntl


class DemoRuns(HandoffError):
    """A demo runs on this store already."""


@contextmanager
def only_demo(file: Path) -> Iterator[int]:
    """Keeps other demos of this lock file out until the end; gives the open file.

    Raises:
        DemoRuns: One is there; the message names its process.
    """
    held = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(held)
        os.ftruncate(held, 0)
        os.pwrite(held, f"{os.getpid()}\n".encode(), 0)
        yield held
    finally:
        os.close(held)


_PATIENCE = 5.0
"""Seconds that a worker may live on after its demo."""


def _wait_for(held: int) -> None:
    until = time.monotonic() + _PATIENCE
    while not _free(held):
        who = os.pread(held, 20, 0).decode(errors="replace").strip() or "unknown"
        if _lives(who):
            raise DemoRuns(
                f"a demo runs on this store already (process {who}); leave it first"
            )
        if time.monotonic() > until:
            raise DemoRuns(
                f"the demo of process {who} is gone but its worker is not; end it first"
            )
        time.sleep(0.05)


def _lives(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, PermissionError):
        return True
    except (OSError, OverflowError):
        return False
    return True


def _free(held: int) -> bool:
    if sys.platform == "win32":  # no such lock
        return True
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
