"""How long the ten tasks of `tests.console.test_tasks` take.

A hand that knows the keys, on a real terminal: by the keystroke-level model it thinks
before each key and presses it (`HAND` seconds), then waits for what it wants to see.
So a task's seconds are the model's for the person, and measured for the program: its
waits for a panel that listens, or for a key that must stand alone, are among them.
What a person writes is there at once, here as in the count of keys.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from console.screens.pace import Pace
from console.screens.panel import DEAF
from console.wording import EMPTY_VIEW
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import take_over
from core.ticket import TicketId
from core.tool import ToolSpec
from store.transaction import SqlStore
from tests.console.counter import MIRA, Counter
from tests.console.steps import app_on
from tests.console.terminal import Terminal, terminal
from tests.console.test_decisions import REFUND

THINKS, PRESSES = 1.35, 0.28
"""Seconds of the model: to prepare oneself, and for a key of somebody who can type."""

HAND = THINKS + PRESSES
SIZE = (160, 45)
CANNED = {"soon": "By Thursday."}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task.

    Attributes:
        before: Makes the store; gives words that are on the screen when it begins.
        steps: Keys, and the words that are there once they did something. A step of
            more than one character is written and not counted.
        view: Where it begins.
        own: Whether the ticket is taken first, uncounted.
        after: Called with the store in the midst, once the first step was seen.
    """

    before: Callable[[Counter], Awaitable[str]]
    steps: Sequence[tuple[str, str]]
    view: str = "6"
    own: bool = False
    after: Callable[[Counter], Awaitable[None]] | None = None


async def _written(counter: Counter) -> str:
    return await counter.writes("Hello?")


async def _waiting(counter: Counter) -> str:
    for subject in ("First", "Second"):
        ticket = await counter.writes("Hello?", subject=subject)
        await take_over(counter.store, ticket, MIRA)
        await give_back(counter.store, ticket, MIRA, GiveBack(to="queue"))
    return EMPTY_VIEW["mine"][:20]


async def _working(counter: Counter) -> str:
    ticket = await counter.writes("Hello?")
    await counter.works(ticket)
    return "The agent is working"


async def _handed_over(counter: Counter) -> None:
    await counter.hands_over(TicketId("T-1"))


async def _proposed(counter: Counter) -> str:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    return "118.00 EUR"


async def _many(counter: Counter) -> str:
    for n in range(3):
        await counter.writes("Hello?", subject=f"Nr {n}", sender="bea@example.com")
    await counter.writes("Hello?", subject="Another")
    return "Another"


TASKS: Mapping[str, Task] = {
    "find the ticket that waits longest": Task(
        before=_waiting, view="3", steps=[("1", "opened ")]
    ),
    "take over while the agent works": Task(
        before=_working,
        steps=[("t", "Asking the agent to stop"), ("", "YOU HOLD")],
        after=_handed_over,
    ),
    "reply with a text that is written already": Task(
        before=_written,
        own=True,
        steps=[
            ("r", "send"),
            ("/", "By Thursday."),
            ("\r", "written reply"),
            ("\x13", "You "),
        ],
    ),
    "approve with another amount": Task(
        before=_proposed,
        steps=[
            ("a", "esc Cancel"),
            ("e", "yours to decide"),
            ("18.50", "within the policy"),
            ("\x13", "approved"),
        ],
    ),
    "see why a refund was proposed": Task(
        before=_proposed, steps=[("a", "agent read")]
    ),
    "give back with a note": Task(
        before=_written,
        own=True,
        steps=[
            ("R", "gives back"),
            ("\t", "note for the agent"),
            ("be kind", "be kind"),
            ("\r", "Given back"),
        ],
    ),
    "find all tickets of a customer": Task(before=_many, steps=[("b", "/ bea")]),
    "see what the agent did in a run": Task(
        before=_proposed, steps=[("p", "turn 1 of 1")]
    ),
    "hand a ticket to a colleague": Task(
        before=_written,
        own=True,
        steps=[("R", "to Mira"), ("m", "▸ to Mira"), ("\r", "offered to Mira")],
    ),
    "stop the agent everywhere": Task(
        before=_written,
        steps=[
            ("s", "WHO HAS WHAT"),
            ("P", "Stop the agent everywhere"),
            ("a bad prompt", "a bad prompt"),
            ("\r", "PAUSED"),
        ],
    ),
}


async def _tools() -> Mapping[str, ToolSpec]:
    return {"refund_order": REFUND}


async def show(url: str) -> None:
    """The console that the hand works at."""
    store = SqlStore.open(url)
    app = app_on(store, pace=Pace(), canned=CANNED, tools=_tools)
    await app.run_async()
    await store.close()


def played(shown: Terminal, steps: Sequence[tuple[str, str]], midst: object) -> float:
    """Seconds that the steps took, the hand's own among them."""
    began = time.perf_counter()
    for number, (keys, words) in enumerate(steps):
        if len(keys) == 1:
            shown.wait(HAND)
        else:
            shown.wait(DEAF + 0.05)  # a panel that has just come up
        shown.keys(keys)
        shown.shows(words)
        if number == 0 and callable(midst):
            midst()
    return time.perf_counter() - began


async def timed(task: Task, folder: Path) -> float:
    """Plays a task on a store of its own."""
    url = f"sqlite:///{folder / 'tasks.db'}"
    store = SqlStore.open(url)
    counter = await Counter(store).people()
    words = await task.before(counter)
    loop, then = asyncio.get_running_loop(), task.after

    def midst() -> None:
        if then is not None:
            asyncio.run_coroutine_threadsafe(then(counter), loop).result()

    def play() -> float:
        me = ("-m", "tests.bench.tasks", "--show", url)
        with terminal(*me, size=SIZE) as shown:
            shown.shows("● live")
            shown.keys(task.view)
            shown.shows(words)
            shown.wait(1)
            if task.own:
                shown.keys("t")
                shown.shows("YOU HOLD")
                shown.wait(1)
            return played(shown, task.steps, midst)

    took = await asyncio.to_thread(play)
    await store.close()
    return took


def main() -> None:
    """Prints each task's seconds, and how many of them the program took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.show:
        asyncio.run(show(told.show))
        return
    print(f"{'task':45} {'seconds':>8} {'program':>8}")
    for name, task in TASKS.items():
        with tempfile.TemporaryDirectory() as folder:
            took = asyncio.run(timed(task, Path(folder)))
        hand = HAND * sum(len(keys) == 1 for keys, _ in task.steps)
        print(f"{name:45} {took:8.1f} {took - hand:8.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
