"""A console that stays open all day."""

import gc
from collections.abc import Mapping, Sequence

from textual._styles_cache import StylesCache

from tests.bench.console import fill
from tests.bench.session import Size, session
from tests.console.counter import Counter
from tests.console.steps import desk_of, press, sitting, until

MORE = 75
"""Of no type may there be so many more: a fortieth of the changes that came between."""


def least(sizes: Sequence[Size]) -> Mapping[str, int]:
    """Of each type the fewest: the library keeps a panel or two that closed last."""
    kinds = {kind for size in sizes for kind in size.ours}
    return {kind: min(size.ours.get(kind, 0) for size in sizes) for kind in kinds}


async def test_a_long_session_keeps_nothing_of_what_came(sqlite_url: str) -> None:
    await fill(sqlite_url, 200, 40)
    sizes = [
        size async for size in session(sqlite_url, tickets=200, changes=4500, every=500)
    ]
    first, last = least(sizes[1:4]), least(sizes[7:])  # what is made once is made by 1
    grown = {kind: n - first.get(kind, 0) for kind, n in last.items()}
    assert {kind: n for kind, n in grown.items() if n > MORE} == {}


def painted_stores() -> int:
    gc.collect()
    return sum(isinstance(thing, StylesCache) for thing in gc.get_objects())


async def test_what_a_closed_panel_painted_is_let_go(counter: Counter) -> None:
    await counter.writes("Hello?")
    async with sitting(counter.store) as (pilot, app):
        desk, sizes = desk_of(app), []
        for _ in range(12):
            await press(pilot, "question_mark")
            await until(pilot, lambda: app.screen is not desk and app.screen.listening)
            await press(pilot, "escape")
            await until(pilot, lambda: app.screen is desk)
            app.let_go()
            sizes.append(painted_stores())
    assert sizes[-1] - sizes[2] < len(sizes)
