"""Changes that wait to be sent as one statement: for a server, a trip costs the most.

A change needs no answer. So on PostgreSQL a transaction's changes wait until it reads
something, or commits, and then go as the parts of one statement (WITH … AS). The parts
of a statement don't see what the others change: no two of them may be about the same
table, and what comes second waits for the next statement. An error shows when the
changes are sent, which is before the commit in any case.
"""

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from store.faults import told_by_driver

_WAITING = "changes that wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A statement that changes rows of one table and gives nothing back.

    Attributes:
        table: The table's name.
        sql: With its values as `%(name)s`.
        values: As the driver takes them.
    """

    table: str
    sql: str
    values: Mapping[str, object]


@contextmanager
def gathering(connection: sa.Connection) -> Iterator[None]:
    """Lets changes wait for each other; what was not sent at the end is forgotten."""
    waiting: list[Change] = []
    connection.info[_WAITING] = waiting
    try:
        yield
    finally:
        waiting.clear()
        if not connection.invalidated:
            del connection.info[_WAITING]


def wait(connection: sa.Connection, change: Change) -> bool:
    """Keeps a change for later; False where none are gathered."""
    waiting: list[Change] | None = connection.info.get(_WAITING)
    if waiting is None:
        return False
    if any(other.table == change.table for other in waiting):
        send(connection)
    waiting.append(change)
    return True


def send(connection: sa.Connection) -> None:
    """Sends the changes that wait, if there are any."""
    waiting: list[Change] | None = connection.info.get(_WAITING)
    if not waiting:
        return
    sql = _one_statement(tuple(change.sql for change in waiting))
    values = {
        f"c{i}_{name}": value
        for i, change in enumerate(waiting)
        for name, value in change.values.items()
    }
    waiting.clear()
    driver: Any = connection.connection.dbapi_connection
    try:
        driver.execute(sql, values)
    except connection.dialect.loaded_dbapi.Error as error:
        raise told_by_driver(error, sql, connection) from error


@functools.lru_cache(maxsize=1024)
def _one_statement(parts: tuple[str, ...]) -> str:
    *before, last = [sql % _Renamed(i) for i, sql in enumerate(parts)]
    if not before:
        return last
    named = ", ".join(f"c{i} AS ({sql})" for i, sql in enumerate(before))
    return f"WITH {named} {last}"


class _Renamed(dict[str, str]):
    """Puts the number of a part before the name of each of its values."""

    def __init__(self, part: int) -> None:
        super().__init__()
        self._part = part

    def __missing__(self, name: str) -> str:
        return f"%(c{self._part}_{name})s"
