"""A run looked at turn by turn, by keys."""

from console.screens.replay import ReplayPanel
from console.widgets.line_view import LineView
from tests.console.steps import app_on, desk_of, press, screen_text, until
from tests.console.sundry import sundry


async def test_the_side_that_keys_scroll_is_marked_and_its_ends_are_one_key_away() -> (
    None
):
    app = app_on(sundry())
    async with app.run_test(size=(120, 24)) as pilot:
        await press(pilot, "6")
        await until(pilot, lambda: desk_of(app).history is not None)
        await press(pilot, "p")
        await until(pilot, lambda: isinstance(app.screen, ReplayPanel))
        await until(pilot, lambda: "▸ REQUEST" in screen_text(app))
        await until(pilot, lambda: app.screen.listening)
        request = app.screen.query_one("#request", LineView)
        await press(pilot, "G")
        lowest = request.scroll_offset.y
        assert lowest == len(request.lines) - request.size.height > 0
        await press(pilot, "left")  # no turn lies before: nothing moves
        assert request.scroll_offset.y == lowest
        await press(pilot, "tab")
        await until(pilot, lambda: "▸ ANSWER" in screen_text(app))
        assert "▸ REQUEST" not in screen_text(app)
        await press(pilot, "tab", "g")
        assert request.scroll_offset.y == 0
