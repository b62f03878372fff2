"""What a screen is told to do in the moment in which it closes."""

import gc
import warnings
from pathlib import Path

from console.screens.acts import Said
from console.screens.background import in_background
from tests.console.counter import Counter
from tests.console.steps import desk_of, shown, sitting, told, until


async def test_what_a_closing_screen_never_starts_is_no_forgotten_coroutine(
    counter: Counter,
) -> None:
    await counter.writes("Where?")
    begun: list[str] = []

    async def look() -> None:
        begun.append("look")

    async def act() -> Said:
        begun.append("act")
        return Said(words="", done=True)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        async with sitting(counter.store) as (pilot, app):
            desk = desk_of(app)
            in_background(desk, look, "Looking")
            desk.act(act())
            app.workers.cancel_node(desk)
            await until(pilot, lambda: begun == ["act"])  # what was asked for is done
        gc.collect()
    assert not [w for w in seen if "never awaited" in str(w.message)]


async def test_a_desk_that_closes_at_once_forgets_no_coroutine(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where?")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        async with sitting(counter.store) as (_, app):
            desk = desk_of(app)
            desk._feed_changed(frozenset({ticket}))
            desk._save_drafts()
            desk._tick()
            desk._rested()
            app.exit()
        gc.collect()
    assert not [w for w in seen if "never awaited" in str(w.message)]


async def test_an_act_that_failed_says_where_and_of_what_kind_and_no_message(
    counter: Counter, tmp_path: Path
) -> None:
    ticket = await counter.writes("Where?")
    log = tmp_path / "handoff.log"

    async def act() -> Said:
        raise ValueError("Dear Ann")

    async with sitting(counter.store, log_path=log) as (pilot, app):
        await shown(pilot, app, ticket)
        desk_of(app).act(act())
        words = f"An act at {ticket} failed: ValueError; see {log}"
        await until(pilot, lambda: words in told(app))
        assert "Dear Ann" not in told(app)
