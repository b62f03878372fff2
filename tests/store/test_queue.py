from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from core.decision import Operator, Role
from core.history import Draft
from core.journal import (
    ActionChanged,
    Body,
    DecisionChanged,
    Delivery,
    Escalated,
    IdentityChanged,
    LockChanged,
    Message,
    RunChanged,
)
from core.ports import QueueQuery, Transaction, Worker
from core.ticket import Origin, Ticket, agent, buyer, operator, system
from store import queue
from store.transaction import SqlStore
from tests.store.build import R1, SOON, T1, asked, opened, said, says, taken

OUT = Message(direction="out", text="we looked", channel="mail", covers=99)
MIRA = {"kind": "operator", "name": "mira"}


def _pending(expires_at: datetime) -> DecisionChanged:
    return DecisionChanged(
        decision="D-1",
        state="pending",
        tool="refund_order",
        input={},
        hash="h",
        rule="r",
        expires_at=expires_at.isoformat(),
    )


DESK: dict[str, tuple[Body, ...]] = {
    "T-rest": (said(), OUT),
    "T-over": (
        said(),
        OUT,
        LockChanged(change="released", holder=MIRA, token=1, to="resolved"),
    ),
    "T-escalated": (said(), OUT, Escalated(reason="r", tried="t", summary="s")),
    "T-late": (said(), OUT, _pending(SOON)),
    "T-soon": (said(), OUT, _pending(SOON - timedelta(hours=1))),
    "T-waits": (said(),),
    "T-waits-too": (said(),),
    "T-run": (said(), RunChanged(run="R-1", change="started")),
    "T-held": (said(), LockChanged(change="acquired", holder=MIRA, token=1)),
    "T-doubt": (
        said(),
        OUT,
        ActionChanged(action="A-1", state="in_doubt", tool="refund_order"),
    ),
    "T-undelivered": (said(), OUT, Delivery(message_seq=2, state="in_doubt")),
}


@pytest.fixture
async def desk(store: SqlStore) -> SqlStore:
    for ticket, bodies in DESK.items():

        def transact(tx: Transaction, ticket=ticket, bodies=bodies) -> None:
            opened(ticket)(tx)
            for body in bodies:
                tx.append(ticket, agent(R1), body)

        await store.write(transact)
        await _clock_goes_on(store)
    return store


async def _clock_goes_on(store: SqlStore) -> None:
    """No two tickets are of the same instant, however quick the store is."""
    now = await store.read(lambda tx: tx.now)
    while await store.read(lambda tx: tx.now) <= now:
        pass


async def _listed(store: SqlStore, **query: object) -> list[str]:
    rows = await store.read(lambda tx: tx.queue(QueueQuery(**query)))
    return [row.ticket for row in rows]


async def test_the_queue_is_ordered_by_harm_and_resolved_comes_last(
    desk: SqlStore,
) -> None:
    assert await _listed(desk) == [
        "T-doubt",
        "T-waits",
        "T-waits-too",
        "T-run",
        "T-held",
        "T-soon",
        "T-late",
        "T-escalated",
        "T-undelivered",
        "T-rest",
        "T-over",
    ]
    assert await _listed(desk, offset=2, limit=2) == ["T-waits-too", "T-run"]


async def test_who_insists_does_not_fall_back_in_the_queue(desk: SqlStore) -> None:
    await desk.write(opened("T-newest"))
    await desk.write(says(ticket="T-newest"))
    await _clock_goes_on(desk)
    for ticket in ("T-waits", "T-escalated"):
        await desk.write(says("Hello?", ticket))
    listed = await _listed(desk)
    assert listed[1:5] == ["T-escalated", "T-waits", "T-waits-too", "T-run"]
    assert listed.index("T-run") < listed.index("T-newest")


@pytest.mark.parametrize(
    ("view", "tickets"),
    [
        ("human", {"T-doubt", "T-escalated", "T-undelivered"}),
        ("approvals", {"T-late", "T-soon"}),
        ("mine", {"T-held"}),
        ("agent", {"T-waits", "T-waits-too", "T-run"}),
        ("waiting", {"T-rest", "T-undelivered"}),
        ("resolved", {"T-over"}),
        ("all", set(DESK)),
    ],
)
async def test_each_view_holds_what_it_says_and_is_counted_so(
    desk: SqlStore, view: str, tickets: set[str]
) -> None:
    listed = await _listed(desk, view=view, operator="mira")
    counted = await desk.read(lambda tx: tx.counts("mira"))
    assert set(listed) == tickets
    assert counted[view] == len(tickets)


