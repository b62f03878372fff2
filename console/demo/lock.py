"""One demo at a time on a store: whoever runs it keeps a lock file until it ends.

Two would write every buyer's message twice over, and `--fresh` would take the store
from under a demo that runs. The lock is the kernel's and goes with the process,
however it ends; what the file holds only names the process for people.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import HandoffError

if sys.platform != "win32":
    import fcntl


class DemoRuns(HandoffError):
    """A demo runs on this store already."""


@contextmanager
def only_demo(file: Path) -> Iterator[None]:
    """Keeps other demos of this lock file out until the end.

    Raises:
        DemoRuns: One is there; the message names its process.
    """
    held = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _free(held):
            who = os.read(held, 20).decode(errors="replace").strip() or "unknown"
            raise DemoRuns(
                f"a demo runs on this store already (process {who}); leave it first"
            )
        os.ftruncate(held, 0)
        os.write(held, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(held)


def _free(held: int) -> bool:
    if sys.platform == "win32":  # no such lock
        return True
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
