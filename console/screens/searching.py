"""A panel in which one finds something by its words: a search line over a list."""

from collections.abc import Sequence
from typing import TypeVar

from textual.widgets import Input
from typing_extensions import override

from console.screens.panel import Panel
from console.widgets.choices import Choice, Choices

R = TypeVar("R")


class SearchPanel(Panel[R], inherit_bindings=False):
    """Listens at once; whoever makes one composes an `Input` and `Choices`."""

    def __init__(self) -> None:
        super().__init__()
        self.listening = True

    @override
    def on_mount(self) -> None:
        """Starts in the search."""
        self.set_focus(self.query_one(Input))

    def found(self, wanted: str) -> Sequence[Choice]:
        """What holds these words; subclasses answer."""
        del wanted
        return ()

    def find_again(self) -> None:
        """Offers what is there by now; the cursor stays on its name."""
        for choices in self.query(Choices):  # none yet, or none any more
            choices.renew(self.found(self.query_one(Input).value))
