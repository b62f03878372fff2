"""A damaged record is told by the journal, named, and never guessed (f80)."""

from dataclasses import replace
from decimal import Decimal

import pytest
import sqlalchemy as sa

from core.journal import ActionChanged
from core.ports import Damaged, HouseAct, Transaction, Worker
from core.ticket import UNKNOWN_TIME, agent
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
    asked,
    taken,
)
from tests.store.damage import PENDING, T2, chart, damage

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


GONE = {
    "all that was sent": ("DELETE FROM bodies", "its tools, its prompt, what it sent"),
    "another message": (
        "UPDATE bodies SET content = (SELECT content FROM bodies b JOIN run_messages m"
        " USING (ticket_id, digest) WHERE m.position = 1) WHERE digest ="
        " (SELECT digest FROM run_messages WHERE position = 2)",
        "what it sent",
    ),
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
