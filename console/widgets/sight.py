"""For whom a pane is drawn, and when; and how its sections are headed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from console.keytable import KEYS
from console.widgets.spans import Line, line
from core.history import History, QueueRow
from core.journal import Paused
from core.ledger import OnObject


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
        on_objects: What was done, or waits, on what the open decisions act on.
        asked: The turn whose model call is not answered yet, and since when.
        tool: The tool whose answer the run waits for, or None.
        approved: What is approved and not carried out yet, in words, or None.
        paused_at: When the agent was stopped on this ticket, where that is known.
        begun: The approved decisions whose call waits for its answer.
        supervisor: Whether the operator may decide.
        keys: The person's key of each command.
    """

    me: str
    now: datetime
    zone: tzinfo | None
    width: int
    stopped: str | None = None
    presence: Mapping[str, str] = field(default_factory=dict)
    others: tuple[QueueRow, ...] = ()
    on_objects: Mapping[str, tuple[OnObject, ...]] = field(default_factory=dict)
    asked: tuple[int, datetime] | None = None
    tool: str | None = None
    approved: str | None = None
    paused_at: datetime | None = None
    begun: frozenset[str] = frozenset()
    supervisor: bool = True
    keys: Mapping[str, str] = field(default_factory=lambda: KEYS)


def asked_of(history: History | None) -> tuple[int, datetime] | None:
    """The model call that a ticket's run waits for: its turn, and since when."""
    if history is None or not history.runs:
        return None
    run = history.runs[-1]
    over = run.ended_at is not None or history.standing.run != run.id
    if over or not run.turns or run.turns[-1].response is not None:
        return None
    return run.turns[-1].number, run.turns[-1].requested_at


def paused_at(history: History | None) -> datetime | None:
    """Since when the agent is stopped on a ticket, or None where it is not."""
    if history is None or history.standing.paused is None:
        return None
    stops = (e.at for e in reversed(history.journal) if isinstance(e.body, Paused))
    return next(stops, None)


def title_line(words: str, more: str = "") -> Line:
    """The head of a section."""
    return line((words, "strong"), (f"  {more}" if more else "", "dim"))
