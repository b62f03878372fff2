"""PostgreSQL: a small pool of connections, each used by a thread.

Writes run READ COMMITTED and queue at the ticket's lock row; a transaction that the
server picks to give way runs again, which is safe because it is a plain function
without outside effects. Two that open the same arrival at once meet at its unique
key: the second runs again and finds it stored. Reads run on one REPEATABLE READ READ
ONLY snapshot. Nothing rests on the session, so a connection pooler may stand between.

Where more wait than there are threads, a thread commits several as one: a third less
work for both sides than one by one. Several tickets' rows are then locked in no common
order, so nobody waits long there: what isn't had at once, or fails in any way, undoes
them all, and who failed is run again alone. Nobody's failure is another's.

The feed looks every 50 ms at what changed above the last horizon (see `changes`), and
less often where nothing has changed for a second.
NOTIFY makes commits queue, so only those send it for which somebody waits, and it is
only a hint to look now.
"""

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import psycopg
import sqlalchemy as sa

from core.decision import Role
from core.errors import NotAdmitted, StoreUnreachable
from core.ticket import TicketId
from store import changes, gathering
from store.columns import decode_text
from store.faults import lacks_a_right, not_admitted, translate
from store.rights import admit, expel
from store.waiting import Waiting, hand_out, waiting_for

T = TypeVar("T")

_WRITERS, _READERS = 8, 4
"""Threads, and connections, of each: a wait for a ticket's row never stops a screen."""

PATIENCE_MS = 15_000
"""How long a transaction waits for a row before it says so instead."""

_TOGETHER = 8
"""Transactions in one commit at most: their rows stay locked until its end."""

_HASTY = "SET LOCAL lock_timeout = 20"
"""How many ms one of several waits for a row; two that wait for each other, too."""

_TRIES = 5
_GIVE_WAY = {"40001", "40P01", "23505"}
"""Serialization failure, deadlock, and the same arrival stored at the same time."""

_BUSY, _IDLE, _QUIET = 0.05, 0.4, 1.0
"""Seconds between two looks of the feed: usually, and when it was quiet for so long."""

_SCHEMA_LOCK = 0x48414E44


