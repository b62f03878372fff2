"""The Sundry shop as its callers meet it: over MCP, in a process of its own."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from console.demo.shop_book import Refused, cents, money
from console.demo.shop_data import CUSTOMERS, ORDERS
from tests.worlds import ready_servers

ROOT = Path(__file__).resolve().parents[2]
WRITES = {
    "refund_order",
    "cancel_order",
    "change_address",
    "send_replacement",
    "issue_voucher",
}


def refund(key: str, amount: str = "40.00", order: str = "SU-48204") -> dict[str, str]:
    return {
        "order_id": order,
        "amount": amount,
        "currency": "EUR",
        "reason": "scratched",
        "idempotency_key": key,
    }


def words(result: CallToolResult) -> str:
    return "".join(one.text for one in result.content if isinstance(one, TextContent))


def parameters(db: Path) -> StdioServerParameters:
    program, *words = ready_servers.command("console.demo.shop")
    return StdioServerParameters(
        command=program,
        args=words,
        env={"SHOP_DB": str(db), "SHOP_TODAY": "2026-03-10"},
        cwd=str(ROOT),
    )


@asynccontextmanager
async def opened(db: Path) -> AsyncIterator[Client]:
    async with Client(parameters(db)) as client:
        yield client


async def test_the_tools_say_which_of_them_only_read(tmp_path: Path) -> None:
    async with opened(tmp_path / "shop.db") as shop:
        tools = (await shop.list_tools()).tools

    marked = {
        tool.name
        for tool in tools
        if tool.annotations and tool.annotations.read_only_hint
    }
    assert len(tools) == 11
    assert {tool.name for tool in tools} - marked == WRITES
    assert all(
        "idempotency_key" in tool.input_schema["required"]
        for tool in tools
        if tool.name in WRITES
    )
    assert all(tool.description for tool in tools)


async def test_two_matching_facts_prove_who_the_customer_is(tmp_path: Path) -> None:
    async with opened(tmp_path / "shop.db") as shop:
        by_order = await shop.call_tool(
            "find_customer", {"order_id": "#su-48201", "postcode": "7010"}
        )
        by_mail = await shop.call_tool(
            "find_customer", {"email": "Priya.Raman@example.com", "postcode": "ls62qe"}
        )
        wrong = await shop.call_tool(
            "find_customer", {"order_id": "SU-48201", "postcode": "9999"}
        )
        alone = await shop.call_tool("find_customer", {"order_id": "SU-48201"})

    assert by_order.structured_content is not None
    assert by_order.structured_content["customer_id"] == "C-1001"
    assert by_mail.structured_content is not None
    assert by_mail.structured_content["name"] == "Priya Raman"
    assert wrong.is_error and "no single customer" in words(wrong)
    assert alone.is_error and "two of" in words(alone)


async def test_two_people_at_one_address_are_told_apart(tmp_path: Path) -> None:
    async with opened(tmp_path / "shop.db") as shop:
        found = [
            await shop.call_tool(
                "find_customer", {"order_id": order, "postcode": "80331"}
            )
            for order in ("SU-48218", "SU-48219")
        ]

    ids = [
        one.structured_content and one.structured_content["customer_id"]
        for one in found
    ]
    assert ids == ["C-1018", "C-1019"]


async def test_a_refund_asked_again_with_its_key_pays_once_even_after_a_restart(
    tmp_path: Path,
) -> None:
    db = tmp_path / "shop.db"
    async with opened(db) as shop:
        first = await shop.call_tool("refund_order", refund("k1"))
        again = await shop.call_tool("refund_order", refund("k1"))
    async with opened(db) as shop:
        later = await shop.call_tool("refund_order", refund("k1"))
        order = await shop.call_tool("get_order", {"order_id": "SU-48204"})

    assert not first.is_error
    assert words(first) == words(again) == words(later)
    assert order.structured_content is not None
    assert [one["amount"] for one in order.structured_content["refunds"]] == ["40.00"]


async def test_calls_with_one_key_at_one_instant_act_once(tmp_path: Path) -> None:
    db = tmp_path / "shop.db"
    async with opened(db) as one, opened(db) as two:
        answers = await asyncio.gather(
            *(shop.call_tool("refund_order", refund("k1")) for shop in (one, two) * 3)
        )

    with sqlite3.connect(db) as books:
        paid = books.execute("SELECT count(*), sum(cents) FROM refunds").fetchone()
    books.close()
    assert len({words(one) for one in answers}) == 1
    assert paid == (1, 4000)


async def test_f6_more_than_what_was_charged_is_never_paid_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "shop.db") as shop:
        whole = await shop.call_tool("refund_order", refund("k1", "1112.00"))
        more = await shop.call_tool("refund_order", refund("k2", "0.01"))
        more_again = await shop.call_tool("refund_order", refund("k2", "0.01"))

    assert not whole.is_error
    assert more.is_error and "exceeds what can be refunded" in words(more)
    assert words(more) == words(more_again)


@pytest.mark.parametrize("amount", ["-5", "NaN", "0", "1e99999", "12.345", "ten"])
def test_f21_what_is_no_amount_is_refused_in_words(amount: str) -> None:
    with pytest.raises(Refused) as refusal:
        cents(amount)
    assert "\n" not in str(refusal.value)


async def test_writes_refuse_what_the_order_does_not_allow(tmp_path: Path) -> None:
    async with opened(tmp_path / "shop.db") as shop:

        async def call(tool: str, **given: str) -> CallToolResult:
            return await shop.call_tool(tool, {**given, "idempotency_key": str(given)})

        sent = await call("cancel_order", order_id="SU-48201", reason="late")
        moved = await call(
            "change_address", order_id="SU-48201", street="A 1", postcode="1", city="B"
        )
        absent = await call("send_replacement", order_id="SU-48202", sku="X", reason="")
        nobody = await call(
            "issue_voucher", customer_id="C-1", amount="5.00", currency="EUR", reason=""
        )
        cancelled = await call(
            "cancel_order", order_id="SU-48205", reason="changed mind"
        )
        replaced = await call(
            "send_replacement", order_id="SU-48202", sku="MUG-31", reason="broken"
        )

    assert "already shipped" in words(sent) and sent.is_error
    assert "already shipped" in words(moved) and moved.is_error
    assert "no line X" in words(absent) and absent.is_error
    assert "no customer C-1" in words(nobody) and nobody.is_error
    assert cancelled.structured_content is not None
    assert cancelled.structured_content["refunded"] == "219.00"
    assert not replaced.is_error


async def test_a_key_does_not_serve_for_another_request(tmp_path: Path) -> None:
    async with opened(tmp_path / "shop.db") as shop:
        await shop.call_tool("refund_order", refund("k1"))
        other = await shop.call_tool("refund_order", refund("k1", "41.00"))

    assert other.is_error and "already used" in words(other)


async def test_the_server_keeps_stderr_quiet(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "console.demo.shop",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"SHOP_DB": str(tmp_path / "shop.db")},
        cwd=ROOT,
    )
    out, err = await asyncio.wait_for(process.communicate(), timeout=30)

    assert (out, err, process.returncode) == (b"", b"", 0)


def test_the_first_day_hangs_together() -> None:
    people = {one.id for one in CUSTOMERS}
    assert {order.customer for order in ORDERS} <= people
    assert len({order.id for order in ORDERS}) == len(ORDERS)
    assert money(cents("12.5")) == "12.50"
