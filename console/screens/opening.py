"""What is there while the store is opened: the desk's frame, and what it waits for.

The store's library takes longer to load than all the rest, so the terminal is the
console's before it is asked. Keys are kept for the desk; those that leave act at once.
"""

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from typing_extensions import override

from console.screens.front import KeysFirst
from console.widgets.line_view import LineView
from console.widgets.spans import Line, line

_TOP: list[Line] = [
    line((" handoff", "yours"), ("   opening the store", "dim")),
    line(("", "dim")),
]
_KEYS: list[Line] = [line((" q", "key"), (" leave", "dim"))]


class Opening(KeysFirst, Screen[None], inherit_bindings=False):
    """An empty desk.

    Attributes:
        keys: What was pressed meanwhile, in order; what is pasted is no key.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[events.Key] = []

    @override
    def compose(self) -> ComposeResult:
        yield LineView(_TOP, id="top")
        yield LineView(id="panes")
        yield LineView(_KEYS, id="hints")

    @override
    def take_key(self, event: events.Key) -> bool:
        """Leaves, or keeps the key."""
        if event.key in {"q", "ctrl+c", "ctrl+q"}:
            self.app.exit()
        else:
            self.keys.append(event)
        return True
