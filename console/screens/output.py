"""What goes to the terminal, so that nobody waits for one that takes nothing.

A slow line, a multiplexer that hangs, a network that is gone: the terminal reads
slowly, or stops. The library then blocks the whole program at its next paint, and with
it the keys, the drafts and a kill. Here nothing more is painted until the terminal has
caught up, and what has changed meanwhile is painted once. Where the console ends before
that, what was painted gives way to the words that give the terminal back.
"""

import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from typing_extensions import override

if sys.platform != "win32":
    import termios

    from textual.drivers import linux_driver

_MOST = 64_000
"""Bytes that may wait: about two full screens."""

_LONG = 0.25
"""Seconds that anything may wait."""

_PIECE = 4096
"""Bytes that are given at once."""

_LOOK = 0.2
"""Seconds between two looks whether a terminal that takes nothing takes something."""

_DEAF = 5
"""How many such looks in vain it gets when we leave, before room is made."""

_TRIES = 5
"""How often room is made before it is given up."""


class Output(threading.Thread):
    """Writes to the terminal in the background."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__(daemon=True, name="output")
        self._paints = False
        self._file = _terminal(file)
        self._encoding = getattr(self._file, "encoding", None) or "utf-8"
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._told = threading.Condition()
        self._left = self._taken = 0
        self._since = 0.0
        self._ends = self._gone = False

    def write(self, text: str) -> None:
        """Gives something to the terminal, and never waits for it."""
        raw = text.encode(self._encoding, "replace")
        with self._told:
            if not self._gone:
                self._since = self._since if self._left else time.monotonic()
                self._waiting.append((raw, self._paints))
                self._left += len(raw)
                self._told.notify()

    @contextmanager
    def painted(self) -> Iterator[None]:
        """What is written within is a paint, which gives way to last words."""
        self._paints = True
        try:
            yield
        finally:
            self._paints = False

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        """Whether this is a terminal."""
        return True

    def fileno(self) -> int:
        """The terminal's own number."""
        return self._file.fileno()

    def late(self) -> bool:
        """Whether so much waits to be taken, or so long, that a paint would be late."""
        with self._told:
            long = self._left > 0 and time.monotonic() - self._since > _LONG
            return long or self._left > _MOST

    def even(self) -> bool:
        """Whether the terminal has taken everything."""
        return not self._left

    def _leave_out(self) -> None:
        kept = [part for part in self._waiting if not part[1]]
        self._left -= sum(len(raw) for raw, paint in self._waiting if paint)
        self._waiting = deque(kept)

    @override
    def run(self) -> None:
        """Gives the terminal what there is, until it ends or is gone."""
        try:
            given = self._file.fileno()
            number = _opened_again(given)
            try:
                while (part := self._next()) is not None:
                    self._give(number, part[0], paint=part[1])
            finally:
                if number != given:
                    os.close(number)
        except (OSError, ValueError):
            pass  # it was closed: there is nobody to write for
        finally:  # whatever ended it, nobody waits for what is taken no more
            with self._told:
                self._gone, self._left = True, 0
                self._waiting.clear()

    def _next(self) -> tuple[bytes, bool] | None:
        with self._told:
            self._told.wait_for(lambda: self._waiting or self._ends)
            return self._waiting.popleft() if self._waiting else None

    def _give(self, number: int, raw: bytes, *, paint: bool) -> None:
        vain = 0
        while raw:
            try:
                taken = os.write(number, raw[:_PIECE])
            except BlockingIOError:
                ready = select.select([], [number], [], _LOOK)[1]
                vain = 0 if ready or not self._ends else vain + 1
                if vain < _DEAF:
                    continue
                if vain > _DEAF + _TRIES:
                    raise
                taken = len(raw) if paint else 0
                self._make_room(number)
            raw = raw[taken:]
            with self._told:
                self._left -= taken
                self._taken += taken

    def _make_room(self, number: int) -> None:
        """Takes back what the terminal has not read, so that the last words fit."""
        with self._told:
            self._leave_out()
        if sys.platform != "win32":
            with suppress(termios.error):
                termios.tcflush(number, termios.TCOFLUSH)

    def stop(self) -> None:
        """Ends when everything is taken, or the terminal takes nothing."""
        with self._told:
            self._ends = True
            self._told.notify()
        taken = -1
        while self.is_alive() and taken != self._taken:
            taken = self._taken
            self.join(_LOOK * (_DEAF + _TRIES + 1))


def _terminal(file: IO[str]) -> IO[str]:
    """The file, or where that is kept elsewhere (`2>errors`), the other that we have.

    The library paints on the standard error.
    """
    other = sys.__stdout__
    return other if other and other.isatty() and not file.isatty() else file


def _opened_again(number: int) -> int:
    """The terminal by a number of our own, on which a write never waits.

    To change that on the one that we were given would change it for the shell too.
    """
    try:
        return os.open(os.ttyname(number), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except (OSError, AttributeError):
        return number


def never_wait_for_it() -> None:
    """Makes the library write so."""
    if sys.platform != "win32":
        linux_driver.WriterThread = Output  # type: ignore[attr-defined, assignment]
