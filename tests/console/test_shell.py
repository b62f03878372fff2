"""What the shell and the terminal do to a console, and that it survives."""

import asyncio
import os
import pathlib
import shutil
import signal
import sys
import termios
from collections.abc import Callable

import pytest

from tests.console.counter import Counter
from tests.console.steps import stored
from tests.console.terminal import Terminal, playing, terminal


def stopped(pid: int) -> bool:
    """Whether a process stands still, with all its threads: only then it is told."""
    threads = pathlib.Path(f"/proc/{pid}/task").glob("*/stat")
    states = [said.read_text("utf-8").rpartition(")")[2].split()[0] for said in threads]
    return set(states) == {"T"}


def waits_until(shown: Terminal, wanted: Callable[[], bool]) -> None:
    for _ in range(800):
        if wanted():
            return
        shown.read(0.05)
    raise AssertionError(shown.screen())


GIVEN_BACK = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l")


def writes_half(shown: Terminal) -> None:
    """Takes the ticket, begins a reply and leaves the composer."""
    shown.wait(0.4)
    shown.keys("t")
    shown.shows("YOU HOLD")
    shown.keys("rkept")
    shown.shows("kept")
    shown.shows("^s send ")  # in the hint line: the keys are the composer's
    shown.keys("\x1b")
    waits_until(shown, lambda: "^s send " not in shown.screen())


async def test_ctrl_z_gives_the_terminal_back_and_fg_shows_what_came_meanwhile(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("First text", subject="Lamp")
    loop = asyncio.get_running_loop()

    def writes(text: str) -> None:
        said = counter.writes(text, ticket=ticket)
        asyncio.run_coroutine_threadsafe(said, loop).result(30)

    def look() -> None:
        with playing(sqlite_url) as shown:
            shown.until("● live".encode())
            shown.keys("6")
            shown.shows("First text")
            writes_half(shown)
            before = len(shown.raw)
            shown.keys("\x1a")
            waits_until(shown, lambda: stopped(shown.pid))
            shown.wait(0.2)
            left = shown.raw[before:]
            assert all(
                m in left for m in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l")
            )
            writes("Written meanwhile")
            before = len(shown.raw)
            os.kill(shown.pid, signal.SIGCONT)
            shown.shows("Written meanwhile")
            assert b"\x1b[?1049h" in shown.raw[before:]
            assert "kept" in shown.screen()
            shown.keys("r!")
            shown.shows("kept!")

    await asyncio.to_thread(look)


async def test_ctrl_z_in_the_middle_of_a_reply_goes_to_the_shell_and_takes_nothing_back(
    counter: Counter, sqlite_url: str
) -> None:
    await counter.writes("First text", subject="Lamp")

    def look() -> None:
        with playing(sqlite_url) as shown:
            shown.looks("First text")
            shown.keys("t")
            shown.shows("YOU HOLD")
            shown.keys("rhalf a sent")
            shown.shows("half a sent")
            shown.keys("\x1a")
            waits_until(shown, lambda: stopped(shown.pid))
            before = len(shown.raw)
            os.kill(shown.pid, signal.SIGCONT)
            waits_until(shown, lambda: b"half a sent" in shown.raw[before:])
            shown.keys("ence")
            shown.shows("half a sentence")
            shown.keys("\x1f")
            waits_until(shown, lambda: "half a sentence" not in shown.screen())
            shown.keys("\x19")
            shown.shows("half a sentence")

    await asyncio.to_thread(look)


async def test_a_console_that_stood_still_like_under_a_closed_lid_reads_all_again(
    counter: Counter, sqlite_url: str
) -> None:
    ticket = await counter.writes("First text", subject="Lamp")
    loop = asyncio.get_running_loop()

    def writes(text: str) -> None:
        said = counter.writes(text, ticket=ticket)
        asyncio.run_coroutine_threadsafe(said, loop).result(30)

    def look() -> None:
        with playing(sqlite_url) as shown:
            shown.until("● live".encode())
            shown.keys("6")
            shown.shows("First text")
            ours = termios.tcgetattr(shown.fd)
            os.kill(shown.pid, signal.SIGSTOP)
            waits_until(shown, lambda: stopped(shown.pid))
            cooked = [*ours[:3], ours[3] | termios.ICANON | termios.ECHO, *ours[4:]]
            termios.tcsetattr(shown.fd, termios.TCSANOW, cooked)  # as a shell does
            writes("Written meanwhile")
            os.kill(shown.pid, signal.SIGCONT)
            shown.shows("Written meanwhile")
            assert termios.tcgetattr(shown.fd) == ours
            shown.wait(0.4)
            shown.keys("q")
            assert shown.ended() == 0

    await asyncio.to_thread(look)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell with jobs")
async def test_a_console_that_a_shell_let_go_on_in_its_background_waits_for_fg(
    counter: Counter, sqlite_url: str
) -> None:
    await counter.writes("First text", subject="Lamp")
    shell = "import os; os.execlp('bash', 'bash', '--norc', '-i')"

    def look() -> None:
        with terminal("-c", shell) as shown:
            shown.keys(f"{sys.executable} -m tests.console.play {sqlite_url}\r")
            shown.until("● live".encode())
            pid = os.tcgetpgrp(shown.fd)
            for _ in range(2):
                os.kill(pid, signal.SIGSTOP)
                waits_until(shown, lambda: os.tcgetpgrp(shown.fd) != pid)
                os.kill(pid, signal.SIGCONT)
                waits_until(shown, lambda: stopped(pid))
                shown.wait(0.5)  # the shell takes note of that, as a person sees it
                before = len(shown.raw)
                shown.keys("fg\r")
                waits_until(shown, lambda: os.tcgetpgrp(shown.fd) == pid)
                waits_until(shown, lambda at=before: b"\x1b[?2004h" in shown.raw[at:])
                shown.keys("?")
                shown.shows("Keys here")
                shown.closes("Keys here")
            os.kill(pid, signal.SIGTERM)

    await asyncio.to_thread(look)


PLAY = """
import runpy
runpy.run_module("tests.console.play", run_name="__main__")
"""
ELSEWHERE = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
child = os.fork()
if child:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.setsid()
"""
"""Goes on as one that the terminal is not the terminal of: it gets no SIGHUP."""


@pytest.mark.parametrize("before", ["", ELSEWHERE], ids=["told", "not told"])
async def test_what_was_typed_right_before_the_terminal_was_closed_is_kept(
    counter: Counter, sqlite_url: str, before: str
) -> None:
    ticket = await counter.writes("First text", subject="Lamp")

    def look() -> None:
        with terminal("-c", before + PLAY, sqlite_url) as shown:
            shown.looks("First text")
            shown.keys("n")
            shown.shows("only colleagues see this")
            shown.keys("typed last")
            shown.shows("typed last")
            assert shown.close() == 128 + signal.SIGHUP

    await asyncio.to_thread(look)
    drafts = (await stored(counter.store, ticket)).drafts
    assert [draft.text for draft in drafts] == ["typed last"]
