"""Who works here: roles, who is at a console, who may work here no more."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from console.measures import count
from console.overview import Overview
from console.screens.panel import Panel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.spans import EMPTY, Line, fit, line
from console.wording import doing
from core.cleanse import one_line
from core.decision import Operator, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is wanted.

    Attributes:
        what: `add`, `role` or `work`.
        name: Of whom; "" for `add`.
    """

    what: str
    name: str = ""


class PeoplePanel(Panel[Change]):
    """Everybody; supervisors change them."""

    def __init__(self, seen: Overview, *, supervisor: bool) -> None:
        super().__init__()
        self.seen = seen
        self.supervisor = supervisor

    @override
    def compose(self) -> ComposeResult:
        keys = [("esc", " back")]
        if self.supervisor:
            keys = [
                ("n", " new   "),
                ("r", " other role   "),
                ("d", " disable or enable   "),
                *keys,
            ]
        parts = [part for k, w in keys for part in ((k, "key"), (w, "dim"))]
        choices = [Choice(id=o.name, line=self._line(o)) for o in self.seen.people]
        with Vertical(id="panel"):
            yield LineView([line(("People", "strong")), EMPTY], id="panel-head")
            yield Choices(choices, id="choices")
            yield LineView([line(*parts)], id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Starts on the list."""
        super().on_mount()
        self.query_one(Choices).focus()

    def _line(self, who: Operator) -> Line:
        held = sum(r.standing.held_by == who.name for r in self.seen.held)
        there: Sequence[str] = [
            doing(p, p.ticket, self.seen.now).strip(" ,·")
            for p in self.seen.presences
            if p.operator == who.name
        ]
        state = "disabled" if who.disabled else (there[0] if there else "not here")
        role = "strong" if who.role is Role.SUPERVISOR else "text"
        return line(
            (
                fit(one_line(who.name, 40), 24) + " ",
                "dim" if who.disabled else "strong",
            ),
            (fit(who.role.value, 12) + " ", role),
            (fit(f"holds {count(held, 'ticket')}", 16), "dim"),
            (state, "dim"),
        )

    @override
    def pressed(self, key: str) -> bool:
        """The keys of a row."""
        what = {"n": "add", "r": "role", "d": "work"}.get(key)
        if what is None or not self.supervisor:
            return False
        chosen = self.query_one(Choices).chosen or ""
        self.dismiss(Change(what=what, name="" if what == "add" else chosen))
        return True
