"""Each screen at its sizes, dark and light, as pictures that the project shows."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image
from textual.pilot import Pilot

from console.app import HandoffApp
from console.config import load
from console.in_force import Start, in_force
from console.live import Lost
from console.screens.panel import Panel
from console.widgets.timeline import Timeline
from core.tool import ToolSpec
from tests.console.pictures import PICTURES, Album, digest, drawn_from, weak
from tests.console.scene_store import SceneStore
from tests.console.shown import ME, NOW, PROMPT
from tests.console.steps import app_on, desk_of, done, press, screen_text, until
from tests.console.sundry import (
    AT_WORK,
    CANNED,
    DECIDED,
    HELD,
    STOPPED,
    approved,
    sundry,
)
from tests.console.test_decisions import REFUND

SIZES = {80: (80, 24), 120: (120, 40), 160: (160, 45), 200: (200, 55)}
DEMO = Path(__file__).parents[2] / "console" / "demo" / "handoff.toml"
LOOKS = ("dark", "light")
RETRY = timedelta(seconds=4)
REPLY = "I am sorry. I have the shelves on my desk now and call the carrier at ten."

PANELS = (
    ("card", "a", "556.00 EUR"),
    ("overview", "s", "WHO HAS WHAT"),
    ("people", "O", "supervisor"),
    ("settings", "S", "This terminal"),
    ("reason", "T", "takes it at once"),
    ("replay", "p", "rebuilt byte for byte"),
    ("help", "question_mark", "Keys here"),
    ("palette", "colon", "take the ticket over"),
    ("snooze", "z", "A message of the buyer wakes it"),
)
"""Panels on a ticket: their picture, the key that opens them, and what they say."""


async def tools() -> Mapping[str, ToolSpec]:
    """The tool that the pictures' decision is about."""
    return {"refund_order": REFUND}


def started() -> Start:
    """The demo's configuration, as if it lay in a folder of its own."""
    folder = Path("/srv/sundry")
    said = load(file=str(DEMO), store=None)
    return Start(
        config=replace(
            said,
            file=folder / DEMO.name,
            prompt=PROMPT,
            tool_servers=tuple(replace(s, folder=folder) for s in said.tool_servers),
            channels={"mail": folder / "replies.jsonl"},
            keys={"take": "ctrl+e"},
        ),
        store="/srv/sundry/handoff.db",
        who=ME,
        undo=timedelta(seconds=8),
        log=None,
    )


def kinds_of(panel: type) -> set[type]:
    """Every panel that can come up; those that others are made from are none."""
    made = panel.__subclasses__()
    kinds = {kind for one in made for kind in kinds_of(one)}
    ours = panel.__module__.startswith("console.")
    return kinds if kinds or not ours else {panel}


