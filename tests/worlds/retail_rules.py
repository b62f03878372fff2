"""The retail shop's rules: what each tool does to the database, without any I/O.

A rule checks everything first and changes the database last, so a refused call
leaves it as it was. The checks and their order, the error texts and the odd
pricing of item changes are the shop's own and are part of what tests rely on:
the reference database of a task is only reached by copying them.

The database is the plain decoded JSON (users, orders, products): it is compared
as JSON, so nothing is wrapped. Arguments come checked from `retail_tools`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Row = dict[str, Any]
Db = dict[str, dict[str, Row]]
Arguments = Mapping[str, Any]


class ShopError(Exception):
    """The shop says no; the text is what the caller is told."""


# Look-ups


def the_order(db: Db, order_id: str) -> Row:
    if order_id not in db["orders"]:
        raise ShopError("Order not found")
    return db["orders"][order_id]


def the_user(db: Db, user_id: str) -> Row:
    if user_id not in db["users"]:
        raise ShopError("User not found")
    return db["users"][user_id]


def _method(db: Db, user_id: str, method_id: str) -> Row:
    methods = the_user(db, user_id)["payment_methods"]
    if method_id not in methods:
        raise ShopError("Payment method not found")
    found: Row = methods[method_id]
    return found


def _is_gift_card(method: Row) -> bool:
    return bool(method["source"] == "gift_card")


def _move(method: Row, amount: float) -> None:
    """Adds `amount` to a gift card's balance; other methods hold no money."""
    if _is_gift_card(method):
        method["balance"] = round(method["balance"] + amount, 2)


def _line(order: Row, item_id: str) -> Row:
    found: Row = next(x for x in order["items"] if x["item_id"] == item_id)
    return found


def _missing_item(order: Row, item_ids: list[str]) -> str | None:
    held = [item["item_id"] for item in order["items"]]
    short = (i for i in item_ids if item_ids.count(i) > held.count(i))
    return next(short, None)


def _pairs(
    db: Db, order: Row, pairs: Iterable[tuple[str, str]], *, same_allowed: bool
) -> tuple[float, Row]:
    """Checks item pairs; gives the summed price difference and the last variant."""
    difference, variant = 0.0, Row()
    for old, new in pairs:
        if old == new and not same_allowed:
            raise ShopError("The new item id should be different from the old item id")
        line = _line(order, old)
        variants = db["products"][line["product_id"]]["variants"]
        if new not in variants:
            raise ShopError("Variant not found")
        variant = variants[new]
        if not variant["available"]:
            raise ShopError(f"New item {new} not found or available")
        difference += variant["price"] - line["price"]
    return difference, variant


# Reads


def find_by_email(db: Db, a: Arguments) -> str:
    for user_id, user in db["users"].items():
        if user["email"].lower() == a["email"].lower():
            return user_id
    raise ShopError("User not found")


def find_by_name_zip(db: Db, a: Arguments) -> str:
    wanted = (a["first_name"].lower(), a["last_name"].lower(), a["zip"])
    for user_id, user in db["users"].items():
        name = user["name"]
        first, last = name["first_name"].lower(), name["last_name"].lower()
        if (first, last, user["address"]["zip"]) == wanted:
            return user_id
    raise ShopError("User not found")


def product(db: Db, a: Arguments) -> Row:
    if a["product_id"] not in db["products"]:
        raise ShopError("Product not found")
    return db["products"][a["product_id"]]


def item(db: Db, a: Arguments) -> Row:
    for product in db["products"].values():
        if a["item_id"] in product["variants"]:
            found: Row = product["variants"][a["item_id"]]
            return found
    raise ShopError("Item not found")


def product_types(db: Db, a: Arguments) -> Row:
    products = db["products"].values()
    return dict(sorted((p["name"], p["product_id"]) for p in products))


