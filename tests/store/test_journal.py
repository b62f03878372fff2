import asyncio
import json
from functools import reduce
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UnknownTicket
from core.history import Draft
from core.journal import (
    ActionChanged,
    Body,
    Compacted,
    DecisionChanged,
    Delivery,
    Entry,
    Erased,
    Escalated,
    IdentityChanged,
    LockChanged,
    Message,
    Note,
    Refused,
    RunChanged,
    StateAmended,
    Thinking,
    ToolCalled,
    ToolReturned,
    Triaged,
)
from core.ports import Transaction
from core.standing import Standing, fold
from core.ticket import TicketId, agent, buyer, operator
from store import codec, journal
from store.columns import dumps
from store.transaction import SqlStore
from tests.store.build import (
    HOSTILE,
    R1,
    SOON,
    T1,
    a_decision,
    a_reply,
    asked,
    opened,
    said,
    says,
    taken,
)

PERSON = {"kind": "operator", "name": "mira"}
RUN = {"kind": "run", "name": "R-1"}


def _decided(state: str, decision: str = "D-1") -> DecisionChanged:
    return DecisionChanged(
        decision=decision,
        state=state,
        tool="refund_order",
        input={"amount": 1.5, "deep": [None, True, {"x": HOSTILE}]},
        hash="ab",
        rule="over 50",
        amount="118.00",
        currency="EUR",
        expires_at=SOON.isoformat(),
    )


BODIES: tuple[Body, ...] = (
    said(HOSTILE),
    Message(direction="out", text="we look", channel="mail", covers=1),
    Message(
        direction="in",
        text="",
        channel="mail",
        external_id="<1@x>",
        attachments=({"name": HOSTILE, "type": "image/png", "size": 3},),
        stranger=True,
    ),
    Note(text=HOSTILE, for_agent=True),
    ToolCalled(id="c", name="find", input={"z": 1, "a": [1.0, 2e300, -0.0, 10**30]}),
    ToolReturned(id="c", content=[{"type": "text", "text": HOSTILE}], is_error=True),
    Thinking(block={"type": "thinking", "thinking": "…", "signature": "x=="}),
    Triaged(category="delivery", priority="high"),
    StateAmended(patch={"order": "O-7", "steps": [1, {"b": None}]}),
    StateAmended(patch={"order": None}),
    IdentityChanged(
        verified=True, customer="C-4", name=HOSTILE, method="m", evidence="e"
    ),
    IdentityChanged(verified=False, customer=None, name=None, method="m", evidence="e"),
    _decided("pending"),
    _decided("pending", "D-2"),
    _decided("approved"),
    _decided("executed"),
    ActionChanged(action="A-1", state="in_doubt", tool="refund_order"),
    ActionChanged(action="A-1", state="done", tool="refund_order"),
    LockChanged(change="acquired", holder=RUN, token=1),
    LockChanged(change="wanted", holder=PERSON, token=1),
    LockChanged(change="handed_over", holder=PERSON, token=2),
    LockChanged(change="released", holder=PERSON, token=2, to="agent", carry_on=True),
    LockChanged(change="released", holder=PERSON, token=2, to="resolved"),
    RunChanged(run="R-1", change="started"),
    RunChanged(run="R-1", change="turn", turn=2),
    RunChanged(run="R-1", change="ended", stop="answered", seen=3),
    Escalated(reason="r", tried="t", summary=HOSTILE),
    Compacted(upto=3, text="short"),
    Delivery(message_seq=2, state="withheld"),
    Delivery(message_seq=2, state="failed", why="no"),
    Refused(what="reply", rule="mira holds it"),
    Erased(what="texts", receipt="E-1"),
)


async def test_rule_14_the_stored_standing_is_the_fold_of_the_stored_journal(
    store: SqlStore,
) -> None:
    await store.write(opened())
    for body in BODIES:
        await store.write(lambda tx, b=body: tx.append(T1, buyer(HOSTILE), b))
        history = await store.read(lambda tx: tx.history(T1))
        assert history.standing == reduce(fold, history.journal, Standing())
    assert tuple(e.body for e in history.journal) == BODIES
    assert {e.actor for e in history.journal} == {buyer(HOSTILE)}
    assert [e.seq for e in history.journal] == list(range(1, len(BODIES) + 1))


@given(st.lists(st.sampled_from(BODIES), max_size=25))
@settings(max_examples=60, deadline=None)
def test_any_standing_comes_back_as_it_was(bodies: list[Body]) -> None:
    standing = Standing()
    for seq, body in enumerate(bodies, 1):
        entry = Entry(seq=seq, at=SOON, actor=operator("mira"), body=body)
        standing = fold(standing, entry)
    text = dumps(codec.standing_to_json(standing))
    assert codec.standing_from_json(json.loads(text), 1) == standing


