"""The least that a program of the library can be: what every first paint costs."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class Empty(App[None]):
    """A line of text."""

    def compose(self) -> ComposeResult:
        yield Static("painted")


if __name__ == "__main__":
    Empty().run()
