"""The small panels: all actions, the keys of where you are, and leaving."""

from collections.abc import Sequence
from itertools import groupby

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.keymap import Command, Here, possible, shown
from console.screens.pace import paced
from console.screens.panel import Panel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.spans import EMPTY, Line, fit, line

KEYS = 13
"""Cells of the column of keys, with a gap to what they do."""

SYMBOLS = (
    ("▲", "wait", "waits for a person: a decision, or an answer"),
    ("!", "harm", "in doubt: nobody knows whether an action happened"),
    ("■", "yours", "you hold it, the agent is silent"),
    ("□", "other", "a colleague holds it"),
    ("●", "agent", "the agent works on it"),
    ("◐", "yours", "the agent is asked to stop"),
    ("○", "dim", "nobody works on it: for the agent, or for the buyer"),
    ("‖", "wait", "the agent is paused"),
    ("✓", "ok", "verified buyer; also: done, resolved"),
    ("?", "wait", "the buyer is not verified"),
    ("•", "buyer", "not read yet"),
    ("✗", "harm", "failed"),
    ("▸", "faint", "opens with space or enter"),
)
"""What the symbols mean, in the colours that they have."""


def choices_for(
    wanted: str, commands: Sequence[Command], here: Here, themes: Sequence[str]
) -> list[Choice]:
    """The actions that are possible here and hold all these words."""
    words = wanted.casefold().split()
    out = []
    for command in commands:
        said = f"{command.words} {command.id}".casefold()
        if command.id == "palette" or not possible(command, here):
            continue
        if all(word in said for word in words):
            keys = " ".join(shown(k) for k in command.keys[:2])
            out.append(_choice(command.id, keys, command.words))
    looks = [t for t in themes if words and all(w in f"theme {t}" for w in words)]
    return out + [_choice(f"theme:{t}", "", f"theme: {t}") for t in looks]


def _choice(id_: str, keys: str, words: str) -> Choice:
    column = fit(keys, KEYS - 1) + " "
    return Choice(id=id_, line=line((column, "key"), (words, "text")))


class PalettePanel(Panel[str]):
    """Every action with its key; typing narrows the list."""

    def __init__(
        self, commands: Sequence[Command], here: Here, themes: Sequence[str]
    ) -> None:
        super().__init__()
        self.listening = True
        self.commands = tuple(commands)
        self.here = here
        self.themes = tuple(themes)
        self.early = ""

    @override
    def compose(self) -> ComposeResult:
        with Vertical(id="panel"):
            yield Input(id="panel-find", placeholder="all actions")
            yield Choices(self._found(""), empty="no action of this name", id="choices")

    @override
    def on_mount(self) -> None:
        """Starts in the search, with what was typed before it was there."""
        box = self.query_one(Input)
        box.value, self.early = self.early, ""
        self.set_focus(box)

    @override
    def take_key(self, event: events.Key) -> bool:
        """Keeps what is typed before the search line is there."""
        if self.focused is None and event.is_printable and event.character:
            self.early += event.character
            return True
        return super().take_key(event)

    def _found(self, wanted: str) -> list[Choice]:
        return choices_for(wanted, self.commands, self.here, self.themes)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrows the list."""
        event.stop()
        self.query_one(Choices).show(self._found(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Takes the first one left."""
        event.stop()
        take = self.query_one(Choices).take
        paced(self.app).meant(take, "nothing was done", after="text")

    def on_choices_taken(self, event: Choices.Taken) -> None:
        """Answers with the command's id."""
        self.dismiss(event.choice)


def help_lines(commands: Sequence[Command], here: Here) -> list[Line]:
    """The keys that do something here, by group; the others after them, faint."""
    now = [c for c in commands if possible(c, here) and c.id != "send"]
    later = [c for c in commands if not possible(c, here)]
    lines: list[Line] = [line(("Keys here", "strong")), EMPTY]
    ordered = sorted(now, key=lambda c: c.group)
    for group, some in groupby(ordered, key=lambda c: c.group):
        lines.append(line((group.upper(), "dim")))
        lines += [_key_line(c, "text") for c in some]
        lines.append(EMPTY)
    lines.append(line(("SYMBOLS", "dim")))
    lines += [line((f"  {s}  ", role), (words, "text")) for s, role, words in SYMBOLS]
    lines += [EMPTY, line(("NOT NOW", "dim"))]
    lines += [_key_line(c, "faint") for c in later]
    mouse = "The mouse works too; shift and drag selects text in most terminals."
    return [*lines, EMPTY, line((mouse, "dim"))]


def _key_line(command: Command, role: str) -> Line:
    keys = "  ".join(shown(k) for k in command.keys)
    return line(
        (f"  {fit(keys, 14)} ", "key" if role == "text" else "faint"),
        (command.words, role),
    )


class HelpPanel(Panel[None]):
    """The keys of where you are."""

    def __init__(self, commands: Sequence[Command], here: Here) -> None:
        super().__init__()
        self.listening = True
        self.commands = tuple(commands)
        self.here = here

    @override
    def compose(self) -> ComposeResult:
        with Vertical(id="panel", classes="-card"):
            yield LineView(help_lines(self.commands, self.here), id="card")
            keys = (("j k", "key"), (" scroll   ", "dim"), ("esc", "key"))
            yield LineView([line(*keys, (" closes", "dim"))], id="panel-keys")

    @override
    def pressed(self, key: str) -> bool:
        """Scrolls, or closes."""
        card = self.query_one("#card", LineView)
        match key:
            case "j" | "down":
                card.scroll_down(animate=False)
            case "k" | "up":
                card.scroll_up(animate=False)
            case "pagedown" | "space" | "ctrl+d":
                card.scroll_page_down(animate=False)
            case "pageup" | "ctrl+u":
                card.scroll_page_up(animate=False)
            case "question_mark" | "q" | "enter" | "f1":
                self.dismiss(None)
            case _:
                return False
        return True


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
            tickets = "1 ticket" if self.held == 1 else f"{self.held} tickets"
            said = f"You hold {tickets}. Holds stay: the agent is silent until you"
            lines += [line(said), line("give them back.")]
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
