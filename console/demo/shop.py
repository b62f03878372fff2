"""The Sundry shop's tool server: `python -m console.demo.shop`, MCP over stdio.

It is a system of its own, as a real shop is: it has its own database (`SHOP_DB`),
knows nothing of tickets, and is reached through the protocol alone. Reads are marked
as such. Writes take an idempotency key and are done once for each (see `shop_book`).
What the shop does not do comes back as an error result in plain words.
`SHOP_TODAY` (a date) sets the day it counts from.
"""

import logging
import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from console.demo.shop_book import Answer, Books, Refused
from console.demo.shop_tools import Shop

_READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITE = ToolAnnotations(
    read_only_hint=False,
    destructive_hint=True,
    idempotent_hint=True,
    open_world_hint=False,
)
_P = ParamSpec("_P")


def _plain_refusals(tool: Callable[_P, Answer]) -> Callable[_P, Answer]:
    @wraps(tool)
    def answered(*args: _P.args, **kwargs: _P.kwargs) -> Answer:
        try:
            return tool(*args, **kwargs)
        except Refused as refusal:
            raise ToolError(str(refusal)) from None

    return answered


def _today() -> date:
    named = os.environ.get("SHOP_TODAY")
    if named:
        return date.fromisoformat(named)
    # the shop is an outside system in a process of its own: it lives by the real day
    return datetime.now(tz=UTC).date()  # noqa: TID251


def make_server(path: Path) -> MCPServer:
    """Give the tool server over the books at `path`, made if they are not there."""
    books = Books(path=path, today=_today())
    books.open()
    shop = Shop(books, _today)
    server = MCPServer("sundry", log_level="ERROR")
    for read in (
        shop.find_customer,
        shop.get_order,
        shop.list_orders,
        shop.track_parcel,
        shop.check_voucher,
        shop.get_policy_text,
    ):
        server.tool(annotations=_READ)(_plain_refusals(read))
    for write in (
        shop.refund_order,
        shop.cancel_order,
        shop.change_address,
        shop.send_replacement,
        shop.issue_voucher,
    ):
        server.tool(annotations=_WRITE)(_plain_refusals(write))
    return server


def main() -> None:
    """Serve the shop on stdin and stdout until the other side goes away."""
    server = make_server(Path(os.environ.get("SHOP_DB") or "shop.db"))
    # what goes wrong is told in results; stderr belongs to whoever started us
    logging.disable(logging.WARNING)
    server.run(transport="stdio")


if __name__ == "__main__":
    main()
