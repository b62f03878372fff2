"""Written replies to choose from, with a preview; choosing only writes, never sends."""

from collections.abc import Mapping

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.screens.panel import Panel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.spans import EMPTY, Line, line, paragraph
from core.cleanse import cleanse, one_line

_PREVIEW = 10


class CannedPanel(Panel[str]):
    """The replies of the team; typing narrows them."""

    def __init__(self, replies: Mapping[str, str]) -> None:
        """Makes the panel.

        Args:
            replies: Texts with their names filled in, by the reply's name.
        """
        super().__init__()
        self.listening = True
        self.replies = dict(replies)
        self.early = ""

    @override
    def compose(self) -> ComposeResult:
        keys = line(("⏎", "key"), (" writes it   ", "dim"), ("esc", "key"))
        with Vertical(id="panel"):
            yield Input(id="panel-find", placeholder="written replies")
            yield Choices(self._found(""), id="choices")
            yield LineView(id="panel-head")
            yield LineView([line(*keys, (" back", "dim"))], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Starts in the search."""
        box = self.query_one(Input)
        box.value, self.early = self.early, ""
        self.set_focus(box)
        self._preview()

    @override
    def take_key(self, event: events.Key) -> bool:
        """Keeps what is typed before the search line is there."""
        if self.focused is None and event.is_printable and event.character:
            self.early += event.character
            return True
        return super().take_key(event)

    def _found(self, wanted: str) -> list[Choice]:
        words = wanted.casefold().split()
        return [
            Choice(id=name, line=line(one_line(name, 60)))
            for name, text in self.replies.items()
            if all(word in f"{name}\n{text}".casefold() for word in words)
        ]

    def _preview(self) -> None:
        chosen = self.query_one(Choices).chosen
        if not self.replies:
            none = "No written replies. Put Markdown files into the folder `replies`"
            lines: list[Line] = [EMPTY, *paragraph(f"{none} beside handoff.toml.", 64)]
        elif chosen is None:
            lines = [EMPTY, line(("none holds these words", "dim"))]
        else:
            text = cleanse(self.replies[chosen], limit=2000, lines=_PREVIEW)
            lines = [EMPTY, *paragraph(text, 64, "dim")[:_PREVIEW]]
        self.query_one("#panel-head", LineView).show(lines)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrows the list."""
        event.stop()
        self.query_one(Choices).show(self._found(event.value))
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
        """Answers with the text."""
        self.dismiss(self.replies[event.choice])
