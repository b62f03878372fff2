"""A tool's arguments as a form, for the holder who uses it."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.screens.arguments import ArgumentsForm, fields_of, foreseen_line
from console.screens.pace import paced
from console.screens.panel import Panel
from console.widgets.line_view import LineView
from console.widgets.spans import Line, folded, line
from core.cleanse import one_line
from core.history import History
from core.ticket import JsonObject
from core.tool import ToolCall, ToolSpec


class ToolPanel(Panel[JsonObject]):
    """Asks for the arguments; says at every letter what the policy makes of them."""

    def __init__(self, spec: ToolSpec, history: History) -> None:
        super().__init__()
        self.spec = spec
        self.ticket_history = history

    @override
    def compose(self) -> ComposeResult:
        head = [line((one_line(self.spec.name, 60), "strong"))]
        keys = line(
            ("^s", "key"), (" uses it   ", "dim"), ("esc", "key"), (" back", "dim")
        )
        with Vertical(id="panel"):
            yield LineView(head, id="panel-head")
            yield ArgumentsForm(id="card-form")
            yield LineView(id="card-judged")
            yield LineView([keys], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Shows the form."""
        super().on_mount()
        self.add_class("-override")
        self.call_later(self._show_form)

    async def _show_form(self) -> None:
        await self.query_one(ArgumentsForm).show(fields_of({}, self.spec))
        self._judge()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Says what the policy makes of what is written now."""
        event.stop()
        self._judge()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Goes to the next line."""
        event.stop()
        self.focus_next()

    @override
    def pressed(self, key: str) -> bool:
        """`^s` uses the tool."""
        if key not in {"ctrl+s", "ctrl+enter"}:
            return False
        paced(self.app).meant(self._use, "nothing was done", after="text")
        return True

    def _judge(self) -> None:
        try:
            given = self.query_one(ArgumentsForm).arguments()
        except ValueError as wrong:
            self._say(line((f"✗ {one_line(str(wrong), 400)}", "harm")))
            return
        call = ToolCall(id="", name=self.spec.name, input=given)
        self._say(foreseen_line(call, self.spec, self.ticket_history))

    def _say(self, said: Line) -> None:
        """What is cut off could be that a second person must approve: all is shown."""
        view = self.query_one("#card-judged", LineView)
        view.draw(lambda width: folded([said], width))

    def _use(self) -> None:
        try:
            given = self.query_one(ArgumentsForm).arguments()
        except ValueError as wrong:
            self.notify(one_line(str(wrong), 200), severity="warning", markup=False)
            return
        self.answer(given)
