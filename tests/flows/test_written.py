"""The team's replies and macros: who keeps them, and what a macro does or leaves."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from core.flows.canned import Kept, keep, remove
from core.flows.drafts import save_draft
from core.flows.handoff import take_over
from core.flows.macro import Performed, Use, perform
from core.flows.person import NotHolder, NotPossible
from core.journal import LockChanged, Message, Note, StateAmended
from core.ports import Store, Transaction
from core.written import Written
from tests.flows.world import ANA, SUP, World

T = TypeVar("T")

MACRO = Written(
    name="carrier",
    reply="Dear {name}, we asked.",
    note="asked the carrier",
    note_for_agent="ask again on Thursday",
    state={"waits_for": "carrier"},
    release="agent",
)


@dataclass
class Interrupted:
    """The store, where something happens right after the first thing stored."""

    store: Store
    happens: Callable[[], Awaitable[None]]
    happened: bool = False

    async def read(self, do: Callable[[Transaction], T]) -> T:
        return await self.store.read(do)

    async def write(self, do: Callable[[Transaction], T]) -> T:
        outcome = await self.store.write(do)
        if not self.happened:
            self.happened = True
            await self.happens()
        return outcome


async def test_supervisors_keep_what_everybody_reads(world: World) -> None:
    for by, text in ((SUP, "Hello {name}"), (SUP, "Good day, {name}")):
        assert isinstance(await keep(world.store, by, "hello", text), Kept)
    refused = await keep(world.store, ANA, "hello", "Yo")
    assert refused == NotPossible(why="only a supervisor may change the team's replies")
    assert isinstance(await remove(world.store, ANA, "hello"), NotPossible)
    bad = await keep(world.store, SUP, "odd", "---\nsend: x\n---\n")
    assert isinstance(bad, NotPossible)
    assert bad.why.startswith("odd: line 2: unknown key 'send'")

    (canned,) = await world.store.read(lambda tx: tx.canned())
    assert (canned.name, canned.text, canned.by) == ("hello", "Good day, {name}", "sup")
    assert isinstance(await remove(world.store, SUP, "hello"), Kept)
    assert await world.store.read(lambda tx: tx.canned()) == ()
    assert isinstance(await remove(world.store, SUP, "hello"), NotPossible)
    acts = await world.store.read(lambda tx: tx.house_acts())
    assert [a.act for a in acts] == [
        *("wrote a reply", "wrote a reply", "refused", "refused", "removed a reply")
    ]


async def test_a_macro_does_all_in_order_through_the_same_flows(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    use = Use(written=MACRO, values={"name": "Dana"})
    came = await perform(world.store, ticket, ANA, use)
    assert came.done == ("reply", "state", "note", "note_for_agent", "release")
    assert came.refusal is None
    entries = await world.journal(ticket, Message, StateAmended, Note, LockChanged)
    said = [e.body for e in entries if e.actor.name == "ana"][-5:]
    assert isinstance(said[0], Message)
    assert said[0].text == "Dear Dana, we asked."
    assert said[1] == StateAmended(patch={"waits_for": "carrier"})
    assert said[2:4] == [
        Note(text="asked the carrier", for_agent=False),
        Note(text="ask again on Thursday", for_agent=True),
    ]
    assert (await world.chart(ticket)).lock.holder is None


async def test_a_macro_with_a_gap_or_one_that_would_be_refused_does_nothing(
    lite: World,
) -> None:
    ticket = await lite.opened()
    use = Use(written=MACRO, values={"name": "Dana"})
    came = await perform(lite.store, ticket, ANA, use)
    assert isinstance(came.refusal, NotHolder)

    await take_over(lite.store, ticket, ANA)
    before = (await lite.chart(ticket)).standing.last_seq
    for odd, why in (
        (replace(use, values={}), "nothing says what name is: fill it in"),
        (replace(use, seen=0), "the buyer wrote #1 meanwhile: look at it first"),
        (
            replace(use, written=replace(MACRO, release="Nobody")),
            "there is no active operator named Nobody",
        ),
    ):
        came = await perform(lite.store, ticket, ANA, odd)
        assert came == Performed(done=(), failed="all", refusal=NotPossible(why=why))
    await save_draft(lite.store, ticket, ANA, "reply", "half a")
    came = await perform(lite.store, ticket, ANA, use)
    assert came.refusal == NotPossible(
        why="there is an unsent draft: send or discard it first"
    )
    assert (await lite.chart(ticket)).standing.last_seq == before


async def test_what_fails_in_the_middle_is_said_and_nothing_after_it_happens(
    lite: World,
) -> None:
    ticket = await lite.opened()
    await take_over(lite.store, ticket, ANA)

    async def takes_it_away() -> None:
        await take_over(lite.store, ticket, SUP, forced=True, why="mine")

    slow = Interrupted(lite.store, takes_it_away)
    use = Use(written=MACRO, values={"name": "Dana"})
    came = await perform(slow, ticket, ANA, use)
    assert (came.done, came.failed) == (("reply",), "state")
    assert isinstance(came.refusal, NotHolder)
    assert await lite.journal(ticket, Note) == []
