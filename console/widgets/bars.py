"""The two lines on top and the one at the bottom, as lines.

The top says who sits here, on what, whether the screen is live, and the views with
their counts. The bottom says the few keys that make sense now; the library's own
footer makes each change of focus four times as dear.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from console.keymap import Command, Here, hints
from console.keytable import KEYS
from console.live import Lost
from console.widgets.spans import Line, Span, cells, clip, ends, line, width_of
from console.wording import AGENT_OFF, VIEWS
from core.cleanse import one_line
from core.decision import Operator

_TIGHT = 110
"""Below so many cells a pause takes the room of the role and the title."""

_LEGIBLE = 30
"""Cells that the reason of a lost store keeps beside what can be done."""

_PINNED = ("palette", "help")
"""Commands whose keys are always in sight, at the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Top:
    """What the top lines say.

    Attributes:
        operator: Who sits here.
        title: What is said of the store or the model, or "".
        view: The view that is shown.
        counts: Tickets by view; empty before the first read.
        workers: Workers alive, None before the first read.
        live: Whether the feed runs.
        filter: What the queue is filtered by, or "".
        paused: Who stopped the agent everywhere, when and why, in words, or "".
        keys: The person's key of each command.
    """

    operator: Operator
    title: str
    view: str
    counts: Mapping[str, int]
    workers: int | None
    live: bool
    filter: str = ""
    paused: str = ""
    keys: Mapping[str, str] = field(default_factory=lambda: KEYS)


def top_lines(top: Top, width: int) -> list[Line]:
    """Two lines in exactly the width."""
    tight = width < _TIGHT and bool(top.paused)
    name, role = top.operator.name, top.operator.role.value
    role = "DISABLED" if top.operator.disabled else role
    brief = tight and not top.operator.disabled
    who = f"  {one_line(name, 16)}" if brief else f"  {one_line(name, 30)} · {role}"
    link = ("   ● live", "ok") if top.live else ("   ○ not live", "harm")
    left = line((" handoff", "yours"), (who, "dim"), link)
    right: list[Span] = []
    if top.title and not tight:  # who stopped the agent goes before it
        right.append(Span(f"{one_line(top.title, 60)}   ", "wait"))
    if top.paused:
        room = max(12, width - width_of(left) - width_of(tuple(right)) - 5)
        right.append(Span(f"‖ {one_line(top.paused, room)} ", "wait-strong"))
    elif top.workers == 0:
        right.append(Span("no agent running ", "wait"))
    elif top.workers is not None:
        word = "worker" if top.workers == 1 else "workers"
        right.append(Span(f"{top.workers} {word} ", "dim"))
    if width_of(left) + width_of(tuple(right)) >= width:
        left = line((" handoff", "yours"), link)
    first = ends(left, tuple(right), width)
    return [clip(first, width), clip(_views(top, width), width)]


def _views(top: Top, width: int) -> Line:
    """In full, in a word each, or with the word of the one that is shown alone."""
    long, short, bare = ([Span(" ", "dim")] for _ in range(3))
    for _, view, words, brief in VIEWS:
        number = f"{top.counts[view]:,}" if view in top.counts else ""
        now = view == top.view
        role = "yours" if now else "dim"
        if view == "agent" and top.workers == 0:
            words, brief = AGENT_OFF
        act = f"view:{view}"
        key = top.keys[act]
        long.append(Span(f"{key} {words} {number}".strip() + "   ", role, act))
        short.append(Span(f"{key} {brief} {number}".strip() + "  ", role, act))
        least = f"{key} {brief} {number}" if now else f"{key}:{number}"
        bare.append(Span(least.strip(" :") + "  ", role, act))
    found = (Span(f"/ {one_line(top.filter, 40)}", "found"),) if top.filter else ()
    for chosen in (long, short, bare):
        if width_of((*chosen, *found)) <= width:
            break
    return (*chosen, *found)


def hint_line(commands: Sequence[Command], here: Here, width: int) -> Line:
    """The keys that make sense now; what there is no room for is left out whole."""
    known = hints(commands, here)
    pinned: Line = ()
    for command, key in known:
        if command.id in _PINNED:
            pinned += _hint(command, key, here)
    if width_of(pinned) * 2 > width:
        pinned = pinned[-2:]
    spans: list[Span] = [Span(" ", "dim")]
    used = 1 + width_of(pinned)
    for command, key in known:
        pair = _hint(command, key, here)
        size = width_of(pair)
        if command.id in _PINNED or used + size > width + 2:
            continue
        spans += pair
        used += size
    gap = Span(" " * max(0, width + 2 - used), "dim")
    return clip((*spans, gap, *_ended(pinned)), width)


def _ended(pinned: Line) -> Line:
    """Without the blanks that stand before the next key."""
    return (*pinned[:-1], pinned[-1]._replace(text=pinned[-1].text.rstrip() + " "))


def _hint(command: Command, key: str, here: Here) -> Line:
    words = command.short
    if command.id == "find" and here.pane == "timeline":
        words = "search"
    elif command.id == "next_match" and here.match:
        words = f"next · {here.match}"
    elif command.id == "take" and here.offered:
        words = "accept"
    elif command.id == "take" and here.offers:
        words = "take it back"
    elif command.id == "decide" and not here.decides:
        words = "look at it"
    elif command.id == "send" and here.noting:
        words = "keep the note"
    return (Span(key, "key", command.id), Span(f" {words}   ", "dim", command.id))


def lost_line(lost: Lost, seconds: int, width: int) -> Line:
    """The one banner of a store that is gone."""
    words = f" ⚠ OFFLINE · {one_line(lost.why, 160)}"
    keys = f"retry in {max(0, seconds)} s · ^r now "
    brief = " ^r now "
    if lost.replaced:  # nothing comes back by itself
        keys = "put it back, or q and start again "
        brief = " put back, or q "
    for shown in (f" text is kept · {keys}", f" {keys}", brief):
        if cells(words) + cells(shown) < width:
            break
    else:
        shown = f" {keys}" if width >= _LEGIBLE + cells(keys) else brief
    return ends(line((words, "solid-harm")), line((shown, "solid-harm")), width)
