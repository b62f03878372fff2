"""Stored bytes that are no text, read all the same: a flipped bit must not stop a read.

SQLite keeps any bytes as text, and its driver gives up a whole result where some are no
UTF-8. Decoding them in Python costs a third more than the driver's own way, so a
reader takes that only where it must. Who writes can't run again, and always does.
"""

import sqlite3
from collections.abc import Callable
from typing import TypeVar, cast

import sqlalchemy as sa

T = TypeVar("T")

_NO_TEXT = "Could not decode to UTF-8"
"""How the driver's error begins; it has no code, and goes on with the stored text."""


def any_text(stored: bytes) -> str:
    """Text; for each byte that is none a lone surrogate, which every column keeps."""
    return stored.decode("utf-8", "surrogateescape")


def reading(work: Callable[[sa.Connection], T], connection: sa.Connection) -> T:
    """What a reading function returns, where it had to with `any_text`."""
    try:
        return work(connection)
    except (sqlite3.OperationalError, sa.exc.OperationalError) as error:
        if _NO_TEXT not in str(error):
            raise
    driver = cast(sqlite3.Connection, connection.connection.dbapi_connection)
    driver.text_factory = any_text
    try:
        return work(connection)
    finally:
        driver.text_factory = str
