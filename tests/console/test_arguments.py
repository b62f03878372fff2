"""The form of a tool's arguments: what is not changed in it stays what it was."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pytest
from textual.widgets import Input

from console.manner import MANNER, Manner
from console.screens.arguments import ArgumentsForm, arguments_of, fields_of
from console.screens.decision import DecisionPanel
from console.widgets.line_view import LineView
from console.widgets.spans import plain
from core.ticket import Json
from core.tool import ToolSpec
from tests.console.counter import Counter
from tests.console.steps import (
    app_on,
    card_opened,
    press,
    screen_text,
    stored,
    told,
    until,
)
from tests.console.test_decisions import REFUND

EURO = replace(REFUND, policy=replace(REFUND.policy, currency="currency"))
LETTER = "Dear customer,\r\nwe\tare sorry.\n" * 300


async def tools() -> Mapping[str, ToolSpec]:
    """The shop's only tool."""
    return {"refund_order": EURO}


def changed(arguments: Mapping[str, Json], **new: str) -> dict[str, Json]:
    """What the form makes of arguments where some lines are written anew."""
    fields = fields_of(arguments, EURO)
    return arguments_of(fields, [new.get(f.name, f.text) for f in fields])


@pytest.mark.parametrize(
    "value",
    [
        "x" * 4001,
        LETTER,
        "ends\n",
        "a\u202eb",
        "e\u0301",
        "has a ⏎ of its own",
        {"deep": ["x" * 5000]},
        "",
        None,
    ],
)
def test_what_is_not_changed_is_kept_byte_for_byte(value: Json) -> None:
    given = {"order_id": "O-1", "amount": "118.00", "reason": value}
    assert changed(given, amount="18.00") == given | {"amount": "18.00"}


def test_what_a_line_can_not_show_as_it_is_has_no_line_to_write_in() -> None:
    given = {"a": "x" * 4001, "b": "a\tb", "c": "x" * 4000, "d": "two\nlines"}
    kept = {field.name: field.kept for field in fields_of(given, None)}
    assert kept == {
        "a": "kept as it is, 4,001 characters",
        "b": "kept as it is, 3 characters",
        "c": "",
        "d": "",
    }


def test_line_ends_stay_line_ends_where_the_text_is_changed() -> None:
    given = {"reason": "late\nand broken"}
    assert changed(given, reason="late⏎and cold")["reason"] == "late\nand cold"


def test_arguments_beyond_those_that_have_a_line_are_kept_too() -> None:
    given: dict[str, Json] = {f"a{n}": n for n in range(500)}
    fields = fields_of(given, None)
    assert arguments_of(fields, [f.text for f in fields]) == given


@pytest.mark.parametrize(
    ("written", "meant"),
    [("42,50", "42.50"), ("42,5", "42.5"), ("1,234", "1,234"), ("42.50", "42.50")],
)
def test_an_amount_may_have_the_person_s_own_decimal_sign_where_it_has_one_reading(
    written: str, meant: str
) -> None:
    given = {"amount": "118.00", "reason": "1"}
    token = MANNER.set(Manner(point=",", group="."))
    try:
        assert changed(given, amount=written)["amount"] == meant
        assert changed(given, reason=written)["reason"] == written
    finally:
        MANNER.reset(token)
    assert changed(given, amount=written)["amount"] == written


def test_a_number_with_a_comma_is_told_how_to_write() -> None:
    number = {"properties": {"amount": {"type": "number"}}}
    spec = replace(EURO, input_schema=number)
    fields = fields_of({"amount": 5}, spec)
    with pytest.raises(ValueError, match=r"write 42\.50"):
        arguments_of(fields, ["42,50"])


def test_what_may_be_written_is_said_in_a_persons_words() -> None:
    fields: Mapping[str, Json] = {
        "order_id": {"type": "string"},
        "pieces": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "why": {"enum": ["late", "damaged"]},
        "gift": {"type": "boolean"},
        "more": {},
    }
    schema = {"properties": fields, "required": ["order_id", "more"]}
    made = fields_of({}, replace(EURO, input_schema=schema))
    assert [field.hint for field in made] == [
        "text, needed",
        "a whole number",
        "one of late, damaged",
        "yes or no",
        "needed",
    ]


@pytest.mark.parametrize("width", [80, 100, 120])
async def test_rule_06_that_two_must_decide_is_never_cut_from_a_change(
    counter: Counter, width: int
) -> None:
    policy = replace(
        EURO.policy,
        limit_per_ticket=Decimal("200.00"),
        limit_per_day=Decimal("500.00"),
        four_eyes_over=Decimal("500.00"),
    )

    async def strict() -> Mapping[str, ToolSpec]:
        return {"refund_order": replace(EURO, policy=policy)}

    ticket = await counter.writes("I want my money back.")
    given = {"order_id": "O-1", "amount": "784.00", "currency": "EUR"}
    await counter.proposes(ticket, given)
    app = app_on(counter.store, tools=strict)
    async with app.run_test(size=(width, 30)) as pilot:
        await card_opened(pilot, app)
        await until(pilot, lambda: app.screen.spec is not None)
        await press(pilot, "e")
        rule = "▲ 784.00 EUR, money over 50; over 200.00 on one ticket; over 500.00 on"
        rest = "one day; four eyes over 500.00: a second person must approve too"
        await until(pilot, lambda: "▲ 784.00" in screen_text(app))
        view = app.screen.query_one("#card-judged", LineView)
        await until(pilot, lambda: view.size.height == len(view.lines))
        assert " ".join(plain(view.lines).split()) == f"{rule} {rest}"


async def test_rule_06_a_long_argument_is_whole_after_another_was_changed(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    given = {"order_id": "O-1", "reason": LETTER, "amount": "118.00"}
    await counter.proposes(ticket, given | {"currency": "EUR"})
    app = app_on(counter.store, tools=tools)
    async with app.run_test(size=(120, 40)) as pilot:
        await card_opened(pilot, app)
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        panel = app.screen
        assert isinstance(panel, DecisionPanel)
        await until(pilot, lambda: panel.spec is not None)
        await press(pilot, "e")
        form = panel.query_one(ArgumentsForm)
        kept = "kept as it is, 9,000 characters: Dear"
        await until(pilot, lambda: kept in screen_text(app))
        await until(pilot, lambda: isinstance(app.focused, Input))
        await press(pilot, *["backspace"] * 6, *"84.001")
        refused = "84.001 has 3 decimals, EUR has 2 at most"
        await until(pilot, lambda: refused in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: refused in told(app))
        assert form.texts[2] == "84.001"
        await press(pilot, "backspace")
        await until(pilot, lambda: "84.00 EUR, yours to decide" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "approved with changed arguments" in told(app))
    [decision] = (await stored(counter.store, ticket)).decisions
    changed = {"amount": "84.00", "currency": "EUR"}
    assert decision.final_input == given | changed
