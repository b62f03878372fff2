"""For whom a pane is drawn, and when; and how its sections are headed."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from console.widgets.spans import Line, line


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """For whom a chart is drawn, and when.

    Attributes:
        me: The operator.
        now: For ages.
        zone: The person's zone; None for the system's.
        width: Cells.
    """

    me: str
    now: datetime
    zone: tzinfo | None
    width: int


def title_line(words: str, more: str = "") -> Line:
    """The head of a section."""
    return line((words, "strong"), (f"  {more}" if more else "", "dim"))
