"""Where a person writes: a reply while holding the ticket, a note at any time.

Letters typed here never act, pasting never sends, and of what is pasted nothing comes
in that nobody sees: the editor would paint raw escapes.
"""

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea
from typing_extensions import override

from console.widgets.line_view import LineView
from console.widgets.spans import Line, clip
from core.cleanse import written

LONGEST, LINES = 100_000, 5000
"""Characters and lines that a text may come to by pasting."""


class Editor(TextArea):
    """A text area that says when a written reply is asked for.

    `ctrl+z` is left to the terminal's people, who go to the shell with it: here it
    would take away all that was just written. `ctrl+_` takes back, as in a shell's
    line, and `ctrl+y` brings it again.

    Attributes:
        offers: Whether a slash at the beginning asks for written replies.
    """

    offers = False

    BINDINGS = [Binding("ctrl+underscore", "undo", show=False)]  # noqa: RUF012 # Textual's own form

    class Slash(Message):
        """A slash was typed where nothing is written."""

    @override
    def on_mount(self) -> None:
        """Lets go of the library's key for taking back."""
        for key in ("ctrl+z", "super+z"):
            self._bindings.key_to_bindings.pop(key, None)

    @override
    async def _on_key(self, event: events.Key) -> None:
        if event.character == "/" and not self.text and self.offers:
            event.stop()
            event.prevent_default()
            self.post_message(self.Slash())
            return
        await super()._on_key(event)

    def on_blur(self, event: events.Blur) -> None:
        """Shows what is kept."""
        del event
        self.call_after_refresh(self.show_first)

    def on_resize(self) -> None:
        """Still shows what is kept, in another height, and wrapped for its width.

        The library wraps anew after it has painted, and paints again only where that
        makes more lines or fewer: half of a wide character would be cut off.
        """
        self.refresh()
        self.call_after_refresh(self.show_first)

    def on_focus(self, event: events.Focus) -> None:
        """Shows where one writes."""
        del event
        self.call_after_refresh(self.scroll_cursor_visible)

    def show_first(self) -> None:
        """Shows where the text begins: its last line may well be a blank one."""
        if self.has_focus:
            return
        lines = self.text.split("\n")
        first = next((n for n, words in enumerate(lines) if words.strip()), 0)
        at = self.wrapped_document.location_to_offset((first, 0))
        self.scroll_to(y=at.y, animate=False, force=True)

    @override
    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.bring(event.text)

    def bring(self, text: str) -> None:
        """Puts a text in the place of what is selected: all of it, or nothing."""
        safe = written(text)
        left = self.text.replace(self.selected_text, "", 1)
        if len(left) + len(safe) > LONGEST or (left + safe).count("\n") >= LINES:
            self.notify(
                f"Nothing was pasted: with its {len(safe):,} characters the text would "
                f"be longer than {LONGEST:,} characters or {LINES:,} lines",
                severity="warning",
                markup=False,
            )
            return
        put = self._replace_via_keyboard(safe, *self.selection)
        if put is not None:
            self.move_cursor(put.end_location)


class Composer(Vertical):
    """The editor with the line that says for whom it is."""

    class Edited(Message):
        """The text changed."""

    class Slash(Message):
        """Written replies were asked for."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 # Textual's word
        super().__init__(id=id)
        self.mode = "reply"
        self._filled = ""

    @override
    def compose(self) -> ComposeResult:
        yield LineView(id="composer-label")
        yield Editor(id="editor", soft_wrap=True, tab_behavior="focus", compact=True)

    @property
    def editor(self) -> Editor:
        """The text area itself."""
        return self.query_one("#editor", Editor)

    @property
    def text(self) -> str:
        """What is written."""
        return self.editor.text

    @property
    def changed(self) -> bool:
        """Whether the person wrote something that nobody has taken yet."""
        return self.editor.text != self._filled

    def insert(self, text: str) -> None:
        """Puts a written reply where the cursor is."""
        self.editor.bring(text)

    def on_editor_slash(self, event: Editor.Slash) -> None:
        """Asks for written replies."""
        event.stop()
        self.post_message(self.Slash())

    def take_text(self) -> str:
        """The text, which from now on is no change any more."""
        self._filled = self.editor.text
        return self._filled

    def fill(self, text: str) -> None:
        """Puts a draft into the editor; that is no edit of the person's."""
        # what stands there was cleansed as it came, and is not cut under the cursor
        safe = text if text == self.editor.text else written(text)
        self._filled = safe
        if self.editor.text != safe:
            self.editor.load_text(safe)
            self.editor.move_cursor(self.editor.document.end)
            self.editor.call_after_refresh(self.editor.show_first)

    def present(self, *, mode: str, open_: bool, words: Line) -> None:
        """Says for whom it is, and shows the editor or only its line."""
        self.mode = mode
        self.editor.offers = mode == "reply"
        self.set_class(mode == "note", "-note")
        self.set_class(open_, "-open")
        self.editor.display = open_  # at once: it may get the focus right now
        label = self.query_one("#composer-label", LineView)
        label.draw(lambda width: [clip(words, width)])

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Tells of what the person wrote, not of what was filled in."""
        event.stop()
        if self.changed:
            self.post_message(self.Edited())
