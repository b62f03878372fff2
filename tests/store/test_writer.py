import asyncio
import sqlite3
import sys
import threading
import traceback
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.errors import BadConfiguration, StoreUnreachable
from core.journal import Note
from core.ports import Transaction
from core.ticket import TicketId, operator
from store import engine_postgres, line
from store.transaction import SqlStore
from tests.store.build import T1, asked, opened, says
from tests.worlds.postgres import Cluster


def _gate() -> tuple[threading.Event, threading.Event]:
    return threading.Event(), threading.Event()


def _waits(begun: threading.Event, go: threading.Event) -> Callable[..., None]:
    def transact(_tx: Transaction) -> None:
        begun.set()
        assert go.wait(10)

    return transact


def _held_up(
    begun: threading.Event, go: threading.Event, locked: TicketId | None = None
):
    def transact(tx: Transaction) -> int:
        if locked is not None:
            tx.lock_of(locked)
        _waits(begun, go)(tx)
        return says("held up", locked or T1)(tx)

    return transact


@pytest.fixture
async def one_writer(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SqlStore]:
    """A store that writes on one thread, so that the next ones have to wait."""
    monkeypatch.setattr(engine_postgres, "_WRITERS", 1)
    store = SqlStore.open(store_url)
    yield store
    await store.close()


async def test_waiting_transactions_share_one_commit_and_one_that_fails_is_alone(
    one_writer: SqlStore,
) -> None:
    store = one_writer
    await store.write(asked())
    commits: list[int] = []
    engine = store._engine._engine
    sa.event.listen(engine, "commit", lambda _: commits.append(1))
    begun, go = _gate()
    first = asyncio.ensure_future(store.write(_held_up(begun, go)))
    await asyncio.to_thread(begun.wait, 10)

    def fails(tx: Transaction) -> None:
        says("never")(tx)
        tx.flush()
        raise ZeroDivisionError

    rest = [
        asyncio.ensure_future(store.write(fails if n == 3 else says(f"{n}")))
        for n in range(8)
    ]
    await asyncio.sleep(0)
    go.set()
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    assert isinstance(answers.pop(4), ZeroDivisionError)
    assert answers == list(range(2, 10))
    assert len(commits) == 2
    history = await store.read(lambda tx: tx.history(T1))
    assert "never" not in [e.body.text for e in history.journal]


async def test_shared_commits_that_wait_for_each_others_tickets_are_all_stored(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_postgres, "_WRITERS", 1)
    stores = SqlStore.open(postgres_url), SqlStore.open(postgres_url)
    t2 = TicketId("T-2")
    for ticket in (T1, t2):
        await stores[0].write(asked(ticket))
    cross = threading.Barrier(2)
    go, writes = threading.Event(), []

    def first(ticket: TicketId, tries: Iterator[int]) -> Callable[[Transaction], int]:
        def transact(tx: Transaction) -> int:
            tx.lock_of(ticket)
            if next(tries) == 0:
                cross.wait(10)
            return says("first", ticket)(tx)

        return transact

    for store, one, other in ((stores[0], T1, t2), (stores[1], t2, T1)):
        begun = threading.Event()
        waits = _waits(begun, go)
        writes.append(asyncio.ensure_future(store.write(waits)))
        await asyncio.to_thread(begun.wait, 10)
        acts = (first(one, count()), says("second", other))
        writes += [asyncio.ensure_future(store.write(act)) for act in acts]
        await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*writes)
    for ticket in (T1, t2):
        told = (await stores[0].read(lambda tx, t=ticket: tx.history(t))).journal
        assert sorted(e.body.text for e in told[1:]) == ["first", "second"]
    for store in stores:
        await store.close()