class PostgresEngine:
    """A store in a PostgreSQL database.

    Attributes:
        place: Host, port and database.
    """

    def __init__(self, url: sa.URL) -> None:
        host = url.host or _one(url.query.get("host")) or "local socket"
        port = f":{url.port}" if url.port else ""
        self.place = f"{host}{port}/{url.database or ''}"
        self._url = url.set(drivername="postgresql+psycopg")
        self._engine = sa.create_engine(
            self._url,
            pool_size=_WRITERS + _READERS,
            max_overflow=0,
            pool_use_lifo=True,  # the one used last has its statements prepared
            hide_parameters=True,  # an error's text may reach a log
            isolation_level="READ COMMITTED",  # whatever the server's default is
            connect_args={"connect_timeout": 5},
        )
        self._snapshots = self._engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        sa.event.listen(self._engine, "connect", _prepare)
        sa.event.listen(self._engine, "before_cursor_execute", _send_first)
        self._writers = ThreadPoolExecutor(_WRITERS, "store-writer")
        self._readers = ThreadPoolExecutor(_READERS, "store-reader")
        self._waiting: deque[Waiting[Any]] = deque()

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Runs a function in a transaction; done when it is committed."""
        waiting = waiting_for(work)
        self._waiting.append(waiting)
        self._writers.submit(self._serve)
        return await waiting.future

    def read(self, work: Callable[[sa.Connection], T]) -> "Future[T]":
        """Runs a function on one read-only snapshot."""
        return self._readers.submit(self._persist, self._look, work)

    def migrate(self, bring_up: Callable[[sa.Connection], None]) -> None:
        """Runs a change of the schema, alone under a lock of the transaction."""
        try:
            with self._engine.begin() as connection:
                locked = sa.select(sa.func.pg_advisory_xact_lock(_SCHEMA_LOCK))
                connection.execute(locked)
                bring_up(connection)
        except sa.exc.SQLAlchemyError as error:
            if lacks_a_right(error):
                raise NotAdmitted(
                    f"the store {self.place}: this login may not make its tables; "
                    "open it first as the database's owner"
                ) from error
            raise translate(error, self.place) from error

    def backup(self, revision: str) -> None:
        """Nothing: a server's backups are its administrator's."""

    def number(self, connection: sa.Connection) -> None:
        """Nothing: the transaction's id is its number."""

    def wake(self, connection: sa.Connection) -> None:
        """Tells followers at commit to look at once."""
        connection.execute(sa.select(sa.func.pg_notify(changes.CHANNEL, "")))

    def alone(self, connection: sa.Connection, name: str) -> None:
        """Keeps other transactions that ask for the same name out until the end."""
        key = sa.func.hashtextextended(name, 0)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))

    def login(self, connection: sa.Connection) -> str | None:
        """The session's user."""
        name: str = connection.execute(sa.text("SELECT session_user")).scalar_one()
        return name

    def admit(
        self, connection: sa.Connection, login: str, role: Role | None
    ) -> tuple[str, ...]:
        """Gives a login a role's rights, or says what an administrator has to run."""
        return admit(connection, login, role)

    def expel(self, connection: sa.Connection, login: str) -> tuple[str, ...]:
        """Takes all rights from a login, or says what has to be run."""
        return expel(connection, login)

    async def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        """Sets of changed tickets, after an empty one that says where it begins."""
        positional, named = self._engine.dialect.create_connect_args(self._url)
        named = {"connect_timeout": 5, **named}
        try:
            connection = await psycopg.AsyncConnection.connect(
                *positional, autocommit=True, **named
            )
            async with connection:
                await connection.execute(f"LISTEN {changes.CHANNEL}")
                async for found in _changes(connection):
                    yield found
        except psycopg.Error as error:
            raise _lost(error, self.place) from error

    def close(self) -> None:
        """Lets what runs end, then ends threads and connections."""
        self._writers.shutdown()
        self._readers.shutdown()
        self._engine.dispose()

    def _serve(self) -> None:
        """Commits some of what waits, if another thread hasn't: together, or alone."""
        together, alone = self._some(), []
        while len(together) > 1 and (odd := self._left_out(together)):
            together = [one for one in together if one not in odd]
            alone += odd
        if len(together) > 1:
            hand_out(together)
            together = []
        for one in (*together, *alone):
            try:
                one.result = (self._persist(self._commit, one.work),)
            except BaseException as error:  # noqa: BLE001 # whoever waits is told
                one.error = error
            hand_out([one])

    def _some(self) -> list[Waiting[Any]]:
        found: list[Waiting[Any]] = []
        with contextlib.suppress(IndexError):
            while len(found) < _TOGETHER:
                one = self._waiting.popleft()
                if not one.future.cancelled():
                    found.append(one)
        return found

    def _left_out(self, together: list[Waiting[Any]]) -> list[Waiting[Any]]:
        """Commits transactions as one.

        Returns:
            None of them where that was done, or may have been. Else nothing is stored,
            and these are to be run alone.
        """
        now: Waiting[Any] | None = None

        def each(connection: sa.Connection) -> None:
            nonlocal now
            connection.exec_driver_sql(_HASTY)
            for now in together:
                now.run(connection)
                gathering.send(connection)
            now = None

        try:
            self._commit(each)
        except BaseException as error:  # noqa: BLE001 # it comes again to who is alone
            if now is not None:
                return [now]
            if not isinstance(error, StoreUnreachable):
                return together
            for one in together:  # the commit may have been done
                one.error = error
        return []

    def _commit(self, work: Callable[[sa.Connection], T]) -> T:
        with self._engine.connect() as connection, gathering.gathering(connection):
            transaction = connection.begin()
            with contextlib.ExitStack() as undo:
                undo.callback(transaction.close)
                result = work(connection)
                gathering.send(connection)
                undo.pop_all()
            try:
                transaction.commit()
            except sa.exc.DBAPIError as error:
                if error.connection_invalidated:
                    raise StoreUnreachable(
                        f"the store {self.place}: the connection broke during a commit,"
                        " which may or may not be stored: look before trying again"
                    ) from error
                raise
            return result

    def _look(self, work: Callable[[sa.Connection], T]) -> T:
        with self._snapshots.connect() as connection, connection.begin():
            return work(connection)

    def _persist(
        self,
        attempt: Callable[[Callable[[sa.Connection], T]], T],
        work: Callable[[sa.Connection], T],
    ) -> T:
        """Runs a transaction again where that is safe and may help."""
        for left in reversed(range(_TRIES)):
            try:
                return attempt(work)
            except sa.exc.SQLAlchemyError as error:
                if left and _worth_another_try(error):
                    continue
                if lacks_a_right(error):
                    raise self._not_admitted(error) from error
                raise translate(error, self.place) from error
        raise AssertionError("unreachable: the last try returns or raises")

    def _not_admitted(self, error: sa.exc.SQLAlchemyError) -> NotAdmitted:
        with contextlib.suppress(sa.exc.SQLAlchemyError), self._engine.connect() as c:
            login = self.login(c) or ""
            if c.execute(sa.text("SELECT handoff_disabled()")).scalar_one():
                return NotAdmitted(f"the operator {login} is disabled")
            return not_admitted(error, self.place, login)
        return not_admitted(error, self.place, "")


async def _changes(
    connection: "psycopg.AsyncConnection[tuple[int, str | None, int, int | None]]",
) -> AsyncIterator[frozenset[TicketId]]:
    horizon = 2**62
    told: dict[TicketId, int] = {}
    first, quiet, pause, act = True, 0.0, _BUSY, None
    while True:
        cursor = await connection.execute(changes.AT_HORIZON, (horizon,))
        rows = await cursor.fetchall()
        horizon, before, act = rows[0][0], act, rows[0][3]
        seen = {
            TicketId(decode_text(t)): version
            for _, t, version, _ in rows
            if t is not None
        }
        found = frozenset(t for t, version in seen.items() if told.get(t) != version)
        told = seen
        everything = first or act != before
        if everything and not first:
            yield frozenset()
        if first or found:
            yield found
        quiet = 0.0 if found or everything else quiet + pause
        first, pause = False, _IDLE if quiet >= _QUIET else _BUSY
        async for _ in connection.notifies(timeout=pause, stop_after=1):
            pass


def _prepare(
    connection: "psycopg.Connection[tuple[object, ...]]", _record: object
) -> None:
    connection.execute(f"SET lock_timeout = {PATIENCE_MS:d}")
    connection.commit()


def _send_first(connection: sa.Connection, *_: object) -> None:
    """What waits goes before a statement that doesn't know of it."""
    gathering.send(connection)


def _worth_another_try(error: sa.exc.SQLAlchemyError) -> bool:
    """Whether nothing was stored, and trying again may end otherwise."""
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    return state in _GIVE_WAY or error.connection_invalidated


def _lost(error: psycopg.Error, place: str) -> Exception:
    told = translate(error, place)
    if isinstance(told, StoreUnreachable):
        return told
    return StoreUnreachable(f"the store {place}: the connection broke: try again")


def _one(value: str | tuple[str, ...] | None) -> str | None:
    """What a URL says once or several times."""
    return ",".join(value) if isinstance(value, tuple) else value
