"""`handoff overview`: what a supervisor wants to know, without a screen."""

from pathlib import Path

from tests.cli.conftest import Handoff, opened


def test_the_house_at_a_glance_as_words_and_as_json(both: Handoff) -> None:
    ticket = opened(both)
    both("take", ticket)
    said = both("overview")
    assert said.code == 0
    for words in (
        "0 alive",
        "need a person",
        "model today",
        "0.00 USD, 0 runs",
        ticket,
    ):
        assert words in said.out
    seen = both("overview", "--json").json
    assert [row["ticket"] for row in seen["held"]] == [ticket]
    assert seen["model_today"] == {"runs": 0, "cost_usd": "0", "cost_not_known": 0}
    assert (seen["pause"], seen["decisions"], seen["undelivered"]) == (None, [], [])


def test_the_model_s_runs_of_today_are_counted(handoff: Handoff, sundry: Path) -> None:
    opened(handoff)
    assert handoff("worker", "--drain", "--config", str(sundry)).code == 0
    today = handoff("overview", "--json").json["model_today"]
    assert today["runs"] >= 1