class Tour:
    """A walk through the desk that keeps a picture of each screen."""

    def __init__(
        self, pilot: Pilot[None], app: HandoffApp, store: SceneStore, album: Album
    ) -> None:
        self.pilot, self.app, self.store, self.album = pilot, app, store, album
        self.seen: set[type] = set()
        self.width = app.size.width

    async def keep(self, name: str) -> None:
        """Keeps the screen in dark and in light, first as it is: a change is slow."""
        self.seen.add(type(self.app.screen))
        now = self.app.theme.removeprefix("handoff-")
        for theme in sorted(LOOKS, key=lambda theme: theme != now):
            self.app.theme = f"handoff-{theme}"
            await done(self.pilot)
            await self.album.keep(self.app, f"{name}-{self.width}-{theme}")
            assert weak(self.app) == []
            strips = self.app.screen._compositor.render_strips()
            assert {strip.cell_length for strip in strips} == {self.width}

    async def says(self, words: str) -> None:
        """Waits until the screen says this."""
        await until(self.pilot, lambda: words in screen_text(self.app), words)

    async def opens(self, key: str, words: str) -> None:
        """Opens a panel and waits until it listens and says this."""
        await press(self.pilot, key)
        await until(self.pilot, lambda: self.app.screen is not desk_of(self.app), words)
        await self.says(words)
        await until(self.pilot, lambda: self.app.screen.listening)

    async def closes(self) -> None:
        """Leaves the panel."""
        await press(self.pilot, "escape")
        await until(self.pilot, lambda: self.app.screen is desk_of(self.app))

    async def at(self, ticket: str, *keys: str) -> None:
        """Goes to a ticket and waits until it is read."""
        await press(self.pilot, *keys)
        await until(
            self.pilot,
            lambda: (
                desk_of(self.app).history is not None
                and desk_of(self.app).history.ticket.id == ticket
            ),
            ticket,
        )

    async def desk(self) -> None:
        """The desk as it opens, in the view of everything."""
        await until(self.pilot, lambda: desk_of(self.app).history is not None)
        await self.at(DECIDED, "6")
        await until(self.pilot, lambda: desk_of(self.app).pending() is not None)
        if self.width >= SIZES[160][0]:
            await self.says("looks at it")  # who is there is read on its own
        await self.keep("desk")

    async def ticket(self) -> None:
        """The ticket searched, and alone."""
        timeline = desk_of(self.app).query_one(Timeline)
        await press(self.pilot, "enter")
        await self.says("Decision D-118")
        await until(self.pilot, lambda: timeline.reader.width == timeline.inner_width)
        await press(self.pilot, "slash", *"charge", "enter")
        await press(self.pilot, "n")
        await until(self.pilot, lambda: timeline.cursor == 0)
        await self.keep("search")
        await press(self.pilot, "escape", "G", "plus")
        await self.says("refund 556.00 EUR")
        await until(self.pilot, lambda: timeline.reader.width == timeline.inner_width)
        await self.keep("ticket")
        await press(self.pilot, "plus", "escape")

    async def panels(self) -> None:
        """Every panel that a ticket with a decision has."""
        for name, key, words in PANELS:
            await self.opens(key, words)
            await self.keep(name)
            if name == "card":
                await until(self.pilot, lambda: self.app.screen.spec)
                await press(self.pilot, "e")
                await press(self.pilot, *"480.00")
                await self.says("480.00")
                await self.says("yours to decide")
                await self.keep("override")
                await press(self.pilot, "escape")
            if name == "people":
                await self.people()
            if self.app.screen is not desk_of(self.app):
                await self.closes()

    async def people(self) -> None:
        """What the panel of people asks: who is new, and whether it is sure."""
        await self.opens("n", "Who works here now?")
        await press(self.pilot, *"Ada")
        await self.says("Ada")
        await self.keep("add-person")
        await self.closes()
        await self.opens("O", "supervisor")
        await press(self.pilot, "j")
        await self.opens("d", "disables Mira")
        await self.keep("sure")

    async def approvals(self) -> None:
        """The view of what waits for an approval."""
        await self.at(DECIDED, "2")
        await until(self.pilot, lambda: len(desk_of(self.app).looked_at()) == 1)
        await self.keep("approvals")
        await press(self.pilot, "6")
        await until(self.pilot, lambda: len(desk_of(self.app).looked_at()) > 1)

    async def held(self) -> None:
        """A ticket that one holds: written to, given back."""
        await self.at(HELD, "j")
        await self.opens("w", "send as it is")
        await self.keep("withheld")
        await self.closes()
        await self.opens("R", "to Mira")
        await self.keep("give-back")
        await self.closes()
        await press(self.pilot, "r")
        await self.opens("ctrl+o", "writes it")
        await press(self.pilot, *"sorry")
        await self.says("I am sorry. I look")
        await self.keep("canned")
        await self.closes()
        await press(self.pilot, *REPLY)
        await self.says(REPLY.split()[-1])
        await self.keep("held")
        await self.opens("ctrl+o", "writes it")
        await press(self.pilot, *"carrier", "enter")
        await self.says("does all of it")
        await self.keep("macro")
        await self.closes()
        await press(self.pilot, "escape", "escape")
        await self.opens("q", "Leave?")
        await self.keep("leave")
        await self.closes()

    async def lost(self) -> None:
        """The store is away while one looks at a ticket."""
        desk = desk_of(self.app)
        why = "connection refused: db.example.com:5432"
        desk.follower.lost(Lost(why=why, since=NOW, retry_at=NOW + RETRY, tries=2))
        await self.says("OFFLINE")
        await self.keep("lost")
        desk.follower.back()
        desk.follower.changed(frozenset())
        await self.says("● live")

    async def paused(self) -> None:
        """The agent is stopped everywhere."""
        self.store.paused = STOPPED
        await desk_of(self.app).reads.read_window(0)
        await self.at(AT_WORK, "g", "j", "j", "j", "j", "j", "enter")
        await self.says("PAUSED by Sam")
        await self.keep("paused")

    async def approved(self) -> None:
        """What the holder carries out, and does with a tool of their own accord."""
        self.store.paused = None
        approved(self.store)
        desk = desk_of(self.app)
        desk.follower.changed(frozenset([HELD]))
        await self.at(HELD, "escape", "g", "j")
        await desk.reads.read_window(0)
        await until(self.pilot, lambda: desk.here().ready)
        await until(self.pilot, lambda: "PAUSED" not in screen_text(self.app))
        await self.opens("A", "execute refund_order")
        await self.keep("tools")
        await press(self.pilot, "enter")
        await self.says("y carry it out")
        await until(self.pilot, lambda: self.app.screen.listening)
        await self.keep("carry-out")
        await self.closes()
        await self.opens("A", "execute refund_order")
        await press(self.pilot, "j", "enter")
        await self.says("order_id")
        await until(self.pilot, lambda: self.app.screen.listening)
        await press(self.pilot, *"SU-48209", "tab", *"144.00")
        await self.says("144.00")
        self.app.clear_notifications()
        await self.keep("tool")
        await self.closes()


