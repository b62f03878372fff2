import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from core.errors import StoreUnreachable
from core.journal import LockChanged, Note
from core.ports import Transaction
from core.ticket import operator
from store.transaction import SqlStore
from tests.store.build import asked, says, taken

OTHER_PROCESS = """
import asyncio, sys
from store.transaction import SqlStore
from tests.store.build import says

async def main():
    store = SqlStore.open(sys.argv[1])
    for n in range(5):
        await store.write(says(str(n), "T-1"))
    await store.close()

asyncio.run(main())
"""


async def _next(feed: AsyncIterator[frozenset[str]]) -> frozenset[str]:
    return await asyncio.wait_for(anext(feed), 10)


async def test_the_first_set_is_empty_and_then_comes_what_changed(
    store: SqlStore,
) -> None:
    await store.write(asked("T-1"))
    feed = store.follow()
    assert await _next(feed) == frozenset()
    await store.write(asked("T-2"))
    assert await _next(feed) == {"T-2"}
    await store.write(says(ticket="T-1"))
    assert await _next(feed) == {"T-1"}
    await feed.aclose()


async def test_a_read_or_a_refused_write_tells_nothing(store: SqlStore) -> None:
    await store.write(asked("T-1"))
    feed = store.follow()
    await _next(feed)

    def refused(tx: Transaction) -> None:
        says(ticket="T-1")(tx)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.write(refused)
    await store.read(lambda tx: tx.history("T-1"))
    await store.write(asked("T-2"))
    assert await _next(feed) == {"T-2"}
    await feed.aclose()


async def test_two_followers_both_see_every_change_of_another_store(
    store: SqlStore, store_url: str
) -> None:
    await store.write(asked("T-1"))
    other = SqlStore.open(store_url)
    feeds = [store.follow(), other.follow()]
    for feed in feeds:
        await _next(feed)
    names = {f"T-{n}" for n in range(2, 30)}
    await asyncio.gather(
        *((store, other)[n % 2].write(asked(f"T-{n}")) for n in range(2, 30))
    )
    for feed in feeds:
        seen: set[str] = set()
        while seen != names:
            seen |= await _next(feed)
        await feed.aclose()
    await other.close()


async def test_changes_of_another_process_are_seen(
    store: SqlStore, store_url: str
) -> None:
    await store.write(asked("T-1"))
    feed = store.follow()
    await _next(feed)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OTHER_PROCESS, store_url
    )
    last = 0
    while last < 6:
        assert await _next(feed) == {"T-1"}
        last = (await store.read(lambda tx: tx.standing("T-1"))).last_seq
    assert await process.wait() == 0
    await feed.aclose()


async def test_a_commit_that_lands_after_a_later_one_is_not_missed(
    postgres_store: SqlStore, postgres_url: str
) -> None:
    store = postgres_store
    for name in ("T-1", "T-2"):
        await store.write(asked(name))
    begun, go = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> None:
        says(ticket="T-1")(tx)
        tx.flush()
        begun.set()
        assert go.wait(10)

    late = asyncio.ensure_future(store.write(slow))
    assert await asyncio.to_thread(begun.wait, 10)
    feed = store.follow()
    assert await _next(feed) == frozenset()
    for _ in range(2):
        await store.write(says(ticket="T-2"))
        assert await _next(feed) == {"T-2"}
    go.set()
    await late
    assert await _next(feed) == {"T-1"}
    await feed.aclose()


async def test_rows_restored_from_another_server_are_not_told_again_and_again(
    postgres_store: SqlStore,
) -> None:
    store = postgres_store
    for name in ("T-1", "T-2"):
        await store.write(asked(name))
    ahead = sa.text("UPDATE tickets SET change = 1000000000000000, version = 7")
    await store.write(lambda tx: tx._connection.execute(ahead) and None)
    feed = store.follow()
    assert await _next(feed) == frozenset()
    for _ in range(2):
        await store.write(says(ticket="T-2"))
        assert await _next(feed) == {"T-2"}
    await feed.aclose()


async def test_rule_03_an_arrival_on_a_free_ticket_wakes_followers_at_once(
    postgres_store: SqlStore, postgres_url: str
) -> None:
    store = postgres_store
    await store.write(asked("T-1"))
    async with await psycopg.AsyncConnection.connect(
        postgres_url, autocommit=True
    ) as listener:
        await listener.execute("LISTEN handoff_changes")
        note = Note(text="nobody waits for it")
        await store.write(lambda tx: tx.append("T-1", operator("mira"), note))
        await store.write(says(ticket="T-1"))
        told = [n async for n in listener.notifies(timeout=5, stop_after=1)]
        rest = [n async for n in listener.notifies(timeout=0)]
    assert (len(told), len(rest)) == (1, 0)


async def test_an_arrival_wakes_who_holds_the_ticket_and_no_run_that_looks_anyway(
    postgres_store: SqlStore, postgres_url: str
) -> None:
    store = postgres_store
    await store.write(asked("T-1"))
    await store.write(asked("T-2"))
    mine = LockChanged(
        change="acquired", holder={"kind": "operator", "name": "mira"}, token=1
    )
    await store.write(lambda tx: tx.append("T-1", operator("mira"), mine))
    await store.write(taken("T-2"))
    async with await psycopg.AsyncConnection.connect(
        postgres_url, autocommit=True
    ) as listener:
        await listener.execute("LISTEN handoff_changes")
        await store.write(says(ticket="T-2"))
        await store.write(says(ticket="T-1"))
        told = [n async for n in listener.notifies(timeout=5, stop_after=1)]
        rest = [n async for n in listener.notifies(timeout=0)]
    assert (len(told), len(rest)) == (1, 0)


@pytest.mark.parametrize("replaced", [True, False])
async def test_a_file_that_was_replaced_or_removed_is_told_and_one_put_back_works(
    tmp_path: Path, *, replaced: bool
) -> None:
    path, aside = tmp_path / "s.db", tmp_path / "aside.db"
    store = SqlStore.open(f"sqlite:///{path}")
    await store.write(asked("T-1"))
    feed = store.follow()
    await _next(feed)
    path.rename(aside)
    if replaced:
        path.write_bytes(aside.read_bytes())
    with pytest.raises(StoreUnreachable, match="removed or replaced"):
        await _next(feed)
    with pytest.raises(StoreUnreachable, match="removed or replaced"):
        await store.write(says(ticket="T-1"))
    with pytest.raises(StoreUnreachable, match="removed or replaced"):
        await store.read(lambda tx: tx.now)
    with pytest.raises(StoreUnreachable, match="removed or replaced"):
        await _next(store.follow())
    assert path.exists() == replaced
    aside.replace(path)
    await store.write(says(ticket="T-1"))
    feed = store.follow()
    assert await _next(feed) == frozenset()
    await feed.aclose()
    await store.close()


async def test_a_lost_connection_is_told_and_following_again_works(
    postgres_store: SqlStore, postgres_url: str
) -> None:
    store = postgres_store
    await store.write(asked("T-1"))
    feed = store.follow()
    await _next(feed)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(StoreUnreachable, match="the store 127"):
        await _next(feed)
    await store.write(says(ticket="T-1"))
    feed = store.follow()
    assert await _next(feed) == frozenset()
    await feed.aclose()
