"""Ten things that people do all day, and how many keys each takes.

The keys are played on a desk and what they came to is checked; the README's table and
`comparison.md` are checked against these numbers, and the seconds of the others
against the presses stated. What a person writes (a name, an amount, a reason) is not
counted, here as there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import HandoffApp
from console.screens.ask import AskPanel
from console.screens.decision import DecisionPanel
from console.screens.replay import ReplayPanel
from console.widgets.queue import Queue
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import take_over
from core.journal import Note
from core.ticket import TicketId
from core.tool import ToolSpec
from tests.bench.tasks import HAND, THINKS
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME
from tests.console.steps import (
    app_on,
    desk_of,
    held,
    pane_text,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    until,
)
from tests.console.test_decisions import REFUND

TABLES = (
    Path(__file__).parents[2] / "README.md",
    Path(__file__).with_name("comparison.md"),
)

KEYS = {
    "find the ticket that waits longest": 1,
    "take over while the agent works": 1,
    "reply with a text that is written already": 4,
    "approve with another amount": 3,
    "see why a refund was proposed": 1,
    "give back with a note": 3,
    "find all tickets of a customer": 1,
    "see what the agent did in a run": 1,
    "hand a ticket to a colleague": 3,
    "stop the agent everywhere": 3,
}
"""Key presses of each task, without what is written."""

CLICKS = THINKS + 1.1 + 0.2
"""Seconds of a click by the model of `tests.bench.tasks`: thought, pointed, pressed."""


@dataclass
class Hand:
    """Presses keys as a person does who waits for what they open, and counts them."""

    pilot: Pilot[None]
    app: HandoffApp
    pressed: int = 0

    async def press(self, *keys: str) -> None:
        """Presses keys that count."""
        for key in keys:
            await until(self.pilot, lambda: getattr(self.app.screen, "listening", True))
            await press(self.pilot, key)
            self.pressed += 1

    async def writes(self, text: str) -> None:
        """Writes what nobody else can know."""
        await press(self.pilot, *text)

    async def sees(self, words: str) -> None:
        """Waits until the screen says this."""
        await until(self.pilot, lambda: words in screen_text(self.app), words)

    def took(self, task: str) -> None:
        """Compares what was counted."""
        assert self.pressed == KEYS[task]


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.name)
def test_what_is_written_of_each_task_is_what_was_counted(table: Path) -> None:
    rows = re.findall(
        r"^\| ([a-z ]+) \| (\d+) \|", table.read_text("utf-8"), re.MULTILINE
    )
    assert {task: int(count) for task, count in rows} == KEYS


def test_the_others_are_reckoned_by_the_same_model() -> None:
    text = TABLES[1].read_text("utf-8")
    for task in KEYS:
        row = next(line for line in text.splitlines() if line.startswith(f"| {task} |"))
        others = re.split("[;|]", row)[5:]
        assert len([name for name in others if re.search("[a-z]", name)]) >= 2, task
    stated = re.findall(
        r"(?:(\d+) keys?)?(?: \+ )?(?:(\d+) clicks?)?, (\d+\.\d) s\b", text
    )
    reckoned = [
        (float(seconds), int(keys or 0) * HAND + int(clicks or 0) * CLICKS)
        for keys, clicks, seconds in stated
        if keys or clicks
    ]
    assert len(reckoned) > 30
    assert all(abs(seconds - took) < 0.051 for seconds, took in reckoned)


def test_every_address_of_the_comparison_is_cited_and_every_citation_has_one() -> None:
    text, addresses = TABLES[1].read_text("utf-8").split("## Addresses")
    cited = {
        n for ns in re.findall(r"\[(\d+(?:, \d+)*)\]", text) for n in ns.split(", ")
    }
    listed = re.findall(r"^(\d+)\. http", addresses, re.MULTILINE)
    assert listed == [str(n + 1) for n in range(len(listed))]
    assert cited == set(listed)


async def test_find_the_ticket_that_waits_longest(counter: Counter) -> None:
    longest = await counter.writes("Hello?", subject="First")
    later = await counter.writes("Hello?", subject="Second")
    for ticket in (later, longest):
        await take_over(counter.store, ticket, MIRA)
        await give_back(counter.store, ticket, MIRA, GiveBack(to="queue"))
    async with sitting(counter.store) as (pilot, app):
        hand = Hand(pilot, app)
        await hand.press("1")
        await until(pilot, lambda: desk_of(app).query_one(Queue).view == "human")
        await shown(pilot, app, longest)
        hand.took("find the ticket that waits longest")


async def test_take_over_while_the_agent_works(counter: Counter) -> None:
    ticket = await counter.writes("Hello?")
    await counter.works(ticket)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        hand = Hand(pilot, app)
        await hand.press("t")
        await hand.sees("Asking the agent to stop")
        await counter.hands_over(ticket)
        await hand.sees(f"YOU HOLD {ticket}")
        hand.took("take over while the agent works")


async def test_reply_with_a_text_that_is_written_already(counter: Counter) -> None:
    ticket = await counter.writes("Hello?")
    canned = {"soon": "By Thursday."}
    async with sitting(counter.store, canned=canned) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        hand = Hand(pilot, app)
        await hand.press("r", "slash")
        await hand.sees("By Thursday.")
        await hand.press("enter")
        await until(pilot, lambda: app.screen is desk_of(app))
        await hand.press("ctrl+s")
        await until(pilot, lambda: desk_of(app).drafts.text(ticket, "reply") == "")
        outbox = (await stored(counter.store, ticket)).outbox
        assert [r.text for r in outbox] == ["By Thursday."]
        hand.took("reply with a text that is written already")


async def proposed(counter: Counter) -> TicketId:
    """A ticket with a refund that waits for a decision."""
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    return ticket


async def test_approve_with_another_amount(counter: Counter) -> None:
    ticket = await proposed(counter)

    async def tools() -> Mapping[str, ToolSpec]:
        return {"refund_order": REFUND}

    async with sitting(counter.store, tools=tools) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        hand = Hand(pilot, app)
        await hand.press("a")
        await until(pilot, lambda: app.screen.spec)
        await hand.press("e")
        await hand.sees("yours to decide")
        await hand.writes("18.50")
        await hand.sees("within the policy")
        await hand.press("ctrl+s")
        await until(pilot, lambda: desk_of(app).pending() is None)
        decision = (await stored(counter.store, ticket)).decisions[0]
        assert decision.final_input == {"order_id": "O-1", "amount": "18.50"}
        hand.took("approve with another amount")


async def test_see_why_a_refund_was_proposed(counter: Counter) -> None:
    await proposed(counter)
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        hand = Hand(pilot, app)
        await hand.press("a")
        assert isinstance(app.screen, DecisionPanel)
        for words in ("money over 50.00", "agent read", "nothing new"):
            await hand.sees(words)
        hand.took("see why a refund was proposed")


async def test_give_back_with_a_note(counter: Counter) -> None:
    ticket = await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        hand = Hand(pilot, app)
        await hand.press("R", "tab")
        await hand.writes("be kind")
        await hand.press("enter")
        await until(pilot, lambda: "YOU HOLD" not in pane_text(app, "banner"))
        journal = (await stored(counter.store, ticket)).journal
        notes = [e.body.text for e in journal if isinstance(e.body, Note)]
        assert notes == ["be kind"]
        hand.took("give back with a note")


async def test_find_all_tickets_of_a_customer(counter: Counter) -> None:
    for n in range(3):
        await counter.writes("Hello?", subject=f"Nr {n}", sender="bea@example.com")
    await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        desk = desk_of(app)
        await until(pilot, lambda: desk.query_one(Queue).total == 4)
        await until(pilot, lambda: desk.history is not None)
        hand = Hand(pilot, app)
        await hand.press("b")
        await until(pilot, lambda: desk.query_one(Queue).total == 3)
        hand.took("find all tickets of a customer")
        await press(pilot, "escape")
        await until(pilot, lambda: desk.query_one(Queue).total == 4)
        await press(pilot, "slash")  # where none of them is shown: two keys and a name
        await hand.writes("bea@example.com")
        await press(pilot, "enter")
        await until(pilot, lambda: desk.query_one(Queue).total == 3)


async def test_see_what_the_agent_did_in_a_run(counter: Counter) -> None:
    ticket = await proposed(counter)
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        hand = Hand(pilot, app)
        await hand.press("p")
        await until(pilot, lambda: isinstance(app.screen, ReplayPanel))
        hand.took("see what the agent did in a run")


async def test_hand_a_ticket_to_a_colleague(counter: Counter) -> None:
    ticket = await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, ticket)
        await held(pilot, app)
        hand = Hand(pilot, app)
        await hand.press("R", "m", "enter")
        await until(pilot, lambda: app.screen is desk_of(app))
        await hand.sees("Mira")
        standing = (await stored(counter.store, ticket)).standing
        assert MIRA.name in {standing.offered_to, standing.held_by}
        hand.took("hand a ticket to a colleague")


async def test_stop_the_agent_everywhere(counter: Counter) -> None:
    await counter.writes("Hello?")
    app = app_on(counter.store, me=ME)
    async with app.run_test(size=(160, 45)) as pilot:
        await until(pilot, lambda: desk_of(app).history is not None)
        hand = Hand(pilot, app)
        await hand.press("s")
        await hand.sees("WHO HAS WHAT")
        await hand.press("P")
        await until(pilot, lambda: isinstance(app.screen, AskPanel))
        await until(pilot, lambda: app.screen.listening)
        await hand.writes("a bad prompt")
        await hand.press("enter")
        await hand.sees("PAUSED by Noor: a bad prompt")
        assert await counter.store.read(lambda tx: tx.pause()) is not None
        hand.took("stop the agent everywhere")