async def test_who_is_run_with_one_that_waits_for_its_ticket_does_not_wait_for_it(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_postgres, "_WRITERS", 1)
    store, other = SqlStore.open(postgres_url), SqlStore.open(postgres_url)
    t2 = TicketId("T-2")
    for ticket in (T1, t2):
        await store.write(asked(ticket))
    locked, unlock, begun, go = (*_gate(), *_gate())
    locks = asyncio.ensure_future(other.write(_held_up(locked, unlock, T1)))
    await asyncio.to_thread(locked.wait, 10)
    first = asyncio.ensure_future(store.write(_waits(begun, go)))
    await asyncio.to_thread(begun.wait, 10)
    waits = asyncio.ensure_future(store.write(says("waits")))
    beside = asyncio.ensure_future(store.write(says("beside", t2)))
    await asyncio.sleep(0)
    go.set()
    assert await asyncio.wait_for(beside, 10) == 2
    assert not waits.done()
    unlock.set()
    assert (await locks, await waits) == (2, 3)
    await first
    await store.close()
    await other.close()


async def test_a_cancelled_write_runs_to_its_end(store: SqlStore) -> None:
    await store.write(asked())
    begun, go = _gate()
    task = asyncio.ensure_future(store.write(_held_up(begun, go)))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    assert await store.write(says("after")) == 3


async def test_a_full_disk_is_one_clear_line_and_nothing_is_half_stored(
    sqlite_store: SqlStore,
) -> None:
    store = sqlite_store
    await store.write(asked())

    def fill(tx: Transaction) -> None:
        pages = tx._connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        tx._connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 3}")
        tx.append(T1, operator("mira"), Note(text="x" * 200_000))
        tx.flush()

    begun, go = _gate()
    first = asyncio.ensure_future(store.write(_held_up(begun, go)))
    await asyncio.to_thread(begun.wait, 10)
    together = [store.write(says("a")), store.write(fill), store.write(says("b"))]
    waiting = asyncio.gather(*together, return_exceptions=True)
    await asyncio.sleep(0)
    go.set()
    assert await first == 2
    assert {type(answer) for answer in await waiting} == {StoreUnreachable}
    with pytest.raises(StoreUnreachable, match="the disk is full: free some space"):
        await store.write(fill)
    unlimited = "PRAGMA max_page_count=1073741823"
    await store.write(lambda tx: tx._connection.exec_driver_sql(unlimited).scalar())
    assert await store.write(says("again")) == 3


async def test_every_connection_has_its_pragmas(sqlite_store: SqlStore) -> None:
    wanted = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "secure_delete": 1,
    }

    def look(tx: Transaction) -> dict[str, object]:
        read = tx._connection.exec_driver_sql
        return {name: read(f"PRAGMA {name}").scalar() for name in wanted}

    assert await sqlite_store.write(look) == wanted
    assert await sqlite_store.read(look) == wanted


async def test_another_program_that_locks_the_file_is_named_as_the_reason(
    sqlite_store: SqlStore, tmp_path: Path
) -> None:
    sqlite_store._engine._engine.dispose()
    await sqlite_store.write(asked())
    quick = "PRAGMA busy_timeout=20"
    await sqlite_store.write(lambda tx: tx._connection.exec_driver_sql(quick).scalar())
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnreachable, match=r"store\.db: another program keeps it"):
        await sqlite_store.write(says("x"))
    other.execute("ROLLBACK")
    other.close()
    assert await sqlite_store.write(says("x")) == 2


