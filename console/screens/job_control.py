"""What the shell's job control does to a console: `ctrl+z`, `fg`, `kill -STOP`.

The library takes the terminal again at every SIGCONT, also where it never gave it
away (a bare SIGSTOP can't be noticed): then two threads read the keys, and the program
never ends. So a SIGCONT reaches it only after a SIGTSTP. After a bare SIGSTOP the shell
has set the terminal to its own modes, and nobody but us knows what ours were.

Where the shell has the terminal when we go on, we stand in its background: there the
first key that is typed for it would stop us (SIGTTIN), maybe just as `fg` lets us go
on, and what we paint would lie over its lines. So we stand still again until then.
"""

import os
import select
import signal
import sys
from collections.abc import Callable
from types import FrameType

if sys.platform != "win32":
    import termios


def resume_once(shown_again: Callable[[], object]) -> None:
    """Lets the library take the terminal again only if it gave it away.

    Args:
        shown_again: Called where the process stood still without giving it away.
    """
    if not hasattr(signal, "SIGTSTP"):
        return
    stop, go = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
    if not callable(stop) or not callable(go):
        return
    away = False

    def stopping(number: int, frame: FrameType | None) -> None:
        nonlocal away
        away = True
        stop(number, frame)

    def going_on(number: int, frame: FrameType | None) -> None:
        nonlocal away
        if away:
            away = False
            go(number, frame)
        else:
            shown_again()

    signal.signal(signal.SIGTSTP, stopping)
    signal.signal(signal.SIGCONT, going_on)


PASTES = "\x1b[?2004h"
"""Tells the terminal to mark what is pasted: the shell has ended that."""


def stand_still() -> None:
    """Stops this process, as the system would at its next look at the keys."""
    if sys.platform != "win32":
        os.kill(os.getpid(), signal.SIGSTOP)


def hung_up() -> bool:
    """Whether the terminal is gone: not everybody is told so by a signal.

    A program that a shell left in its background gets no SIGHUP, and would read the
    end of its input for ever.
    """
    keys = sys.__stdin__
    if sys.platform == "win32" or keys is None or keys.closed:
        return False
    ends = select.poll()
    ends.register(keys.fileno(), 0)  # an end is told without being asked for
    return bool(ends.poll(0))


def modes_now() -> Callable[[], bool]:
    """What sets the terminal as it is now; it says whether it is ours to set."""
    keys = sys.__stdin__
    if sys.platform == "win32" or keys is None or not keys.isatty():
        return lambda: True
    number = keys.fileno()
    modes = termios.tcgetattr(number)

    def set_again() -> bool:
        try:
            ours = os.tcgetpgrp(number) == os.getpgrp()  # else the system would stop us
            if ours:
                termios.tcsetattr(number, termios.TCSANOW, modes)
        except (OSError, termios.error):  # it has gone this very moment
            return True
        return ours

    return set_again