async def test_hostile_texts_come_back_character_for_character(store: SqlStore) -> None:
    def transact(tx: Transaction) -> None:
        opened(subject=HOSTILE, claim=HOSTILE)(tx)
        says(HOSTILE)(tx)
        hold = taken()(tx)
        tx.remember_arrival("mail", HOSTILE, T1, 1)
        tx.add_participants(T1, [HOSTILE])
        tx.save_draft(
            Draft(
                ticket=T1,
                operator=HOSTILE,
                mode="reply",
                text=HOSTILE,
                written_at_seq=1,
                updated_at=tx.now,
            )
        )
        tx.propose(hold, a_decision())
        tx.enqueue(hold, a_reply("m-1", 2, "queued", tx.now))

    await store.write(transact)
    history, where, people = await store.read(
        lambda tx: (
            tx.history(T1),
            tx.arrived("mail", HOSTILE),
            tx.participants(T1),
        )
    )
    assert history.ticket.subject == history.ticket.claim == HOSTILE
    assert history.journal[0].body == said(HOSTILE)
    assert history.drafts[0].text == history.drafts[0].operator == HOSTILE
    assert history.decisions == (a_decision(),)
    assert history.outbox[0].text == HOSTILE
    assert where == (T1, 1)
    assert people == {HOSTILE.lower()}


async def test_entries_of_one_transaction_are_seen_within_it_and_write_the_row_once(
    store: SqlStore,
) -> None:
    await store.write(asked())

    def transact(tx: Transaction) -> tuple[int, int]:
        for n in range(5):
            tx.append(T1, operator("mira"), Note(text=str(n)))
        return len(tx.history(T1).journal), tx.standing(T1).last_seq

    assert await store.write(transact) == (6, 6)
    rows = await store.read(lambda tx: tx.queue_rows([T1]))
    assert rows[0].version == 3
    assert rows[0].standing.last_seq == 6


async def test_rule_04_the_same_channel_message_twice_at_once_is_stored_once(
    store: SqlStore,
) -> None:
    def receive(name: str):
        def transact(tx: Transaction) -> tuple[str, int, bool]:
            known = tx.arrived("mail", "<a@b>")
            if known is not None:
                return (*known, True)
            opened(name)(tx)
            seq = says("hi", name)(tx)
            tx.remember_arrival("mail", "<a@b>", name, seq)
            return name, seq, False

        return transact

    answers = await asyncio.gather(*(store.write(receive(f"T-{n}")) for n in range(10)))
    first = [a for a in answers if not a[2]]
    assert len(first) == 1
    assert {a[:2] for a in answers} == {first[0][:2]}
    assert (await store.read(lambda tx: tx.counts("x")))["all"] == 1


async def test_rule_03_writers_at_two_stores_lose_nothing_and_leave_no_gap(
    store: SqlStore, store_url: str
) -> None:
    await store.write(opened())
    other = SqlStore.open(store_url)
    seqs = await asyncio.gather(
        *(s.write(says(f"{n}")) for n in range(40) for s in (store, other))
    )
    await other.close()
    assert sorted(seqs) == list(range(1, 81))
    journal = (await store.read(lambda tx: tx.history(T1))).journal
    assert [e.seq for e in journal] == list(range(1, 81))
    times = [e.at for e in journal]
    assert times == sorted(times)


async def test_rule_03_a_message_and_a_release_at_once_never_leave_it_unseen(
    store: SqlStore,
) -> None:
    """Either the release sees the message, or the ticket is due again."""
    for n in range(12):
        ticket = f"T-{n}"
        await store.write(asked(ticket))
        hold = await store.write(taken(ticket))

        def let_go(tx: Transaction, hold=hold, ticket=ticket) -> int:
            seen = tx.standing(ticket).last_buyer_seq
            tx.append_as(
                hold,
                agent(R1),
                Message(direction="out", text="a", channel="mail", covers=seen),
            )
            tx.append_as(
                hold, agent(R1), RunChanged(run="R-1", change="ended", seen=seen)
            )
            tx.save_lock(type(tx.lock_of(ticket))(ticket=ticket, token=hold.token))
            return seen

        seen, seq = await asyncio.gather(
            store.write(let_go), store.write(says("wait", ticket))
        )
        due = await store.read(lambda tx: tx.due(100))
        assert (ticket in due) is (seq > seen)


async def test_a_ticket_that_is_not_there_is_said_by_name(store: SqlStore) -> None:
    for look in (Transaction.history, Transaction.standing, Transaction.lock_of):
        with pytest.raises(UnknownTicket, match="T-404"):
            await store.read(lambda tx, f=look.__name__: getattr(tx, f)("T-404"))
    with pytest.raises(UnknownTicket):
        await store.write(says("x", "T-404"))


async def test_the_end_of_a_journal_is_read_without_the_rest(store: SqlStore) -> None:
    await store.write(asked())
    for n in range(journal.PAGE * 2):
        await store.write(says(f"{n}"))

    def look(tx: Transaction) -> tuple[list[int], list[int]]:
        newest = [e.seq for e in islice(tx.backwards(T1), 5)]
        return newest, [e.seq for e in tx.backwards(T1)]

    newest, whole = await store.read(look)
    last = journal.PAGE * 2 + 1
    assert newest == list(range(last, last - 5, -1))
    assert whole == list(range(last, 0, -1))
    assert await store.read(lambda tx: list(tx.backwards(TicketId("T-none")))) == []

    def within(tx: Transaction) -> int:
        says("now")(tx)
        return next(iter(tx.backwards(T1))).seq

    assert await store.write(within) == last + 1
