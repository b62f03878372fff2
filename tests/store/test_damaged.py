"""A damaged row costs at most what it belongs to; what can be rebuilt is (f80)."""

from dataclasses import replace
from decimal import Decimal
from functools import reduce

import pytest
import sqlalchemy as sa

from core.history import History
from core.journal import ActionChanged, DecisionChanged, Escalated, Note, Quarantined
from core.lock import HolderKind
from core.ports import Damaged, HouseAct, QueueQuery, Transaction, Worker
from core.standing import Standing, fold
from core.ticket import UNKNOWN_TIME, TicketId, agent, operator
from store.transaction import SqlStore
from tests.store.build import (
    HOSTILE,
    R1,
    SOON,
    T1,
    a_decision,
    a_reply,
    a_run,
    a_turn,
    an_action,
    asked,
    says,
    taken,
)

T2 = TicketId("T-2")
PENDING = DecisionChanged(
    decision="D-1",
    state="pending",
    tool="refund_order",
    input={"order_id": "O-7", "note": HOSTILE},
    hash="ab" * 32,
    rule="amounts over 50.00 need a decision",
    call="call-1",
    amount="118.00",
    currency="EUR",
    expires_at=SOON.isoformat(),
)


def damage(*statements: str) -> object:
    """Changes rows as a damaged disk would."""

    def transact(tx: Transaction) -> None:
        for statement in statements:
            tx._connection.exec_driver_sql(statement)  # type: ignore[attr-defined]

    return transact


@pytest.fixture
async def desk(store: SqlStore) -> SqlStore:
    """Two tickets; on the first there is something of every kind."""

    def fill(tx: Transaction) -> None:
        asked(T1)(tx)
        asked(T2)(tx)
        hold = taken(T1)(tx)
        tx.propose(hold, a_decision())
        tx.append_as(hold, agent(R1), PENDING)
        tx.intend(hold, an_action(hold, "A-1", "20.00", tx.now))
        tx.enqueue(hold, a_reply("m-1", 3, "queued", tx.now))

    await store.write(fill)
    return store


async def chart(store: SqlStore, ticket: TicketId = T1) -> History:
    return await store.read(lambda tx: tx.history(ticket))


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


DECISIONS = {
    "no JSON": "document = '{'",
    "an empty document": "document = '{}'",
    "an amount that is none": "document = replace(document, '118.00', 'much')",
    "a time that is none": "document = replace(document, '2100-', 'late-')",
    "a verdict that is none": "state = 'perhaps'",
    "arguments that are none": "final_input = '{'",
}


@pytest.mark.parametrize("stored", DECISIONS.values(), ids=DECISIONS)
async def test_f80_a_damaged_decision_is_told_by_the_journal_and_takes_no_other_along(
    desk: SqlStore, stored: str
) -> None:
    def another(tx: Transaction) -> None:
        hold = taken(T2, "R-2")(tx)
        tx.propose(hold, a_decision(T2, "D-2"))

    await desk.write(another)
    await desk.write(damage(f"UPDATE decisions SET {stored} WHERE id = 'D-1'"))
    listed = await desk.read(lambda tx: tx.decisions(open_only=False))
    one = await desk.read(lambda tx: tx.decision("D-1"))
    elsewhere = await desk.read(lambda tx: tx.open_elsewhere(T1, "refund_order", "O-7"))
    lost = await desk.read(lambda tx: tx.damaged())

    assert [(d.id, d.unreadable) for d in listed] == [
        ("D-1", "the record"),
        ("D-2", None),
    ]
    assert one == listed[0] == (await chart(desk)).decision("D-1")
    assert one is not None
    assert (one.tool, one.input, one.call) == (PENDING.tool, PENDING.input, "call-1")
    assert (str(one.amount), one.expires_at, one.state) == ("118.00", SOON, "pending")
    assert elsewhere == T2
    assert lost == (Damaged(ticket=T1, kind="decision", name="D-1"),)


LEDGER = {
    "arguments": ("actions SET input = '{'", "its record"),
    "an amount": ("actions SET amount = 'much'", "its record"),
    "an actor": ("actions SET actor_kind = 'ghost'", "its record"),
    "a result": ("action_events SET result = '[1]'", "an event"),
    "a state": ("action_events SET state = 'gone'", "what became of it"),
}


@pytest.mark.parametrize(("stored", "what"), LEDGER.values(), ids=LEDGER)
async def test_f80_a_damaged_ledger_row_says_so_and_is_never_guessed(
    desk: SqlStore, stored: str, what: str
) -> None:
    await desk.write(damage(f"UPDATE {stored}"))
    read = await chart(desk)
    [action] = read.actions
    [lost] = await desk.read(lambda tx: tx.damaged())
    spent = await desk.read(lambda tx: tx.spent_today("refund_order"))

    assert action.unreadable == what
    assert action.open
    assert lost.ticket == T1
    assert spent == {"EUR": Decimal("Infinity" if "amount" in stored else 20)}
    assert await desk.read(lambda tx: tx.open_elsewhere(T2, "refund_order", "O-7"))


