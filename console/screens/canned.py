"""Written replies and macros to choose from, with a preview; choosing does nothing yet.

A reply goes into the composer, a macro comes up as a panel that says all it will do.
"""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.canned import Shelf
from console.screens.searching import SearchPanel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.macro_lines import macro_lines
from console.widgets.one_line import OneLine
from console.widgets.spans import EMPTY, Line, line, paragraph
from core.cleanse import cleanse, one_line
from core.written import Unreadable, Written

_PREVIEW = 10
_WIDTH = 64


class CannedPanel(SearchPanel[Written]):
    """What the team has written already; typing narrows it."""

    def __init__(self, shelf: Shelf, filled: Callable[[Written], Written]) -> None:
        """Makes the panel.

        Args:
            shelf: Everything that is written, by name.
            filled: Puts in what the chart says, for the preview.
        """
        super().__init__()
        self.shelf = shelf
        self.filled = filled

    @override
    def compose(self) -> ComposeResult:
        keys = line(("enter", "key"), (" writes it   ", "dim"), ("esc", "key"))
        with Vertical(id="panel"):
            yield OneLine(id="panel-find", placeholder="written replies and macros")
            yield Choices(self.found(""), id="choices")
            yield LineView(id="panel-head")
            yield LineView([line(*keys, (" back", "dim"))], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Shows the first one."""
        self._preview()

    def learn(self, shelf: Shelf) -> None:
        """Offers what the store says by now."""
        self.shelf = shelf
        self.find_again()
        if self.query(Choices):
            self._preview()

    @override
    def found(self, wanted: str) -> list[Choice]:
        """What holds these words in its name or texts."""
        words = wanted.casefold().split()
        return [
            Choice(id=name, line=_row(name, said))
            for name, said in self.shelf.items()
            if all(word in _words(said) for word in words)
        ]

    def _preview(self) -> None:
        chosen = self.query_one(Choices).chosen
        said = None if chosen is None else self.shelf[chosen]
        if not self.shelf:
            none = "No written replies. Put Markdown files into the folder `replies`"
            more = f"{none} beside handoff.toml, or use `handoff canned add`."
            lines: list[Line] = [EMPTY, *paragraph(more, _WIDTH)]
        elif said is None:
            lines = [EMPTY, line(("none holds these words", "dim"))]
        elif isinstance(said, Unreadable):
            lines = [EMPTY, *paragraph(one_line(said.why, 300), _WIDTH, "harm")]
        elif said.is_macro:
            lines = [EMPTY, *macro_lines(self.filled(said), _WIDTH)]
        else:
            text = cleanse(self.filled(said).reply, limit=2000, lines=_PREVIEW)
            lines = [EMPTY, *paragraph(text, _WIDTH, "dim")[:_PREVIEW]]
        self.query_one("#panel-head", LineView).show(lines)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrows the list."""
        event.stop()
        self.query_one(Choices).show(self.found(event.value))
        self._preview()

    def on_choices_moved(self, event: Choices.Moved) -> None:
        """Shows another one."""
        event.stop()
        self._preview()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Takes the one under the cursor."""
        event.stop()
        self.query_one(Choices).take()

    def on_choices_taken(self, event: Choices.Taken) -> None:
        """Answers with it, unless it can't be read."""
        event.stop()
        said = self.shelf[event.choice]
        if isinstance(said, Written):
            self.dismiss(said)


def _row(name: str, said: Written | Unreadable) -> Line:
    shown = one_line(name, 40)
    if isinstance(said, Unreadable):
        return line((shown, "dim"), ("  can't be read", "harm"))
    return line(shown, ("  macro", "dim")) if said.is_macro else line(shown)


def _words(said: Written | Unreadable) -> str:
    texts = [said.name]
    if isinstance(said, Written):
        texts += [said.reply, said.note, said.note_for_agent]
        texts += ["macro"] if said.is_macro else []
    return "\n".join(texts).casefold()
