"""Reading a SQLite store where nothing can be written: a full disk, a read-only mount.

A reader of a WAL store writes too: it makes the index beside the file that readers and
writers share. Where there is no room for that, the store is read without it. That is
safe only as long as nobody writes, so each read tries the usual way first, and what
was opened so is closed after it.
"""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import sqlalchemy as sa

_NO_ROOM = (
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_READONLY",
    "SQLITE_IOERR_SHM",
    "SQLITE_IOERR_WRITE",
)


def may_be_readable(error: sa.exc.SQLAlchemyError) -> bool:
    """Whether a read failed because it could not write."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else None
    name = str(getattr(cause, "sqlite_errorname", ""))
    return isinstance(cause, sqlite3.Error) and name.startswith(_NO_ROOM)


def engine_to_read(
    path: Path, prepare: Callable[[sqlite3.Connection], None]
) -> sa.Engine | None:
    """A way to read the file as it lies there, or None where that would tell less.

    Args:
        path: The store.
        prepare: Makes a new connection ready.
    """
    how = _how(path)
    if how is None:
        return None
    address = f"{path.as_uri()}?{'&'.join(how)}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, uri=True, isolation_level=None, check_same_thread=False
        )
        prepare(connection)
        return connection

    return sa.create_engine(
        "sqlite://", creator=connect, poolclass=sa.NullPool, hide_parameters=True
    )


def _how(path: Path) -> Sequence[str] | None:
    if not path.is_file():
        return None
    log, index = (Path(f"{path}-{end}") for end in ("wal", "shm"))
    if not log.exists() or not log.stat().st_size:
        return ("mode=ro", "immutable=1")  # all that was committed is in the file
    if index.exists():
        return ("mode=ro", "readonly_shm=1")  # the index is made in memory
    return None
