import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from core.errors import StaleHold
from core.journal import Note
from core.lock import FencingToken, Hold, Released, force, release
from core.ports import Transaction
from core.ticket import agent, operator
from store.transaction import SqlStore
from tests.store.build import (
    R1,
    T1,
    a_decision,
    a_reply,
    a_run,
    a_turn,
    an_action,
    asked,
    taken,
)


def _forced(tx: Transaction) -> None:
    tx.save_lock(force(tx.lock_of(T1), "mira", tx.now).lock)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tx, hold: tx.append_as(hold, agent(R1), Note(text="late")),
        lambda tx, hold: tx.start_run(hold, a_run(hold)),
        lambda tx, hold: tx.store_request(hold, R1, a_turn(1, 1), [b"{}"]),
        lambda tx, hold: tx.propose(hold, a_decision()),
        lambda tx, hold: tx.intend(hold, an_action(hold, "A-1", "5", tx.now)),
        lambda tx, hold: tx.enqueue(hold, a_reply("m-1", 2, "queued", tx.now)),
    ],
)
async def test_rule_01_a_holder_that_lost_the_lock_can_write_nothing(
    store: SqlStore, wrong
) -> None:
    await store.write(asked())
    hold = await store.write(taken())
    await store.write(_forced)
    before = await store.read(lambda tx: replace(tx.history(T1), now=tx.now))

    def transact(tx: Transaction) -> None:
        tx.append(T1, operator("sam"), Note(text="goes with it"))
        wrong(tx, hold)

    with pytest.raises(StaleHold, match="token 1"):
        await store.write(transact)
    after = await store.read(lambda tx: replace(tx.history(T1), now=before.now))
    assert after == before


async def test_rule_01_a_token_that_was_never_given_is_refused(
    store: SqlStore,
) -> None:
    await store.write(asked())
    for token in (0, 1, 99):
        guess = Hold(ticket=T1, token=FencingToken(token))
        with pytest.raises(StaleHold):
            await store.write(
                lambda tx, h=guess: tx.append_as(h, agent(R1), Note(text="x"))
            )


async def test_rule_01_an_expired_lease_that_nobody_took_still_writes(
    store: SqlStore,
) -> None:
    await store.write(asked())
    hold = await store.write(taken(lease=timedelta(seconds=-1)))
    entry = await store.write(
        lambda tx: tx.append_as(hold, agent(R1), Note(text="still mine"))
    )
    assert entry.seq == 3


async def test_who_lets_go_may_write_what_belongs_to_it_and_nothing_after(
    store: SqlStore,
) -> None:
    await store.write(asked())
    hold = await store.write(taken())

    def let_go(tx: Transaction) -> int:
        answer = release(tx.lock_of(T1), hold, tx.now)
        assert isinstance(answer, Released)
        tx.save_lock(answer.lock)
        return tx.append_as(hold, agent(R1), Note(text="done")).seq

    assert await store.write(let_go) == 3
    with pytest.raises(StaleHold):
        await store.write(lambda tx: tx.append_as(hold, agent(R1), Note(text="x")))


async def test_rule_01_of_many_who_ask_at_once_one_holds(store: SqlStore) -> None:
    await store.write(asked())
    answers = await asyncio.gather(
        *(store.write(taken(run=f"R-{n}")) for n in range(12)), return_exceptions=True
    )
    won = [a for a in answers if isinstance(a, Hold)]
    lost = [a for a in answers if isinstance(a, AssertionError)]
    assert (len(won), len(lost)) == (1, 11)
