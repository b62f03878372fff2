"""A line to write in. What is pasted stays one line, and is all of it."""

from textual import events
from textual.widgets import Input
from typing_extensions import override

from console.widgets.spans import cut
from core.cleanse import written


class OneLine(Input):
    """An input whose pastes lose nothing but what nobody sees.

    What may be written, said while it is empty, is cut to the width that there is.
    """

    _hint: str | None = None

    def on_resize(self) -> None:
        """Says what there is room for."""
        self.hints(self.placeholder if self._hint is None else self._hint)

    def hints(self, words: str) -> None:
        """Says from now on what may be written."""
        self._hint = words
        self.placeholder = cut(words, self.content_size.width)

    @override
    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        safe = written(event.text).strip("\n").replace("\n", " ")
        self.replace(safe, *sorted(self.selection))
