"""Lines where there is little room: nothing is cut without saying so."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

from textual import events

from console.keymap import Here
from console.keytable import COMMANDS
from console.live import Lost
from console.screens.ask import AskPanel
from console.screens.overlays import help_lines
from console.widgets.bars import Top, lost_line, top_lines
from console.widgets.composer import Composer
from console.widgets.line_view import LineView
from console.widgets.queue_lines import queue_line
from console.widgets.spans import (
    cells,
    clip,
    cut,
    fit,
    folded,
    line,
    plain,
    width_of,
    wrap,
)
from console.wording import VIEWS, state_of
from tests.console.counter import Counter
from tests.console.sample_desk import COUNTS
from tests.console.scenes import Scene
from tests.console.shown import ME, NOW
from tests.console.steps import desk_of, done, held, press, screen_text, sitting, until

WIDTHS = range(40, 201, 4)
GONE = (
    "the store's file was removed or replaced: put it back, or leave and start again"
    " (/srv/handoff/desk.db)"
)


def lost(**more: object) -> Lost:
    """A store that is gone."""
    more = {"why": GONE, "since": NOW, "retry_at": NOW, "tries": 3} | more
    return Lost(**more)  # type: ignore[arg-type] # as the dataclass has them


def test_what_is_cut_ends_in_one_mark_and_blanks_are_no_loss() -> None:
    assert fit("Bartholomäus Feiersinger…, 12m", 25) == "Bartholomäus Feiersinger…"
    assert cut("Ädam Smit… and more", 11) == "Ädam Smit…"
    assert clip(line("abc", ("   ", "dim")), 4) == line("abc")
    assert plain([clip(line("abc", ("d", "dim")), 3)]) == "ab…"
    wrapped = folded([line("one two"), line("one ", "two")], 5)
    assert plain(wrapped) == "one\ntwo\none …"


def test_a_row_says_since_when_a_colleague_with_a_long_name_holds_it() -> None:
    who = "Bartholomäus-Maximilian von Feiersinger"
    scene = Scene("T-1", "Hello", "ann@example.com", NOW - timedelta(minutes=12))
    row = scene.asks("Where?").taken(who).row()
    later = NOW + timedelta(hours=3)
    word = state_of(row, "Noor", later, workers=1)
    for width in WIDTHS:
        text = plain([queue_line(row, width, word=word, now=later)])
        assert ", 3h " in text
        assert "…," in text
        assert "……" not in text
        assert cells(text) <= width


def test_a_lost_store_says_what_one_can_do_at_every_width() -> None:
    kinds = ((lost(), "^r now"), (lost(replaced=True), "q"))
    for width, (gone, does) in product(WIDTHS, kinds):
        made = lost_line(gone, 8, width)
        text = plain([made])
        assert width_of(made) <= width
        assert "⚠ OFFLINE" in text
        assert text.endswith((f" {does}", "q and start again"))
        assert "…" in text or GONE in text
    assert "retry" not in plain([lost_line(lost(replaced=True), 8, 120)])


def test_the_views_keep_their_keys_and_counts_at_every_width() -> None:
    top = Top(operator=ME, title="", view="mine", counts=COUNTS, workers=1, live=True)
    for width in WIDTHS:
        text = plain(top_lines(top, width)[1:])
        assert "3 mine 1" in text
        assert "…" not in text or width < 44  # the least there is
        numbers = [f"{COUNTS[view]:,}" for _, view, _, _ in VIEWS]
        assert [n for n in numbers[:-1] if n not in text] == []
    found = plain(top_lines(replace(top, filter="kitchen"), 80))
    assert "/ kitchen" in found


def test_a_broken_line_stays_as_far_in_as_it_was() -> None:
    assert wrap('{\n    "text": "one two three"\n}', 16) == [
        "{",
        '    "text": "one',
        '    two three"',
        "}",
    ]


async def test_help_and_questions_are_wrapped_beside_the_scroll_bar(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    async with sitting(counter.store, size=(60, 20)) as (pilot, app):
        await press(pilot, "question_mark")
        await until(pilot, lambda: "Keys here" in screen_text(app))
        assert "take it away from whoever has it" in screen_text(app)
        assert "esc closes" in screen_text(app)
        card = app.screen.query_one("#card", LineView)
        assert card.show_vertical_scrollbar
        assert max(width_of(spans) for spans in card.lines) <= card.inner_width
        await press(pilot, "escape")
        words = "A question that is much longer than the panel of sixty columns is."
        app.push_screen(AskPanel(words, hint="an answer " * 9, does="asks"))
        await until(pilot, lambda: "columns is." in screen_text(app))
        await until(pilot, lambda: "an answe… " in screen_text(app))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "an answe… " not in screen_text(app))
    for width in WIDTHS:
        text = plain(help_lines(COMMANDS, Here(ticket=True), width))
        assert "take it away" in text
        assert max(cells(part) for part in text.split("\n")) <= width


async def test_what_would_end_under_a_scroll_bar_is_cut_before_it(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    async with sitting(counter.store, size=(60, 20)) as (pilot, app):
        await press(pilot, "question_mark")
        await until(pilot, lambda: "Keys here" in screen_text(app))
        card = app.screen.query_one("#card", LineView)
        long = line(("x" * 80, "text"), ("y", "dim"))
        card.show([long] * 100)
        await until(pilot, lambda: "xxxx… " in screen_text(app))


async def test_a_reply_in_wide_letters_is_whole_after_each_change_of_size(
    counter: Counter,
) -> None:
    await counter.writes("もしもし")
    async with sitting(counter.store, size=(120, 40)) as (pilot, app):
        await held(pilot, app)
        await press(pilot, "r")
        for character in "漢字 " + "日本語" * 18:
            app.post_message(events.Key("x", character))
        await done(pilot)
        editor = desk_of(app).query_one(Composer).editor
        for size in ((118, 40), (117, 40), (101, 30), (80, 24), (75, 20), (61, 24)):
            await pilot.resize_terminal(*size)
            await done(pilot)
            for part in editor.wrapped_document.lines[0]:
                await until(pilot, lambda p=part: p.strip() in screen_text(app), part)
            assert all(
                f"▌ {part.strip()} " in f"{screen_text(app)} ".replace("\n", " \n")
                for part in editor.wrapped_document.lines[0]
            )
