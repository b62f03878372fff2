"""Numbers and times as people write them where they are."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from console.manner import MANNER, Manner, clock, from_environment
from console.measures import money
from console.when import moment

NOON = datetime(2026, 3, 12, 12, 5, tzinfo=UTC)


def test_an_amount_has_the_marks_of_the_place_and_all_its_digits() -> None:
    amount = Decimal("1234567.890")
    assert money(amount, "EUR") == "1,234,567.890 EUR"
    token = MANNER.set(Manner(point=",", group="."))
    try:
        assert money(amount, "EUR") == "1.234.567,890 EUR"
        assert money(Decimal("1E+3"), None) == "1.000"
    finally:
        MANNER.reset(token)


def test_the_day_has_twelve_hours_where_people_say_so() -> None:
    assert clock(NOON) == "12:05"
    token = MANNER.set(Manner(twelve=True))
    try:
        said = [clock(NOON.replace(hour=hour)) for hour in (0, 9, 12, 13)]
        assert said == ["12:05 am", "9:05 am", "12:05 pm", "1:05 pm"]
    finally:
        MANNER.reset(token)


@pytest.mark.parametrize("named", ["C", "C.UTF-8", "no_SUCH"])
def test_a_place_that_says_nothing_is_written_in_english(
    monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("LC_ALL", named)
    assert from_environment() == Manner()


@pytest.mark.parametrize(
    ("said", "hour"), [("5pm", 17), ("12:30am", 0), ("12 pm", 12), ("mon 9am", 9)]
)
def test_a_time_may_be_said_with_am_and_pm(said: str, hour: int) -> None:
    at = moment(said, NOON, UTC)
    assert at is not None
    assert at.hour == hour


def test_thirteen_pm_is_no_time() -> None:
    assert moment("13pm", NOON, UTC) is None
    assert moment("0 am", NOON, UTC) is None
