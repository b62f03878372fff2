"""A macro before it acts: each thing that it will do; enter does all, esc nothing.

What the chart doesn't say is asked for here; until it is filled in, enter does nothing.
"""

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.screens.pace import paced
from console.screens.panel import Panel
from console.widgets.line_view import LineView
from console.widgets.macro_lines import macro_lines
from console.widgets.one_line import OneLine
from console.widgets.spans import EMPTY, line
from core.cleanse import one_line
from core.ticket import TicketId
from core.written import Written, filled, gaps

_WIDTH = 64


class MacroPanel(Panel[Mapping[str, str]]):
    """Answers with what its names stand for."""

    def __init__(
        self,
        ticket: TicketId,
        written: Written,
        values: Mapping[str, str],
        before: Mapping[str, str],
    ) -> None:
        """Takes what is to be done.

        Args:
            ticket: On which ticket.
            written: The macro.
            values: What the chart says its names stand for.
            before: What the person has filled in here before, and was refused.
        """
        super().__init__()
        self.ticket = ticket
        self.written = written
        self.values = dict(values)
        self.missing = gaps(written, values)
        self.values |= {name: before.get(name, "") for name in self.missing}

    @override
    def compose(self) -> ComposeResult:
        head = line(
            (f"{one_line(self.written.name, 40)}", "strong"),
            (" on ", "dim"),
            (one_line(self.ticket, 24), "strong"),
        )
        keys = line(
            ("enter", "key"),
            (" does all of it   ", "dim"),
            ("esc", "key"),
            (" back", "dim"),
        )
        with Vertical(id="panel"):
            yield LineView([head, EMPTY], id="panel-label")
            yield LineView(id="panel-head")
            for number, name in enumerate(self.missing):
                hint = f"{name}: the chart does not say it"
                yield OneLine(
                    self.values[name],
                    id=f"gap-{number}",
                    classes="-gap",
                    placeholder=hint,
                )
            yield LineView([keys], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Starts where something is missing."""
        super().on_mount()
        self._show()
        if self.missing:
            self.query_one("#gap-0", Input).focus()

    def _show(self) -> None:
        lines = macro_lines(filled(self.written, self.values), _WIDTH)
        self.query_one("#panel-head", LineView).show(lines)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Puts in what is written."""
        event.stop()
        number = int(str(event.input.id).removeprefix("gap-"))
        self.values[self.missing[number]] = event.value.strip()
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Goes to the next gap, or does it."""
        event.stop()
        self._do()

    @override
    def pressed(self, key: str) -> bool:
        """Enter does it."""
        if key == "enter" and not self.typing:
            self._do()
            return True
        return False

    def _do(self) -> None:
        for number, name in enumerate(self.missing):
            if not self.values.get(name):
                self.query_one(f"#gap-{number}", Input).focus()
                return
        paced(self.app).meant(
            lambda: self.answer(dict(self.values)),
            "nothing was done",
            after="text" if self.typing else "moves",
        )
