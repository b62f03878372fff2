"""A damaged ticket costs at most itself, and is rebuilt from its journal (f80)."""

from functools import reduce

import pytest

from core.journal import Escalated, Note, Quarantined
from core.lock import HolderKind
from core.ports import Damaged, HouseAct, QueueQuery, Transaction
from core.standing import Standing, fold
from core.ticket import UNKNOWN_TIME, agent, operator
from store.transaction import SqlStore
from tests.store.build import (
    HOSTILE,
    R1,
    SOON,
    T1,
    a_decision,
    a_reply,
    an_action,
    asked,
    says,
    taken,
)
from tests.store.damage import T2, chart, damage

STANDINGS = {
    "nothing": "''",
    "no JSON": "'gone'",
    "JSON of another shape": "'[]'",
    "JSON's null": "'null'",
    "cut in half": "substr(standing, 1, length(standing) / 2)",
    "a number that is text": """'{"last_seq":"3"}'""",
    "a list that is a number": """'{"last_seq":3,"unanswered":5}'""",
    "a list of something else": """'{"last_seq":3,"unanswered":[[1,2]]}'""",
    "a decision of another length": """'{"last_seq":3,"pending":{"D-1":["a"]}}'""",
    "a time that is none": """'{"last_seq":3,"snoozed_until":"soon"}'""",
    "an identity that is none": """'{"last_seq":3,"identity":7}'""",
    "a state that is none": """'{"last_seq":3,"task_state":[]}'""",
    "empty": "'{}'",
}


@pytest.mark.parametrize("stored", STANDINGS.values(), ids=STANDINGS)
async def test_f80_a_damaged_standing_is_read_from_the_journal_and_healed(
    desk: SqlStore, stored: str
) -> None:
    before = await chart(desk)
    await desk.write(damage(f"UPDATE tickets SET standing = {stored} WHERE id = 'T-1'"))
    listed = await desk.read(lambda tx: tx.queue(QueueQuery()))
    named = await desk.read(lambda tx: tx.queue_rows([T1]))
    read = await chart(desk)
    lost = await desk.read(lambda tx: tx.damaged())

    assert read.mended
    assert read.standing == before.standing
    assert read.standing == reduce(fold, read.journal, Standing())
    assert {r.ticket: r.mended for r in listed} == {T1: True, T2: False}
    assert [r.standing for r in named] == [before.standing]
    assert named[0].status == "agent"
    assert lost == (Damaged(ticket=T1, kind="ticket", name="T-1"),)

    await desk.write(says("and now?"))
    healed = await chart(desk)
    assert not healed.mended
    assert healed.standing == reduce(fold, healed.journal, Standing())
    assert await desk.read(lambda tx: tx.damaged()) == ()


async def test_f80_a_standing_that_is_not_there_is_read_from_the_journal(
    postgres_store: SqlStore,
) -> None:
    store = postgres_store
    await store.write(asked())
    before = await chart(store)
    loose = "ALTER TABLE tickets ALTER COLUMN standing DROP NOT NULL"
    await store.write(damage(loose, "UPDATE tickets SET standing = NULL"))
    assert (await chart(store)).standing == before.standing
    [row] = await store.read(lambda tx: tx.queue(QueueQuery()))
    assert row.standing == before.standing


async def test_f80_bytes_and_a_nul_in_a_standing_are_read_from_the_journal(
    sqlite_store: SqlStore,
) -> None:
    store = sqlite_store
    await store.write(asked())
    before = await chart(store)
    for stored in ("x'7b00ff7d'", """'{"last' || char(0) || '_seq":1}'"""):
        await store.write(damage(f"UPDATE tickets SET standing = {stored}"))
        assert (await chart(store)).standing == before.standing


async def test_f80_bytes_that_are_no_text_cost_no_more_than_themselves(
    sqlite_store: SqlStore,
) -> None:
    store = sqlite_store
    await store.write(asked(T1))
    await store.write(asked(T2))
    before = await chart(store)
    for statement in (
        "UPDATE tickets SET standing = CAST(x'7bff' AS TEXT) WHERE id = 'T-1'",
        "UPDATE tickets SET subject = CAST(x'61ff62' AS TEXT) WHERE id = 'T-1'",
        "UPDATE journal SET text = CAST(x'ff62' AS TEXT) WHERE ticket_id = 'T-1'",
    ):
        await store.write(damage(statement))
    read = await chart(store)
    assert read.standing == before.standing
    assert read.ticket.subject == "a\udcffb"
    assert (await chart(store, T2)).ticket.subject == "Where is it?"
    assert len(await store.read(lambda tx: tx.queue(QueueQuery()))) == 2
    await store.write(says("and now?"))
    assert not (await chart(store)).mended
    assert await store.read(lambda tx: tx.damaged()) == ()


