"""What is there while the store is opened: the desk's frame, and what it waits for.

The store's library takes longer to load than all the rest, so the terminal is the
console's before it is asked. No key does anything yet but leave.
"""

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from typing_extensions import override

from console.widgets.line_view import LineView
from console.widgets.spans import Line, line

_TOP: list[Line] = [
    line((" handoff", "yours"), ("   opening the store", "dim")),
    line(("", "dim")),
]
_KEYS: list[Line] = [line((" q", "key"), (" leave", "dim"))]


class Opening(Screen[None], inherit_bindings=False):
    """An empty desk."""

    @override
    def compose(self) -> ComposeResult:
        yield LineView(_TOP, id="top")
        yield LineView(id="panes")
        yield LineView(_KEYS, id="hints")

    def on_key(self, event: events.Key) -> None:
        """Leaves."""
        event.stop()
        if event.key in {"q", "ctrl+c", "ctrl+q"}:
            self.app.exit()
