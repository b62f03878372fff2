"""What turns cost, and what a run adds up to."""

from dataclasses import replace
from decimal import Decimal

import pytest

from core.turn import PRICES, Request, Usage, cost
from tests.core.building import answered, run_of, turn


def test_a_known_model_costs_its_list_price() -> None:
    used = Usage(
        in_tokens=1_000_000,
        out_tokens=100_000,
        cache_read_tokens=1_000_000,
        cache_write_tokens=1_000_000,
    )
    response = replace(answered(model="claude-opus-5-5"), usage=used)
    assert cost(response) == Decimal(4) + Decimal(2) + Decimal("0.4") + Decimal(5)


@pytest.mark.parametrize("model", ["handoff-scripted-1", "", "claude-opus-99"])
def test_an_unknown_model_has_an_unknown_cost_and_never_zero(model: str) -> None:
    assert cost(answered(model=model)) is None
    known = turn(1, 1)
    unknown = replace(turn(2, 2), response=answered(model=model))
    assert run_of(turns=(known, unknown)).cost_usd is None
    assert run_of(turns=(known,)).cost_usd is not None


def test_a_long_prompt_costs_the_long_price_cached_tokens_included() -> None:
    used = Usage(in_tokens=1, cache_read_tokens=100_000)
    response = replace(answered(model="claude-haiku-5-5"), usage=used)
    long = PRICES["claude-haiku-5-5"].long
    assert long is not None
    expected = (long.input + 100_000 * long.cache_read) / 1_000_000
    assert cost(response) == expected


def test_a_run_without_answers_has_cost_nothing_and_was_answered_by_nobody() -> None:
    asked = run_of(turns=(turn(1, applied=False),))
    assert asked.cost_usd == 0
    assert asked.answered_by is None
    assert asked.usage == Usage()


def test_a_run_adds_up_its_turns() -> None:
    both = run_of(turns=(turn(1, 1), turn(2, 2)))
    assert both.usage == Usage(in_tokens=20, out_tokens=10)
    assert both.answered_by == "claude-sonnet-5-5"


def test_a_body_without_tools_does_not_name_them() -> None:
    request = Request(
        model="m", max_tokens=1, system="s", tools=(), messages=({"role": "user"},)
    )
    assert "tools" not in request.body()
    assert replace(request, tools=({"name": "t"},)).body()["tools"] == [{"name": "t"}]
