"""How a ticket looks as a row of the queue."""

from datetime import datetime

from console.measures import age
from console.widgets.spans import Line, cut, fit, line
from console.wording import Word
from core.cleanse import one_line
from core.history import QueueRow

BUYER_FROM = 64
"""Width from which the buyer has a column."""

LOUD = {"wait", "yours", "harm"}
"""Roles of states that wait for a person: their subjects are strong."""


def queue_line(
    row: QueueRow,
    width: int,
    *,
    word: Word,
    now: datetime,
    unread: bool = False,
) -> Line:
    """A row in exactly the width: state, ticket, subject, buyer, what waits, age.

    Args:
        row: The ticket.
        width: Cells.
        word: Where it stands.
        now: For the age.
        unread: Whether the buyer wrote what was not read here.
    """
    waits = 19 if width >= BUYER_FROM else max(10, min(18, width // 3 + 2))
    buyer = 16 if width >= BUYER_FROM else 0
    subject = max(4, width - 2 - 10 - buyer - 2 - waits - 5)
    loud = word.role in LOUD or unread
    verified = row.standing.identity is not None
    waited = row.standing.ours_since or row.updated_at
    return line(
        (word.symbol, word.role),
        ("•" if unread else " ", "buyer"),
        (fit(row.ticket, 9) + " ", "strong" if loud else "text"),
        (
            fit(one_line(row.subject or "(no subject)", 120), subject - 1) + " ",
            "strong" if loud else "dim",
        ),
        (fit(one_line(row.buyer, 40), buyer - 1) + " " if buyer else "", "dim"),
        ("✓ " if verified else "? ", "ok" if verified else "wait"),
        (fit(cut(word.words, waits - len(word.tail)) + word.tail, waits), word.role),
        (f"{age(waited, now):>4} ", "dim"),
    )
