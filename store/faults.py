"""What a database driver's error means to a person: one clear line (`translate`).

The line says what happened, where, and what to do. It never holds a password or a
stored text: of the driver's own words only the server's refusal of a connection is
passed on. PostgreSQL's errors are known by their `sqlstate`, so that who uses SQLite
need not load that driver.
"""

import re
import sqlite3

import sqlalchemy as sa

from core.errors import HandoffError, StoreUnreachable

_SQLITE = {
    "SQLITE_FULL": "the disk is full: free some space and try again",
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
}
_POSTGRES = {
    "08": "the connection broke: try again",
    "28": "the server refused the login: check user and password",
    "3D": "there is no such database: create it first",
    "53": "the server has no room (disk, memory or connections): try again later",
    "25": "the server takes no writes: connect to the primary",
    "57": "the server is shutting down or starting: try again",
    "58": "the server's disk returned an error",
    "42501": "this login lacks a right: grant it",
    "55P03": "it is locked for too long: try again",
}

_REFUSED = re.compile(r"FATAL:\s+(.*)")
"""What a server says to a login that it won't have: names, never a password."""


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
            why = f"{(cause.strerror or 'it can not be used').lower()}"
        case _ if isinstance(error, sa.exc.TimeoutError):
            why = "all connections are busy: try again"
        case _:
            why = None
    return error if why is None else StoreUnreachable(f"the store {place}: {why}")


def _sqlite_reason(error: sqlite3.Error) -> str | None:
    name = getattr(error, "sqlite_errorname", None) or ""
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
