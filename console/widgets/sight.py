"""For whom a pane is drawn, and when; and how its sections are headed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from console.widgets.spans import Line, line
from core.history import QueueRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """For whom a chart is drawn, and when.

    Attributes:
        me: The operator.
        now: For ages.
        zone: The person's zone; None for the system's.
        width: Cells.
        stopped: Who stopped the agent everywhere and why, in words, or None.
        presence: By colleague: what they do at this ticket, in words.
        others: Other tickets of the same verified customer.
    """

    me: str
    now: datetime
    zone: tzinfo | None
    width: int
    stopped: str | None = None
    presence: Mapping[str, str] = field(default_factory=dict)
    others: tuple[QueueRow, ...] = ()


def title_line(words: str, more: str = "") -> Line:
    """The head of a section."""
    return line((words, "strong"), (f"  {more}" if more else "", "dim"))
