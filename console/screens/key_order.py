"""What is typed, dealt with in its order, however fast it comes.

The library hands a key to the focused widget's own queue, and looks at the next one
before that has moved the focus, or before `ctrl+u` has come up to the bindings. Typed
fast, or over a slow line, text would end up in the field before, or be deleted by a key
that was meant for what stood there earlier. So a key waits until the one before it is
done with.
"""

import asyncio
from collections import deque
from functools import partial

from textual import events
from textual.dom import DOMNode
from typing_extensions import override

from console.screens.front import KeysFirst
from console.screens.pace import Pace, PacedApp

_TURN = 1.0
"""Seconds after which a key counts as done with, should its widget be gone."""


class OrderedApp(PacedApp, inherit_bindings=False):
    """An app that deals with one key after the other.

    Attributes:
        quiet: Set while everything that was typed is dealt with.
    """

    def __init__(self, pace: Pace) -> None:
        super().__init__(pace)
        self._typed: deque[events.Key | events.Paste] = deque()
        self._busy: object | None = None
        self.quiet = asyncio.Event()
        self.quiet.set()

    @override
    async def on_event(self, event: events.Event) -> None:
        """Deals with what is typed in its order, and with all else at once."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._typed.append(event)
            self.quiet.clear()
            if self._busy is None:
                await self._next_typed()
            else:
                self.set_timer(_TURN, partial(self._done_with, self._busy))
        else:
            await super().on_event(event)

    async def _next_typed(self) -> None:
        """Looks at what was typed, up to a key that a widget is to deal with."""
        self._busy = None
        while self._typed and self._busy is None:
            event = self._typed.popleft()
            if isinstance(event, events.Key):
                self.note_key(event)
                screen = self.screen
                if isinstance(screen, KeysFirst) and screen.take_key(event):
                    if self.screen is not screen:  # what it opened is still to come up
                        self._await(self.screen)
                    continue
            target = self.focused or self.screen
            await super().on_event(event)
            way = target.ancestors_with_self
            self._await(*way, *way)  # the second time for what the widget told of it
        if self._busy is None:
            self.quiet.set()

    @override
    def settles(self) -> None:
        """So what is typed behind a key that opens a form is the form's, all of it."""
        self.quiet.clear()
        self._await(self.screen, self.screen)

    def _await(self, *way: DOMNode) -> None:
        """Lets the next key wait until all of these have done what came before."""
        self._busy = turn = object()
        self._passes(list(way), turn)

    def _passes(self, way: list[DOMNode], turn: object) -> None:
        """Follows a key up from the focused widget, behind it in each queue."""
        while way:
            if way.pop(0).call_later(self._passes, way, turn):
                return
        self.call_later(self._done_with, turn)

    async def _done_with(self, turn: object) -> None:
        if self._busy is turn:
            await self._next_typed()
