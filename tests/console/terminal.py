"""A real pseudo-terminal that keeps every byte that it is sent."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess

import pyte
from wcwidth import wcwidth

from tests.worlds import ready

_OURS = {"COLUMNS", "LINES", "NO_COLOR", "TERM"}


class _Screen(pyte.Screen):
    """An emulator that doesn't lose what stands after a vowel sign."""

    def draw(self, data: str) -> None:
        kept = (c for c in data if wcwidth(c) or unicodedata.combining(c))
        super().draw("".join(kept))


@dataclass
class Terminal:
    """A program in a pseudo-terminal."""

    pid: int
    fd: int
    size: tuple[int, int]
    raw: bytes = b""
    code: int | None = None
    forked: ForkServerProcess | None = None
    _fed: int = 0
    _screen: pyte.Screen | None = None
    _stream: pyte.ByteStream = field(default_factory=pyte.ByteStream)

    def read(self, seconds: float = 0.05) -> bytes:
        """Takes what there is."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if ready:
            try:
                self.raw += os.read(self.fd, 65536)
            except OSError:
                self._reap()
        return self.raw

    def keys(self, text: str) -> None:
        """Presses keys."""
        self.sends(text.encode())

    def sends(self, raw: bytes) -> None:
        """Sends bytes as they are."""
        os.write(self.fd, raw)

    def until(self, wanted: bytes, limit: float = 40) -> None:
        """Reads until these bytes came."""
        end = time.monotonic() + limit
        while wanted not in self.raw:
            assert time.monotonic() < end, f"no {wanted!r} on\n{self.screen()}"
            self.read()

    def emulated(self) -> pyte.Screen:
        """A terminal that was fed with every byte, but for an unfinished code."""
        if self._screen is None:
            self._screen = _Screen(*self.size)
            self._stream = pyte.ByteStream(self._screen)
        new = self.raw[self._fed :]
        unfinished = new.rfind(b"\x1b", -8)
        if unfinished >= 0 and self.code is None:
            new = new[:unfinished]
        self._fed += len(new)
        self._stream.feed(re.sub(rb"\x1b\[[<>=?]\d+u", b"", new))
        return self._screen

    def lines(self) -> list[str]:
        """What the terminal shows, line by line."""
        screen = self.emulated()
        return [
            _text([screen.buffer[row][at].data for at in range(screen.columns)])
            for row in range(screen.lines)
        ]

    def columns(self, character: str) -> dict[int, set[int]]:
        """In which columns a character stands, by row."""
        buffer = self.emulated().buffer
        return {
            row: {at for at, cell in cells.items() if cell.data == character}
            for row, cells in buffer.items()
        }

    def screen(self) -> str:
        """What the terminal shows."""
        return "\n".join(self.lines())

    def reversed_at(self, row: int) -> bool:
        """Whether a row has cells in reverse."""
        return any(cell.reverse for cell in self.emulated().buffer[row].values())

    def looks(self, words: str) -> None:
        """Looks at all tickets, until one may act on the one that says this."""
        self.until("● live".encode())
        self.keys("6")
        self.shows(words)
        self.wait(0.4)

    def wait(self, seconds: float) -> None:
        """Reads for so long: a panel is deaf at first."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(min(left, 0.05))

    def moves(self, seconds: float = 0.5) -> None:
        """Reads what a key brings, to its end; for so long where nothing comes."""
        before, end = len(self.raw), time.monotonic() + seconds
        while len(self.raw) == before and time.monotonic() < end:
            self.read(end - time.monotonic())
        while len(self.raw) != before:
            before = len(self.raw)
            self.read(0.15)

    def shows(self, wanted: str, limit: float = 40) -> None:
        """Reads until the screen shows these words, whatever came before."""
        end = time.monotonic() + limit
        while wanted not in self.screen():
            assert time.monotonic() < end, f"no {wanted!r} on\n{self.screen()}"
            self.read()

    def closes(self, words: str, key: str = "\x1b", limit: float = 40) -> None:
        """Presses a key until a panel with these words is gone: it is deaf at first."""
        end = time.monotonic() + limit
        while words in self.screen():
            assert time.monotonic() < end, f"still {words!r} on\n{self.screen()}"
            self.keys(key)
            self.wait(0.15)

    def ended(self, limit: float = 40) -> int:
        """The exit code, once it is there."""
        end = time.monotonic() + limit
        while self.code is None:
            assert time.monotonic() < end, "the program did not end"
            self.read()
            self._reap(wait=False)
        while select.select([self.fd], [], [], 0.05)[0]:
            before = len(self.raw)
            self.read()
            if len(self.raw) == before:
                break
        return self.code

    def close(self, limit: float = 40) -> int:
        """Closes the terminal, as a window is closed; how the program ended."""
        os.close(self.fd)
        self.fd = -1
        end = time.monotonic() + limit
        while self.code is None:
            assert time.monotonic() < end, "the program did not end"
            self._reap(wait=False)
            time.sleep(0.02)
        return self.code

    def kill(self, number: int) -> None:
        """Sends a signal."""
        os.kill(self.pid, number)

    def _reap(self, *, wait: bool = True) -> None:
        if self.forked is not None:
            self.code = ready.code_of(self.forked, 40 if wait else 0)
        elif self.code is None:
            pid, status = os.waitpid(self.pid, 0 if wait else os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)


def _text(cells: Iterable[str]) -> str:
    """The text of a row; half of a wide character that was painted over is blank."""
    out, hidden = [], False
    for cell in cells:
        if not hidden:
            out.append(cell or " ")
        hidden = not hidden and bool(cell) and wcwidth(cell[0]) == 2
    return "".join(out).rstrip()


@contextmanager
def terminal(
    *arguments: str,
    size: tuple[int, int] = (120, 40),
    env: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    """Runs Python with these arguments in a terminal of this size.

    Other variables, such as TERM, are set by `env`; an empty one is left out.
    """
    variables = _variables(env)
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, _shape(size))
        program = [sys.executable, *arguments]  # the test's own
        os.execve(sys.executable, program, variables)
    with _closing(Terminal(pid=pid, fd=fd, size=size)) as shown:
        yield shown


@contextmanager
def playing(
    url: str,
    *more: str,
    size: tuple[int, int] = (120, 40),
    env: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    """Runs the console on a store (`tests.console.play`), as `terminal`, but at once.

    It is forked from a program that has loaded what it needs.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, _shape(size))
    told, tells = ready.pipe()
    place = ready.InTerminal(
        path=os.ttyname(theirs), environment=_variables(env), opened=tells
    )
    words = ("tests.console.play", url, *more)
    process = ready.start(ready.in_terminal, place, words)
    tells.close()
    assert told.poll(40), "the terminal was not opened"
    os.close(theirs)
    assert process.pid is not None
    shown = Terminal(pid=process.pid, fd=ours, size=size, forked=process)
    with _closing(shown):
        yield shown


def _shape(size: tuple[int, int]) -> bytes:
    return struct.pack("HHHH", size[1], size[0], 0, 0)


def _variables(env: Mapping[str, str] | None) -> dict[str, str]:
    # Not the process's own environment: readline has set a size in it.
    kept = {n: v for n, v in os.environ.items() if n not in _OURS}
    kept |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | dict(env or {})
    return {n: v for n, v in kept.items() if v}


@contextmanager
def _closing(shown: Terminal) -> Iterator[Terminal]:
    try:
        yield shown
    finally:
        if shown.code is None:
            os.kill(shown.pid, signal.SIGKILL)
            shown._reap()
        if shown.fd >= 0:
            os.close(shown.fd)
