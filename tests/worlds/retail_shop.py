"""The retail shop as a real MCP server: `python -m tests.worlds.retail_shop`.

Standard input and output by default; `--http PORT` for streamable HTTP on
127.0.0.1, whose address is then the first line on standard output (port 0 takes a
free one). The low-level server is used because the shop's own error texts must reach
the caller unchanged, and a validating server would answer in its own words.

Environment: `RETAIL_DB` the working copy; `RETAIL_LOG` a JSON-lines file that takes
each write call; `RETAIL_FAULTS` a JSON file, read at each call, of trouble by tool
name (or "*"): `{"before": s, "after": s, "die": "before"|"after"}` waits that many
seconds around the effect, or kills the server there without a word.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from tests.worlds import ready_servers
from tests.worlds.retail_store import Shop
from tests.worlds.retail_tools import KEY, TOOLS, Tool

ROOT = Path(__file__).resolve().parents[2]
_TEXT = {"type": "string"}
_KINDS = {"string": _TEXT, "list": {"type": "array", "items": _TEXT}}


def command(*arguments: str) -> list[str]:
    """The command line that starts the shop; it needs `environment` as well."""
    return [*ready_servers.command("tests.worlds.retail_shop"), *arguments]


def environment(
    db: Path, *, log: Path | None = None, faults: Path | None = None
) -> dict[str, str]:
    """The variables that the shop's process needs, besides the usual ones."""
    names = {"RETAIL_DB": db, "RETAIL_LOG": log, "RETAIL_FAULTS": faults}
    given = {name: str(path) for name, path in names.items() if path is not None}
    return {"PYTHONPATH": str(ROOT), **given}


def described(tool: Tool) -> types.Tool:
    """The tool as MCP lists it."""
    properties = {name: _KINDS[kind] for name, kind in tool.arguments.items()}
    if tool.writes:
        properties = {**properties, KEY: _TEXT}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(tool.arguments),
        "additionalProperties": False,
    }
    hints = types.ToolAnnotations(
        read_only_hint=tool.reads,
        destructive_hint=tool.writes,
        idempotent_hint=tool.reads,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, description=tool.about, input_schema=schema, annotations=hints
    )


def server_for(shop: Shop, faults: Path | None = None) -> Server[Any]:
    """The MCP server over `shop`."""

    async def list_tools(
        ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[described(t) for t in TOOLS.values()])

    async def call_tool(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        trouble = _trouble(faults, params.name)
        await _suffer(trouble, "before")
        outcome = shop.call(params.name, params.arguments or {})
        await _suffer(trouble, "after")
        text = types.TextContent(type="text", text=outcome.text)
        return types.CallToolResult(content=[text], is_error=outcome.is_error)

    return Server("retail", on_list_tools=list_tools, on_call_tool=call_tool)


def _trouble(faults: Path | None, tool: str) -> Mapping[str, Any]:
    if faults is None or not faults.exists():
        return {}
    wanted = json.loads(faults.read_bytes())
    found: Mapping[str, Any] = wanted.get(tool, wanted.get("*", {}))
    return found


async def _suffer(trouble: Mapping[str, Any], moment: str) -> None:
    await anyio.sleep(trouble.get(moment, 0))
    if trouble.get("die") == moment:
        os.kill(os.getpid(), signal.SIGKILL)


async def _over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        options = server.create_initialization_options()
        await server.run(incoming, outgoing, options)


def _over_http(server: Server[Any], port: int) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    # Connections queue from here on, so whoever reads the line can connect.
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


def _path(name: str) -> Path | None:
    return Path(os.environ[name]) if os.environ.get(name) else None


def main() -> None:
    """Serves the shop named by the environment until its input ends."""
    parser = argparse.ArgumentParser(prog="retail_shop")
    parser.add_argument("--http", type=int, metavar="PORT")
    options = parser.parse_args()
    db = _path("RETAIL_DB")
    if db is None or not db.exists():
        parser.error(f"RETAIL_DB names no file: {db}")
    server = server_for(Shop(db, _path("RETAIL_LOG")), _path("RETAIL_FAULTS"))
    if options.http is None:
        anyio.run(_over_stdio, server)
    else:
        _over_http(server, options.http)


if __name__ == "__main__":
    main()
