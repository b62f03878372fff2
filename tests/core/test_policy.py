"""What a tool call may do: free, needs identity, needs a decision, forbidden."""

from dataclasses import replace
from decimal import Decimal

import pytest

from core.decision import DecisionState
from core.history import History
from core.journal import IdentityChanged
from core.ledger import ActionState
from core.policy import (
    Allow,
    Forbid,
    Judgement,
    NeedsDecision,
    NeedsIdentity,
    amount_of,
    busy_with,
    judge,
)
from core.ticket import Json
from core.tool import FREE, UNKNOWN, ToolCall, ToolPolicy, ToolSpec
from tests.core.building import AGENT, REFUND, action, decision, history, said

VERIFIED = (
    AGENT,
    IdentityChanged(verified=True, customer="c-1", name="Bo", method="m", evidence="e"),
)
READ = replace(REFUND, name="get_order", policy=FREE)


def refund(amount: Json, order: str = "O-1", call: str = "toolu_9") -> ToolCall:
    given = {"order_id": order, "amount": amount}
    return ToolCall(id=call, name=REFUND.name, input=given)


def judged(
    call: ToolCall,
    spec: ToolSpec | None = REFUND,
    chart: History | None = None,
    **policy: object,
) -> Judgement:
    if spec is not None:
        changed: ToolPolicy = replace(spec.policy, **policy)  # type: ignore[arg-type]
        spec = replace(spec, policy=changed)
    return judge(call, spec, chart or history(said("hi"), VERIFIED))


def test_below_the_limit_a_verified_buyer_s_refund_is_free() -> None:
    assert judged(refund("50.00")) == Allow()


def test_above_the_limit_a_supervisor_decides() -> None:
    asked = NeedsDecision(rule="money over 50", four_eyes=False)
    assert judged(refund("50.01")) == asked


def test_f15_above_the_second_limit_two_people_decide() -> None:
    assert judged(refund("500.01")) == NeedsDecision(
        rule="money over 50; four eyes over 500", four_eyes=True
    )


def test_rule_07_without_a_recorded_identity_nothing_is_allowed() -> None:
    chart = history(said("I am verified, my id is c-1"))
    assert isinstance(judged(refund("1.00"), chart=chart), NeedsIdentity)


def test_rule_07_a_revoked_identity_blocks_again() -> None:
    revoked = IdentityChanged(
        verified=False, customer=None, name=None, method="m", evidence="e"
    )
    chart = history(said("hi"), VERIFIED, (AGENT, revoked))
    assert isinstance(judged(refund("1.00"), chart=chart), NeedsIdentity)


def test_rule_07_reading_may_need_identity_too() -> None:
    chart = history(said("hi"))
    assert isinstance(judged(refund("1"), READ, chart, identity=True), NeedsIdentity)


@pytest.mark.parametrize(
    "amount", ["-5", "NaN", "0", "Infinity", "1e999999999", "", "ten", "5,00"]
)
def test_f21_nobody_is_asked_to_approve_an_amount_that_is_none(amount: Json) -> None:
    assert isinstance(judged(refund(amount)), Forbid)


@pytest.mark.parametrize(
    "amount",
    [
        "\uff17\uff10",
        "\u0667\u0660",
        "1e1",
        "7_0",
        " 70",
        "70\n",
        "+70",
        "7.",
        ".7",
        "\u221270",
    ],
)
def test_f21_an_amount_that_a_tool_may_read_otherwise_is_none(amount: str) -> None:
    assert isinstance(judged(refund(amount)), Forbid)


@pytest.mark.parametrize("given", [None, [], "x", {}, {"order_id": 1, "amount": "1"}])
def test_f21_arguments_that_don_t_fit_the_schema_are_refused_with_a_line(
    given: Json,
) -> None:
    outcome = judged(ToolCall(id="c", name=REFUND.name, input=given))
    assert isinstance(outcome, Forbid)
    assert REFUND.name in outcome.why


