"""What a database driver's error means to a person: one clear line (`translate`).

The line says what happened, where, and what to do. It never holds a password or a
stored text: of the driver's own words only the server's refusal of a connection is
passed on. PostgreSQL's errors are known by their `sqlstate`, so that who uses SQLite
need not load that driver.
"""

import errno
import re
import shlex
import sqlite3
import zlib
from typing import Any

import sqlalchemy as sa

from core.errors import HandoffError, NotAdmitted, StoreUnreachable

_FULL = "the disk is full: free some space and try again"
_READ_ONLY = "it can't be written: its file system is read-only"
_UNFINISHED = (
    "this store was made by an unfinished version of Handoff, which this one can't"
    " read: begin a new one"
)

_SYSTEM = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: _READ_ONLY,
}
_SQLITE = {
    "SQLITE_FULL": _FULL,
    "SQLITE_IOERR_SHMSIZE": _FULL,
    "SQLITE_READONLY": "it can't be written: give this user the right to write the"
    " file and its folder",
    "SQLITE_CANTOPEN": "it can't be opened: check that the folder exists and that this"
    " user may use it",
    "SQLITE_PERM": "this user may not use it: check the file's permissions",
    "SQLITE_BUSY": "another program keeps it locked: close that one and try again",
    "SQLITE_LOCKED": "another program keeps it locked: close that one and try again",
    "SQLITE_IOERR": "the disk returned an error: check the disk",
    "SQLITE_NOTADB": "it is not a Handoff store: name another file",
    "SQLITE_CORRUPT": "it is damaged: restore it from a backup",
    "SQLITE_CONSTRAINT_NOTNULL": _UNFINISHED,
}
_MISSING = re.compile("no such (table|column)|has no column named")
"""What SQLite says, without a code of its own, where a schema is not ours."""

_POSTGRES = {
    "42P01": _UNFINISHED,
    "42703": _UNFINISHED,
    "42883": _UNFINISHED,
    "23502": _UNFINISHED,
    "08": "the connection broke: try again",
    "28": "the server refused the login: check user and password",
    "3D": "there is no such database: create it first",
    "53": "the server has no room (disk, memory or connections): try again later",
    "25": "the server takes no writes: connect to the primary",
    "57": "the server is shutting down or starting: try again",
    "58": "the server's disk returned an error",
    "55P03": "it is locked for too long: try again",
}

_REFUSED = re.compile(r"FATAL:\s+(.*)")
"""What a server says to a login that it won't have: names, never a password."""


_NO_RIGHT = "42501"
_BY_OUR_GUARD = "exec_stmt_raise"
"""Where in the server an exception was raised that a trigger of ours raises."""


UNDECODABLE = (
    *(LookupError, TypeError, ValueError, ArithmeticError, RecursionError),
    *(AttributeError, zlib.error),
)
"""What decoding raises where a stored value has not the form that it should have."""


def lacks_a_right(error: Exception) -> bool:
    """Whether a server said that this login may not do what was asked."""
    cause: object = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return getattr(cause, "sqlstate", None) == _NO_RIGHT


def not_admitted(error: Exception, place: str, login: str) -> NotAdmitted:
    """The error for a login that lacks a right, with what to do about it."""
    cause: object = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    told = getattr(cause, "diag", None)
    if getattr(told, "source_function", None) == _BY_OUR_GUARD:
        return NotAdmitted(f"the store {place}: {getattr(told, 'message_primary', '')}")
    name = shlex.quote(login)
    return NotAdmitted(
        f"the store {place}: the login {login} lacks a right; ask a supervisor to run:"
        f" handoff operator add {name}, or for a worker: handoff operator grant {name}"
    )


def translate(error: Exception, place: str) -> Exception:
    """The error to raise in place of a driver's; others stay as they are.

    Args:
        error: What was raised.
        place: The file, or host and database.
    """
    if isinstance(error, HandoffError):
        return error
    cause: object = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    match cause:
        case sqlite3.Error():
            why = _sqlite_reason(cause)
        case _ if hasattr(cause, "sqlstate"):
            why = _postgres_reason(cause, str(cause.sqlstate or ""))
        case OSError():
            strerror = (cause.strerror or "it can't be used").lower()
            why = _SYSTEM.get(cause.errno or 0, strerror)
        case _ if isinstance(error, sa.exc.TimeoutError):
            why = "all connections are busy: try again"
        case _:
            why = None
    return error if why is None else StoreUnreachable(f"the store {place}: {why}")


def _sqlite_reason(error: sqlite3.Error) -> str | None:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name == "SQLITE_ERROR" and _MISSING.search(str(error)):
        return _UNFINISHED
    found = (why for code, why in _SQLITE.items() if name.startswith(code))
    return next(found, None)


def _postgres_reason(error: object, state: str) -> str | None:
    for code, why in _POSTGRES.items():
        if state.startswith(code):
            return why
    if state or type(error).__name__ != "OperationalError":
        return None
    refused = _REFUSED.search(str(error))
    if refused is not None:
        return f"the server refused the connection: {refused[1]}"
    return "it can't be reached: check that the server runs and the address is right"


def told_by_driver(error: Exception, sql: str, connection: sa.Connection) -> Exception:
    """The error that SQLAlchemy would have raised for a driver's, without values."""
    dialect = connection.dialect
    driver: Any = connection.connection.dbapi_connection
    cause: Any = error
    lost = dialect.is_disconnect(cause, driver, None)
    if lost:
        connection.invalidate(error)
    return sa.exc.DBAPIError.instance(
        sql,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=lost,
        dialect=dialect,
    )
