"""The retail shop's tools: their arguments, and how one call runs.

`call` is the whole shop as a pure function on a decoded database; the server in
`retail_shop` only adds transport and the `retail_store` only adds disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.worlds import retail_rules as rules
from tests.worlds.retail_rules import Arguments, Db, Row, ShopError

KEY = "idempotency_key"
TYPES = {"string": str, "list": list}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a call gave: its text, whether it failed, and the rows it changed."""

    text: str
    is_error: bool = False
    changed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the shop: `arguments` maps each name to `string` or `list`."""

    name: str
    about: str
    arguments: Mapping[str, str]
    perform: Callable[[Db, Arguments], str | Row]
    writes: bool = False
    reads: bool = True


def call(db: Db, name: str, arguments: Arguments) -> Outcome:
    """Runs one call on `db`, in place; a failure changes nothing and says why."""
    tool = TOOLS.get(name)
    if tool is None:
        return Outcome(text=f"Error: Tool '{name}' not found.", is_error=True)
    given = {k: v for k, v in arguments.items() if not (tool.writes and k == KEY)}
    try:
        _check_arguments(tool, given)
        result = tool.perform(db, given)
    except ShopError as refusal:
        return Outcome(text=f"Error: {refusal}", is_error=True)
    text = result if isinstance(result, str) else json.dumps(result)
    changed = tuple(_touched(db, given)) if tool.writes else ()
    return Outcome(text=text, changed=changed)


def _check_arguments(tool: Tool, given: Arguments) -> None:
    missing = [name for name in tool.arguments if name not in given]
    if missing:
        raise ShopError(f"{tool.name} is missing the argument '{missing[0]}'")
    extra = [name for name in given if name not in tool.arguments]
    if extra:
        raise ShopError(f"{tool.name} takes no argument '{extra[0]}'")
    for name, kind in tool.arguments.items():
        value = given[name]
        strings = value if kind == "list" else [value]
        right = isinstance(value, TYPES[kind])
        if not right or not all(isinstance(text, str) for text in strings):
            wanted = "a string" if kind == "string" else "a list of strings"
            raise ShopError(f"{tool.name}: '{name}' must be {wanted}")


def _touched(db: Db, given: Arguments) -> Iterator[tuple[str, str]]:
    """The rows a write may have changed: the order and its owner, or the user."""
    if "order_id" in given:
        yield "orders", given["order_id"]
        yield "users", db["orders"][given["order_id"]]["user_id"]
    else:
        yield "users", given["user_id"]


def _read(
    name: str, perform: Callable[[Db, Arguments], str | Row], about: str, *args: str
) -> Tool:
    arguments = dict.fromkeys(args, "string")
    return Tool(name=name, about=about, arguments=arguments, perform=perform)


def _write(
    name: str, perform: Callable[[Db, Arguments], Row], about: str, *args: str
) -> Tool:
    kinds = {arg: "list" if arg.endswith("item_ids") else "string" for arg in args}
    return Tool(
        name=name,
        about=about,
        arguments=kinds,
        perform=perform,
        writes=True,
        reads=False,
    )


_ITEMS = ("order_id", "item_ids", "new_item_ids", "payment_method_id")
_ALL = (
    _read("find_user_id_by_email", rules.find_by_email, "User id by e-mail.", "email"),
    _read(
        "find_user_id_by_name_zip",
        rules.find_by_name_zip,
        "User id by full name and zip code.",
        *("first_name", "last_name", "zip"),
    ),
    _read(
        "get_user_details",
        lambda db, a: rules.the_user(db, a["user_id"]),
        "A customer's profile with payment methods and orders.",
        "user_id",
    ),
    _read(
        "get_order_details",
        lambda db, a: rules.the_order(db, a["order_id"]),
        "An order; the id starts with '#'.",
        "order_id",
    ),
    _read(
        "get_product_details",
        rules.product,
        "A product with all its variants; takes a product id, not an item id.",
        "product_id",
    ),
    _read("get_item_details", rules.item, "One variant by its item id.", "item_id"),
    _read("list_all_product_types", rules.product_types, "Product ids by name."),
    _read("calculate", rules.calculate, "The value of a sum.", "expression"),
    Tool(
        name="transfer_to_human_agents",
        about="Hand the customer to a person, with a summary.",
        arguments={"summary": "string"},
        perform=lambda db, a: "Transfer successful",
        reads=False,
    ),
    _write(
        "cancel_pending_order",
        rules.cancel,
        "Cancel a pending order: 'no longer needed' or 'ordered by mistake'.",
        *("order_id", "reason"),
    ),
    _write(
        "modify_pending_order_address",
        rules.order_address,
        "Change where a pending order goes.",
        *("order_id", *rules.ADDRESS),
    ),
    _write(
        "modify_user_address",
        rules.user_address,
        "Change a customer's own address.",
        *("user_id", *rules.ADDRESS),
    ),
    _write(
        "modify_pending_order_items",
        rules.order_items,
        "Swap items of a pending order for other variants; possible once.",
        *_ITEMS,
    ),
    _write(
        "modify_pending_order_payment",
        rules.order_payment,
        "Change how a pending order is paid.",
        *("order_id", "payment_method_id"),
    ),
    _write(
        "return_delivered_order_items",
        rules.return_items,
        "Return items of a delivered order.",
        *("order_id", "item_ids", "payment_method_id"),
    ),
    _write(
        "exchange_delivered_order_items",
        rules.exchange_items,
        "Exchange items of a delivered order for other variants.",
        *_ITEMS,
    ),
)
TOOLS: dict[str, Tool] = {tool.name: tool for tool in _ALL}
