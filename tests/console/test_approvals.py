"""The view of approvals: what waits for a verdict, and what is still to be done."""

from dataclasses import replace

from console.app import HandoffApp
from console.widgets.queue import Queue
from console.widgets.spans import plain
from console.wording import approval_of
from core.decision import Verdict
from core.flows.supervise import decide
from tests.console.counter import Counter
from tests.console.sample_desk import kitchen, with_mira
from tests.console.shown import ME
from tests.console.steps import (
    desk_of,
    held,
    pane_text,
    press,
    shown,
    sitting,
    stored,
    until,
)


def queue_text(app: HandoffApp) -> str:
    """What the rows of the queue say."""
    queue = desk_of(app).query_one(Queue)
    return plain([queue.line_at(y) for y in range(queue.total)])


async def test_what_is_approved_stays_among_the_approvals_until_it_is_carried_out(
    counter: Counter,
) -> None:
    done = await counter.writes("My money, please")
    await counter.proposes(done, {"order_id": "O-1"})
    seen = (await stored(counter.store, done)).standing.last_seq
    approve = Verdict(kind="approve", why="", input=None, seen=seen)
    await decide(counter.store, "D-1", approve, ME, ())
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, done)
        await press(pilot, "2")
        await until(pilot, lambda: "approved: no agent" in queue_text(app))
        assert queue_text(app).startswith("○")
        assert "2 approvals 0" in pane_text(app, "top")
        await held(pilot, app)
        await until(pilot, lambda: "approved: yours" in queue_text(app))
        await until(pilot, lambda: "2 approvals 1" in pane_text(app, "top"))
        await until(pilot, lambda: done in desk_of(app).reads.mine.ready)
        await press(pilot, "6")
        await until(pilot, lambda: " you " in queue_text(app))


def test_each_wait_of_a_proposal_has_its_own_symbol_and_words() -> None:
    rows = [kitchen().row()]
    for change in (
        {},
        {"held_by": "Noor"},
        {"held_by": "Mira"},
        {"with_people": "asked for"},
    ):
        ready = {"pending": {}, "ready": ("D-118",), "wake_seq": 10_000} | change
        rows.append(replace(rows[0], standing=replace(rows[0].standing, **ready)))
    words = [approval_of(row, "Noor", workers=1) for row in rows]
    assert [f"{w.symbol} {w.words}" for w in words] == [
        "▲ decide 118.00 EUR",
        "○ approved: agent",
        "■ approved: yours",
        "□ approved: Mira",
        "✓ approved: take it",
    ]
    at_rest = with_mira().row()
    assert approval_of(at_rest, "Noor", workers=1) is None
