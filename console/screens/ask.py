"""A question with one line for the answer: a reason, a time, a name, a whisper."""

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.screens.pace import paced
from console.screens.panel import Panel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.one_line import OneLine
from console.widgets.spans import EMPTY, Line, line


class AskPanel(Panel[str]):
    """Asks for a line of text; enter answers, where it was meant.

    It stays, with what is written, until that can be an answer.
    """

    def __init__(  # noqa: PLR0913 # each by its name
        self,
        title: str,
        *,
        hint: str,
        does: str,
        words: str = "",
        empty: bool = False,
        needs: str = "a reason",
        wrong: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """Makes the question.

        Args:
            title: What is asked, cleansed.
            hint: What may be answered.
            does: What enter does, as in "pauses".
            words: More to know before answering.
            empty: Whether no answer is one.
            needs: What is needed, said where nothing was written.
            wrong: Why a text can't be the answer, in one safe line, or None.
        """
        super().__init__()
        self.asked = title
        self.hint = hint
        self.does = does
        self.words = words
        self.empty = empty
        self.needs = needs
        self.wrong = wrong

    @override
    def compose(self) -> ComposeResult:
        head: list[Line] = [line((self.asked, "strong"))]
        if self.words:
            head.append(line((self.words, "dim")))
        keys = line(
            ("enter", "key"),
            (f" {self.does}   ", "dim"),
            ("esc", "key"),
            (" back", "dim"),
        )
        with Vertical(id="panel"):
            yield LineView([*head, EMPTY], id="panel-head")
            yield OneLine(id="panel-note", placeholder=self.hint)
            yield LineView([keys], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Starts in the line."""
        super().on_mount()
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answers."""
        event.stop()
        self._answer()

    @override
    def pressed(self, key: str) -> bool:
        """What sends a text elsewhere answers too."""
        if key in {"ctrl+s", "ctrl+enter"}:
            self._answer()
            return True
        return False

    def _answer(self) -> None:
        text = self.query_one(Input).value.strip()
        lacks = f"{self.needs} is needed" if not text and not self.empty else None
        wrong = lacks or self.wrong(text)
        if wrong is not None:
            self.tell(wrong)
            return
        paced(self.app).meant(
            lambda: self.answer(text), "nothing was done", after="text"
        )


class PickPanel(Panel[str]):
    """Asks for one of a few; enter answers, where it was meant."""

    def __init__(self, title: str, choices: Sequence[Choice], does: str) -> None:
        super().__init__()
        self.asked = title
        self.choices = tuple(choices)
        self.does = does

    @override
    def compose(self) -> ComposeResult:
        keys = line(
            ("enter", "key"),
            (f" {self.does}   ", "dim"),
            ("esc", "key"),
            (" back", "dim"),
        )
        with Vertical(id="panel"):
            yield LineView([line((self.asked, "strong")), EMPTY], id="panel-head")
            yield Choices(self.choices, id="choices")
            yield LineView([keys], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Starts on the list."""
        super().on_mount()
        self.query_one(Choices).focus()

    def on_choices_taken(self, event: Choices.Taken) -> None:
        """Answers."""
        event.stop()
        paced(self.app).meant(
            lambda: self.answer(event.choice), "nothing was done", after="moves"
        )


class SurePanel(Panel[bool]):
    """Asks whether something is really wanted; the focus is on not doing it."""

    def __init__(self, lines: Sequence[Line], does: str, words: str) -> None:
        """Makes the question.

        Args:
            lines: What to know.
            does: What `y` does, as in "send anyway".
            words: What was not done where `y` came in the midst of typing.
        """
        super().__init__()
        self.said = tuple(lines)
        self.does = does
        self.not_done = words

    @override
    def compose(self) -> ComposeResult:
        keys = line(
            ("▸ esc Back", "strong"),
            ("    ", "dim"),
            ("y", "key"),
            (f" {self.does}", "text"),
        )
        with Vertical(id="panel"):
            yield LineView([*self.said, EMPTY], id="panel-head")
            yield LineView([keys], id="panel-keys")

    @override
    def pressed(self, key: str) -> bool:
        """`y` does it, enter does not."""
        if key == "y":
            paced(self.app).meant(lambda: self.answer(result=True), self.not_done)
        elif key == "enter":
            self.dismiss(None)
        else:
            return False
        return True
