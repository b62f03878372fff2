"""The console's program: themes, signals and how it ends.

It imports nothing but the screen library and a frame: it paints before the desk, the
rules and the database are loaded, and shows the desk when it is given one. A kill
restores the terminal like a quit does; an error ends in one line with the log's
place, never in a traceback, whose local variables would be a customer's data.
"""

import asyncio
import gc
import logging
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text
from textual._styles_cache import StylesCache
from textual.message_pump import MessagePump
from typing_extensions import override

from console.manner import MANNER, from_environment
from console.screens.background import in_background
from console.screens.front import Front
from console.screens.job_control import (
    PASTES,
    hung_up,
    modes_now,
    resume_once,
    stand_still,
)
from console.screens.key_input import read_whatever_comes
from console.screens.key_order import OrderedApp
from console.screens.notices import NoticingApp
from console.screens.opening import Opening
from console.screens.pace import Pace
from console.screens.steady import SteadyApp
from console.theme import DARK, LIGHT, made_from

log = logging.getLogger("handoff.console")
log.addHandler(logging.NullHandler())  # else an unconfigured log paints the screen


_HANG_UP = 1.0
"""Seconds between two looks whether the terminal is still there."""

_LET_GO = 60.0
"""Seconds after which what closed panels and notices painted is let go again."""

_LOOKS = 4
"""How often it is looked whether the shell, which let us go on, gives the terminal."""

_SELDOM = (20_000, 20, 50)
"""The collector's thresholds: a long ticket's records and modules are no garbage."""

_LAST_KEYS = 1.0
"""Seconds that a killed console takes at most to take the keys that came before."""

_LAST_WORDS = 2.0
"""Seconds that it then takes at most to keep drafts."""


async def _taken_up(by: MessagePump) -> None:
    """Waits until everything that was sent to somebody before is dealt with."""
    taken = asyncio.Event()
    if by.call_later(taken.set):
        await taken.wait()


