"""Painting no faster than the terminal reads."""

from rich.console import RenderableType
from textual.app import App
from textual.screen import Screen
from typing_extensions import override

from console.screens.output import Output, never_wait_for_it

_EVEN = 0.02
"""Seconds between two looks whether a slow terminal has taken what was painted."""


class SteadyApp(App[None], inherit_bindings=False):
    """An app that is never held up by what it paints."""

    def __init__(self) -> None:
        super().__init__()
        never_wait_for_it()
        self._held_back = self._missed = False

    @property
    def seen(self) -> bool:
        """Whether the terminal has taken all that was painted, and more was not."""
        out = self._out()
        return not self._held_back and (out is None or out.even())

    def _out(self) -> Output | None:
        """What writes to the terminal, where that is one that may be slow."""
        out = getattr(self._driver, "_writer_thread", None)
        return out if isinstance(out, Output) else None

    @override
    def _display(
        self, screen: Screen[object], renderable: RenderableType | None
    ) -> None:
        """Paints; nothing more is painted then until the terminal has kept up."""
        out = self._out()
        if out is None:
            super()._display(screen, renderable)
        elif self._held_back:
            self._missed = True
        else:
            with out.painted():
                super()._display(screen, renderable)
            if out.late():
                self._held_back, self._missed = True, False
                self._begin_batch()
                self._paint_on()

    def _paint_on(self) -> None:
        """Paints what has changed, once the terminal has taken what was painted."""
        out = self._out()
        if out is not None and not out.even():
            self.set_timer(_EVEN, self._paint_on)
            return
        self._held_back = False
        self._end_batch()
        if self._missed:
            self.refresh(layout=True)
        if self.screen_stack:
            self.screen.check_idle()
