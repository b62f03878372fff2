"""A short list to choose from: a cursor, enter takes, a click takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.geometry import Size
from textual.message import Message
from typing_extensions import override

from console.widgets.line_view import Painted
from console.widgets.spans import EMPTY, Line, Span, line


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the lines.

    Attributes:
        id: What is told when it is taken.
        line: As it is shown.
    """

    id: str
    line: Line


class Choices(Painted, can_focus=True, inherit_bindings=False):
    """The list."""

    class Taken(Message):
        """A choice was taken."""

        def __init__(self, choice: str) -> None:
            super().__init__()
            self.choice = choice

    class Moved(Message):
        """The cursor stands on another choice."""

    def __init__(
        self,
        choices: Sequence[Choice] = (),
        *,
        empty: str = "",
        id: str | None = None,  # noqa: A002 # Textual's word
    ) -> None:
        super().__init__(id=id)
        self.choices = tuple(choices)
        self.empty = empty
        self.cursor = 0

    @override
    def on_mount(self) -> None:
        """Takes its height from what it was made with."""
        self.virtual_size = Size(0, len(self.choices))

    def show(self, choices: Sequence[Choice]) -> None:
        """Offers these from now on, the first one under the cursor."""
        self.choices, self.cursor = tuple(choices), 0
        self.virtual_size = Size(0, len(self.choices))
        self.to_row(0)
        self.refresh()

    def renew(self, choices: Sequence[Choice]) -> None:
        """Offers these from now on; the cursor stays on its choice where it is left."""
        chosen = self.chosen
        self.show(choices)
        names = [choice.id for choice in choices]
        if chosen in names:
            self.step(names.index(chosen))
        self.refresh(layout=True)

    @property
    def chosen(self) -> str | None:
        """The choice under the cursor."""
        inside = 0 <= self.cursor < len(self.choices)
        return self.choices[self.cursor].id if inside else None

    def step(self, by: int) -> None:
        """Moves the cursor."""
        self.cursor = max(0, min(self.cursor + by, len(self.choices) - 1))
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.cursor < top:
            self.to_row(self.cursor)
        elif self.cursor >= top + height:
            self.to_row(self.cursor - height + 1)
        self.refresh()
        self.post_message(self.Moved())

    def take(self) -> None:
        """Takes the choice under the cursor."""
        if self.chosen is not None:
            self.post_message(self.Taken(self.chosen))

    @override
    def line_at(self, y: int) -> Line:
        """A choice, marked where the cursor is."""
        if not self.choices and y == 0:
            return line((self.empty, "dim"))
        if not 0 <= y < len(self.choices):
            return EMPTY
        mark = Span("▸ " if y == self.cursor else "  ", "key")
        return (mark, *self.choices[y].line)

    @override
    def ground_at(self, y: int) -> str:
        """The cursor's row."""
        return "cursor" if y == self.cursor and self.choices else ""

    @override
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as there are choices."""
        del container, viewport, width
        return max(1, len(self.choices))

    def on_painted_pressed(self, event: Painted.Pressed) -> None:
        """A click takes."""
        event.stop()
        if 0 <= event.y < len(self.choices):
            self.cursor = event.y
            self.take()
