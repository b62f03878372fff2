"""SQLite: one writer thread that commits everything that waits, and readers beside it.

A commit costs a wait for the disk, whatever it holds. So the writer takes all waiting
transactions into one BEGIN IMMEDIATE .. COMMIT, each in a savepoint of its own: one
that raises rolls back to its savepoint and the others don't notice. Results are
handed out after the COMMIT, and if that fails, all fail. Cancelling a task doesn't
reach the thread.

Writers of several processes first wait in `line`. The driver's own transaction
handling loses updates; it is switched off and BEGIN is sent by hand.

The feed: a counter is raised within the write lock, so its order is the order of
commits; `watch` says when to look.
"""

import asyncio
import functools
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar, cast

import sqlalchemy as sa

from core.decision import Role
from core.errors import BadConfiguration
from core.ticket import TicketId
from store import changes
from store.faults import translate
from store.line import in_line
from store.no_text import any_text, reading
from store.same_file import SameFile
from store.unwritable import engine_to_read, may_be_readable
from store.waiting import Waiting, hand_out, waiting_for
from store.watch import Watch

T = TypeVar("T")

_BUSY_MS = 5000
_READERS = 4
_TOGETHER = 64
"""Transactions in one commit at most, so that other processes get their turn."""

_EACH = (
    f"busy_timeout={_BUSY_MS}",
    "journal_mode=WAL",
    "synchronous=FULL",
    "secure_delete=ON",
)

_RAISE = "UPDATE feed SET position = position + 1"


