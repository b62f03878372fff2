"""What every panel above the desk has: a box, `esc` closes it, `tab` moves inside.

For its first 300 milliseconds a panel ignores keys, so that a key meant for the desk
never acts on what has just come up. A key that was ignored is told right above the
panel's line of keys: nobody waits for what they have not done.

What a panel asks for, it hands over by `answer`, and only there. Where the answer is an
act (`hand_to`), the panel stays with all that is written in it until that is stored;
a refusal that only the store knows is told there too, and one goes on.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from rich.cells import cell_len
from textual import events
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, TextArea
from typing_extensions import override

from console.keymap import key_named, shown
from console.screens.front import KeysFirst
from console.widgets.choices import Choices
from console.widgets.line_view import LineView, Painted
from console.widgets.spans import Line, paragraph

R = TypeVar("R")

DEAF = 0.3
"""Seconds for which a new panel ignores keys."""

TOLD = 2.5
"""Seconds for which a panel says why a key did nothing."""

SLOW = 0.2
"""Seconds after which a panel says that its answer is still being stored."""


def key_at(keys: Line, x: int) -> str | None:
    """The key that a line of keys names in this column, or with the words there.

    Where it names two (`j k`), only their own columns are one or the other.
    """
    at, named = 0, ""
    for span in keys:
        start, at = at, at + cell_len(span.text)
        said = span.text.removeprefix("▸ ")
        labels = said.split() if span.role == "key" else said.split()[:1]
        is_key = span.role == "key" or (span.role == "strong" and labels == ["esc"])
        if x < at:
            if is_key and len(labels) > 1:
                return key_named(span.text[x - start : x - start + 1])
            return key_named(labels[0] if is_key else named)
        named = labels[0] if is_key and len(labels) == 1 else ""
    return None


class Panel(KeysFirst, ModalScreen[R | None], Generic[R], inherit_bindings=False):
    """A box above the desk; nothing in it has the focus until it asks for it.

    Attributes:
        listening: Whether keys count by now.
        went_on: Whether a key was pressed while its answer was being stored.
    """

    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.listening = False
        self._telling: Timer | None = None
        self._told_lines = LineView(id="panel-told")
        self._act: Callable[[R], None] | None = None
        self._busy = self._stored = self._refused = False
        self.went_on = False

    def on_mount(self) -> None:
        """Starts to listen a little later."""
        self.set_timer(DEAF, self._listen)
        for keys in self.query("#panel-keys"):
            self.query_one("#panel").mount(self._told_lines, before=keys)

    def _listen(self) -> None:
        self.listening = True

    def tell(self, words: str) -> None:
        """Says above the line of keys, for a while, why a key did nothing.

        What the keys do stays in sight. It takes the blank row above them first, so
        that a line of it moves nothing.
        """
        self._refused = False
        if self._telling is not None:
            self._telling.stop()
        self._told_lines.draw(lambda width: paragraph(words, width, "wait-strong"))
        self.add_class("-telling")
        self._telling = self.set_timer(TOLD, self._told)

    # The answer

    def hand_to(self, act: Callable[[R], None]) -> None:
        """Has an answer acted upon while the panel stays, up to `stored`."""
        self._act = act

    def answer(self, result: R) -> None:
        """Hands over what was asked for; the panel closes now, or once it is stored."""
        if self._act is None:
            self.dismiss(result)
        elif self.is_current and not self._busy:
            self._busy, self.went_on = True, False
            self.set_timer(SLOW, self._still_busy)
            self._act(result)

    def stored(self) -> None:
        """Closes, as soon as nothing lies above it."""
        self._busy, self._stored = False, True
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        """Closes if its answer was stored while something lay above it."""
        if self._stored:
            self.call_later(self.dismiss, None)

    def refused(self, words: str) -> None:
        """Says why the answer was not taken, up to the next key; it can be changed."""
        self._busy = False
        if self.is_attached:
            self.tell(words)
            self._refused = True

    def _still_busy(self) -> None:
        if self._busy:
            self.tell("not stored yet: wait, or esc leaves it to be done")

    def _told(self) -> None:
        self._telling = None
        self.set_class(self._refused, "-telling")

    def show_keys(self, keys: Line) -> None:
        """Shows what the keys do now."""
        self.query_one("#panel-keys", LineView).show([keys])

    @property
    def typing(self) -> bool:
        """Whether letters are text here."""
        return isinstance(self.focused, Input | TextArea)

    @override
    def take_key(self, event: events.Key) -> bool:
        """Acts on a key, unless letters are text; swallows it while deaf.

        Returns:
            Whether the key is done with.
        """
        if not self.listening:
            self.tell("pressed too soon, nothing was done: once more")
            return True
        if self._busy:
            self.went_on = True
            if event.key == "escape":
                self.dismiss(None)
            return True
        self._heard()
        if self.typing:
            return False
        return self.pressed(event.key) or self._common(event.key)

    def _heard(self) -> None:
        """A refusal has been read once a key is pressed."""
        if self._refused:
            self._refused = False
            if self._telling is not None:
                self._telling.stop()
            self._told()

    def on_key(self, event: events.Key) -> None:
        """Acts on a key while somebody types, after the letters before it."""
        if self.pressed(event.key) or self._common(event.key):
            event.stop()
            event.prevent_default()

    def on_painted_pressed(self, event: Painted.Pressed) -> None:
        """A click on a key in the line of keys is a press of it."""
        if event.painted.id == "panel-keys":
            event.stop()
            key = key_at(event.painted.line_at(event.y), event.x)
            if key is not None:
                character = shown(key)
                typed = character if len(character) == 1 else None
                self.app.post_message(events.Key(key, typed))

    def pressed(self, key: str) -> bool:
        """What a key does here; subclasses answer.

        Returns:
            Whether the key did something.
        """
        del key
        return False

    def _common(self, key: str) -> bool:
        if key == "escape":
            self.dismiss(None)
            return True
        if key in {"tab", "shift+tab"}:
            (self.focus_next if key == "tab" else self.focus_previous)()
            return True
        return self._choose(key)

    def _choose(self, key: str) -> bool:
        for choices in self.query(Choices):
            if key == "down" or (key == "j" and not self.typing):
                choices.step(1)
            elif key == "up" or (key == "k" and not self.typing):
                choices.step(-1)
            elif key in {"home", "g"} and not self.typing:
                choices.step(-len(choices.choices))
            elif key in {"end", "G"} and not self.typing:
                choices.step(len(choices.choices))
            elif key == "enter" and not isinstance(self.focused, TextArea):
                choices.take()
            else:
                return False
            return True
        return False

    @override
    def dismiss(self, result: R | None = None):  # type: ignore[no-untyped-def] # the library's return type is private
        """Closes the panel once, however many keys ask for it."""
        if self.is_current:
            return super().dismiss(result)
        return None
