"""Driving the console in tests: its services, and waiting for what must come."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from textual.pilot import Pilot

from console.app import HandoffApp
from console.live import Services
from console.screens.desk import Desk
from console.screens.pace import AT_ONCE, Pace
from console.widgets.line_view import LineView
from console.widgets.spans import plain
from core.decision import Operator
from tests.console.scenes import ME, NOW


@dataclass
class StillClock:
    """A clock that stands still."""

    at: datetime = NOW

    def now(self) -> datetime:
        return self.at

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class WallClock(StillClock):
    """This machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # a test's wiring


@dataclass
class Numbered:
    """Ids in order."""

    last: int = 0

    def new(self, prefix: str) -> str:
        self.last += 1
        return f"{prefix}-{self.last}"


def app_on(
    store: object,
    *,
    me: Operator = ME,
    still: bool = False,
    pace: Pace = AT_ONCE,
    **more: object,
) -> HandoffApp:
    """The console on a store."""
    return HandoffApp(
        pace=pace,
        services=Services(
            store=store,  # type: ignore[arg-type] # or a store of scenes
            operator=me,
            clock=StillClock() if still else WallClock(),
            ids=Numbered(),
            zone=UTC,
            **more,  # type: ignore[arg-type] # as the dataclass has them
        ),
    )


def desk_of(app: HandoffApp) -> Desk:
    """The desk, whatever lies above it."""
    return next(s for s in app.screen_stack if isinstance(s, Desk))


def screen_text(app: HandoffApp) -> str:
    """What the screen shows, as text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(s.text for s in strip).rstrip() for strip in strips)


def told(app: HandoffApp) -> str:
    """What the person was told in notices."""
    return "\n".join(notice.message for notice in app._notifications)


def pane_text(app: HandoffApp, name: str) -> str:
    """What a painted pane was given."""
    return plain(desk_of(app).query_one(f"#{name}", LineView).lines)


async def until(
    pilot: Pilot[None], wanted: Callable[[], object], what: str = "", limit: float = 5
) -> None:
    """Waits until something is so, or fails saying what the screen shows.

    Not `pilot.pause`: that waits for an idle processor.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + limit
    while not wanted():
        if loop.time() > end:
            shown = screen_text(pilot.app)  # type: ignore[arg-type] # ours
            raise AssertionError(f"waited in vain: {what or wanted}\n{shown}")
        await asyncio.sleep(0.01)
