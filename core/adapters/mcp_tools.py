"""Tools of MCP servers: programs that speak over stdio, and streamable HTTP addresses.

What an unanswered call means is decided here, since only here it is known: a call
that surely never left (`ToolLost.started` False) may be made again by anybody, one
that may have left is in doubt (rule 5). Nothing is called twice.

How servers are started, kept and reached is `mcp_servers`' matter.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Self

from mcp import Client, MCPError, types

from core.adapters.mcp_servers import McpServers, Server, lost
from core.builtin import BUILTINS
from core.errors import BadConfiguration, ToolLost
from core.ticket import Json
from core.tool import ToolPolicy, ToolResult, ToolSpec

KEY_META = "handoff/idempotency-key"
"""The `_meta` entry that carries the key where the policy says `meta`."""

_NEVER_RUN = {types.INVALID_PARAMS, types.METHOD_NOT_FOUND}


class McpTools:
    """The tools of all configured servers; programs run while it is entered.

    Args:
        servers: Started when first needed.
        policy_of: The policy of a tool, by its name and whether its server marks it
            as only reading.
        stderr: File that takes what programs write to stderr; None drops it.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        policy_of: Callable[[str, bool], ToolPolicy],
        *,
        stderr: Path | None = None,
    ) -> None:
        self._servers = tuple(servers)
        self._policy_of = policy_of
        self._running = McpServers(servers, stderr or Path(os.devnull))
        self._known: dict[str, tuple[Server, ToolSpec]] = {}

    async def __aenter__(self) -> Self:
        await self._running.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._running.__aexit__(*error)

    async def specs(self) -> tuple[ToolSpec, ...]:
        """The tools of all servers, sorted by name, with their policies.

        Raises:
            BadConfiguration: Two servers, or a server and Handoff, have a tool of the
                same name.
        """
        known: dict[str, tuple[Server, ToolSpec]] = {}
        owners = {spec.name: "Handoff itself" for spec in BUILTINS}
        for server in self._servers:
            for spec in await self.listed(server):
                if spec.name in owners:
                    raise BadConfiguration(
                        f"tool_servers: {owners[spec.name]} and {server.name} both "
                        f"have a tool {spec.name!r}"
                    )
                owners[spec.name] = server.name
                known[spec.name] = (server, spec)
        self._known = known
        return tuple(spec for _, (_, spec) in sorted(known.items()))

    async def listed(self, server: Server) -> list[ToolSpec]:
        """One server's tools, in its order.

        Raises:
            ToolLost: It is away; names it.
        """
        try:
            limit = server.start_timeout.total_seconds()
            async with asyncio.timeout(limit), self._running.client(server) as client:
                tools = await _all_tools(client)
        except (MCPError, ValueError, TimeoutError) as wrong:
            raise ToolLost(lost(server, wrong), started=False) from None
        return [self._spec(tool) for tool in tools]

    async def call(
        self,
        name: str,
        arguments: Json,
        *,
        key: str | None,
        timeout: timedelta,  # noqa: ASYNC109 # the port's word; the library keeps it
    ) -> ToolResult:
        """Calls a tool, passing an idempotency key as its policy says.

        Returns:
            What the server answered. The text of a single text block is the content;
            anything else is the list of blocks as the server gave it.

        Raises:
            ToolLost: There was no answer.
        """
        if name not in self._known:
            await self.specs()
        if name not in self._known or not isinstance(arguments, Mapping):
            raise ToolLost(f"{name} can't be called so", started=False)
        server, spec = self._known[name]
        request = _request(spec, arguments, key)
        async with self._running.client(server) as client:
            try:
                return _result(
                    await client.session.send_request(
                        request,
                        types.CallToolResult,
                        request_read_timeout_seconds=timeout.total_seconds(),
                    )
                )
            except MCPError as wrong:
                if wrong.code in _NEVER_RUN:
                    return ToolResult(content=wrong.error.message, is_error=True)
                raise ToolLost(lost(server, wrong), started=True) from None
            except ValueError as wrong:
                raise ToolLost(lost(server, wrong), started=True) from None

    def _spec(self, tool: types.Tool) -> ToolSpec:
        marks = tool.annotations
        policy = self._policy_of(tool.name, bool(marks and marks.read_only_hint))
        schema = dict(tool.input_schema)
        hidden = policy.idempotency
        if hidden is not None and isinstance(schema.get("properties"), Mapping):
            properties = schema["properties"].items()
            schema["properties"] = {k: v for k, v in properties if k != hidden}
            if "required" in schema:
                schema["required"] = [r for r in schema["required"] if r != hidden]
        return ToolSpec(
            name=tool.name,
            description=tool.description or "",
            input_schema=schema,
            policy=policy,
        )


async def _all_tools(client: Client) -> list[types.Tool]:
    page = await client.list_tools(cache_mode="bypass")
    tools = list(page.tools)
    while page.next_cursor:
        page = await client.list_tools(cursor=page.next_cursor, cache_mode="bypass")
        tools += page.tools
    return tools


def _request(
    spec: ToolSpec, arguments: Mapping[str, Json], key: str | None
) -> types.CallToolRequest:
    given = dict(arguments)
    meta: dict[str, Json] = {}
    match spec.policy.idempotency:
        case "meta" if key is not None:
            meta = {KEY_META: key}
        case str() as argument if key is not None:
            given[argument] = key
        case _:
            pass
    params = {"name": spec.name, "arguments": given, "_meta": meta or None}
    return types.CallToolRequest.model_validate({"params": params})


def _result(answer: types.CallToolResult) -> ToolResult:
    blocks = [
        block.model_dump(mode="json", by_alias=True, exclude_none=True)
        for block in answer.content
    ]
    single = len(blocks) == 1 and blocks[0].get("type") == "text"
    return ToolResult(
        content=blocks[0]["text"] if single else blocks,
        is_error=answer.is_error,
        structured=answer.structured_content,
    )