async def test_every_overview_is_found_by_an_index(desk: SqlStore) -> None:
    def plans(tx: Transaction) -> dict[str, str]:
        connection = tx._connection
        sqlite = connection.dialect.name == "sqlite"
        explain = "EXPLAIN QUERY PLAN " if sqlite else "EXPLAIN "
        if not sqlite:
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            connection.exec_driver_sql("SET LOCAL enable_sort = off")
        told: dict[str, str] = {}
        seen: list[tuple[str, object]] = []

        def note(_c, _cursor, statement, parameters, *_rest) -> None:
            seen.append((statement, parameters))

        for view in ("human", "approvals", "agent", "waiting", "resolved", "all"):
            sa.event.listen(connection, "before_cursor_execute", note)
            queue.rows(connection, QueueQuery(view=view), tx._at_hand.rebuilt)
            sa.event.remove(connection, "before_cursor_execute", note)
        sa.event.listen(connection, "before_cursor_execute", note)
        queue.due(connection, 10)
        sa.event.remove(connection, "before_cursor_execute", note)
        for statement, parameters in seen:
            rows = connection.exec_driver_sql(explain + statement, parameters).all()
            told[statement] = " / ".join(str(row[-1]) for row in rows)
        return told

    for plan in (await desk.read(plans)).values():
        assert "ix_tickets_" in plan
        assert "TEMP B-TREE" not in plan
        assert "Sort" not in plan.replace("Incremental Sort", "")


async def test_due_are_free_tickets_longest_waiting_first(desk: SqlStore) -> None:
    assert await desk.read(lambda tx: tx.due(10)) == ("T-waits", "T-waits-too")
    assert await desk.read(lambda tx: tx.due(1)) == ("T-waits",)


async def test_a_ticket_of_a_dead_run_is_due_and_of_a_living_one_is_not(
    store: SqlStore,
) -> None:
    await store.write(asked())
    await store.write(taken())
    assert await store.read(lambda tx: tx.due(10)) == ()
    assert await store.read(lambda tx: tx.busy())

    def dies(tx: Transaction) -> None:
        tx.save_lock(replace(tx.lock_of(T1), expires_at=tx.now))

    await store.write(dies)
    assert await store.read(lambda tx: tx.due(10)) == (T1,)
    assert await store.read(lambda tx: tx.busy())


async def test_an_imported_ticket_is_never_due(store: SqlStore) -> None:
    def transact(tx: Transaction) -> None:
        ticket = Ticket(
            id=T1,
            subject="old",
            channel="mail",
            claim="a@b",
            origin=Origin.IMPORTED,
            created_at=tx.now,
        )
        tx.open_ticket(ticket)
        says()(tx)

    await store.write(transact)
    assert await store.read(lambda tx: tx.due(10)) == ()
    assert await _listed(store, view="agent") == []


async def test_a_search_on_sqlite_knows_all_capitals(sqlite_store: SqlStore) -> None:
    await sqlite_store.write(asked("T-1", "ÄRGER mit Öl"))
    assert await _listed(sqlite_store, search="ärger öl") == ["T-1"]


async def test_rule_12_a_search_means_every_character_itself(store: SqlStore) -> None:
    await store.write(asked("T-1", "Only 100% wool_x please"))
    await store.write(asked("T-2", "Only 100 wool or x direction"))
    await store.write(opened("T-3", subject="direction", claim="bo'b\\@x.org"))
    await store.write(asked("T-4", "nul\x00byte \ud800 Grüße"))

    def verified(tx: Transaction) -> None:
        body = IdentityChanged(
            verified=True, customer="C-1", name="Zoe Ray", method="m", evidence="e"
        )
        tx.append("T-3", operator("mira"), body)

    await store.write(verified)
    for words, found in (
        ("100%", {"T-1"}),
        ("wool_x", {"T-1"}),
        ("ONLY wool", {"T-1", "T-2"}),
        ("direction", {"T-2", "T-3"}),
        ("text", set()),
        ("bo'b\\@", {"T-3"}),
        ("zoe", {"T-3"}),
        ("t-4", {"T-4"}),
        ("nul\x00byte", {"T-4"}),
        ("\ud800", {"T-4"}),
        ("Grüße", {"T-4"}),
        ("grüße", {"T-4"}),
        ("'; DROP TABLE tickets; --", set()),
        ("   ", {"T-1", "T-2", "T-3", "T-4"}),
    ):
        assert set(await _listed(store, search=words)) == found, words


