"""The palette finds everything that has a name, and a key that can't act says why."""

from dataclasses import replace

from console.keymap import Here, needed_for, possible
from console.keytable import COMMANDS
from console.screens.overlays import help_lines
from console.screens.palette import PalettePanel, choices_for
from console.widgets.bars import hint_line
from console.widgets.choices import Choices
from console.widgets.spans import plain
from tests.console.scene_store import SceneStore
from tests.console.steps import app_on, desk_of, press, screen_text, told, until
from tests.console.sundry import AT_WORK, CANNED, HELD, sundry


def found(wanted: str, here: Here, **more: object) -> list[str]:
    choices = choices_for(wanted, COMMANDS, here, **more)  # type: ignore[arg-type] # as it has them
    return [choice.id for choice in choices]


def test_pausing_everywhere_is_found_beside_pausing_one_ticket() -> None:
    ids = found("stop agent", Here(ticket=True, supervisor=True))
    assert {"pause", "pause_all"} <= set(ids)
    assert "pause_all" in found("everywhere", Here(supervisor=True))


def test_every_action_is_found_also_where_it_is_not_possible_and_then_it_is_last() -> (
    None
):
    here = Here(ticket=True)
    ids = found("", here)
    asked = {c.id for c in COMMANDS if c.needs or possible(c, here)} - {"palette"}
    assert asked <= set(ids)
    can = [possible(next(c for c in COMMANDS if c.id == id_), here) for id_ in ids]
    assert can == sorted(can, reverse=True)


def test_no_ticket_key_is_silent() -> None:
    keys = {key for c in COMMANDS if c.group == "Ticket" for key in c.keys}
    keys -= {"ctrl+s", "ctrl+enter", "space", "enter"}
    silent = [key for key in sorted(keys) if not needed_for(COMMANDS, key, Here())]
    assert silent == []
    assert needed_for(COMMANDS, "u", Here(ticket=True)) != ""


def test_who_may_not_do_something_is_promised_nothing_of_it() -> None:
    here = Here(ticket=True, held=True, pending=True)
    said = plain([hint_line(COMMANDS, here, 120)])
    assert "a look at it" in said
    assert "approve" not in said
    supervises = replace(here, supervisor=True, decides=True)
    assert "a approve" in plain([hint_line(COMMANDS, supervises, 120)])
    own = replace(supervises, decides=False)
    assert "a look at it" in plain([hint_line(COMMANDS, own, 120)])

    may, never = plain(help_lines(COMMANDS, here, 80)).split("ONLY A SUPERVISOR")
    assert "take it away" not in may
    assert "take it away" in never
    assert "ONLY A" not in plain(help_lines(COMMANDS, supervises, 80))

    lines = [plain([c.line]) for c in choices_for("everywhere", COMMANDS, here)]
    assert [one for one in lines if "stop the agent" in one] == [
        one for one in lines if one.endswith("supervisors only")
    ]


async def test_tickets_are_found_by_number_buyer_and_subject_and_opened() -> None:
    app = app_on(sundry(), still=True, canned=CANNED)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: desk_of(app).history is not None)
        await press(pilot, "colon", *"lindqvist")
        await until(pilot, lambda: AT_WORK in screen_text(app))
        await until(
            pilot,
            lambda: f"ticket:{AT_WORK}" == app.screen.query_one(Choices).chosen,
        )
        await press(pilot, "enter")
        await until(pilot, lambda: desk_of(app).ticket() == AT_WORK)


async def test_a_macro_is_found_and_shown_whole_before_it_acts() -> None:
    app = app_on(sundry(), still=True, canned=CANNED)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: desk_of(app).history is not None)
        await press(pilot, "6", "j")
        await until(
            pilot,
            lambda: (
                desk_of(app).history is not None
                and desk_of(app).history.ticket.id == HELD
            ),
        )
        await press(pilot, "colon", *"macro carrier")
        await until(
            pilot,
            lambda: app.screen.query_one(Choices).chosen == "written:ask the carrier",
        )
        await press(pilot, "enter")
        await until(pilot, lambda: "does all of it" in screen_text(app))


async def test_what_is_written_says_that_a_ticket_must_be_taken_first() -> None:
    app = app_on(sundry(), still=True, canned=CANNED)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: desk_of(app).history is not None)
        await press(pilot, "colon", *"reply bank", "enter")
        await until(pilot, lambda: "Take the ticket over first" in told(app))


async def test_a_desk_without_tickets_says_so_for_every_key_of_a_ticket() -> None:
    app = app_on(SceneStore([], {"all": 0, "human": 0}), still=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "handoff demo" in screen_text(app))
        await press(pilot, "t")
        await until(pilot, lambda: "There is no ticket here" in told(app))
        await press(pilot, "colon")
        await until(pilot, lambda: isinstance(app.screen, PalettePanel))
