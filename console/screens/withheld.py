"""The agent's replies that a take-over caught, one card after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TextArea
from typing_extensions import override

from console.measures import clock_time
from console.screens.pace import paced
from console.screens.panel import Panel
from console.widgets.composer import Editor
from console.widgets.line_view import LineView
from console.widgets.spans import EMPTY, Line, line, paragraph
from core.cleanse import cleanse, written
from core.history import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """What becomes of a withheld reply.

    Attributes:
        seq: The reply's journal entry.
        choice: `send`, `edit` or `discard`.
        text: For an edit: the new text.
    """

    seq: int
    choice: str
    text: str


class WithheldPanel(Panel[Caught]):
    """One withheld reply: send it as it is, edit it, or discard it.

    Attributes:
        begun: New words that were written and not sent, or "".
    """

    def __init__(
        self,
        replies: Sequence[Reply],
        zone: tzinfo | None,
        begun: str,
        keep: Callable[[str], None],
    ) -> None:
        """Takes what is withheld.

        Args:
            replies: The replies; the first is shown.
            zone: Where its time is told.
            begun: What was written in its place before.
            keep: Keeps what is written in its place; "" where that is nothing else.
        """
        super().__init__()
        self.zone = zone
        self.begun = begun
        self.keep = keep
        self.reply = replies[0]
        self.more = len(replies) - 1
        self.editing = False

    @override
    def compose(self) -> ComposeResult:
        with Vertical(id="panel", classes="-card"):
            yield LineView(id="card")
            yield Editor(id="card-input", compact=True, tab_behavior="focus")
            yield LineView([self._keys()], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Shows the reply."""
        super().on_mount()
        self._draw()

    def _draw(self) -> None:
        at = clock_time(self.reply.created_at, self.zone)
        more = f" · {self.more} more" if self.more else ""
        head = line(
            ("Withheld ", "wait-strong"),
            (f"the agent's reply of {at}, not sent{more}", "dim"),
        )
        text = cleanse(self.reply.text, limit=20_000, lines=400)
        self.query_one("#card", LineView).draw(
            lambda width: [head, EMPTY, *paragraph(text, width)]
        )

    def _keys(self) -> Line:
        if self.editing:
            return line(
                ("^s", "key"),
                (" sends this text   ", "dim"),
                ("esc", "key"),
                (" back", "dim"),
            )
        return line(
            ("▸ esc Later", "strong"),
            ("    ", "dim"),
            ("s", "key"),
            (" send as it is    ", "text"),
            ("e", "key"),
            (" go on editing    " if self.begun else " edit    ", "text"),
            ("d", "key"),
            (" discard", "text"),
        )

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keeps what is written."""
        event.stop()
        if self.editing:
            text = event.text_area.text
            self.begun = text if text != written(self.reply.text) else ""
            self.keep(self.begun)

    @override
    def pressed(self, key: str) -> bool:
        """The card's keys."""
        if self.editing:
            return self._writing(key)
        match key:
            case "s":
                self._if_meant("send", "", "nothing was sent")
            case "d":
                self._if_meant("discard", "", "nothing was discarded")
            case "e":
                self._edit(editing=True)
            case "j" | "down":
                self.query_one("#card", LineView).scroll_down(animate=False)
            case "k" | "up":
                self.query_one("#card", LineView).scroll_up(animate=False)
            case "enter":
                self.dismiss(None)
            case _:
                return False
        return True

    def _writing(self, key: str) -> bool:
        editor = self.query_one("#card-input", Editor)
        if key == "escape":
            self._edit(editing=False)
            return True
        if key in {"ctrl+s", "ctrl+enter"} and editor.text.strip():
            self._if_meant("edit", editor.text, "nothing was sent")
            return True
        return False

    def _edit(self, *, editing: bool) -> None:
        self.editing = editing
        self.set_class(editing, "-override")
        editor = self.query_one("#card-input", Editor)
        if editing:
            editor.load_text(self.begun or written(self.reply.text))
            editor.focus()
        else:
            self.set_focus(None)
        self.show_keys(self._keys())

    def _if_meant(self, choice: str, text: str, words: str) -> None:
        paced(self.app).meant(lambda: self._settle(choice, text), words)

    def _settle(self, choice: str, text: str) -> None:
        self.answer(Caught(seq=self.reply.seq, choice=choice, text=text))
