"""What an empty store shows: the ways in that exist."""

from collections.abc import Sequence

from console.live import WayIn
from console.widgets.spans import EMPTY, Line, fit, line, paragraph
from core.cleanse import one_line

WAYS: tuple[WayIn, ...] = (
    WayIn(
        name="See it work",
        command="handoff demo",
        words="an invented shop, its buyers and an agent, all on this machine",
    ),
    WayIn(
        name="Bring in messages",
        command="handoff ingest FILE",
        words="one JSON object a line; they open tickets that the agent takes up",
    ),
    WayIn(
        name="Bring in the past",
        command="handoff import FILE",
        words="finished conversations, to look at and search",
    ),
)


def first_run_lines(ways: Sequence[WayIn], width: int) -> list[Line]:
    """The screen's lines."""
    lines: list[Line] = [
        EMPTY,
        line(("  There is no ticket in this store yet.", "strong")),
        EMPTY,
    ]
    for way in ways or WAYS:
        name = one_line(way.name, 30)
        lines.append(
            line((f"  {fit(name, 22)}", "text"), (one_line(way.command, 60), "yours"))
        )
        lines += paragraph(one_line(way.words, 200), width - 2, "dim", indent=24)
        lines.append(EMPTY)
    kept = "This screen fills by itself as soon as a ticket is there."
    return [*lines, *paragraph(kept, width - 2, "dim", indent=2)]
