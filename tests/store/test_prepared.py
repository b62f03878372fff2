"""Statements made once, changes that wait to be sent together, packed bytes."""

import os
import zlib
from dataclasses import replace

import psycopg
import pytest
import sqlalchemy as sa

from core.ports import Transaction
from store.columns import packed, unpacked
from store.gathering import send
from store.transaction import SqlStore
from tests.store.build import T1, asked, opened, says


async def test_a_transaction_s_changes_are_one_statement_and_what_reads_sees_them(
    postgres_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = postgres_store
    await store.write(asked())
    sent: list[str] = []
    run = psycopg.Connection.execute

    def noted(self, query, *rest, **named):
        sent.append(str(query))
        return run(self, query, *rest, **named)

    monkeypatch.setattr(psycopg.Connection, "execute", noted)

    def act(tx: Transaction) -> None:
        tx.save_lock(replace(tx.lock_of(T1), wanted_by="mira", wanted_since=tx.now))
        says("x")(tx)

    await store.write(act)
    assert len(sent) == 2
    assert [sent[1].count(f"{what} ") for what in ("INSERT INTO", "UPDATE")] == [1, 2]
    sent.clear()

    def reads_between(tx: Transaction) -> int:
        tx.save_lock(replace(tx.lock_of(T1), wanted_by="ben"))
        found = tx._connection.execute(sa.text("SELECT wanted_by FROM locks"))
        assert found.scalar_one() == "ben"
        return len(sent)

    assert await store.write(reads_between) == 2


async def test_two_changes_of_one_row_in_a_transaction_keep_their_order(
    store: SqlStore,
) -> None:
    await store.write(asked())

    def act(tx: Transaction) -> None:
        for who in ("ana", "ben", "cy"):
            wanted = replace(tx.lock_of(T1), wanted_by=who, wanted_since=tx.now)
            tx.save_lock(wanted)

    await store.write(act)
    assert (await store.read(lambda tx: tx.lock_of(T1))).wanted_by == "cy"


async def test_a_change_that_fails_when_it_is_sent_undoes_all_and_leaves_nothing_behind(
    store: SqlStore,
) -> None:
    await store.write(asked())

    def again(tx: Transaction) -> None:
        says("never")(tx)
        opened()(tx)

    def stops(tx: Transaction) -> None:
        opened("T-2")(tx)
        raise ZeroDivisionError

    with pytest.raises(sa.exc.IntegrityError):
        await store.write(again)
    with pytest.raises(ZeroDivisionError):
        await store.write(stops)
    assert await store.write(says("after")) == 2
    await store.write(lambda tx: send(tx._connection))
    assert not await store.read(lambda tx: tx.has_ticket("T-2"))


def test_packed_bytes_come_back_and_never_grow_by_more_than_their_mark() -> None:
    for content in (b"", b"\x00", b"\x01", b"{}", b"ab" * 500, os.urandom(900)):
        assert unpacked(packed(content)) == content
        assert len(packed(content)) <= len(content) + 1
    with pytest.raises(zlib.error):
        unpacked(b'{"plain": true}')