def test_what_is_no_store_is_said_in_one_line(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be looked at. " * 30)
    for url, said in (
        (f"sqlite:///{text}", "is not a Handoff store"),
        (f"sqlite:///{tmp_path}", "can't be opened"),
        (f"sqlite:///{text}/x.db", "can't be opened"),
        ("postgresql://ann:secret@127.0.0.1:1/x", "can't be reached"),
    ):
        with pytest.raises(StoreUnreachable) as raised:
            SqlStore.open(url)
        assert said in str(raised.value)
        assert "secret" not in str(raised.value)
        assert "\n" not in str(raised.value)
    for url in ("sqlite://", "sqlite:///:memory:", "mysql://x/y", "nonsense", ""):
        with pytest.raises(BadConfiguration) as refused:
            SqlStore.open(url)
        assert "\n" not in str(refused.value)


def test_a_missing_database_and_a_refused_login_are_told(postgres: Cluster) -> None:
    missing = postgres.url("nowhere", user="postgres")
    with pytest.raises(StoreUnreachable, match='"nowhere" does not exist'):
        SqlStore.open(missing)
    with pytest.raises(StoreUnreachable, match='"nobody_we_know" does not exist'):
        SqlStore.open(postgres.url("postgres", user="nobody_we_know"))


async def test_a_server_that_dropped_its_connections_is_used_again(
    postgres_store: SqlStore, postgres_url: str
) -> None:
    store = postgres_store
    await store.write(asked())

    def drop(tx: Transaction) -> None:
        tx._connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    admin = SqlStore.open(postgres_url)
    await admin.write(drop)
    assert await store.write(says("x")) == 2
    assert (await store.read(lambda tx: tx.standing(T1))).last_seq == 2
    await admin.close()


async def test_the_file_is_private_to_its_owner(tmp_path: Path) -> None:
    store = SqlStore.open(f"sqlite:///{tmp_path / 'new.db'}")
    await store.write(asked())
    assert _modes(tmp_path) == {0o600}
    await store.close()


def _modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in folder.iterdir()}


async def test_a_process_that_hangs_in_its_turn_is_named_and_not_waited_for(
    sqlite_store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sqlite_store.write(asked())
    monkeypatch.setattr(line, "PATIENCE", 0.05)
    with line.in_line(tmp_path / "store.db"):
        with pytest.raises(StoreUnreachable, match="end the one that hangs"):
            await sqlite_store.write(says("x"))
        task = asyncio.ensure_future(sqlite_store.read(lambda tx: tx.standing(T1)))
        assert (await task).last_seq == 1
    monkeypatch.undo()
    assert await sqlite_store.write(says("x")) == 2


WRITES_UNTIL_KILLED = """
import asyncio, sys
from store import engine_postgres, line
from store.transaction import SqlStore
from tests.store.build import says

async def main():
    store = SqlStore.open(sys.argv[1])
    async def forever():
        while True:
            print(await store.write(says("x")), flush=True)
    await asyncio.gather(*(forever() for _ in range(4)))

asyncio.run(main())
"""


async def test_rule_08_what_was_acknowledged_survives_a_kill_at_any_instant(
    store: SqlStore, store_url: str
) -> None:
    await store.write(asked())
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITES_UNTIL_KILLED, store_url, stdout=PIPE
    )
    assert process.stdout is not None
    told = [int(await process.stdout.readline()) for _ in range(25)]
    process.kill()
    told += [int(n) for n in (await process.stdout.read()).split(b"\n")[:-1]]
    await process.wait()
    seq = await store.write(says("after"))
    journal = (await store.read(lambda tx: tx.history(T1))).journal
    assert seq > max(told)
    assert [e.seq for e in journal] == list(range(1, seq + 1))


async def test_who_waits_too_long_for_a_ticket_is_told_and_reads_go_on(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_postgres, "PATIENCE_MS", 50)
    store = SqlStore.open(postgres_url)
    await store.write(asked())
    begun, go = _gate()
    hangs = asyncio.ensure_future(store.write(_held_up(begun, go, T1)))
    await asyncio.to_thread(begun.wait, 10)
    with pytest.raises(StoreUnreachable, match="locked for too long"):
        await store.write(says("x"))
    assert (await store.read(lambda tx: tx.standing(T1))).last_seq == 1
    go.set()
    assert await hangs == 2
    await store.close()


async def test_no_error_of_the_store_holds_a_message_text(store: SqlStore) -> None:
    secret = "my card is 4111"

    def twice(tx: Transaction) -> None:
        opened(subject=secret)(tx)
        says(secret)(tx)
        tx.flush()
        opened(subject=secret)(tx)

    with pytest.raises(sa.exc.IntegrityError) as raised:
        await store.write(twice)
    assert secret not in "".join(traceback.format_exception(raised.value))
    assert not await store.read(lambda tx: tx.has_ticket(T1))
