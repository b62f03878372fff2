"""The shop's rules against reference databases that somebody else computed."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest

from tests.worlds.retail_rules import Db
from tests.worlds.retail_store import DATA
from tests.worlds.retail_tools import TOOLS, Outcome, call

pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason="the retail data set is not beside the repository"
)


@pytest.fixture(scope="module")
def shelves() -> bytes:
    return (DATA / "db.json").read_bytes()


@pytest.fixture
def db(shelves: bytes) -> Db:
    loaded: Db = json.loads(shelves)
    return loaded


def digest(db: Db) -> str:
    return hashlib.sha256(json.dumps(db, sort_keys=True).encode()).hexdigest()


def tasks() -> list[dict[str, Any]]:
    path = DATA / "tasks.json"
    return json.loads(path.read_bytes()) if path.exists() else []


@pytest.mark.parametrize("task", tasks(), ids=lambda task: f"task-{task['id']}")
def test_reference_actions_lead_to_the_reference_database(
    task: dict[str, Any], db: Db
) -> None:
    expected = json.loads((DATA / "expected_changes.json").read_bytes())[task["id"]]
    failed = []
    for action in task["evaluation_criteria"]["actions"] or []:
        outcome = call(db, action["name"], action["arguments"])
        if outcome.is_error:
            seen = (action["action_id"], action["name"], outcome.text)
            failed.append(seen)
    wanted = [
        (e["action_id"], e["name"], e["result"]) for e in expected["reference_errors"]
    ]
    assert failed == wanted
    assert digest(db) == expected["final_db_sha256"]


def test_every_refused_call_leaves_the_database_as_it_was(db: Db) -> None:
    before = digest(db)
    nobody = {"order_id": "#W0", "reason": "no longer needed"}
    order_id = next(k for k, o in db["orders"].items() if o["status"] == "pending")
    whim = {"order_id": order_id, "reason": "changed my mind"}
    outcomes = [
        call(db, "cancel_pending_order", nobody),
        call(db, "cancel_pending_order", whim),
        call(db, "cancel_pending_order", {"order_id": order_id}),
        call(db, "cancel_pending_order", {**nobody, "extra": "x"}),
        call(db, "cancel_pending_order", {**nobody, "order_id": ["#W0"]}),
        call(db, "refund_everything", {}),
    ]
    assert [outcome.text for outcome in outcomes] == [
        "Error: Order not found",
        "Error: Invalid reason",
        "Error: cancel_pending_order is missing the argument 'reason'",
        "Error: cancel_pending_order takes no argument 'extra'",
        "Error: cancel_pending_order: 'order_id' must be a string",
        "Error: Tool 'refund_everything' not found.",
    ]
    assert all(outcome.is_error for outcome in outcomes)
    assert digest(db) == before


def test_a_cancelled_order_is_refunded_to_the_gift_card_at_once(db: Db) -> None:
    order, user = next(
        (order, db["users"][order["user_id"]])
        for order in db["orders"].values()
        if order["status"] == "pending"
        and order["payment_history"][0]["payment_method_id"].startswith("gift_card")
    )
    paid = order["payment_history"][0]
    card = user["payment_methods"][paid["payment_method_id"]]
    before = copy.deepcopy(card)
    arguments = {"order_id": order["order_id"], "reason": "no longer needed"}
    first = call(db, "cancel_pending_order", arguments)
    again = call(db, "cancel_pending_order", arguments)
    assert json.loads(first.text)["status"] == "cancelled"
    assert card["balance"] == round(before["balance"] + paid["amount"], 2)
    assert again.text == "Error: Non-pending order cannot be cancelled"


def test_moving_a_payment_to_another_method_works_once(db: Db) -> None:
    order = next(
        order
        for order in db["orders"].values()
        if order["status"] == "pending"
        and len(db["users"][order["user_id"]]["payment_methods"]) > 1
        and not any(
            "gift" in m for m in db["users"][order["user_id"]]["payment_methods"]
        )
    )
    now = order["payment_history"][0]["payment_method_id"]
    methods = db["users"][order["user_id"]]["payment_methods"]
    other = next(method for method in methods if method != now)
    ask = {"order_id": order["order_id"]}
    tool = "modify_pending_order_payment"
    same = call(db, tool, {**ask, "payment_method_id": now})
    moved = call(db, tool, {**ask, "payment_method_id": other})
    again = call(db, tool, {**ask, "payment_method_id": now})
    kinds = [entry["transaction_type"] for entry in order["payment_history"]]
    assert "different from the current one" in same.text
    assert not moved.is_error
    assert kinds == ["payment", "payment", "refund"]
    assert "exactly one payment" in again.text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("1 + 2*3", "7.0"),
        ("(10.555 - 3) / 2", "3.78"),
        ("2 ** 9", "Error: Invalid expression"),
        ("__import__('os')", "Error: Invalid characters in expression"),
    ],
)
def test_sums_are_computed_and_nothing_else_is(
    db: Db, expression: str, text: str
) -> None:
    assert call(db, "calculate", {"expression": expression}).text == text


def test_seven_of_the_tools_write() -> None:
    writes = [tool for tool in TOOLS.values() if tool.writes]
    assert len(TOOLS) == 16
    assert len(writes) == 7
    assert isinstance(call({}, "calculate", {"expression": "1"}), Outcome)
