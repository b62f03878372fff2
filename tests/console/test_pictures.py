"""The desk at three sizes, dark and light, as pictures that the project shows."""

import pytest

from tests.console.pictures import keep
from tests.console.sample_desk import COUNTS, desk
from tests.console.scenes import SceneStore
from tests.console.steps import app_on, desk_of, pane_text, screen_text, until

SIZES = {80: (80, 24), 120: (120, 40), 200: (200, 55)}


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("width", SIZES)
async def test_the_desk_says_who_has_it_who_it_is_and_what_waits(
    width: int, theme: str
) -> None:
    store = SceneStore(desk(), COUNTS)
    app = app_on(store, still=True, theme=f"handoff-{theme}", title="sample")
    async with app.run_test(size=SIZES[width]) as pilot:
        await until(pilot, lambda: "D-118" in pane_text(app, "chart"))
        await pilot.pause()
        keep(app.export_screenshot(title="handoff"), f"desk-{width}-{theme}")
        assert all(
            strip.cell_length == width
            for strip in app.screen._compositor.render_strips()
        )
        shown = screen_text(app)
        assert "T-40219" in shown
        if width >= 100:
            assert "VERIFIED" in shown
            words = "Waiting for a decision" if width >= 160 else "Decision"
            assert f"{words}: refund 118.00 EUR" in shown, shown
        if width < 100:
            await pilot.press("enter")
            await until(pilot, lambda: desk_of(app).pane() == "timeline")
            await pilot.pause()
            keep(app.export_screenshot(title="handoff"), f"ticket-{width}-{theme}")
            assert "Waiting for a decision" in screen_text(app)


async def test_a_held_ticket_opens_the_composer_and_silences_the_agent() -> None:
    app = app_on(SceneStore(desk(), COUNTS), still=True)
    async with app.run_test(size=SIZES[200]) as pilot:
        await until(pilot, lambda: "D-118" in pane_text(app, "chart"))
        await pilot.press("j")
        await until(pilot, lambda: "YOU HOLD T-40231" in pane_text(app, "banner"))
        await until(pilot, lambda: "Jonas Brandt" in pane_text(app, "chart"))
        await pilot.press("r", *"I am sorry. I have asked the courier to go back")
        await pilot.pause()
        keep(app.export_screenshot(title="handoff"), "held-200-dark")
        assert "the agent is silent" in screen_text(app)
        assert "withheld" in screen_text(app)


async def test_a_decisions_card_shows_the_amount_and_every_argument() -> None:
    app = app_on(SceneStore(desk(), COUNTS), still=True)
    async with app.run_test(size=SIZES[120]) as pilot:
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await pilot.press("a")
        await until(pilot, lambda: getattr(app.screen, "read_whole", False))
        await until(pilot, lambda: app.screen.listening)
        await pilot.pause()
        keep(app.export_screenshot(title="handoff"), "card-120-dark")
        assert "part 2 lost by the carrier" in screen_text(app)


async def test_an_empty_desk_says_how_tickets_come() -> None:
    app = app_on(SceneStore([], {"all": 0, "human": 0}), still=True)
    async with app.run_test(size=SIZES[80]) as pilot:
        await until(pilot, lambda: "handoff demo" in screen_text(app))
        await pilot.pause()
        keep(app.export_screenshot(title="handoff"), "empty-80-dark")


async def test_the_give_back_panel_offers_agent_queue_and_colleagues() -> None:
    app = app_on(SceneStore(desk(), COUNTS), still=True, theme="handoff-light")
    async with app.run_test(size=SIZES[120]) as pilot:
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await pilot.press("j")
        await until(pilot, lambda: desk_of(app).history is not None)
        await pilot.press("R")
        await until(pilot, lambda: "to Mira" in screen_text(app))
        await pilot.pause()
        keep(app.export_screenshot(title="handoff"), "give-back-120-light")
