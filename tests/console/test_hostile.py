"""Hostile text by every route to a terminal: raw bytes, and columns in line.

Each text that somebody else wrote is full of the zoo: buyers, subjects, files, tools,
their results, models, colleagues, written replies. A terminal emulator shows whether
a line of it pushed a border out of its column.
"""

import asyncio
import time

from core.decision import Operator, Role
from core.flows.drafts import save_draft
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import reply, take_over
from core.flows.switch import pause
from core.journal import Escalated, StateAmended, ToolCalled, ToolReturned
from core.ticket import Attachment, TicketId, agent
from tests.console.counter import RUN, Counter
from tests.console.shown import ME
from tests.console.terminal import Terminal, playing
from tests.zoo import FORBIDDEN, HOSTILE, MILD

BAD = " ".join([*HOSTILE.values(), *MILD.values()])
SENDER = f"{BAD}@x.org"
ODD = Operator(
    name=HOSTILE["title"] + HOSTILE["bidi override"] + HOSTILE["dcs"], role=Role.AGENT
)
LONG = HOSTILE["clipboard"] + "x" * 1_000_000 + HOSTILE["clear"]
"""A megabyte on one line."""

SIZE = (160, 45)
RULES = {54, 116}
"""The columns of the rules between panes at this size."""


async def mine(counter: Counter) -> TicketId:
    """A ticket that I hold, on which everything that can be foreign is hostile."""
    ticket = await counter.writes(BAD, subject=BAD, sender=SENDER)
    await counter.writes(LONG, ticket=ticket, sender=SENDER)
    hold = await counter.works(ticket, model=BAD)
    patch = {HOSTILE["colour"]: BAD, "next": HOSTILE["clipboard"], BAD: [LONG]}
    for body in (
        ToolCalled(id="c1", name=BAD, input={BAD: BAD, "long": LONG}),
        ToolReturned(id="c1", content=[{"type": "text", "text": LONG}]),
        ToolCalled(id="c2", name=ODD.name, input=BAD),
        ToolReturned(id="c2", content=BAD, is_error=True),
        StateAmended(patch=patch),
        Escalated(reason=BAD, tried=BAD, summary=BAD),
    ):
        await counter.store.write(
            lambda tx, body=body: tx.append_as(hold, agent(RUN), body)
        )
    await counter.answers(hold, BAD)
    await counter.hands_over_to(ticket, ME)
    return ticket


async def house(counter: Counter) -> TicketId:
    """Five tickets, each hostile in its own way; the one that I hold."""
    await counter.store.write(lambda tx: tx.save_operator(ODD))
    held = await mine(counter)

    files = tuple(
        Attachment(name=f"{name} {text}", type=BAD, size=25_000_000)
        for name, text in [*HOSTILE.items(), ("path", "../../x")]
    )
    with_files = await counter.writes("See what I send.", files=files)
    await take_over(counter.store, with_files, ODD)
    await reply(counter.store, with_files, ODD, BAD)
    await save_draft(counter.store, with_files, ODD, "reply", BAD)
    await pause(counter.store, ME, BAD, with_files)

    offered = await counter.writes("Where is it?", subject=BAD)
    await take_over(counter.store, offered, ODD)
    await give_back(counter.store, offered, ODD, GiveBack(to=ME.name, note=BAD))
    return held


def everywhere(shown: Terminal) -> None:
    """Looks at every ticket and opens every panel there is."""
    shown.until("● live".encode())
    shown.keys("6")
    shown.shows("YOU HOLD")
    finds(shown, "is offered to you")  # no room for so long a name
    finds(shown, "holds it")
    finds(shown, "YOU HOLD")
    for key, words in PANELS.items():
        shown.wait(0.35)
        shown.keys(key)
        shown.shows(words)
        shown.closes(words)
    finds(shown, "is offered to you")


def writes(shown: Terminal) -> None:
    """Chooses a written reply, and leaves it."""
    finds(shown, "YOU HOLD")
    shown.keys("r")
    shown.shows("^s send")
    shown.keys("/")
    shown.shows("writes it")
    for _ in range(len(HOSTILE)):
        shown.keys("\x1b[B")
    shown.wait(0.35)
    shown.closes("writes it", "\r")
    shown.keys("\x1b")
    shown.shows("r reply")
    in_line(shown)


PANELS = {
    "s": "WHO HAS WHAT",
    "O": "People",
    "p": "asked the model",
    "W": "Whisper to the agent",
    "z": "sleep until",
    "w": "not sent",
    "R": "Give back",
    "i": "Who is the buyer?",
    "m": "What is it about?",
    "M": "is removed",
    ":": "write to the buyer",
    "?": "Keys here",
}
"""The keys of panels, and what these say."""


def finds(shown: Terminal, words: str) -> None:
    """Goes down the queue, or up again, until a ticket is shown that says this."""
    for key in "jjjkkkkjjjjkkkk":
        shown.moves()
        if words in shown.screen():
            in_line(shown)
            return
        shown.keys(key)
    raise AssertionError(f"no {words!r} on\n{shown.screen()}")


def in_line(shown: Terminal) -> None:
    """The rules between the panes stand in their columns, once all is painted."""
    end = time.monotonic() + 20
    while bent := [
        row
        for row, columns in shown.columns("│").items()
        if 3 <= row < SIZE[1] - 4 and not columns >= RULES
    ]:
        assert time.monotonic() < end, f"{bent}\n{shown.screen()}"
        shown.read()


async def test_f128_no_route_through_the_desk_passes_a_byte_or_bends_a_border(
    counter: Counter, sqlite_url: str
) -> None:
    held = await house(counter)
    with playing(sqlite_url, size=SIZE) as shown:
        await asyncio.to_thread(everywhere, shown)
        await counter.writes(f"{BAD} once more", ticket=held, sender=SENDER)
        await asyncio.to_thread(shown.shows, "the buyer wrote")
        await asyncio.to_thread(writes, shown)
        raw = shown.raw
    assert [piece for piece in FORBIDDEN if piece in raw] == []
    assert b"QUJD" in raw  # as text, not as a command


def decides(shown: Terminal) -> None:
    """Opens the card and reads it to its end."""
    shown.until("● live".encode())
    shown.shows("Decision")
    in_line(shown)
    shown.keys("a")
    shown.shows("Cancel")
    shown.wait(0.4)
    shown.keys("jjjjjjG")
    shown.wait(0.4)
    shown.closes("Cancel")
    shown.keys("\r")
    shown.wait(0.4)
    shown.keys("gGk ")
    shown.wait(0.4)
    in_line(shown)


async def test_f128_a_proposal_of_hostile_words_bends_no_border(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes(LONG, subject=BAD)
    await counter.proposes(ticket, {BAD: BAD, "long": LONG}, tool=BAD)
    with playing(sqlite_url, size=SIZE) as shown:
        await asyncio.to_thread(decides, shown)
        raw = shown.raw
    assert [piece for piece in FORBIDDEN if piece in raw] == []
