"""A shop of five tools as an MCP server that starts in 30 ms: standard library only.

Every effect is one line of a file, synced before the caller hears of it; a key that
is in the file already has no second effect. So whatever kills the caller or the shop,
the file says what has happened and how often.

`SHOP_BOOKS` names the file. `SHOP_SUFFERS` is a JSON object of trouble by tool name:
`"die"` ends the shop after the effect and before the answer.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEY = "key"
TEXT = {"type": "string"}
READS = {"find_order": "customer c-7", "check_stock": "two are left"}
WRITES = {
    "change_address": {"address": TEXT, KEY: TEXT},
    "refund_order": {"amount": TEXT, KEY: TEXT},
    "send_label": {},
}


def command() -> list[str]:
    """The command line that starts the shop."""
    return [sys.executable, "-S", "-m", "tests.faults.shop"]


def environment(
    books: Path, suffers: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables that its process needs."""
    given = {"PYTHONPATH": str(ROOT), "SHOP_BOOKS": str(books)}
    return given | ({"SHOP_SUFFERS": json.dumps(suffers)} if suffers else {})


def effects(books: Path) -> list[dict[str, Any]]:
    """What has happened in the shop, in order."""
    if not books.exists():
        return []
    return [json.loads(line) for line in books.read_bytes().splitlines()]


def _tools() -> list[dict[str, Any]]:
    return [_tool(name, {}, reads=True) for name in READS] + [
        _tool(name, more, reads=False) for name, more in WRITES.items()
    ]


def _tool(name: str, more: dict[str, Any], *, reads: bool) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"order_id": TEXT, **more},
        "required": ["order_id", *more],
    }
    return {
        "name": name,
        "description": name.replace("_", " ") + ".",
        "inputSchema": schema,
        "annotations": {"readOnlyHint": reads},
    }


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    if name in READS:
        return json.dumps({"customer": "c-7", "found": READS[name]})
    key = arguments.get(KEY)
    given = {k: v for k, v in arguments.items() if k != KEY}
    with Path(os.environ["SHOP_BOOKS"]).open("ab+") as books:
        fcntl.flock(books, fcntl.LOCK_EX)
        books.seek(0)
        before = [json.loads(line) for line in books]
        if key is None or all(b["key"] != key for b in before):
            line = {"tool": name, "arguments": given, "key": key}
            books.write(json.dumps(line).encode() + b"\n")
            books.flush()
            os.fsync(books.fileno())
    if json.loads(os.environ.get("SHOP_SUFFERS", "{}")).get(name) == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return f"{name} done: {json.dumps(given, sort_keys=True)}"


def _answer(method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "shop", "version": "1"},
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": _tools()}
        case "tools/call":
            text = _call(params["name"], params.get("arguments") or {})
            return {"content": [{"type": "text", "text": text}], "isError": False}
        case _:
            return None


def main() -> None:
    """Answers until the input ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked or "method" not in asked:
            continue
        result = _answer(asked["method"], asked.get("params") or {})
        said = {"jsonrpc": "2.0", "id": asked["id"]}
        unknown = {"error": {"code": -32601, "message": "no such method"}}
        print(
            json.dumps(said | ({"result": result} if result is not None else unknown))
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