def test_rule_15_an_unknown_tool_is_refused_by_name() -> None:
    outcome = judged(ToolCall(id="c", name="drop_tables", input={}), None)
    assert outcome == Forbid(why="there is no tool 'drop_tables'")


def test_a_tool_of_which_nothing_is_known_needs_a_decision() -> None:
    spec = replace(REFUND, policy=UNKNOWN)
    assert isinstance(judge(refund("1"), spec, history()), NeedsDecision)


def test_f06_a_second_proposal_for_the_same_order_names_the_first() -> None:
    chart = history(said("hi"), VERIFIED, decisions=[decision()])
    outcome = judged(refund("80.00"), chart=chart)
    assert isinstance(outcome, Forbid)
    assert "D-1" in outcome.why
    assert judged(refund("10.00", order="O-2"), chart=chart) == Allow()


def test_f03_nothing_is_done_to_what_is_in_doubt() -> None:
    doubt = action(ActionState.INTENDED, ActionState.IN_DOUBT)
    chart = history(said("hi"), VERIFIED, actions=[doubt])
    outcome = judged(refund("10.00"), chart=chart)
    assert isinstance(outcome, Forbid)
    assert "A-1" in outcome.why


@pytest.mark.parametrize(
    "state", [DecisionState.REJECTED, DecisionState.EXPIRED, DecisionState.WITHDRAWN]
)
def test_what_is_settled_binds_its_object_no_longer(state: DecisionState) -> None:
    chart = history(said("hi"), VERIFIED, decisions=[decision(state=state)])
    assert judged(refund("10.00"), chart=chart) == Allow()


def test_an_override_binds_the_object_that_it_names() -> None:
    overridden = decision(
        state=DecisionState.OVERRIDDEN,
        object_in="order_id",
        final_input={"order_id": "O-9", "amount": "80.00"},
    )
    chart = history(said("hi"), VERIFIED, decisions=[overridden])
    assert judged(refund("10.00"), chart=chart) == Allow()
    assert isinstance(judged(refund("10.00", order="O-9"), chart=chart), Forbid)


def test_a_decision_is_not_in_its_own_way() -> None:
    own = refund("80.00", call="toolu_1")
    assert busy_with(REFUND.policy, own, [decision()], []) is None


def test_a_limit_per_ticket_counts_what_was_done_and_what_is_open() -> None:
    done = action(ActionState.INTENDED, ActionState.DONE, on="O-2")
    failed = action(ActionState.INTENDED, ActionState.FAILED, on="O-3")
    chart = history(said("hi"), VERIFIED, actions=[done, failed])
    limit = {"limit_per_ticket": Decimal(100)}
    assert judged(refund("20.00"), chart=chart, **limit) == Allow()
    assert judged(refund("20.01"), chart=chart, **limit) == NeedsDecision(
        rule="over 100 on one ticket", four_eyes=False
    )


def test_rule_06_every_rule_that_asks_is_named() -> None:
    chart = history(said("hi"), VERIFIED)
    limits = {"limit_per_ticket": Decimal(70), "four_eyes_over": Decimal(60)}
    assert judged(refund("80.00"), chart=chart, **limits) == NeedsDecision(
        rule="money over 50; over 70 on one ticket; four eyes over 60", four_eyes=True
    )


def test_a_limit_per_day_counts_all_tickets() -> None:
    spec = replace(REFUND, policy=replace(REFUND.policy, limit_per_day=Decimal(100)))
    chart = history(said("hi"), VERIFIED)
    spent = {"spent_today": {"": Decimal(90)}}
    assert judge(refund("10.00"), spec, chart, **spent) == Allow()
    assert isinstance(judge(refund("10.01"), spec, chart, **spent), NeedsDecision)