class SqliteEngine:
    """A store in a SQLite file.

    Attributes:
        place: The file's path.
    """

    def __init__(self, path: str) -> None:
        self.place = path
        self._path = Path(path).absolute()
        self._create()
        self._file = SameFile(path=self._path, place=path)
        self._engine = self._connect(foreign_keys=True)
        self._waiting: SimpleQueue[Waiting[Any] | None] = SimpleQueue()
        self._writer = threading.Thread(
            target=self._serve, name="store-writer", daemon=True
        )
        self._writer.start()
        self._readers = ThreadPoolExecutor(_READERS, "store-reader")
        self._followers: set[Watch] = set()

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Runs a function in a transaction; done when it is committed."""
        if not self._writer.is_alive():
            message = "the store is closed"
            raise RuntimeError(message)
        waiting = waiting_for(work)
        self._waiting.put(waiting)
        return await waiting.future

    def read(self, work: Callable[[sa.Connection], T]) -> "Future[T]":
        """Runs a function on one read-only snapshot."""
        return self._readers.submit(self._look, work)

    def migrate(self, bring_up: Callable[[sa.Connection], None]) -> None:
        """Runs a change of the schema, alone, with foreign keys off.

        With them on, changing a parent table in SQLite's way (copy, drop, rename)
        empties its children.
        """
        engine = self._connect(foreign_keys=False)
        try:
            with in_line(self._path), _writing(engine) as connection:
                bring_up(connection)
        except (sa.exc.DBAPIError, OSError) as error:
            raise translate(error, self.place) from error
        finally:
            engine.dispose()

    def backup(self, revision: str) -> None:
        """Copies the file to one beside it that is named for the old revision."""
        copy = Path(f"{self._path}.before-{revision}")
        part = Path(f"{copy}.part")
        part.unlink(missing_ok=True)
        _private(part)
        with (
            closing(sqlite3.connect(self._path)) as old,
            closing(sqlite3.connect(part)) as new,
        ):
            old.backup(new)
        part.replace(copy)

    def number(self, connection: sa.Connection) -> None:
        """Takes the next position of the feed, within the write lock."""
        _driver(connection).execute(_RAISE)

    def wake(self, connection: sa.Connection) -> None:
        """Nothing: followers of this process wake at each commit, others look soon."""

    def alone(self, connection: sa.Connection, name: str) -> None:
        """Nothing: a writing transaction is alone in any case."""

    def login(self, connection: sa.Connection) -> str | None:  # noqa: ARG002 # as the other
        """None: a file knows nobody."""
        return None

    def admit(
        self,
        connection: sa.Connection,  # noqa: ARG002 # as the other
        login: str,  # noqa: ARG002
        role: Role | None,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Nothing: who may use the file is the file system's matter."""
        return ()

    def expel(self, connection: sa.Connection, login: str) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing, for the same reason."""
        return ()

    async def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        """Sets of changed tickets, after an empty one that says where it begins."""
        try:
            self._file.check()
            watch = Watch(self._path, self._file)
        except sqlite3.Error as error:
            raise translate(error, self.place) from error
        self._followers.add(watch)
        try:
            at = await asyncio.wrap_future(self.read(changes.position))
            yield frozenset()
            while True:
                await watch.commit()
                look = functools.partial(changes.since, before=at)
                before, (at, found) = at, await asyncio.wrap_future(self.read(look))
                if at.act != before.act:
                    yield frozenset()
                if found:
                    yield found
        except sqlite3.Error as error:
            raise translate(error, self.place) from error
        finally:
            self._followers.discard(watch)
            watch.close()

    def close(self) -> None:
        """Lets what runs end, then ends threads and connections."""
        self._waiting.put(None)
        self._writer.join()
        self._readers.shutdown()
        self._engine.dispose()

    def _look(self, work: Callable[[sa.Connection], T]) -> T:
        self._file.check()
        try:
            with self._engine.connect() as connection, connection.begin():
                return reading(work, connection)
        except sa.exc.SQLAlchemyError as error:
            if may_be_readable(error):
                return self._look_without_writing(work, error)
            raise translate(error, self.place) from error

    def _look_without_writing(
        self, work: Callable[[sa.Connection], T], failed: sa.exc.SQLAlchemyError
    ) -> T:
        """Reads the file as it lies there, or tells why the usual way failed."""
        engine = engine_to_read(self._path, _with_our_functions)
        if engine is None:
            raise translate(failed, self.place) from failed
        try:
            with engine.connect() as connection, connection.begin():
                connection.exec_driver_sql("BEGIN")
                return reading(work, connection)
        except sa.exc.SQLAlchemyError:
            raise translate(failed, self.place) from failed

    def _serve(self) -> None:
        """Commits what waits, together, until there is a None for the end."""
        job = self._waiting.get()
        while job is not None:
            jobs = [job]
            while len(jobs) < _TOGETHER and not self._waiting.empty():
                job = self._waiting.get()
                if job is None:
                    break
                jobs.append(job)
            self._commit([j for j in jobs if not j.future.cancelled()])
            if job is not None:
                job = self._waiting.get()

    def _commit(self, jobs: list[Waiting[Any]]) -> None:
        if not jobs:
            return
        try:
            with in_line(self._path), self._own() as connection:
                for job in jobs:
                    _attempt(job, connection, alone=len(jobs) == 1)
        except BaseException as error:  # noqa: BLE001 # whoever waits is told
            for job in jobs:
                job.error = job.error or error
        for job in jobs:
            if isinstance(job.error, Exception):
                job.error = translate(job.error, self.place)
        hand_out(jobs)
        self._tell_followers()

    @contextmanager
    def _own(self) -> Iterator[sa.Connection]:
        """A writing transaction on the file that was opened, and no other."""
        self._file.check()
        with _writing(self._engine) as connection:
            yield connection

    def _tell_followers(self) -> None:
        for watch in tuple(self._followers):
            with suppress(RuntimeError):  # its loop has ended
                watch.poke()

    def _create(self) -> None:
        """Makes the file where there is none; what is wrong with it shows later.

        In line, because two that switch a new file to WAL at once refuse each other.

        Raises:
            BadConfiguration: Its folder does not exist; a mistyped path must not become
                a second, empty store.
        """
        with suppress(OSError, sqlite3.Error):
            if self._path.exists() and self._path.stat().st_size:
                return
            if not self._path.parent.exists():
                raise BadConfiguration(
                    f"the store {self.place}: there is no folder {self._path.parent}"
                )
            with in_line(self._path):
                _private(self._path)
                with closing(sqlite3.connect(self._path)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")

    def _connect(self, *, foreign_keys: bool) -> sa.Engine:
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(self._path)),
            pool_size=_READERS + 1,
            max_overflow=0,
            hide_parameters=True,  # an error's text may reach a log
            connect_args={"check_same_thread": False},
        )
        pragmas = (*_EACH, f"foreign_keys={'ON' if foreign_keys else 'OFF'}")

        @sa.event.listens_for(engine, "connect")
        def prepare(connection: sqlite3.Connection, _record: object) -> None:
            connection.isolation_level = None  # the driver never sends BEGIN
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
            _with_our_functions(connection)

        @sa.event.listens_for(engine, "begin")
        def begin(connection: sa.Connection) -> None:
            writes = connection.get_execution_options().get("writes", False)
            driver = _driver(connection)
            driver.text_factory = any_text if writes else str
            driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine


@contextmanager
def _writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    with (
        engine.connect().execution_options(writes=True) as connection,
        connection.begin(),
    ):
        yield connection


def _attempt(job: Waiting[Any], connection: sa.Connection, *, alone: bool) -> None:
    """Runs a job in a savepoint; its failure undoes no other's work.

    Raises:
        BaseException: What the job raised, where it ended the whole transaction.
    """
    if alone:
        job.run(connection)
        return
    driver = _driver(connection)
    driver.execute("SAVEPOINT job")
    try:
        job.run(connection)
    except BaseException as error:
        job.error = error
        if not driver.in_transaction:  # SQLite has ended it: a full disk, for one
            raise
        driver.execute("ROLLBACK TO job")
    driver.execute("RELEASE job")


def _driver(connection: sa.Connection) -> sqlite3.Connection:
    """The driver's own connection, for the small statements of each transaction."""
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


def _with_our_functions(connection: sqlite3.Connection) -> None:
    # SQLite's own knows only ASCII, and a search should find "Ö" by "ö"
    connection.create_function("lower", 1, _lower, deterministic=True)


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _private(path: Path) -> None:
    """Makes an empty file that only its owner can read: it will hold people's words."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
