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
            assert "Waiting for a decision: refund 118.00 EUR" in shown, shown
        if width < 100:
            await pilot.press("enter")
            await until(pilot, lambda: desk_of(app).pane() == "timeline")
            await pilot.pause()
            keep(app.export_screenshot(title="handoff"), f"ticket-{width}-{theme}")
            assert "Waiting for a decision" in screen_text(app)
