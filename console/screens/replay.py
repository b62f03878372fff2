"""A run replayed: turn by turn, the request at the left, answer and effects right.

Nothing is asked and nothing is done again: everything shown is stored. Whether the
requests can be rebuilt byte for byte from the records is looked at in the background,
and the first turn that can't is marked.
"""

import asyncio
from collections.abc import Sequence
from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from typing_extensions import override

from console.screens.background import in_background
from console.screens.panel import Panel
from console.widgets.line_view import LineView
from console.widgets.replay_lines import (
    Verdict,
    answer_lines,
    effect_lines,
    replay_head,
    request_lines,
    side_head,
)
from console.widgets.spans import Line, clip, line
from console.widgets.timeline_values import Reader
from core.cleanse import one_line
from core.flows.replay import (
    BuiltByOther,
    Differs,
    Same,
    UnknownRun,
    Unreadable,
    compare,
)
from core.history import History
from core.ticket import RunId
from core.turn import RunRecord

_SIDES = ("request", "answer")

_LOOKING = Verdict(words="comparing…", role="faint")


class ReplayPanel(Panel[RunId]):
    """One run; answers with another run of the ticket that is wanted instead."""

    def __init__(
        self,
        record: RunRecord,
        history: History,
        *,
        me: str,
        zone: tzinfo | None,
    ) -> None:
        super().__init__()
        self.record = record
        self.history = history
        self.me = me
        self.zone = zone
        self.turn = 1
        self.verdict = _LOOKING
        self.at_left = True

    @override
    def compose(self) -> ComposeResult:
        keys = line(
            ("← →", "key"), (" turn   ", "dim"),
            ("j k", "key"), (" scroll   ", "dim"),
            ("tab", "key"), (" other side   ", "dim"),
            ("[ ]", "key"), (" other run   ", "dim"),
            ("esc", "key"), (" back", "dim"),
        )  # fmt: skip
        with Vertical(id="panel", classes="-large"):
            yield LineView(id="panel-head")
            with Horizontal(id="replay"):
                for side in _SIDES:
                    with Vertical(classes="side"):
                        yield LineView(id=f"{side}-head")
                        yield LineView(id=side)
            yield LineView([keys], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Shows the first turn, and compares meanwhile."""
        super().on_mount()
        self.call_after_refresh(self._draw)
        in_background(self, self._compare, "Comparing")

    async def _compare(self) -> None:
        self.verdict = await asyncio.to_thread(_judged, self.record, self.history)
        self._draw()

    def _draw(self) -> None:
        run, number, verdict = self.record.run, self.turn, self.verdict
        record, history = self.record, self.history
        self.query_one("#panel-head", LineView).draw(
            lambda w: [clip(s, w) for s in replay_head(run, number, verdict)]
        )
        self._mark()
        self.query_one("#request", LineView).draw(
            lambda w: request_lines(record, number, verdict, w - 1)
        )

        def right(width: int) -> list[Line]:
            if not run.turns:
                return [line(("The run ended before it asked the model.", "dim"))]
            reader = Reader(me=self.me, buyer="", zone=self.zone, width=width - 1)
            answer = answer_lines(run.turns[number - 1], width - 1)
            return [*answer, *effect_lines(history, run, number, reader)]

        self.query_one("#answer", LineView).draw(right)

    def _mark(self) -> None:
        for side in _SIDES:
            here = (side == "request") is self.at_left
            head = side_head(side.upper(), focused=here)
            self.query_one(f"#{side}-head", LineView).show([head])

    @override
    def pressed(self, key: str) -> bool:
        """Turns, sides, runs."""
        match key:
            case "right" | "l" | "n" | "space":
                self._to(self.turn + 1)
            case "left" | "h" | "N" | "backspace":
                self._to(self.turn - 1)
            case "j" | "down" | "k" | "up":
                self._scroll(1 if key in {"j", "down"} else -1)
            case "pagedown" | "ctrl+d" | "pageup" | "ctrl+u":
                self._scroll(12 if key in {"pagedown", "ctrl+d"} else -12)
            case "g" | "home":
                self._scroll(-len(self._side.lines))
            case "G" | "end":
                self._scroll(len(self._side.lines))
            case "tab" | "shift+tab":
                self.at_left = not self.at_left
                self._mark()
            case "left_square_bracket" | "right_square_bracket":
                self._other(1 if key.startswith("right") else -1)
            case "q" | "p":
                self.dismiss(None)
            case _:
                return False
        return True

    def _to(self, turn: int) -> None:
        turn = max(1, min(turn, len(self.record.run.turns)))
        if turn == self.turn:
            return
        self.turn = turn
        for name in ("#request", "#answer"):
            self.query_one(name, LineView).to_row(0)
        self._draw()

    @property
    def _side(self) -> LineView:
        return self.query_one("#request" if self.at_left else "#answer", LineView)

    def _scroll(self, lines: int) -> None:
        view = self._side
        lowest = max(0, len(view.lines) - view.size.height)
        view.to_row(max(0, min(view.scroll_offset.y + lines, lowest)))

    def _other(self, by: int) -> None:
        runs: Sequence[RunId] = [run.id for run in self.history.runs]
        at = runs.index(self.record.run.id) + by
        if 0 <= at < len(runs):
            self.dismiss(runs[at])


def _judged(record: RunRecord, history: History) -> Verdict:
    if record.run.turns and not record.requests:
        return Verdict(words="reduced: its requests are not kept any more", role="wait")
    match compare(record, history):
        case Same(turns=turns):
            if not turns:
                return Verdict(words="nothing to rebuild", role="dim")
            return Verdict(words="✓ every request rebuilt byte for byte", role="ok")
        case Differs(turn=turn, what=what, diff=diff):
            words = f"✗ turn {turn}: the {what} can't be rebuilt from the records"
            return Verdict(words=words, role="harm", turn=turn, diff=diff)
        case BuiltByOther(version=version):
            words = f"built by version {version}: it can't be compared here"
            return Verdict(words=words, role="wait")
        case Unreadable(what=what):
            words = f"✗ can't be compared, not readable: {one_line(what, 120)}"
            return Verdict(words=words, role="harm")
        case UnknownRun():
            return Verdict(words="there is no such run any more", role="wait")
