"""A terminal that takes nothing: a slow line, a multiplexer that hangs, a lost network.

Only what is painted may be lost by that, and only until the terminal reads again.
"""

import asyncio
import fcntl
import os
import pathlib
import pty
import signal
import struct
import termios
import time

from console.screens.output import Output
from tests.console.counter import Counter
from tests.console.steps import stored
from tests.console.terminal import Terminal, playing, terminal


class Unread:
    """A console in whose terminal a note is written of which nothing is read."""

    def __init__(self, counter: Counter, ticket: str) -> None:
        self.counter, self.ticket = counter, ticket
        self.loop = asyncio.get_running_loop()

    def drafts(self) -> list[str]:
        """What is kept in the store."""
        asked = stored(self.counter.store, self.ticket)
        kept = asyncio.run_coroutine_threadsafe(asked, self.loop).result(30)
        return [draft.text for draft in kept.drafts]

    def write(self, shown: Terminal) -> None:
        """Returns when the note is kept: nobody waits for what is painted."""
        shown.looks("First text")
        shown.keys("n")
        shown.shows("only colleagues see this")
        shown.keys("seen, ")
        shown.shows("seen,")
        for at in range(40):
            shape = struct.pack("HHHH", 40, 119 + at % 2, 0, 0)
            fcntl.ioctl(shown.fd, termios.TIOCSWINSZ, shape)
            time.sleep(0.05)  # each is painted
        shown.keys("unseen")
        end = time.monotonic() + 30
        while self.drafts() != ["seen, unseen"]:
            assert time.monotonic() < end
            time.sleep(0.05)


async def test_a_console_whose_terminal_takes_nothing_works_until_it_is_closed(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("First text", subject="Lamp")
    unread = Unread(counter, ticket)

    def look() -> int:
        with playing(sqlite_url) as shown:
            unread.write(shown)
            return shown.close()

    assert await asyncio.to_thread(look) == 128 + signal.SIGHUP


SHELL = """
import pathlib, subprocess, sys
run = subprocess.Popen([sys.executable, "-m", "tests.console.play", sys.argv[1]])
told = pathlib.Path(sys.argv[2])
told.with_name("pid").write_text(str(run.pid))
told.write_text(str(run.wait()))
input()
"""
"""Has the terminal when the console has ended; else the system clears it then."""


async def test_a_kill_gives_a_terminal_back_that_took_nothing(
    counter: Counter, sqlite_url: str, tmp_path: pathlib.Path
) -> None:
    ticket = await counter.writes("First text", subject="Lamp")
    unread = Unread(counter, ticket)
    told = tmp_path / "ended"

    def look() -> None:
        with terminal("-c", SHELL, sqlite_url, str(told)) as shown:
            unread.write(shown)
            os.kill(int(told.with_name("pid").read_text()), signal.SIGTERM)
            end = time.monotonic() + 30
            while not told.exists():
                assert time.monotonic() < end
                time.sleep(0.05)
            shown.until(b"\x1b[?1049l")

    await asyncio.to_thread(look)
    assert told.read_text() == str(128 + signal.SIGTERM)


async def test_a_terminal_that_reads_again_shows_all_that_came_meanwhile(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("First text", subject="Lamp")
    unread = Unread(counter, ticket)

    def look() -> None:
        with playing(sqlite_url) as shown:
            unread.write(shown)
            said = counter.writes("Written meanwhile", ticket=ticket)
            asyncio.run_coroutine_threadsafe(said, unread.loop).result(30)
            for words in ("Written meanwhile", "seen, unseen", "First text"):
                shown.shows(words)

    await asyncio.to_thread(look)


async def test_rule_06_what_the_terminal_has_not_shown_is_not_approved(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("First text", subject="Lamp")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    unread = Unread(counter, ticket)

    def state() -> str:
        asked = stored(counter.store, ticket)
        kept = asyncio.run_coroutine_threadsafe(asked, unread.loop).result(30)
        return kept.decisions[0].state.value

    def look() -> None:
        with playing(sqlite_url) as shown:
            unread.write(shown)
            shown.keys("\x1b")
            for key in ("a", "y", "y", "y"):  # far enough apart to be meant
                time.sleep(0.6)
                shown.keys(key)
            time.sleep(0.6)
            assert state() == "pending"
            shown.shows("y approve    e edit")
            shown.keys("y")
            end = time.monotonic() + 30
            while state() != "approved":
                assert time.monotonic() < end
                shown.read()

    await asyncio.to_thread(look)


def test_a_paint_that_nobody_reads_makes_room_for_the_last_words() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as file:
        out = Output(file)
        out.start()
        assert out.even() and not out.late()
        with out.painted():
            out.write("x" * 1_000_000)
        assert out.late() and not out.even()
        out.write("last words")
        out.stop()
        assert not out.is_alive()
        got = b""
        while b"last words" not in got:
            got += os.read(ours, 65536)
        assert len(got) < 100_000
    os.close(ours)


def test_a_terminal_that_is_closed_already_makes_nobody_wait() -> None:
    ours, theirs = pty.openpty()
    file = os.fdopen(theirs, "w")
    out = Output(file)
    file.close()
    out.start()
    out.join(5)
    out.write("x" * 100_000)
    assert out.even() and not out.late()
    out.stop()
    os.close(ours)
