"""The way to a database: what both have in common, and which one a URL names.

Only this file, and the two beside it that it chooses from, know that there are two
dialects: how each begins, locks, tells the time, numbers a change and wakes whoever
waits. `engine_sqlite` writes on one thread, `engine_postgres` on a small pool of them,
and both gather writes that wait into one commit. The rest of the store is the same
code for both. The driver of a server is loaded when one is named: it would
cost everybody else a tenth of a second at each command.
"""

import importlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

import sqlalchemy as sa

from core.decision import Role
from core.errors import BadConfiguration
from core.ticket import TicketId
from store.engine_sqlite import SqliteEngine

T = TypeVar("T")


class Engine(Protocol):
    """A database, reached by its own threads.

    Attributes:
        place: Where it is, for messages; never with a password.
    """

    place: str

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Runs a function in a transaction; done when it is committed."""

    def read(self, work: Callable[[sa.Connection], T]) -> "Future[T]":
        """Runs a function on one read-only snapshot."""

    def migrate(self, bring_up: Callable[[sa.Connection], None]) -> None:
        """Runs a change of the schema, alone, without foreign keys where they bite."""

    def backup(self, revision: str) -> None:
        """Copies the store before a migration, where that is ours to do."""

    def number(self, connection: sa.Connection) -> None:
        """Gives this transaction its number in the feed (`clauses.ChangeNumber`)."""

    def wake(self, connection: sa.Connection) -> None:
        """Tells followers, at commit, that somebody waits for this one."""

    def alone(self, connection: sa.Connection, name: str) -> None:
        """Keeps other transactions that ask for the same name out until the end."""

    def login(self, connection: sa.Connection) -> str | None:
        """Who the database says is connected, where it knows."""

    def admit(
        self, connection: sa.Connection, login: str, role: Role | None
    ) -> tuple[str, ...]:
        """Gives a login a role's rights, or says what an administrator has to run."""

    def expel(self, connection: sa.Connection, login: str) -> tuple[str, ...]:
        """Takes all rights from a login, or says what has to be run."""

    def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        """The change feed, as `core.ports.Store.follow` gives it."""

    def close(self) -> None:
        """Lets what runs end, then ends threads and connections."""


def open_engine(url: str) -> Engine:
    """The engine for a store's URL.

    Raises:
        BadConfiguration: It names no database that a store can be kept in.
    """
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        message = "the store's URL can't be read: expected sqlite:///FILE or"
        raise BadConfiguration(f"{message} postgresql://USER@HOST/DATABASE") from None
    match parsed.get_backend_name():
        case "sqlite" if parsed.database and parsed.database != ":memory:":
            return SqliteEngine(parsed.database)
        case "sqlite":
            raise BadConfiguration("a store is kept in a file: sqlite:///FILE")
        case "postgresql" | "postgres":
            return _postgres(parsed)
        case other:
            message = (
                f"no store can be kept in {other!r}: expected sqlite or postgresql"
            )
            raise BadConfiguration(message)


def _postgres(url: sa.URL) -> Engine:
    module = importlib.import_module("store.engine_postgres")
    engine: Engine = module.PostgresEngine(url)
    return engine
