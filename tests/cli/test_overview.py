"""`handoff overview`: what a supervisor wants to know, without a screen."""

import json
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


def test_money_of_today_is_told_by_currency_and_never_added(
    handoff: Handoff, sundry: Path
) -> None:
    config = ("--config", str(sundry))
    for n, (order, amount, currency) in enumerate(
        (
            ("SU-48218", "5.00", "EUR"),
            ("SU-48220", "2.50", "GBP"),
            ("SU-48221", "6.25", "EUR"),
        ),
        start=1,
    ):
        ticket = opened(handoff, external_id=f"<{n}@x>")
        handoff("take", ticket)
        handoff("identity", ticket, "--customer", "C-1", "--evidence", "called back")
        given = {"order_id": order, "amount": amount, "currency": currency}
        text = json.dumps(given | {"reason": "x"})
        used = handoff(*config, "act", ticket, "refund_order", text, "--json")
        assert used.json["result"]["is_error"] is False
    seen = handoff("overview", "--json").json
    assert seen["moved_today"] == {"refund_order": {"EUR": "11.25", "GBP": "2.50"}}
    assert seen["decisions"] == []
    said = handoff("overview").out
    assert "refund_order 11.25 EUR, 2.50 GBP" in said
    assert "13.75" not in said
