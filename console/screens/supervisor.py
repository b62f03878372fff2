"""The house at a glance: who has what since when, and what needs a look.

A row is a ticket that somebody has. Its keys only say what is wanted: the desk asks
for the reason and acts, so that nothing is taken from anybody by one letter.
"""

from collections.abc import Callable
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from console.overview import Overview
from console.screens.panel import Panel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.overview_lines import hold_lines, overview_lines
from console.widgets.sight import Sight
from console.widgets.spans import EMPTY, line
from core.ticket import TicketId


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a supervisor wants.

    Attributes:
        what: `open`, `force`, `transfer`, `whisper` or `pause`.
        ticket: Of which ticket; None for everything.
    """

    what: str
    ticket: TicketId | None = None


_KEYS = {"T": "force", "X": "transfer", "W": "whisper"}


class SupervisorPanel(Panel[Wish]):
    """The overview, kept fresh by the desk."""

    def __init__(
        self, seen: Overview, sight: Callable[[int], Sight], *, supervisor: bool
    ) -> None:
        super().__init__()
        self.seen = seen
        self.sight = sight
        self.supervisor = supervisor

    @override
    def compose(self) -> ComposeResult:
        keys = [("enter", " opens  "), ("W", " whisper  ")]
        if self.supervisor:
            keys += [("T", " take away  "), ("X", " transfer  ")]
            keys.append(("P", " pause all  "))
        keys.append(("esc", " back"))
        parts = [part for k, w in keys for part in ((k, "key"), (w, "dim"))]
        with Vertical(id="panel", classes="-large"):
            yield LineView([line(("Overview", "strong")), EMPTY], id="panel-label")
            yield LineView(id="panel-head")
            yield LineView([EMPTY, line(("WHO HAS WHAT", "strong"))], id="panel-rule")
            yield Choices(id="choices")
            yield LineView([line(*parts)], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Starts on the list."""
        super().on_mount()
        self.query_one(Choices).focus()
        self.call_after_refresh(self.renew, self.seen)

    def renew(self, seen: Overview) -> None:
        """Shows it as it is now; the row under the cursor stays."""
        self.seen = seen
        self.query_one("#panel-head", LineView).draw(
            lambda width: overview_lines(seen, self.sight(width))
        )
        choices = self.query_one(Choices)
        rows = (*seen.held, *seen.runs)
        lines = hold_lines(rows, seen, self.sight(choices.inner_width or 80))
        names: list[str] = [row.ticket for row in rows] or [""]
        choices.renew(
            [Choice(id=n, line=spans) for n, spans in zip(names, lines, strict=True)]
        )

    def on_resize(self) -> None:
        """Fits the rows to the new width."""
        self.call_after_refresh(self.renew, self.seen)

    def _chosen(self) -> TicketId | None:
        chosen = self.query_one(Choices).chosen
        return TicketId(chosen) if chosen else None

    @override
    def pressed(self, key: str) -> bool:
        """The keys of a row."""
        ticket = self._chosen()
        if key == "P" and self.supervisor:
            self.dismiss(Wish(what="pause"))
        elif key == "W" or (key in _KEYS and self.supervisor):
            if ticket is not None:
                self.dismiss(Wish(what=_KEYS[key], ticket=ticket))
        else:
            return key in {"s", "q"} and self._left()
        return True

    def _left(self) -> bool:
        self.dismiss(None)
        return True

    def on_choices_taken(self, event: Choices.Taken) -> None:
        """Opens the ticket."""
        event.stop()
        ticket = self._chosen()
        if ticket is not None:
            self.dismiss(Wish(what="open", ticket=ticket))