class HandoffApp(OrderedApp, NoticingApp, SteadyApp, inherit_bindings=False):
    """The console on one store, for one operator.

    Attributes:
        desk: What everything else lies above, None until it is `opened`.
        painted: Set once there is something to see.
    """

    CSS_PATH = Path(__file__).with_name("console.tcss")
    TITLE = "handoff"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-mid"), (160, "-wide")]  # noqa: RUF012 # Textual's own form

    def __init__(self, desk: Front | None = None, pace: Pace | None = None) -> None:
        super().__init__(pace or Pace())
        read_whatever_comes()
        self.desk = desk
        self.painted = asyncio.Event()
        self._titled = ""
        self._hung_up = False
        self.animation_level = "none"
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name

    def opened(self, desk: Front) -> None:
        """Shows the desk; any task may call this."""
        self.desk = desk
        self.call_later(self._open, desk)

    async def _open(self, desk: Front) -> None:
        before = self.screen
        self.theme = desk.look
        self.set_class(desk.ascii, "-ascii")
        await self.push_screen(desk)  # no key is looked at until it can take one
        if isinstance(before, Opening):
            desk.begin_with(before.keys)
        self.call_after_refresh(self._settle)

    async def on_mount(self) -> None:
        """Opens the desk, or says that it will, and listens for kills."""
        few = not self.is_headless and self.console.color_system == "standard"
        self.set_class(few, "-few")
        loop = asyncio.get_running_loop()
        if not self.is_headless:
            back = partial(self._goes_on, modes_now())
            # called from wherever the signal came: a timer needs the app around it
            resume_once(lambda: loop.call_soon_threadsafe(self.call_later, back))
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            number = getattr(signal, name, None)
            if number is not None:
                with suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.add_signal_handler(number, self._killed, number)
        self.set_interval(_LET_GO, self.let_go)
        self.set_interval(_HANG_UP, self._look_for_the_terminal)
        if self.desk is not None:
            await self._open(self.desk)
        else:
            self.push_screen(Opening())
        self.call_after_refresh(self.painted.set)

    def on_unmount(self) -> None:
        """Gives the title back and stops listening for kills."""
        if self._titled and self._driver is not None:
            self._driver.write("\x1b[23;2t")
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            number = getattr(signal, name, None)
            if number is not None:
                with suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.remove_signal_handler(number)

    def _settle(self) -> None:
        """Keeps the collector away from what lives as long as the program."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_SELDOM)
        sys.setswitchinterval(0.001)  # a key never waits long for a thread that reads

    def _goes_on(self, set_again: Callable[[], bool], looks: int = _LOOKS) -> None:
        """Takes the terminal if the shell gives it to us, else stands still again."""
        if self._look_for_the_terminal():
            return
        if set_again():
            if self._driver is not None:
                self._driver.write(PASTES)
            self.refresh(layout=True)
        elif looks:
            self.set_timer(0.05, partial(self._goes_on, set_again, looks - 1))
        else:
            stand_still()

    @override
    def panic(self, *renderables: RenderableType) -> None:
        """Ends in an error; a terminal that is gone is none: what was written is kept.

        The thread that reads the keys learns first that the terminal was closed.
        """
        if not self._look_for_the_terminal():
            super().panic(*renderables)

    def _look_for_the_terminal(self) -> bool:
        """Leaves if the terminal is gone."""
        gone = not self.is_headless and hung_up()
        if gone and not self._hung_up:
            self._hung_up = True
            self._killed(signal.SIGHUP)
        return gone

    def let_go(self) -> None:
        """Forgets what nobody shows any more.

        The library remembers a blend of colours by the widget's own store of painted
        rows, and so would keep the rows of a thousand closed panels and notices.
        """
        StylesCache.get_inner_outer.cache_clear()

    def _killed(self, number: int) -> None:
        in_background(self, partial(self._leave, 128 + number), "Leaving")

    async def _leave(self, code: int) -> None:
        """Keeps what was written, if that is quick, and goes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_KEYS):
                await _taken_up(self)
                await self.quiet.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                for screen in self.screen_stack:
                    if isinstance(screen, Front):
                        await screen.keep_drafts()
        self.exit(return_code=code)

    @override
    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our names, for themes that don't know them."""
        return dict(made_from(self.current_theme))

    def on_front_waiting(self, event: Front.Waiting) -> None:
        """Counts in the terminal's title what waits for the person."""
        self._entitle(f"handoff ({event.waits})" if event.waits else "handoff")

    def _entitle(self, words: str) -> None:
        """Sets the terminal's title; only our own words ever come here."""
        if words != self._titled and self._driver is not None and not self.is_headless:
            keep = "" if self._titled else "\x1b[22;2t"
            self._titled = words
            self._driver.write(f"{keep}\x1b]2;{words}\x07")

    def on_front_failed(self, event: Front.Failed) -> None:
        """A background task that failed is told in one line, with the error's kind."""
        self._write_log(event.error)
        kind = type(event.error).__name__  # its message may quote
        words = f"{event.what} failed: {kind}{self._where()}"
        self.notify(words, severity="error", markup=False)

    @override
    def _handle_exception(self, error: Exception) -> None:
        self._write_log(error)
        super()._handle_exception(error)

    @override
    def _fatal_error(self) -> None:
        self.bell()
        line = f"handoff: an error ended the console{self._where()}"
        self._exit_renderables.append(Text(line))
        self._close_messages_no_wait()

    def _where(self) -> str:
        path = None if self.desk is None else self.desk.log_path
        return f"; see {path}" if path is not None else ""

    def _write_log(self, error: BaseException) -> None:
        """Where it happened and of what kind; never its message, which may quote."""
        frames = "".join(traceback.format_tb(error.__traceback__))
        log.error("%s\n%s", type(error).__name__, frames)


async def run_console(
    opening: Callable[[], AbstractAsyncContextManager[Front]],
) -> None:
    """Shows the console, opens the desk, and returns when it is left.

    Args:
        opening: Opens it. This runs once there is something on the screen; where it
            fails, the console is left and the error raised.

    Raises:
        SystemExit: It ended by an error or a signal; the code says which.
    """
    gc.freeze()  # what was loaded stays, and is not looked at before the first paint
    gc.set_threshold(*_SELDOM)
    MANNER.set(from_environment())
    app, left = HandoffApp(), asyncio.Event()

    async def stand() -> None:
        await app.painted.wait()
        try:
            async with opening() as desk:
                app.opened(desk)
                await left.wait()
        finally:
            app.exit(return_code=app.return_code or 0)

    # no group: it would cancel a console that is just giving the terminal back
    standing = asyncio.create_task(stand())  # noqa: TID251
    try:
        await app.run_async()
    finally:
        left.set()
        if app.desk is None:
            standing.cancel()
        with suppress(asyncio.CancelledError):
            await standing
    if app.return_code:
        raise SystemExit(app.return_code)