async def test_the_buyer_is_the_verified_name_else_the_claim(store: SqlStore) -> None:
    await store.write(asked())
    rows = await store.read(lambda tx: tx.queue_rows([T1, "T-404"]))
    assert [r.buyer for r in rows] == ["ann@example.org"]
    body = IdentityChanged(
        verified=True, customer="C-1", name="Zoe", method="m", evidence="e"
    )
    await store.write(lambda tx: tx.append(T1, system("act"), body))
    after = await store.read(lambda tx: tx.queue_rows([T1]))
    assert after[0].buyer == "Zoe"
    assert after[0].version > rows[0].version


async def test_operators_workers_and_drafts_come_and_go(store: SqlStore) -> None:
    sam = Operator(name="sam", role=Role.AGENT)

    def transact(tx: Transaction) -> None:
        asked()(tx)
        tx.save_operator(sam)
        tx.save_operator(Operator(name="ann", role=Role.SUPERVISOR))
        for name in ("w-1", "w-2"):
            tx.report_alive(
                Worker(
                    id=name,
                    host="h",
                    pid=7,
                    started_at=SOON,
                    seen_at=SOON,
                    alive=True,
                )
            )
        tx.retire("w-2")
        draft = Draft(
            ticket=T1,
            operator="sam",
            mode="reply",
            text="half",
            written_at_seq=1,
            updated_at=tx.now,
        )
        tx.save_draft(draft)
        tx.save_draft(replace(draft, mode="note"))
        tx.save_draft(replace(draft, text="half a"))
        tx.save_draft(replace(draft, mode="note", text=""))

    await store.write(transact)
    await store.write(lambda tx: tx.save_operator(replace(sam, disabled=True)))
    people, workers, drafts, login = await store.read(
        lambda tx: (
            tx.operators(),
            tx.workers(),
            tx.history(T1).drafts,
            tx.login(),
        )
    )
    assert [(p.name, p.disabled) for p in people] == [("ann", False), ("sam", True)]
    assert [(w.id, w.alive) for w in workers] == [("w-1", True)]
    assert [(d.mode, d.text) for d in drafts] == [("reply", "half a")]
    assert login in {None, "postgres"}


async def test_who_is_on_a_ticket_is_kept_lower_cased(store: SqlStore) -> None:
    def transact(tx: Transaction) -> None:
        asked()(tx)
        tx.append(T1, buyer("x"), said())
        tx.add_participants(T1, ["Ann@Example.org", "bob@example.org"])
        tx.add_participants(T1, ["ann@example.org"])

    await store.write(transact)
    people = await store.read(lambda tx: tx.participants(T1))
    assert people == {"ann@example.org", "bob@example.org"}


def _approved(decision: str = "D-1") -> DecisionChanged:
    return replace(_pending(SOON), decision=decision, state="approved")


APPROVALS: dict[str, tuple[Body, ...]] = {
    "T-agent": (said(), OUT, _pending(SOON), _approved()),
    "T-held": (
        said(),
        OUT,
        _pending(SOON),
        _approved(),
        LockChanged(change="acquired", holder=MIRA, token=1),
    ),
    "T-escalated": (
        said(),
        OUT,
        _pending(SOON),
        _approved(),
        Escalated(reason="r", tried="t", summary="s"),
    ),
    "T-pending": (said(), OUT, _pending(SOON)),
    "T-done": (said(), OUT, replace(_pending(SOON), state="executed")),
}


async def test_approvals_list_what_is_still_to_be_carried_out_after_what_is_asked(
    store: SqlStore,
) -> None:
    for ticket, bodies in APPROVALS.items():

        def transact(tx: Transaction, ticket=ticket, bodies=bodies) -> None:
            opened(ticket)(tx)
            for body in bodies:
                tx.append(ticket, agent(R1), body)

        await store.write(transact)
    listed = await _listed(store, view="approvals")
    assert listed[0] == "T-pending"
    assert set(listed[1:3]) == {"T-held", "T-escalated"}
    assert listed[3:] == ["T-agent"]
    counted = await store.read(lambda tx: tx.counts("mira"))
    assert (counted["approvals"], counted["approved"]) == (3, 1)
