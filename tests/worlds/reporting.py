"""Waiting for a worker that somebody has started."""

import asyncio
import time
from pathlib import Path

from store.transaction import SqlStore

_LONG = 60.0


def worker_on(path: Path) -> int:
    """The process id of the worker that reports itself in a SQLite store."""

    async def look() -> list[int]:
        opened = SqlStore.open(f"sqlite:///{path}")
        workers = await opened.read(lambda tx: tx.workers())
        await opened.close()
        return [worker.pid for worker in workers]

    until = time.monotonic() + _LONG
    while time.monotonic() < until:
        found = asyncio.run(look()) if path.exists() else []
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError("no worker came")