@pytest.mark.timeout(400)  # 62 pictures, on whatever machine
@pytest.mark.parametrize("width", [80, 120, 200])
async def test_each_screen_looks_as_it_did(width: int, tmp_path: Path) -> None:
    store, album = sundry(), Album(tmp_path)
    app = app_on(
        store,
        still=True,
        title="demo",
        canned=CANNED,
        tools=tools,
        settings=lambda _: in_force(started(), {}),
    )
    async with app.run_test(size=SIZES[width]) as pilot:
        tour = Tour(pilot, app, store, album)
        await tour.desk()
        await tour.approvals()
        await tour.ticket()
        await tour.panels()
        await tour.held()
        await tour.lost()
        await tour.paused()
        await tour.approved()
    album.done()
    assert kinds_of(Panel) <= tour.seen


async def test_the_desk_at_160_columns_looks_as_it_did(tmp_path: Path) -> None:
    store, album = sundry(), Album(tmp_path)
    app = app_on(store, still=True, title="demo")
    async with app.run_test(size=SIZES[160]) as pilot:
        await Tour(pilot, app, store, album).desk()
    album.done()


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_an_empty_desk_says_how_tickets_come(width: int, tmp_path: Path) -> None:
    store, album = SceneStore([], {"all": 0, "human": 0}), Album(tmp_path)
    app = app_on(store, still=True)
    async with app.run_test(size=SIZES[width]) as pilot:
        tour = Tour(pilot, app, store, album)
        await tour.says("handoff demo")
        await tour.keep("empty")
    album.done()


def test_each_png_was_drawn_from_the_svg_beside_it() -> None:
    drawn = {path.stem: drawn_from(path) for path in PICTURES.glob("*.png")}
    assert drawn == {path.stem: digest(path) for path in PICTURES.glob("*.svg")}


def test_each_screen_is_there_at_each_size_in_dark_and_light() -> None:
    names = {path.stem for path in PICTURES.glob("*.svg")}
    screens = {name.rsplit("-", 2)[0] for name in names}
    looks = {f"{width}-{look}" for width in (80, 120, 200) for look in LOOKS}
    wanted = {f"{screen}-{look}" for screen in screens for look in looks}
    assert names - {f"desk-160-{look}" for look in LOOKS} == wanted


@pytest.mark.parametrize("look", LOOKS)
def test_a_png_has_the_grounds_of_its_svg(look: str) -> None:
    path = PICTURES / f"tool-120-{look}.svg"
    svg = path.read_text(encoding="utf-8")
    grounds = set(re.findall(r'rect fill="#([0-9a-f]{6})"', svg))
    with Image.open(path.with_suffix(".png")) as drawn:
        whole = drawn.convert("RGB")
        colours = {bytes(colour).hex() for _, colour in whole.getcolors(1000) or ()}
    assert grounds <= colours