_OPERATORS: dict[type[ast.operator | ast.unaryop], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
    raise ShopError("Invalid expression")


def calculate(db: Db, a: Arguments) -> str:
    expression = a["expression"]
    if not all(char in "0123456789+-*/(). " for char in expression):
        raise ShopError("Invalid characters in expression")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return str(round(float(_value(tree.body)), 2))
    except (SyntaxError, ArithmeticError, RecursionError) as error:
        raise ShopError(f"Invalid expression: {error}") from error


# Writes


def cancel(db: Db, a: Arguments) -> Row:
    order = the_order(db, a["order_id"])
    if order["status"] != "pending":
        raise ShopError("Non-pending order cannot be cancelled")
    if a["reason"] not in {"no longer needed", "ordered by mistake"}:
        raise ShopError("Invalid reason")
    methods = the_user(db, order["user_id"])["payment_methods"]
    refunds = []
    for entry in order["payment_history"]:
        refunds.append({**entry, "transaction_type": "refund"})
        _move(methods[entry["payment_method_id"]], entry["amount"])
    order["payment_history"].extend(refunds)
    order["status"] = "cancelled"
    order["cancel_reason"] = a["reason"]
    return order


ADDRESS = ("address1", "address2", "city", "state", "country", "zip")


def order_address(db: Db, a: Arguments) -> Row:
    order = the_order(db, a["order_id"])
    if "pending" not in order["status"]:
        raise ShopError("Non-pending order cannot be modified")
    order["address"] = {field: a[field] for field in ADDRESS}
    return order


def user_address(db: Db, a: Arguments) -> Row:
    user = the_user(db, a["user_id"])
    user["address"] = {field: a[field] for field in ADDRESS}
    return user


def order_items(db: Db, a: Arguments) -> Row:
    order = the_order(db, a["order_id"])
    if order["status"] != "pending":
        raise ShopError("Non-pending order cannot be modified")
    old_ids, new_ids = a["item_ids"], a["new_item_ids"]
    if (missing := _missing_item(order, old_ids)) is not None:
        raise ShopError(f"{missing} not found")
    if len(old_ids) != len(new_ids):
        raise ShopError("The number of items to be exchanged should match")
    pairs = list(zip(old_ids, new_ids, strict=True))
    difference, last = _pairs(db, order, pairs, same_allowed=False)
    method = _method(db, order["user_id"], a["payment_method_id"])
    if _is_gift_card(method) and method["balance"] < difference:
        raise ShopError("Insufficient gift card balance to pay for the new item")
    entry = _entry("payment" if difference > 0 else "refund", abs(difference), a)
    order["payment_history"].append(entry)
    _move(method, -difference)
    for old, new in pairs:
        # Price and options come from the last variant for every line, as upstream.
        changes = {"price": last["price"], "options": dict(last["options"])}
        _line(order, old).update(item_id=new, **changes)
    order["status"] = "pending (item modified)"
    return order


def _entry(kind: str, amount: float, a: Arguments) -> Row:
    method_id = a["payment_method_id"]
    return {
        "transaction_type": kind,
        "amount": amount,
        "payment_method_id": method_id,
    }


def order_payment(db: Db, a: Arguments) -> Row:
    order = the_order(db, a["order_id"])
    if "pending" not in order["status"]:
        raise ShopError("Non-pending order cannot be modified")
    method = _method(db, order["user_id"], a["payment_method_id"])
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise ShopError("There should be exactly one payment for a pending order")
    paid = history[0]
    if paid["payment_method_id"] == a["payment_method_id"]:
        raise ShopError(
            "The new payment method should be different from the current one"
        )
    if _is_gift_card(method) and method["balance"] < paid["amount"]:
        raise ShopError("Insufficient gift card balance to pay for the order")
    before = _method(db, order["user_id"], paid["payment_method_id"])
    history.append(_entry("payment", paid["amount"], a))
    history.append({**paid, "transaction_type": "refund"})
    _move(method, -paid["amount"])
    _move(before, paid["amount"])
    return order


def return_items(db: Db, a: Arguments) -> Row:
    order = the_order(db, a["order_id"])
    if order["status"] != "delivered":
        raise ShopError("Non-delivered order cannot be returned")
    method_id = a["payment_method_id"]
    method = _method(db, order["user_id"], method_id)
    original = order["payment_history"][0]["payment_method_id"]
    if not _is_gift_card(method) and method_id != original:
        raise ShopError("Payment method should be the original payment method")
    if _missing_item(order, a["item_ids"]) is not None:
        raise ShopError("Some item not found")
    order["status"] = "return requested"
    order["return_items"] = sorted(a["item_ids"])
    order["return_payment_method_id"] = method_id
    return order


def exchange_items(db: Db, a: Arguments) -> Row:
    order = the_order(db, a["order_id"])
    if order["status"] != "delivered":
        raise ShopError("Non-delivered order cannot be exchanged")
    old_ids, new_ids = a["item_ids"], a["new_item_ids"]
    if (missing := _missing_item(order, old_ids)) is not None:
        raise ShopError(f"Number of {missing} not found.")
    if len(old_ids) != len(new_ids):
        raise ShopError("The number of items to be exchanged should match.")
    pairs = zip(old_ids, new_ids, strict=True)
    exact, _ = _pairs(db, order, pairs, same_allowed=True)
    difference = round(exact, 2)
    method = _method(db, order["user_id"], a["payment_method_id"])
    if _is_gift_card(method) and method["balance"] < difference:
        raise ShopError(
            "Insufficient gift card balance to pay for the price difference"
        )
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(old_ids)
    order["exchange_new_items"] = sorted(new_ids)
    order["exchange_payment_method_id"] = a["payment_method_id"]
    order["exchange_price_difference"] = difference
    return order
