"""A decision's card in a panel: what is done about it, once it was read whole.

The focus is on Cancel. `y` acts, and only once the whole card has been on the screen.
The key that opens the card does nothing here, and a key in the midst of typing decides
nothing (`pace`).
"""

from collections.abc import Callable
from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from console.screens.pace import paced
from console.screens.panel import Panel
from console.screens.steady import SteadyApp
from console.widgets.card_lines import also_on_it, card_lines
from console.widgets.line_view import LineView
from console.widgets.sight import Sight
from console.widgets.spans import Line, line
from core.cleanse import one_line
from core.decision import READY, Decision, settled_words
from core.history import History
from core.ledger import OnObject

R = TypeVar("R")

UNREAD = "not read whole yet: j reads on"
"""Why `y` does nothing on a card whose end was not on the screen."""


_SOON = 0.05
"""Seconds until it is looked again whether the terminal shows the card by now."""


def closes_over(words: str) -> Line:
    """The keys of a card on which nothing can be done, and why; the key is first.

    The words may be longer than the card is wide.
    """
    return line(("▸ esc Close", "strong"), (f"    {words}", "wait"))


class CardPanel(Panel[R]):
    """A card that can be scrolled, and that knows whether it was read whole."""

    def __init__(
        self, decision: Decision, history: History, sight: Callable[[int], Sight]
    ) -> None:
        super().__init__()
        self.decision = decision
        self.history = history
        self.sight = sight
        self.read_whole = False
        self._else: tuple[OnObject, ...] = ()

    @override
    def on_mount(self) -> None:
        """Shows the card; nothing has the focus but Cancel."""
        super().on_mount()
        self._draw()
        self.watch(self.query_one("#card"), "scroll_y", self._looked, init=False)

    def on_resize(self) -> None:
        """Looks again whether the whole card is on the screen."""
        self.call_after_refresh(self._looked)

    def renew(self, history: History) -> None:
        """Shows what came since: a newer message, another's verdict."""
        decision = history.decision(self.decision.id)
        if decision is None:
            return
        grown = history.newest_buyer_seq() > self.history.newest_buyer_seq()
        self.decision, self.history = decision, history
        self.read_whole = self.read_whole and not grown
        self._draw()

    def tick(self) -> None:
        """A second has passed."""

    def _draw(self) -> None:
        decision, history = self.decision, self.history
        on = self._acts_on()
        else_ = also_on_it(decision, self._seen_by(0), on)
        self.read_whole = self.read_whole and else_ == self._else
        self._else = else_
        for card in self.query("#card").results(LineView):  # none before the first
            card.draw(lambda w: card_lines(decision, history, self._seen_by(w), on=on))
            self.call_after_refresh(self._looked)

    def _acts_on(self) -> str | None:
        """What is acted on, once it is confirmed as it stands here."""
        return self.decision.acts_on

    def _seen_by(self, width: int) -> Sight:
        """Who looks, with all that was read for this card."""
        return self.sight(width)

    def _looked(self) -> None:
        card = next(iter(self.query("#card").results(LineView)), None)
        if card is None:  # it has closed meanwhile
            return
        at_end = bool(card.size.height) and card.at_end
        if at_end and isinstance(self.app, SteadyApp) and not self.app.seen:
            self.set_timer(_SOON, self._looked)  # a slow terminal does not show it yet
        elif at_end:
            self.read_whole = True
        self.show_keys(self._keys())

    def _keys(self) -> Line:
        """What the keys do now; subclasses answer."""
        return ()

    def _cancel_or(self, does: str) -> Line:
        """Cancel, which has the focus, and `y` with what it does."""
        read = self.read_whole
        return line(
            ("▸ esc Cancel", "strong"),
            ("    ", "dim"),
            ("y", "key" if read else "faint"),
            (
                f" {does}" if read else f" {does} (read on: j)",
                "text" if read else "faint",
            ),
        )

    def _read_on(self, key: str) -> bool:
        """The keys that only scroll or leave.

        Returns:
            Whether the key was one of them.
        """
        match key:
            case "j" | "down" | "pagedown" | "space":
                self._scroll(1 if key in {"j", "down"} else 8)
            case "k" | "up" | "pageup":
                self._scroll(-1 if key in {"k", "up"} else -8)
            case "G" | "end":
                self._scroll(100_000)
            case "enter":
                self.dismiss(None)
            case _:
                return False
        return True

    def _scroll(self, lines: int) -> None:
        card = self.query_one("#card", LineView)
        lowest = max(0, len(card.lines) - card.size.height)
        card.to_row(max(0, min(card.scroll_offset.y + lines, lowest)))
        self.call_after_refresh(self._looked)


class CarryOutPanel(CardPanel[bool]):
    """An approved decision before its holder has it executed."""

    @override
    def compose(self) -> ComposeResult:
        with Vertical(id="panel", classes="-card"):
            yield LineView(id="card")
            yield LineView(id="panel-keys")

    @property
    def _over(self) -> bool:
        """Whether it can't be executed any more."""
        return self.decision.state not in READY

    @override
    def _keys(self) -> Line:
        if self._over:
            begun = self.history.action_of(self.decision.id)
            by = None if begun is None else begun.by
            settled = one_line(settled_words(self.decision, by), 120)
            return closes_over(f"already {settled}")
        return self._cancel_or("carry it out")

    @override
    def pressed(self, key: str) -> bool:
        """`y` carries it out; enter, as esc, does not."""
        if key != "y":
            return self._read_on(key)
        if self._over:
            self.app.bell()
        elif not self.read_whole:
            self.tell(UNREAD)
        else:
            paced(self.app).meant(self._sure, "nothing was carried out")
        return True

    def _sure(self) -> None:
        if self._over:
            self.app.bell()
        else:
            self.dismiss(result=True)
