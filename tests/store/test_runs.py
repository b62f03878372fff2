import json
from dataclasses import replace
from decimal import Decimal

import sqlalchemy as sa

from core.ledger import ActionEvent, ActionState, Sums
from core.lock import Hold
from core.ports import RunEnd, Transaction
from core.ticket import RunId, agent, system
from core.tool import ToolResult
from core.turn import ModelResponse, Stop, Usage
from store.schema import bodies, run_messages
from store.transaction import SqlStore
from tests.store.build import (
    HOSTILE,
    R1,
    SOON,
    T1,
    a_reply,
    a_run,
    a_turn,
    an_action,
    asked,
    taken,
)


def _message(n: int, text: str = "x") -> bytes:
    return json.dumps({"role": "user", "content": f"{n} {text}"}).encode()


ANSWER = ModelResponse(
    id="msg_1",
    model="claude-sonnet-5-5",
    content=(
        {"type": "thinking", "thinking": "", "signature": "EqQ="},
        {"type": "text", "text": HOSTILE},
        {"type": "tool_use", "id": "c", "name": "find", "input": {"b": 1.0, "a": 1}},
    ),
    stop_reason="tool_use",
    usage=Usage(in_tokens=5, out_tokens=6, cache_read_tokens=7, cache_write_tokens=8),
    request_id="req_1",
)


async def _started(store: SqlStore) -> Hold:
    await store.write(asked())
    hold = await store.write(taken())
    await store.write(lambda tx: tx.start_run(hold, a_run(hold)))
    return hold


def _sends(hold: Hold, number: int, messages: list[bytes], run: RunId = R1):
    turn = a_turn(number, len(messages))
    return lambda tx: tx.store_request(hold, run, turn, messages)


async def _counted(store: SqlStore) -> tuple[int, int]:
    def count(tx: Transaction) -> tuple[int, int]:
        found = [
            tx._connection.scalar(sa.select(sa.func.count()).select_from(table))
            for table in (run_messages, bodies)
        ]
        return found[0], found[1]

    return await store.read(count)


async def test_a_run_comes_back_as_it_was_stored(store: SqlStore) -> None:
    hold = await _started(store)
    await store.write(_sends(hold, 1, [_message(1)]))
    await store.write(lambda tx: tx.store_response(hold, R1, 1, ANSWER, applied=True))
    end = RunEnd(
        stop=Stop.ANSWERED, detail=HOSTILE, escalated=True, task_state={"a": HOSTILE}
    )
    await store.write(lambda tx: tx.end_run(hold, R1, end))
    (run,) = (await store.read(lambda tx: tx.history(T1))).runs
    turn = replace(a_turn(1, 1), response=ANSWER, applied=True)
    expected = replace(
        a_run(hold),
        turns=(turn,),
        ended_at=run.ended_at,
        stop=Stop.ANSWERED,
        detail=HOSTILE,
        escalated=True,
        task_state={"a": HOSTILE},
    )
    assert run == expected
    assert run.ended_at is not None
    assert list(run.turns[0].response.content[2]["input"]) == ["b", "a"]


async def test_rule_09_every_request_comes_back_byte_for_byte(store: SqlStore) -> None:
    hold = await _started(store)
    sent = [[_message(n) for n in range(1, 2 * turn + 2)] for turn in range(1, 5)]
    folded = [_message(0, "summary"), *sent[-1][5:]]
    sent += [folded, [*folded, _message(50)]]
    for number, messages in enumerate(sent, 1):
        await store.write(_sends(hold, number, messages))
    record = await store.read(lambda tx: tx.run_record(R1))
    assert record.requests == tuple(tuple(messages) for messages in sent)
    assert record.messages == tuple(sent[-1])
    assert await store.read(lambda tx: tx.run_record(RunId("R-404"))) is None