def test_a_second_currency_opens_no_second_limit_and_is_no_sum_of_money() -> None:
    done = replace(
        action(ActionState.INTENDED, ActionState.DONE, on="O-2"), currency="GBP"
    )
    chart = history(said("hi"), VERIFIED, actions=[done])
    euros = replace(refund("20.01"), input=_in("20.01", "eur"))
    asked = judged(euros, chart=chart, limit_per_ticket=Decimal(100))
    assert asked == NeedsDecision(
        rule="over 100 on one ticket, all currencies counted: 20.01 EUR, 80.00 GBP",
        four_eyes=False,
    )
    spec = replace(REFUND, policy=replace(REFUND.policy, limit_per_day=Decimal(100)))
    today = {"EUR": Decimal(70), "GBP": Decimal("10.50")}
    asked = judge(euros, spec, history(said("hi"), VERIFIED), spent_today=today)
    assert asked == NeedsDecision(
        rule="over 100 on one day, all currencies counted: 90.01 EUR, 10.50 GBP",
        four_eyes=False,
    )


def _in(amount: str, currency: str) -> Json:
    return {"order_id": "O-1", "amount": amount, "currency": currency}


@pytest.mark.parametrize(
    ("given", "amount"),
    [
        ("80.00", Decimal("80.00")),
        (80, Decimal(80)),
        (0.1, Decimal("0.1")),
        (True, None),
        (None, None),
        ("sNaN", None),
        ([80], None),
    ],
)
def test_money_is_decimal_and_nothing_else(given: Json, amount: Decimal | None) -> None:
    assert amount_of(REFUND.policy, {"amount": given}) == amount


@pytest.mark.parametrize(
    ("amount", "currency", "why"),
    [
        ("84.001", "EUR", "amount: 84.001 has 3 decimals, EUR has 2 at most"),
        (84.001, "eur", "amount: 84.001 has 3 decimals, EUR has 2 at most"),
        (0.1 + 0.2, "EUR", "EUR has 2 at most"),
        ("84.5", "JPY", "amount: 84.5 has 1 decimal, JPY has none"),
        ("1.2345", "KWD", "KWD has 3 at most"),
        ("0." + "1" * 5000, "EUR", "has 5000 decimals"),
    ],
)
def test_f21_no_amount_has_more_decimals_than_its_currency(
    amount: Json, currency: str, why: str
) -> None:
    given = {"order_id": "O-1", "amount": amount, "currency": currency}
    any_amount = replace(REFUND, input_schema={})
    outcome = judge(
        replace(refund("1"), input=given), any_amount, history(said("hi"), VERIFIED)
    )
    assert isinstance(outcome, Forbid)
    assert why in outcome.why
    assert len(outcome.why) < 100


@pytest.mark.parametrize(
    ("amount", "currency"),
    [
        ("48.01", "EUR"),
        ("48.000", "EUR"),
        ("48", "JPY"),
        ("48.00", "JPY"),
        ("1.234", "KWD"),
        ("0.12345678", "BTC"),
    ],
)
def test_an_amount_that_its_currency_has_is_judged_by_the_limits(
    amount: str, currency: str
) -> None:
    given = _in(amount, currency)
    assert judged(replace(refund("1"), input=given)) == Allow()


def test_f21_a_currency_that_the_schema_takes_for_unsaid_counts_too() -> None:
    unsaid = {"properties": {"currency": {"default": "JPY"}}}
    spec = replace(REFUND, input_schema=unsaid)
    outcome = judged(refund("8.50"), spec)
    assert outcome == Forbid(why="amount: 8.50 has 1 decimal, JPY has none")


@pytest.mark.parametrize(
    ("amount", "why"),
    [
        ("42,50", "amount: 42,50 is no amount here: write 42.50"),
        ("1,234", "amount: 1,234 has two readings: write 1234 or 1.234"),
    ],
)
def test_f21_an_amount_with_a_comma_is_never_guessed_and_told_how_to_write(
    amount: str, why: str
) -> None:
    numbers = {"properties": {"amount": {"type": "string", "pattern": r"^\d+\.\d\d$"}}}
    for schema in (REFUND.input_schema, numbers):
        spec = replace(REFUND, input_schema=schema)
        assert judged(refund(amount), spec) == Forbid(why=why)
