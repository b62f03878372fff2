"""A tool server with the habits that a client must live with."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

READ = types.ToolAnnotations(read_only_hint=True)
SCHEMA = {
    "type": "object",
    "properties": {"what": {"type": "string"}, "key": {"type": "string"}},
    "required": ["key"],
}
TEXT = types.TextContent


async def list_tools(
    ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    # two pages, and out of order
    if params is None or params.cursor is None:
        names, cursor = ["write", "look", "die"], "more"
    else:
        names, cursor = ["bye", "blocks", "wrong_shape", "slow"], None
    tools = [
        types.Tool(
            name=name,
            description=f"the tool {name}",
            input_schema=SCHEMA,
            annotations=READ if name == "look" else None,
            output_schema={"type": "object", "required": ["absent"]}
            if name == "wrong_shape"
            else None,
        )
        for name in names
    ]
    return types.ListToolsResult(tools=tools, next_cursor=cursor)


async def call_tool(
    ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    print("noise on stderr", file=sys.stderr, flush=True)
    match params.name:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "slow":
            await anyio.sleep(60)
        case "bye":
            # tells whom to kill
            pid = TEXT(type="text", text=str(os.getpid()))
            return types.CallToolResult(content=[pid])
        case "blocks":
            image = types.ImageContent(type="image", data="QUJD", mime_type="image/png")
            return types.CallToolResult(content=[TEXT(type="text", text="a"), image])
        case "wrong_shape":
            return types.CallToolResult(
                content=[TEXT(type="text", text="done")], structured_content={"n": 1}
            )
        case _:
            pass
    seen = {
        "arguments": params.arguments,
        "meta": (params.meta or {}).get("handoff/idempotency-key"),
        "environment": sorted(os.environ),
        "folder": str(Path.cwd()),
    }
    return types.CallToolResult(
        content=[TEXT(type="text", text="seen\n")], structured_content=seen
    )


async def main() -> None:
    server = Server("odd", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