async def test_f80_an_amount_is_told_by_the_journal_or_exceeds_every_limit(
    desk: SqlStore,
) -> None:
    await desk.write(damage("UPDATE actions SET amount = 'much'"))
    await desk.read(lambda tx: tx.moved_since(UNKNOWN_TIME))
    spent = await desk.read(lambda tx: tx.spent_today("refund_order"))
    assert spent == {"EUR": Decimal("Infinity")}
    told = ActionChanged(
        action="A-1", state="intended", tool="refund_order", amount="20.00"
    )
    await desk.write(lambda tx: tx.append(T1, agent(R1), told) and None)
    spent = await desk.read(lambda tx: tx.spent_today("refund_order"))
    moved = await desk.read(lambda tx: tx.moved_since(UNKNOWN_TIME))
    assert spent == moved["refund_order"] == {"EUR": Decimal("20.00")}


async def test_f80_a_damaged_reply_is_named_and_takes_no_other_along(
    desk: SqlStore,
) -> None:
    def another(tx: Transaction) -> None:
        hold = taken(T2, "R-2")(tx)
        tx.enqueue(hold, replace(a_reply("m-2", 1, "queued", tx.now), ticket=T2))

    await desk.write(another)
    await desk.write(
        damage("UPDATE outbox SET author_kind = 'ghost' WHERE message_id = 'm-1'")
    )
    for listed in (
        await desk.read(lambda tx: tx.outbox()),
        await desk.read(lambda tx: tx.deliverable(10)),
    ):
        assert {r.message_id: r.unreadable for r in listed} == {
            "m-1": "its record",
            "m-2": None,
        }
    [reply] = (await chart(desk)).outbox
    assert reply.text == HOSTILE


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


GONE = {
    "all that was sent": ("DELETE FROM bodies", "its tools, its prompt, what it sent"),
    "a message": ("DELETE FROM run_messages WHERE position = 1", "what it sent"),
    "a time": ("UPDATE runs SET started_at = 'x'", "when it ran"),
    "a digest": ("UPDATE runs SET system_digest = 'x'", "what it sent as system"),
}


@pytest.mark.parametrize(("statement", "what"), GONE.values(), ids=GONE)
async def test_f80_a_run_whose_record_lacks_a_part_says_which(
    sqlite_store: SqlStore, statement: str, what: str
) -> None:
    store = sqlite_store

    def fill(tx: Transaction) -> None:
        asked(T1)(tx)
        hold = taken(T1)(tx)
        tx.start_run(hold, a_run(hold))
        tx.store_request(hold, R1, a_turn(1, 3), [b'{"a":1}', b'{"b":2}', b'{"c":3}'])

    await store.write(fill)
    await store.write(damage(statement))
    [read] = (await chart(store)).runs
    record = await store.read(lambda tx: tx.run_record(R1))
    assert record is not None
    assert record.run.unreadable is not None
    assert record.run.unreadable.startswith(what)
    assert len(record.messages) == 3
    assert read.id == R1


async def test_f80_a_damaged_rule_role_or_act_takes_no_other_along(
    desk: SqlStore,
) -> None:
    def fill(tx: Transaction) -> None:
        act = HouseAct(by="mira", act="paused", whom=None, why="x", at=tx.now)
        tx.keep_act(act)
        connection = tx._connection  # type: ignore[attr-defined]
        for name in ("ana", "ben"):
            statement = "INSERT INTO operators VALUES (:name, 'ghost', false)"
            connection.execute(sa.text(statement), {"name": name})
        statement = "INSERT INTO rules VALUES ('v1', :at, '[')"
        at = tx.now.isoformat() if connection.dialect.name == "sqlite" else tx.now
        connection.execute(sa.text(statement), {"at": at})

    await desk.write(fill)
    people = await desk.read(lambda tx: tx.operators())
    [rules] = await desk.read(lambda tx: tx.rules())
    lost = await desk.read(lambda tx: tx.damaged())
    assert [(o.name, o.disabled) for o in people] == [("ana", True), ("ben", True)]
    assert not rules.intact
    assert [d.kind for d in lost] == ["operator", "operator", "rules"]


async def test_f80_a_worker_whose_row_is_damaged_lives_and_says_its_channels_anew(
    store: SqlStore,
) -> None:
    def alive(tx: Transaction) -> None:
        w = Worker(id="W", host="h", pid=1, started_at=SOON, seen_at=SOON, alive=True)
        tx.report_alive(replace(w, channels=("mail",)))

    await store.write(alive)
    await store.write(damage("UPDATE workers SET channels = '[5]'"))
    [worker] = await store.read(lambda tx: tx.workers())
    assert (worker.alive, worker.channels) == (True, ())
    await store.write(alive)
    [worker] = await store.read(lambda tx: tx.workers())
    assert worker.channels == ("mail",)


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
