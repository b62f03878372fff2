"""The card of a decision: approve, change, reject.

`y` approves, `e` opens the arguments as a form, `x` asks for a reason; what guards
them is said in `card`.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.screens.arguments import (
    ArgumentsForm,
    fields_of,
    forbidden,
    judged_line,
)
from console.screens.background import in_background
from console.screens.card import UNREAD, CardPanel, closes_over
from console.screens.pace import paced
from console.widgets.card_lines import barred_words
from console.widgets.line_view import LineView
from console.widgets.one_line import OneLine
from console.widgets.sight import Sight
from console.widgets.spans import Line, folded, line
from core.cleanse import one_line
from core.decision import Decision, DecisionState, settled_words
from core.errors import StoreUnreachable
from core.history import History
from core.ledger import OnObject
from core.ticket import Json
from core.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a supervisor said of a decision.

    Attributes:
        decision: Its id.
        kind: `approve`, `override` or `reject`.
        why: The reason, "" for none.
        input: For an override: the new arguments.
        seen: The journal seq that was on the screen.
    """

    decision: str
    kind: str
    why: str
    input: Json
    seen: int


LOOK = 1.0
"""Seconds for which `y` does nothing on a card that came up by itself."""


class DecisionPanel(CardPanel[Ruling]):
    """The card."""

    def __init__(
        self,
        decision: Decision,
        history: History,
        sight: Callable[[int], Sight],
        *,
        look_up: Callable[[str], Awaitable[Mapping[str, tuple[OnObject, ...]]]],
        reasons: MutableMapping[str, str],
        came: bool = False,
    ) -> None:
        """Takes what is to be decided.

        Args:
            decision: The decision.
            history: Its ticket.
            sight: Who looks, and when.
            look_up: Reads what else was done, or waits, on another object.
            reasons: Reasons that were begun and not used, by the decision's id; they
                outlast the card.
            came: Whether it came up by itself, after the verdict on another.
        """
        super().__init__(decision, history, sight)
        self.look_up = look_up
        self.reasons = reasons
        self.unseen = came
        self._edited_on = decision.acts_on
        self._looked_up: dict[str, tuple[OnObject, ...]] = {}
        self.asking = ""
        self.spec: ToolSpec | None = None

    @override
    def compose(self) -> ComposeResult:
        with Vertical(id="panel", classes="-card"):
            yield LineView(id="card")
            yield OneLine(
                self.reasons.get(self.decision.id, ""),
                id="card-why",
                placeholder="why it is rejected",
                select_on_focus=False,  # the next letter would take its place
            )
            yield ArgumentsForm(id="card-form")
            yield LineView(id="card-judged")
            yield LineView(id="panel-keys")

    @override
    def on_mount(self) -> None:
        """Shows the card, and lets `y` count a little later if it came by itself."""
        super().on_mount()
        if self.unseen:
            self.set_timer(LOOK, self._seen)

    def _seen(self) -> None:
        self.unseen = False

    @override
    def _acts_on(self) -> str | None:
        return self._edited_on if self.asking == "override" else super()._acts_on()

    @override
    def _seen_by(self, width: int) -> Sight:
        sight = self.sight(width)
        return replace(sight, on_objects={**self._looked_up, **sight.on_objects})

    def _turn_to(self, on: str | None) -> None:
        """Shows what there is on the object that the form names now."""
        if on == self._edited_on:
            return
        self._edited_on = on
        self._draw()
        if on is not None and on not in self._looked_up:
            look = partial(self._look_at, on)
            in_background(self, look, "Looking at an object", exclusive=True)

    async def _look_at(self, on: str) -> None:
        with suppress(StoreUnreachable):  # the feed says so
            self._looked_up |= await self.look_up(on)
            self._draw()

    @override
    def tick(self) -> None:
        """Shows how long it still waits, and that it has expired."""
        if self.decision.state is DecisionState.PENDING:
            self._draw()

    @property
    def _over(self) -> str:
        """Why nothing can be decided any more, in words, or ""."""
        if self.decision.state is not DecisionState.PENDING:
            begun = self.history.action_of(self.decision.id)
            by = None if begun is None else begun.by
            return f"already {one_line(settled_words(self.decision, by), 120)}"
        if self.decision.expires_at <= self.sight(0).now:
            return "it has expired: nothing was decided"
        return ""

    @property
    def _barred(self) -> str:
        """Why somebody else has to approve, in words, or ""."""
        return barred_words(self.decision, self.sight(0))

    @override
    def _keys(self) -> Line:
        if self._over:
            return closes_over(self._over)
        if self.asking == "reject":
            return line(
                ("enter", "key"),
                (" rejects   ", "dim"),
                ("esc", "key"),
                (" back", "dim"),
            )
        if self.asking == "override":
            return line(
                ("^s", "key"),
                (" approves these arguments   ", "dim"),
                ("esc", "key"),
                (" back", "dim"),
            )
        barred, closes = self._barred, (("esc", "key"), (" close", "dim"))
        reject = (("x", "key"), (" reject", "text"))
        if barred:
            rejects = (("    ", "dim"), *reject) if self.sight(0).supervisor else ()
            return line((f"{barred}   ", "wait"), *closes, *rejects)
        if self.decision.unreadable is not None:
            return line(("▸ esc Cancel", "strong"), ("    ", "dim"), *reject)
        edit = (("    ", "dim"), ("e", "key"), (" edit    ", "text"))
        return (*self._cancel_or("approve"), *line(*edit, *reject))

    @override
    def pressed(self, key: str) -> bool:
        """The card's keys."""
        if self.asking:
            return self._answering(key)
        lost = self.decision.unreadable is not None
        if (self._over and key in {"y", "e", "x"}) or (lost and key in {"y", "e"}):
            self.app.bell()
            return True
        allowed = "x" if self.sight(0).supervisor else ""
        if self._barred and key in {"y", "e", "x"} - {allowed}:
            self.tell(self._barred)
            return True
        match key:
            case "y":
                self._approve()
            case "e" | "x":
                what = "override" if key == "e" else "reject"
                self._if_meant(lambda: self._ask(what), "nothing was decided")
            case _:
                return self._read_on(key)
        return True

    def _approve(self) -> None:
        if not self.read_whole:
            self.tell(UNREAD)
            return
        if self.unseen:
            self.tell("the next decision: nothing was approved yet, look first")
            return
        self._if_meant(lambda: self._rule("approve", "", None), "nothing was approved")

    def _if_meant(self, act: Callable[[], object], words: str) -> None:
        paced(self.app).meant(act, words)

    def _ask(self, what: str) -> None:
        self.asking = what
        self.set_class(what == "reject", "-reject")
        self.set_class(what == "override", "-override")
        if what == "reject":
            self.query_one("#card-why", Input).focus()
        elif what == "override":
            self.call_later(self._show_form)
        else:
            self.set_focus(None)
        self._draw()
        self._looked()

    def _answering(self, key: str) -> bool:
        if key == "escape" and not self._over:  # there it closes, as the card says
            self._ask("")
            return True
        if key in {"ctrl+s", "ctrl+enter"} and self.asking == "override":
            self._if_meant(self._override, "nothing was approved")
            return True
        if key in {"ctrl+s", "ctrl+enter"}:
            self._reject()
            return True
        return False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Rejects with the reason; without one it only says that it is needed."""
        event.stop()
        if self.asking == "override":
            self.focus_next()
        else:
            self._reject()

    def _reject(self) -> None:
        why = self.query_one("#card-why", Input).value.strip()
        if why:
            self._if_meant(
                lambda: self._rule("reject", why, None), "nothing was rejected"
            )
        else:
            self.tell("a reason is needed")

    def learn(self, spec: ToolSpec | None) -> None:
        """Takes the tool as its server describes it, once that is known."""
        self.spec = spec
        if self.asking == "override":
            form = self.query_one(ArgumentsForm)
            if form.texts == [field.text for field in form.fields]:
                self.call_later(self._show_form)
            self._judge()

    async def _show_form(self) -> None:
        form = self.query_one(ArgumentsForm)
        amount = self.decision.amount_in
        if self.spec is not None:
            amount = self.spec.policy.amount
        fields = fields_of(self.decision.stands, self.spec, amount=amount)
        # whoever is in a line already stays there when the tool is learnt late
        await form.show(fields, at=form.focused or amount)
        self._judge()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Says what the policy makes of what is written now; keeps a reason."""
        event.stop()
        if event.input.id == "card-why":
            self.reasons[self.decision.id] = event.value
        if self.asking == "override":
            self._judge()

    def _judge(self) -> None:
        try:
            value = self.query_one(ArgumentsForm).arguments()
        except ValueError as wrong:
            self._say(line((f"✗ {one_line(str(wrong), 400)}", "harm")))
            return
        self._turn_to(self.decision.object_of(value))
        self._say(judged_line(self.decision, value, self.spec, self.history))

    def _say(self, said: Line) -> None:
        """What is cut off could be that a second person must approve: all is shown."""
        view = self.query_one("#card-judged", LineView)
        view.draw(lambda width: folded([said], width))

    def _override(self) -> None:
        try:
            value = self.query_one(ArgumentsForm).arguments()
        except ValueError as wrong:
            self.notify(one_line(str(wrong), 200), severity="warning", markup=False)
            return
        why = forbidden(self.decision, value, self.spec, self.history)
        if why is not None:  # the form stays, with what is written in it
            self.notify(why, severity="warning", markup=False)
            return
        self._rule("override", "", value)

    def _rule(self, kind: str, why: str, value: Json) -> None:
        if self._over:
            self.app.bell()
            return
        self.answer(
            Ruling(
                decision=self.decision.id,
                kind=kind,
                why=why,
                input=value,
                seen=self.history.standing.last_seq,
            )
        )
