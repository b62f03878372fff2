"""Driving the console in tests: its services, and waiting for what must come."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from console.app import HandoffApp
from console.canned import Files
from console.live import Services
from console.screens.decision import DecisionPanel
from console.screens.desk import Desk
from console.screens.pace import AT_ONCE, Pace
from console.widgets.composer import Composer
from console.widgets.line_view import LineView
from console.widgets.queue import Queue
from console.widgets.spans import plain
from core.decision import Operator
from core.history import History
from core.ports import Clock, Store
from core.ticket import TicketId
from tests.console.shown import ME, NOW


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
    store: object, *, pace: Pace = AT_ONCE, still: bool = False, **more: object
) -> HandoffApp:
    """The console on a store."""
    return Watched(Desk(services_on(store, still=still, **more)), pace)


def services_on(
    store: object,
    *,
    me: Operator = ME,
    still: bool = False,
    clock: Clock | None = None,
    canned: Files | Callable[[], Files] = MappingProxyType({}),
    **more: object,
) -> Services:
    """What the console on a store works with."""
    return Services(
        store=store,  # type: ignore[arg-type] # or a store of scenes
        operator=me,
        clock=clock or (StillClock() if still else WallClock()),
        ids=Numbered(),
        zone=UTC,
        canned=canned if callable(canned) else lambda: canned,
        **more,  # type: ignore[arg-type] # as the dataclass has them
    )


class Watched(HandoffApp):
    """The console, which remembers every notice that it gave."""

    def __init__(self, desk: Desk, pace: Pace) -> None:
        super().__init__(desk, pace)
        self.told: list[str] = []

    def notify(self, message: str, **more: object) -> None:
        self.told.append(message)
        super().notify(message, **more)  # type: ignore[arg-type] # as it came


def desk_of(app: HandoffApp) -> Desk:
    """The desk, whatever lies above it."""
    return next(s for s in app.screen_stack if isinstance(s, Desk))


def screen_text(app: HandoffApp) -> str:
    """What the screen shows, as text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(s.text for s in strip).rstrip() for strip in strips)


def told(app: HandoffApp) -> str:
    """What the person was told in notices, those that have gone included."""
    return "\n".join(app.told) if isinstance(app, Watched) else ""


def pane_text(app: HandoffApp, name: str) -> str:
    """What a painted pane was given."""
    return plain(desk_of(app).query_one(f"#{name}", LineView).lines)


def key_event(name: str) -> events.Key:
    """A key as the terminal would send it."""
    if len(name) == 1:
        return events.Key(name if name.isalnum() else _character_to_key(name), name)
    return events.Key(name, {"slash": "/", "colon": ":", "space": " "}.get(name))


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Presses keys; each that is no letter is done with before the next one.

    Not `pilot.press`: after every key that waits for an idle processor.
    """
    for key in keys:
        if len(key) > 1:
            await done(pilot)
        pilot.app.post_message(key_event(key))
        if len(key) > 1:
            await done(pilot)
    await done(pilot)


async def done(pilot: Pilot[None]) -> None:
    """Waits until every part of the screen has done what it was told so far.

    A message goes from the app to the widget, and up again to the screen.
    """
    for _ in range(4):
        await pilot._wait_for_screen()
        if isinstance(pilot.app, HandoffApp):
            await pilot.app.quiet.wait()


async def until(
    pilot: Pilot[None], wanted: Callable[[], object], what: str = "", limit: float = 30
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


WIDE = (200, 50)


@asynccontextmanager
async def sitting(
    store: object, size: tuple[int, int] = WIDE, **more: object
) -> AsyncIterator[tuple[Pilot[None], HandoffApp]]:
    """Somebody at the desk, in the view of everything."""
    app = app_on(store, **more)  # type: ignore[arg-type] # as the dataclass has them
    async with app.run_test(size=size) as pilot:
        await all_view(pilot, app)
        yield pilot, app


async def shown(pilot: Pilot[None], app: HandoffApp, ticket: str) -> None:
    """Waits until a ticket is on the desk."""
    await until(pilot, lambda: ticket in pane_text(app, "banner"), f"{ticket} shown")
    await until(
        pilot,
        lambda: (
            desk_of(app).history is not None
            and desk_of(app).history.ticket.id == ticket
        ),
        f"{ticket} read",
    )


async def all_view(pilot: Pilot[None], app: HandoffApp) -> None:
    """Goes to the view of everything."""
    await until(pilot, lambda: desk_of(app).reads.counts)
    await press(pilot, "6")
    await until(pilot, lambda: desk_of(app).query_one(Queue).view == "all", "view 6")
    await until(pilot, lambda: desk_of(app).ticket() is not None, "a ticket")


async def stored(store: Store, ticket: TicketId) -> History:
    """What is stored of a ticket."""
    return await store.read(lambda tx: tx.history(ticket))


async def held(pilot: Pilot[None], app: HandoffApp) -> None:
    """Takes the ticket over that is shown."""
    await press(pilot, "t")
    await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"), "held")
    await until(pilot, lambda: desk_of(app).query_one(Composer).has_class("-open"))


async def card_opened(pilot: Pilot[None], app: HandoffApp) -> None:
    """Opens the decision's card and waits until it listens."""
    await until(pilot, lambda: desk_of(app).pending() is not None)
    await press(pilot, "a")
    await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
    await until(pilot, lambda: app.screen.listening)