async def test_f80_a_number_that_is_none_is_told_by_the_journal(
    sqlite_store: SqlStore,
) -> None:
    store = sqlite_store
    await store.write(asked())
    hold = await store.write(taken())
    await store.write(
        damage(
            "UPDATE tickets SET version = 'x', status = x'00ff'",
            "UPDATE locks SET token = 'x'",
        )
    )
    assert (await chart(store)).lock.hold == hold
    assert (await store.read(lambda tx: tx.counts("mira")))["all"] == 1
    await store.write(says())
    await store.write(lambda tx: tx.append_as(hold, agent(R1), Note(text="mine")))
    healed = await chart(store)
    assert not healed.mended


async def test_f80_a_damaged_entry_beside_a_damaged_standing_is_still_named(
    desk: SqlStore,
) -> None:
    await desk.write(
        damage(
            "UPDATE tickets SET standing = '['",
            "UPDATE journal SET body = '[' WHERE ticket_id = 'T-1' AND seq = 1",
        )
    )
    read = await chart(desk)
    assert isinstance(read.journal[0].body, Quarantined)
    assert read.standing.last_seq == len(read.journal)
    assert read.standing.run == R1


async def test_f80_a_holder_of_no_known_kind_keeps_the_agent_out(
    desk: SqlStore,
) -> None:
    await desk.write(damage("UPDATE locks SET holder_kind = 'ghost' WHERE token > 0"))
    read = await chart(desk)
    assert read.lock.holder is not None
    assert read.lock.holder.kind is HolderKind.OPERATOR
    assert not read.lock.expired(SOON)
    assert await desk.read(lambda tx: tx.damaged()) != ()
    await desk.write(says("hello?"))
    assert await desk.read(lambda tx: [d.kind for d in tx.damaged()]) == ["lock"]


async def test_f80_a_time_that_can_t_be_read_costs_only_itself(
    sqlite_store: SqlStore,
) -> None:
    store = sqlite_store

    def fill(tx: Transaction) -> None:
        asked(T1)(tx)
        asked(T2)(tx)
        hold = taken(T1)(tx)
        tx.propose(hold, a_decision())
        tx.intend(hold, an_action(hold, "A-1", "20.00", tx.now))
        tx.enqueue(hold, a_reply("m-1", 3, "queued", tx.now))
        tx.keep_act(HouseAct(by="m", act="paused", whom=None, why="x", at=tx.now))

    await store.write(fill)
    await store.write(
        damage(
            "UPDATE tickets SET created_at = 'x', updated_at = 'x' WHERE id = 'T-1'",
            "UPDATE locks SET since = 'x', expires_at = 'x'",
            "UPDATE journal SET at = 'x' WHERE ticket_id = 'T-1' AND seq = 1",
            "UPDATE decisions SET proposed_at = 'x'",
            "UPDATE action_events SET at = 'x'",
            "UPDATE outbox SET created_at = 'x'",
            "UPDATE house_acts SET at = 'x'",
        )
    )
    read = await chart(store)
    assert read.ticket.created_at == UNKNOWN_TIME
    assert read.lock.expired(read.now)
    assert isinstance(read.journal[0].body, Quarantined)
    assert read.decisions[0].unreadable == "the record"
    assert read.actions[0].unreadable == "an event"
    assert read.outbox[0].unreadable == "its record"
    assert read.stopped == "m: x"
    assert len(await store.read(lambda tx: tx.queue(QueueQuery()))) == 2
    kinds = {d.kind for d in await store.read(lambda tx: tx.damaged())}
    assert kinds == {"ticket", "lock", "entry", "decision", "event", "reply", "act"}


async def test_a_sound_store_has_no_damage_and_no_row_is_stored_anew(
    desk: SqlStore,
) -> None:
    def act(tx: Transaction) -> None:
        tx.append(T1, operator("mira"), Note(text=HOSTILE))
        tx.append(T2, operator("mira"), Escalated(reason="r", tried="t", summary="s"))

    await desk.write(act)
    assert await desk.read(lambda tx: tx.damaged()) == ()
    assert not (await chart(desk)).mended


async def test_f80_a_lock_and_an_entry_that_are_gone_are_named(desk: SqlStore) -> None:
    await desk.write(says("and now?"))
    await desk.write(damage("DELETE FROM journal WHERE ticket_id = 'T-1' AND seq = 1"))
    await desk.write(damage("DELETE FROM locks WHERE ticket_id = 'T-2'"))

    lost = await desk.read(lambda tx: tx.damaged())

    assert lost == (
        Damaged(ticket=T2, kind="lock", name="of T-2, which is missing"),
        Damaged(ticket=T1, kind="journal", name="with a missing entry"),
    )