async def test_a_run_costs_what_is_new_in_it_and_so_does_the_next(
    store: SqlStore,
) -> None:
    hold = await _started(store)
    always = (await _counted(store))[1]
    for turn in range(1, 21):
        await store.write(_sends(hold, turn, [_message(n) for n in range(2 * turn)]))
    assert await _counted(store) == (40, 40 + always)

    def again(tx: Transaction) -> Hold:
        lock = replace(tx.lock_of(T1), expires_at=tx.now)
        tx.save_lock(lock)
        newer = taken(run="R-2")(tx)
        tx.start_run(newer, a_run(newer, RunId("R-2")))
        return newer

    newer = await store.write(again)
    messages = [_message(n) for n in range(42)]
    await store.write(_sends(newer, 1, messages, RunId("R-2")))
    assert await _counted(store) == (42, 42 + always)
    second = await store.read(lambda tx: tx.run_record(RunId("R-2")))
    first = await store.read(lambda tx: tx.run_record(R1))
    assert second.messages == tuple(messages)
    assert first.messages == tuple(messages[:40])


async def test_rule_05_an_action_keeps_every_dated_event(store: SqlStore) -> None:
    hold = await _started(store)
    action = an_action(hold, "A-1", "118.00", SOON)
    result = ToolResult(
        content=[{"type": "text", "text": HOSTILE}], is_error=False, structured={"n": 1}
    )
    doubt = ActionEvent(
        n=2, at=SOON, state=ActionState.IN_DOUBT, by=system("act"), evidence=HOSTILE
    )
    done = ActionEvent(
        n=3, at=SOON, state=ActionState.DONE, by=agent(R1), result=result
    )
    await store.write(lambda tx: tx.intend(hold, action))
    await store.write(lambda tx: tx.record(hold, "A-1", doubt))
    await store.write(lambda tx: tx.record(hold, "A-1", done))
    history = await store.read(lambda tx: tx.history(T1))
    assert history.actions == (replace(action, events=(*action.events, doubt, done)),)


async def test_what_a_tool_moved_today_counts_done_and_open_actions(
    store: SqlStore,
) -> None:
    hold = await _started(store)

    def act(tx: Transaction) -> Sums:
        midnight = tx.now.replace(hour=0, minute=0, second=0, microsecond=0)
        for name, amount, at in (
            ("A-1", "10.10", midnight),
            ("A-2", "20.20", tx.now),
            ("A-3", "40.40", tx.now),
            ("A-4", "80.80", midnight.replace(year=2020)),
        ):
            tx.intend(hold, an_action(hold, name, amount, at))
        failed = ActionEvent(n=2, at=tx.now, state=ActionState.FAILED, by=agent(R1))
        tx.record(hold, "A-3", failed)
        return tx.spent_today("refund_order")

    assert await store.write(act) == {"EUR": Decimal("30.30")}
    assert await store.read(lambda tx: tx.spent_today("other")) == {}


async def test_replies_are_deliverable_until_a_sender_has_them(store: SqlStore) -> None:
    hold = await _started(store)

    def act(tx: Transaction) -> None:
        for n, state in enumerate(("queued", "withheld", "sending", "delivered")):
            tx.enqueue(hold, a_reply(f"m-{n}", n + 2, state, tx.now))

    await store.write(act)
    ready = await store.read(lambda tx: tx.deliverable(10))
    assert [r.message_id for r in ready] == ["m-0"]
    assert await store.read(lambda tx: tx.busy())

    def delivered(tx: Transaction) -> None:
        for name in ("m-0", "m-2"):
            reply = tx.reply(name)
            assert reply is not None
            tx.save_reply(replace(reply, state="delivered", provider_id="<p@mail>"))
        tx.save_lock(replace(tx.lock_of(T1), holder=None, expires_at=None))

    await store.write(delivered)
    assert await store.read(lambda tx: tx.deliverable(10)) == ()
    assert not await store.read(lambda tx: tx.busy())
    assert await store.read(lambda tx: tx.thread_of("mail", ["<x>", "<p@mail>"])) == T1
    assert await store.read(lambda tx: tx.thread_of("mail", ["m-1", "<x>"])) == T1
    assert await store.read(lambda tx: tx.thread_of("mail", ["<x>"])) is None
    assert len(await store.read(lambda tx: tx.outbox())) == 4
