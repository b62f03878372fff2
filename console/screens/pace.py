"""Whether a key was meant: nobody decides anything by typing, or by pasting.

Somebody who believes that the composer has the focus types a sentence, and one of
its letters is the key that approves. So a key that decides, sends or hands over
counts only when it stands alone: no other key shortly before it, and none shortly
after. Until then nothing is done, and if it was not alone a line says so. A paste
without marks is nothing else than very fast typing.

One key may come right behind: who takes a ticket to answer presses the key that
writes at once. It is then that one which stands alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.app import App
from textual.timer import Timer

from console.screens.panel import Panel

MOVES = frozenset({"up", "down", "j", "k", "g", "G", "home", "end"} | {
    "pageup", "pagedown", "ctrl+d", "ctrl+u", "tab", "shift+tab", "escape",
})  # fmt: skip
"""Keys that one presses quickly before the one that is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How far apart keys must be, in seconds.

    Attributes:
        before: Nothing was typed for so long before a key that decides.
        after: Nothing follows it for so long.
        burst: No hand presses two keys within this time.
    """

    before: float = 0.3
    after: float = 0.25
    burst: float = 0.025


@dataclass(slots=True, kw_only=True)
class _Meant:
    """What is done unless a key comes first.

    Attributes:
        act: It.
        words: What was not done otherwise.
        behind: The keys that may follow it at once.
        dropped: Called where it is not done.
        timer: When it is done.
    """

    act: Callable[[], object]
    words: str
    behind: frozenset[str]
    dropped: Callable[[], object]
    timer: Timer | None = None


AT_ONCE = Pace(before=0, after=0, burst=0)
"""For programs that press the keys."""


class PacedApp(App[None], inherit_bindings=False):
    """An app that knows when keys were pressed."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self.pace = pace
        self._moved_at = self._typed_at = -1e9
        self._gap = self._move_gap = 1e9
        self._meant: _Meant | None = None
        self._dropped = ("", -1e9)

    def note_key(self, event: events.Key) -> None:
        """Takes note of a key before anything acts on it."""
        self._gap = event.time - self._typed_at
        self._move_gap = event.time - self._moved_at
        if event.key in MOVES:
            self._moved_at = event.time
        else:
            self._typed_at = event.time
        meant = self._meant
        if meant is None:
            return
        if meant.timer is not None:
            meant.timer.stop()
        if event.key in meant.behind and self._gap >= self.pace.burst:
            meant.behind = frozenset()
            self._wait_for(meant)
        else:
            self._meant = None
            self._not_meant(meant.words)
            meant.dropped()

    def meant(
        self,
        act: Callable[[], object],
        words: str,
        *,
        after: Literal["nothing", "moves", "text"] = "nothing",
        behind: frozenset[str] = frozenset(),
        dropped: Callable[[], object] = lambda: None,
    ) -> bool:
        """Does something if the last key was pressed for it alone.

        Args:
            act: What is done, a moment later.
            words: What was not done otherwise, as in "nothing was approved".
            after: What may have been pressed right before it: nothing, keys that
                only move, or text that it sends. Never a burst.
            behind: Keys of which one may come right behind it, alone again.
            dropped: Called where a key that came later than this call undid it.

        Returns:
            Whether it may still be done.
        """
        gap = min(self._gap, self._move_gap)
        quiet = {"nothing": gap, "moves": self._gap, "text": 1e9}[after]
        if quiet < self.pace.before or gap < self.pace.burst:
            self._not_meant(words)
            return False
        if not self.pace.after:
            self._do(act)
            return True

        self._wait_for(_Meant(act=act, words=words, behind=behind, dropped=dropped))
        return True

    def _wait_for(self, meant: _Meant) -> None:
        def alone() -> None:
            if self._meant is meant and meant.timer is timer:
                self._meant = None
                self._do(meant.act)

        # later once more: a key that waits to be looked at came before this moment
        timer = self.set_timer(self.pace.after, lambda: self.call_later(alone))
        meant.timer = timer
        self._meant = meant

    def _do(self, act: Callable[[], object]) -> None:
        act()
        self.settles()

    def settles(self) -> None:
        """Lets the next key wait until the screen has done what it was told so far."""
        raise NotImplementedError

    def dropped(self, seconds: float) -> str:
        """What was not done because of keys that came so shortly before the last."""
        words, at = self._dropped
        return words if self._typed_at - at <= seconds else ""

    def _not_meant(self, words: str) -> None:
        """Says it where one looks: in the panel's own line, or in a notice."""
        self._dropped = (words, self._typed_at)
        if isinstance(self.screen, Panel):
            self.screen.tell(f"keys came too fast, {words}: once more")
            return
        self.notify(
            f"Keys came too fast after each other: {words}",
            severity="warning",
            markup=False,
            timeout=5,
        )


def paced(app: App[object]) -> PacedApp:
    """The app, which knows the pace of keys.

    Raises:
        TypeError: It is another one.
    """
    if isinstance(app, PacedApp):
        return app
    raise TypeError("the console's screens live in its own app")
