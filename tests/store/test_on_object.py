"""What was done on an order, or waits, is found whatever ticket it was for."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import sqlalchemy as sa

from core.decision import DecisionState
from core.ledger import ActionEvent, ActionState, OnObject
from core.ports import Transaction
from core.ticket import TicketId, agent
from store import decisions, ledger
from store.prepared import Prepared
from store.transaction import SqlStore
from tests.store.build import R1, a_decision, an_action, asked, taken

T2 = TicketId("T-2")


def acted(
    ticket: TicketId, action: str, *states: ActionState
) -> Callable[[Transaction], None]:
    """A ticket with one action on the order, which has come so far."""

    def transact(tx: Transaction) -> None:
        asked(ticket)(tx)
        hold = taken(ticket, f"R-{ticket}")(tx)
        tx.intend(hold, an_action(hold, action, "40.00", tx.now))
        for n, state in enumerate(states, 2):
            event = ActionEvent(n=n, at=tx.now, state=state, by=agent(R1))
            tx.record(hold, action, event)

    return transact


def proposed(
    ticket: TicketId, decision: str, **more: object
) -> Callable[[Transaction], None]:
    """A ticket with one proposal for the order."""

    def transact(tx: Transaction) -> None:
        asked(ticket)(tx)
        hold = taken(ticket, f"R-{ticket}")(tx)
        made = replace(a_decision(ticket, decision), **more)
        tx.propose(hold, made)

    return transact


def told(found: tuple[OnObject, ...]) -> list[tuple[str, str, str, Decimal | None]]:
    """The facts, short."""
    return [(one.ticket, one.id, one.state, one.amount) for one in found]


async def test_all_tickets_say_what_they_did_or_want_on_an_order(
    store: SqlStore,
) -> None:
    doubt = ActionState.IN_DOUBT
    await store.write(acted(TicketId("T-1"), "A-1", ActionState.DONE))
    await store.write(acted(T2, "A-2", doubt))
    await store.write(acted(TicketId("T-3"), "A-3", doubt, ActionState.NOT_RUN))
    await store.write(acted(TicketId("T-4"), "A-4"))
    await store.write(proposed(TicketId("T-5"), "D-5"))
    await store.write(proposed(TicketId("T-6"), "D-6", object="O-8"))
    await store.write(proposed(TicketId("T-7"), "D-7"))
    closed = replace(a_decision(TicketId("T-7"), "D-7"), state=DecisionState.REJECTED)
    await store.write(lambda tx: tx.save_decision(closed))

    found = await store.read(lambda tx: tx.on_object("O-7"))
    assert told(found) == [
        ("T-1", "A-1", "done", Decimal("40.00")),
        ("T-2", "A-2", "in_doubt", Decimal("40.00")),
        ("T-4", "A-4", "intended", Decimal("40.00")),
        ("T-5", "D-5", "pending", Decimal("118.00")),
    ]
    assert told(await store.read(lambda tx: tx.on_object("O-8"))) == [
        ("T-6", "D-6", "pending", Decimal("118.00"))
    ]
    assert await store.read(lambda tx: tx.on_object("O-9")) == ()


async def test_a_decision_that_is_begun_is_told_once(store: SqlStore) -> None:
    await store.write(proposed(T2, "D-2"))
    approved = replace(a_decision(T2, "D-2"), state=DecisionState.APPROVED)

    def begin(tx: Transaction) -> None:
        tx.save_decision(approved)
        hold = tx.lock_of(T2).hold
        action = an_action(hold, "A-2", "118.00", tx.now)
        tx.intend(hold, replace(action, decision="D-2"))

    await store.write(begin)
    found = await store.read(lambda tx: tx.on_object("O-7"))
    assert [(one.id, one.decision) for one in found] == [("A-2", "D-2")]


async def test_f80_a_damaged_proposal_is_on_its_order_all_the_same(
    store: SqlStore,
) -> None:
    await store.write(proposed(T2, "D-2"))
    spoil = sa.text("UPDATE decisions SET document = '{'")
    await store.write(lambda tx: tx._connection.execute(spoil) and None)
    found = await store.read(lambda tx: tx.on_object("O-7"))
    assert told(found) == [("T-2", "D-2", "pending", None)]


async def test_what_is_on_an_order_is_found_by_an_index(store: SqlStore) -> None:
    def plan(tx: Transaction, prepared: Prepared) -> str:
        connection = tx._connection
        sqlite = connection.dialect.name == "sqlite"
        if not sqlite:
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        asked_for = prepared._statement.params(object="O-7").compile(
            connection, compile_kwargs={"literal_binds": True}
        )
        explain = "EXPLAIN QUERY PLAN" if sqlite else "EXPLAIN"
        rows = connection.exec_driver_sql(f"{explain} {asked_for}").all()
        return " / ".join(str(row[-1]) for row in rows)

    done = await store.read(lambda tx: plan(tx, ledger._ON_OBJECT))
    waits = await store.read(lambda tx: plan(tx, decisions._OF_OBJECT))
    assert "ix_actions_object" in done
    assert "ix_decisions_object" in waits
    assert "SCAN" not in done + waits
    assert "Seq Scan" not in done + waits


async def test_an_override_to_another_order_is_on_that_one(store: SqlStore) -> None:
    named = {"object_in": "order_id"}
    await store.write(proposed(T2, "D-2", **named))
    overridden = replace(
        a_decision(T2, "D-2"),
        **named,
        state=DecisionState.OVERRIDDEN,
        final_input={"order_id": "O-9", "amount": "20.00"},
    )
    await store.write(lambda tx: tx.save_decision(overridden))
    assert await store.read(lambda tx: tx.on_object("O-7")) == ()
    (one,) = await store.read(lambda tx: tx.on_object("O-9"))
    assert (one.id, one.state) == ("D-2", "overridden")
    elsewhere = await store.write(
        lambda tx: tx.open_elsewhere(TicketId("T-1"), "refund_order", "O-9")
    )
    assert elsewhere == T2
