"""The palette: everything that can be done or gone to, found by its words.

Actions come first, those that are possible here before the others, which say why they
are not. Tickets are looked for in the store while one types, so they come a moment
later; what was found before stays where it is.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.canned import Shelf
from console.keymap import GROUPS, Command, Here, allowed, possible, shown
from console.screens.background import in_background
from console.screens.pace import paced
from console.screens.searching import SearchPanel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.one_line import OneLine
from console.widgets.spans import fit, line
from core.cleanse import one_line
from core.history import QueueRow
from core.written import Written

KEYS = 13
"""Cells of the column of keys, with a gap to what they do."""

LOOKS = 0.15
"""Seconds after the last letter before the store is asked for tickets."""


def choices_for(
    wanted: str,
    commands: Sequence[Command],
    here: Here,
    *,
    shelf: Shelf | None = None,
    themes: Sequence[str] = (),
    tickets: Sequence[QueueRow] = (),
) -> list[Choice]:
    """Everything that holds all these words, what is possible here first."""
    words = wanted.casefold().split()

    def held(said: str) -> bool:
        return all(word in said.casefold() for word in words)

    found = [
        command
        for command in commands
        if command.id != "palette" and held(f"{command.words} {command.id}")
    ]
    found.sort(key=lambda c: GROUPS.index(c.group))
    now = [_choice(c.id, _keys(c), c.words) for c in found if possible(c, here)]
    texts = [
        _choice(f"written:{name}", _kind(said), name)
        for name, said in (shelf or {}).items()
        if isinstance(said, Written) and held(f"{_kind(said)} {name}")
    ]
    rows = [
        _choice(f"ticket:{row.ticket}", one_line(row.ticket, KEYS), _said(row))
        for row in tickets
    ]
    looks = [
        _choice(f"theme:{name}", "theme", name)
        for name in themes
        if held(f"theme {name}")
    ]
    later = [
        _choice(c.id, _keys(c), f"{c.words} · {_why_not(c, here)}", "faint")
        for c in found
        if c.needs and not possible(c, here)
    ]
    return [*now, *texts, *rows, *looks, *later]


def _why_not(command: Command, here: Here) -> str:
    return "not now" if allowed(command, here) else "supervisors only"


def _keys(command: Command) -> str:
    return " ".join(shown(key) for key in command.keys[:2])


def _kind(said: Written) -> str:
    return "macro" if said.is_macro else "reply"


def _said(row: QueueRow) -> str:
    return f"{row.subject or '(no subject)'} · {row.buyer}"


def _choice(id_: str, keys: str, words: str, role: str = "text") -> Choice:
    column = fit(keys, KEYS - 1) + " "
    said = one_line(words, 120)
    return Choice(id=id_, line=line((column, "key"), (said, role)))


class PalettePanel(SearchPanel[str]):
    """Every action with its key, and all that has a name; typing narrows the list."""

    def __init__(
        self,
        commands: Sequence[Command],
        here: Here,
        *,
        shelf: Shelf,
        themes: Sequence[str],
        tickets: Callable[[str], Awaitable[Sequence[QueueRow]]],
    ) -> None:
        """Makes the panel.

        Args:
            commands: All there are.
            here: Where the person stands.
            shelf: What is written already.
            themes: By name.
            tickets: Looks for tickets that hold words.
        """
        super().__init__()
        self.commands = tuple(commands)
        self.here = here
        self.shelf = shelf
        self.themes = tuple(themes)
        self.tickets = tickets
        self.rows: Sequence[QueueRow] = ()

    @override
    def compose(self) -> ComposeResult:
        empty = "nothing has these words"
        keys = line(
            ("enter", "key"), (" does it   ", "dim"), ("esc", "key"), (" back", "dim")
        )
        with Vertical(id="panel"):
            yield OneLine(
                id="panel-find",
                placeholder="an action, ticket, buyer, reply, macro, theme",
            )
            yield Choices(self.found(""), empty=empty, id="choices")
            yield LineView([keys], id="panel-keys")

    def learn(self, shelf: Shelf) -> None:
        """Offers what is written by now."""
        if shelf != self.shelf:
            self.shelf = shelf
            self.find_again()

    @override
    def found(self, wanted: str) -> list[Choice]:
        """What `choices_for` gives here."""
        return choices_for(
            wanted,
            self.commands,
            self.here,
            shelf=self.shelf,
            themes=self.themes,
            tickets=self.rows,
        )

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrows the list."""
        event.stop()
        self.rows = ()
        self.query_one(Choices).show(self.found(event.value))
        if event.value.strip():
            self.set_timer(LOOKS, lambda: self._look_if(event.value))

    def _look_if(self, words: str) -> None:
        """Looks for tickets, unless more was typed meanwhile."""
        if self.is_attached and self.query_one(Input).value == words:
            look = partial(self._look, words)
            in_background(self, look, "Looking for tickets", exclusive=True)

    async def _look(self, words: str) -> None:
        rows = await self.tickets(words)
        if not self.is_attached or self.query_one(Input).value != words:
            return
        self.rows = rows
        self.find_again()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Takes the first one left."""
        event.stop()
        take = self.query_one(Choices).take
        paced(self.app).meant(take, "nothing was done", after="text")

    def on_choices_taken(self, event: Choices.Taken) -> None:
        """Answers with the command's id."""
        self.dismiss(event.choice)
