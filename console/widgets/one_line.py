"""A line to write in. What is pasted stays one line, and is all of it."""

from textual import events
from textual.widgets import Input
from typing_extensions import override

from core.cleanse import written


class OneLine(Input):
    """An input whose pastes lose nothing but what nobody sees."""

    @override
    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        safe = written(event.text).strip("\n").replace("\n", " ")
        self.replace(safe, *sorted(self.selection))
