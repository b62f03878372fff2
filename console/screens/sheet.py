"""A panel to read: lines that scroll."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from console.screens.panel import Panel
from console.widgets.line_view import LineView
from console.widgets.spans import Line, line


class SheetPanel(Panel[None]):
    """Lines to read; subclasses say which, and what else a key does."""

    def __init__(self) -> None:
        super().__init__()
        self.listening = True

    def lines(self, width: int) -> Sequence[Line]:
        """What is to be read, in a width; subclasses answer."""
        del width
        return ()

    def more_keys(self) -> Sequence[tuple[str, str]]:
        """Keys beside those that scroll and close, with what they do."""
        return ()

    @override
    def compose(self) -> ComposeResult:
        keys = [("j k", " scroll   "), *self.more_keys(), ("esc", " closes")]
        parts = [part for k, w in keys for part in ((k, "key"), (w, "dim"))]
        with Vertical(id="panel", classes="-card"):
            yield LineView(id="card")
            yield LineView([line(*parts)], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Shows them in the width that there is."""
        super().on_mount()
        self.draw()

    def draw(self) -> None:
        """Shows the lines as they are now."""
        self.query_one("#card", LineView).draw(self.lines)

    @override
    def pressed(self, key: str) -> bool:
        """Scrolls, or closes."""
        card = self.query_one("#card", LineView)
        match key:
            case "j" | "down":
                card.scroll_down(animate=False)
            case "k" | "up":
                card.scroll_up(animate=False)
            case "g" | "home":
                card.scroll_home(animate=False)
            case "G" | "end":
                card.scroll_end(animate=False)
            case "pagedown" | "space" | "ctrl+d":
                card.scroll_page_down(animate=False)
            case "pageup" | "ctrl+u":
                card.scroll_page_up(animate=False)
            case "q" | "enter":
                self.dismiss(None)
            case _:
                return False
        return True
