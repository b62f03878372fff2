"""The shop as a server: over both transports, shared by two, and killed at will."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import TextContent

from tests.worlds.retail_shop import command, environment
from tests.worlds.retail_store import (
    DATA,
    Shop,
    effects,
    effects_by_key,
    entries,
    journal_of,
    open_copy,
    snapshot,
)

pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason="the retail data set is not beside the repository"
)
CANCEL = "cancel_pending_order"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return open_copy(tmp_path)


def pending(db: Path, nth: int = 0) -> dict[str, str]:
    orders = json.loads(db.read_bytes())["orders"].values()
    ids = [order["order_id"] for order in orders if order["status"] == "pending"]
    return {"order_id": ids[nth], "reason": "no longer needed"}


@asynccontextmanager
async def shop_at(db: Path, faults: Path | None = None) -> AsyncIterator[Client]:
    program, *arguments = command()
    log = db.with_name("calls.jsonl")
    env = environment(db, log=log, faults=faults)
    server = StdioServerParameters(command=program, args=arguments, env=env)
    async with Client(server) as client:
        yield client


async def told(
    client: Client, tool: str, arguments: dict[str, Any]
) -> tuple[str, bool]:
    result = await client.call_tool(tool, arguments)
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text, bool(result.is_error)


async def test_the_server_lists_strict_schemas_and_marks_its_reads(db: Path) -> None:
    async with shop_at(db) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        bad = await told(client, CANCEL, {"order_id": "#W1", "colour": "red"})
        unknown = await told(client, "fly", {})
    cancel = listed[CANCEL]
    assert cancel.input_schema["required"] == ["order_id", "reason"]
    assert "idempotency_key" in cancel.input_schema["properties"]
    hints = {name: tool.annotations for name, tool in listed.items()}
    assert {
        name for name, hint in hints.items() if hint and not hint.read_only_hint
    } == {
        CANCEL,
        "transfer_to_human_agents",
        "modify_pending_order_address",
        "modify_user_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "return_delivered_order_items",
        "exchange_delivered_order_items",
    }
    assert bad == (f"Error: {CANCEL} is missing the argument 'reason'", True)
    assert unknown == ("Error: Tool 'fly' not found.", True)


async def test_the_same_key_acts_once_even_for_another_server(db: Path) -> None:
    keyed = {**pending(db), "idempotency_key": "K1"}
    wrong = {**keyed, "reason": "whim", "idempotency_key": "K2"}
    async with shop_at(db) as one, shop_at(db) as other:
        first = await told(one, CANCEL, keyed)
        again = await told(other, CANCEL, keyed)
        refused = await told(other, CANCEL, wrong)
        still = await told(one, CANCEL, {**wrong, "reason": "no longer needed"})
    lines = (db.parent / "calls.jsonl").read_text().splitlines()
    log = [json.loads(line) for line in lines]
    assert first == again
    assert refused == still == ("Error: Non-pending order cannot be cancelled", True)
    assert effects_by_key(db) == {"K1": 1}
    assert [(line["key"], line["acted"]) for line in log] == [
        ("K1", True),
        ("K1", False),
        ("K2", False),
        ("K2", False),
    ]


@pytest.mark.parametrize(("moment", "done"), [("before", 0), ("after", 1)])
async def test_a_killed_server_has_done_the_whole_call_or_nothing(
    db: Path, moment: str, done: int
) -> None:
    faults = db.with_name("faults.json")
    faults.write_text(json.dumps({CANCEL: {"die": moment}}))
    keyed = {**pending(db), "idempotency_key": "K1"}
    async with shop_at(db, faults) as client:
        with pytest.raises(MCPError):
            await client.call_tool(CANCEL, keyed)
    assert len(effects(db)) == done
    faults.unlink()
    async with shop_at(db, faults) as client:
        text, is_error = await told(client, CANCEL, keyed)
    assert not is_error
    assert json.loads(text)["status"] == "cancelled"
    assert effects_by_key(db) == {"K1": 1}
    assert snapshot(db)["orders"][keyed["order_id"]]["status"] == "cancelled"


def test_a_torn_last_line_is_cut_off_and_its_call_never_was(db: Path) -> None:
    shop = Shop(db)
    shop.call(CANCEL, {**pending(db), "idempotency_key": "K1"})
    whole = journal_of(db).read_bytes()
    shop.call(CANCEL, {**pending(db, 1), "idempotency_key": "K2"})
    shop.close()
    torn = journal_of(db).read_bytes()[: len(whole) + 90]
    journal_of(db).write_bytes(torn)
    assert effects_by_key(db) == {"K1": 1}
    reopened = Shop(db)
    reopened.call(CANCEL, {**pending(db, 1), "idempotency_key": "K2"})
    reopened.close()
    assert effects_by_key(db) == {"K1": 1, "K2": 1}


def test_calls_without_a_key_act_each_time_and_reads_leave_no_entry(db: Path) -> None:
    shop = Shop(db)
    shop.call("get_order_details", {"order_id": "#W0"})
    first = shop.call(CANCEL, pending(db))
    again = shop.call(CANCEL, pending(db))
    shop.close()
    assert (first.is_error, again.is_error) == (False, True)
    assert len(entries(db)) == 2
    assert effects_by_key(db) == {None: 1}


def test_an_untouched_shop_is_its_base(db: Path) -> None:
    base = hashlib.sha256(db.read_bytes()).hexdigest()
    assert snapshot(db) == json.loads(db.read_bytes())
    Shop(db).close()
    assert hashlib.sha256(db.read_bytes()).hexdigest() == base


@pytest.fixture
def shop_url(db: Path) -> Iterator[str]:
    line = command("--http", "0")
    env = environment(db)
    with subprocess.Popen(line, env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


async def test_the_shop_serves_http_at_the_address_it_tells(
    db: Path, shop_url: str
) -> None:
    async with Client(shop_url) as client:
        text, is_error = await told(client, CANCEL, pending(db))
    assert not is_error
    assert json.loads(text)["status"] == "cancelled"
