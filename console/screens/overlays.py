"""The small panels: the keys of where you are, and leaving."""

from collections.abc import Sequence
from itertools import groupby

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from console.keymap import GROUPS, Command, Here, allowed, possible, shown
from console.screens.pace import paced
from console.screens.panel import Panel
from console.screens.sheet import SheetPanel
from console.widgets.line_view import LineView
from console.widgets.spans import (
    EMPTY,
    Line,
    fit,
    line,
    paragraph,
    width_of,
    wrap,
)

SYMBOLS = (
    ("▲", "wait", "waits for a person: a decision, or an answer"),
    ("!", "harm", "in doubt: nobody knows whether an action happened"),
    ("■", "yours", "you hold it, the agent is silent"),
    ("□", "other", "a colleague holds it"),
    ("●", "agent", "the agent works on it"),
    ("◐", "yours", "the agent is asked to stop"),
    ("○", "dim", "nobody works on it: for the agent, or for the buyer"),
    ("‖", "wait", "the agent is paused"),
    ("✓", "ok", "verified buyer; also: approved, done, resolved"),
    ("?", "wait", "the buyer is not verified"),
    ("•", "buyer", "not read yet"),
    ("✗", "harm", "failed"),
    ("▸", "faint", "opens with space or enter"),
)
"""What the symbols mean, in the colours that they have."""


_KEYS = 17
"""Cells of the column of keys; where words would have less than twice that, 11."""


def help_lines(commands: Sequence[Command], here: Here, width: int = 64) -> list[Line]:
    """The keys that do something here, by group; the others after them, faint.

    Last, what this person never may.
    """
    now = [c for c in commands if possible(c, here) and c.keys and c.id != "send"]
    others = [c for c in commands if not possible(c, here) and c.keys]
    later = [c for c in others if allowed(c, here)]
    never = [c for c in others if not allowed(c, here)]
    lines: list[Line] = [line(("Keys here", "strong")), EMPTY]
    ordered = sorted(now, key=lambda c: GROUPS.index(c.group))
    for group, some in groupby(ordered, key=lambda c: c.group):
        lines.append(line((group.upper(), "dim")))
        lines += [ln for c in some for ln in _key_lines(c, "text", width)]
        lines.append(EMPTY)
    lines.append(line(("SYMBOLS", "dim")))
    for symbol, role, words in SYMBOLS:
        lines += _beside(line((f"  {symbol}  ", role)), words, "text", width)
    lines += [EMPTY, line(("NOT NOW", "dim"))]
    lines += [ln for c in later for ln in _key_lines(c, "faint", width)]
    if never:
        lines += [EMPTY, line(("ONLY A SUPERVISOR", "dim"))]
        lines += [ln for c in never for ln in _key_lines(c, "faint", width)]
    mouse = "The mouse works too; shift and drag selects text in most terminals."
    return [*lines, EMPTY, *paragraph(mouse, width, "dim")]


def _key_lines(command: Command, role: str, width: int) -> list[Line]:
    keys = "  ".join(shown(k) for k in command.keys)
    column = _KEYS if width >= 3 * _KEYS else _KEYS - 6
    name = (f"  {fit(keys, column - 3)} ", "key" if role == "text" else "faint")
    return _beside(line(name), command.words, role, width)


def _beside(head: Line, words: str, role: str, width: int) -> list[Line]:
    """Words beside a head, wrapped in their column."""
    column = width_of(head)
    first, *more = wrap(words, width - column)
    below = [line((" " * column + part, role)) for part in more]
    return [(*head, *line((first, role))), *below]


class HelpPanel(SheetPanel):
    """The keys of where you are."""

    def __init__(self, commands: Sequence[Command], here: Here) -> None:
        super().__init__()
        self.commands = tuple(commands)
        self.here = here

    @override
    def lines(self, width: int) -> list[Line]:
        """The keys, by group."""
        return help_lines(self.commands, self.here, width)

    @override
    def pressed(self, key: str) -> bool:
        """What opens it closes it too; it scrolls, or closes."""
        if key in {"question_mark", "f1"}:
            self.dismiss(None)
            return True
        return super().pressed(key)


class LeavePanel(Panel[bool]):
    """Asks before leaving, where tickets are held or text is unsent."""

    def __init__(self, held: int, *, unsent: bool, lost: bool = False) -> None:
        """Makes the question.

        Args:
            held: How many tickets the person holds.
            unsent: Whether there is unsent text.
            lost: Whether some of it can't be kept, because the store is away.
        """
        super().__init__()
        self.held = held
        self.unsent = unsent
        self.lost = lost

    @override
    def compose(self) -> ComposeResult:
        lines = [line(("Leave?", "strong")), EMPTY]
        if self.held:
            one = self.held == 1
            tickets = "1 ticket" if one else f"{self.held} tickets"
            it, stays = ("it", "It stays") if one else ("them", "They stay")
            lines.append(
                line(f"You hold {tickets}. {stays} yours: the agent is silent")
            )
            lines.append(line(f"until you give {it} back."))
        if self.lost:
            lost = "The store can't be reached: what you wrote last would be lost."
            lines.append(line((lost, "harm")))
        elif self.unsent:
            lines.append(line("Unsent text is kept as a draft."))
        keys = line(
            ("▸ esc Stay", "strong"), ("    ", "dim"), ("y", "key"), (" leave", "text")
        )
        with Vertical(id="panel"):
            yield LineView([*lines, EMPTY], id="panel-head")
            yield LineView([keys], id="panel-keys")

    @override
    def pressed(self, key: str) -> bool:
        """`y` leaves, enter stays."""
        if key == "y":
            paced(self.app).meant(lambda: self.dismiss(result=True), "still here")
        elif key == "enter":
            self.dismiss(None)
        else:
            return False
        return True
