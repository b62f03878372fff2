"""Tools of MCP servers: programs that speak over stdio, and streamable HTTP addresses.

What an unanswered call means is decided here, since only here it is known: a call
that surely never left (`ToolLost.started` False) may be made again by anybody, one
that may have left is in doubt (rule 5). Nothing is called twice.

A started program is kept and shared by all calls. The library requires that a client
is left by the task that entered it, so each program belongs to one task of its own,
which waits until the program ends or the tools are closed. When a program has ended,
the next call starts it again. An HTTP server gets a client for every call: a call
costs one round trip more, and there is no session that a restart could break.

A program gets the usual harmless variables and those configured for it, nothing else
of our environment. `python` means the Python that Handoff runs in.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
from mcp import Client, MCPError, types
from mcp.client._transport import TransportStreams  # its type has no public name
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage

from core.builtin import BUILTINS
from core.errors import BadConfiguration, ToolLost
from core.ticket import Json
from core.tool import ToolPolicy, ToolResult, ToolSpec

# the library logs what it could not parse, and that may be a buyer's words
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)

KEY_META = "handoff/idempotency-key"
"""The `_meta` entry that carries the key where the policy says `meta`."""

_START = 30.0
"""Seconds that a server may take to start and to list its tools."""

_HARMLESS = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")
_TIMED_OUT = -32001
_NEVER_RUN = {types.INVALID_PARAMS, types.METHOD_NOT_FOUND}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An MCP server.

    Attributes:
        command: Program and arguments, where there is no `url`.
        folder: Where the program runs.
    """

    name: str
    command: tuple[str, ...]
    url: str | None
    env: Mapping[str, str]
    folder: Path


@dataclass(slots=True)
class _Program:
    """A program: its client while it runs, and the event that says it is over."""

    starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    client: Client | None = None


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
        self._stderr = stderr or Path(os.devnull)
        self._tasks = asyncio.TaskGroup()
        self._programs = {server.name: _Program() for server in servers}
        self._known: dict[str, tuple[Server, ToolSpec]] = {}

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for program in self._programs.values():
            program.over.set()
        # the programs' tasks end by themselves; the caller's error stays what it is
        await self._tasks.__aexit__(None, None, None)

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
            async with asyncio.timeout(_START), self._client(server) as client:
                tools = await _all_tools(client)
        except (MCPError, ValueError, TimeoutError) as wrong:
            raise ToolLost(_lost(server, wrong), started=False) from None
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
        async with self._client(server) as client:
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
                raise ToolLost(_lost(server, wrong), started=True) from None
            except ValueError as wrong:
                raise ToolLost(_lost(server, wrong), started=True) from None

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

    @asynccontextmanager
    async def _client(self, server: Server) -> AsyncIterator[Client]:
        if server.url is None:
            yield await self._running(server)
            return
        client = Client(server.url)
        try:
            async with asyncio.timeout(_START):
                await client.__aenter__()
        except Exception as wrong:  # noqa: BLE001 # whatever a foreign server causes
            raise ToolLost(_lost(server, wrong), started=False) from None
        try:
            yield client
        finally:
            with suppress(Exception):  # what was to be said was said by then
                await client.__aexit__(None, None, None)

    async def _running(self, server: Server) -> Client:
        program = self._programs[server.name]
        async with program.starting:
            if program.client is None or program.over.is_set():
                program.client, program.over = None, asyncio.Event()
                ready: asyncio.Future[Client] = asyncio.Future()
                self._tasks.create_task(self._own(server, program, ready))
                await asyncio.shield(ready)
            if program.client is None:
                raise ToolLost(f"tool server {server.name} is closed", started=False)
            return program.client

    async def _own(
        self, server: Server, program: _Program, ready: "asyncio.Future[Client]"
    ) -> None:
        """Starts a program and keeps its client until it is over."""
        over = program.over
        try:
            with self._stderr.open("a", encoding="utf-8") as stderr:
                transport = _watched(stdio_client(_parameters(server), stderr), over)
                async with (
                    asyncio.timeout(_START) as limit,
                    Client(transport) as client,
                ):
                    limit.reschedule(None)
                    program.client = client
                    ready.set_result(client)
                    await over.wait()
        except Exception as wrong:  # noqa: BLE001 # whatever a foreign program causes
            if not ready.done():
                ready.set_exception(ToolLost(_lost(server, wrong), started=False))
                ready.exception()  # nobody may be waiting for it any more
        finally:
            over.set()
            ready.cancel()


@asynccontextmanager
async def _watched(
    inner: AbstractAsyncContextManager[TransportStreams], over: asyncio.Event
) -> AsyncIterator[TransportStreams]:
    """The same transport, setting `over` once the other side has ended."""
    async with inner as (read, write), anyio.create_task_group() as tasks:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def relay() -> None:
            async with send:
                async for message in read:
                    await send.send(message)
            over.set()

        tasks.start_soon(relay)
        yield receive, write
        tasks.cancel_scope.cancel()


def _parameters(server: Server) -> StdioServerParameters:
    # our own Python's folder goes first, so that `python` is the one we run in
    path = os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    )
    usual = {name: os.environ[name] for name in _HARMLESS if name in os.environ}
    return StdioServerParameters(
        command=server.command[0],
        args=list(server.command[1:]),
        env=usual | {"PATH": path} | dict(server.env),
        cwd=server.folder,
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


def _lost(server: Server, wrong: BaseException) -> str:
    """One line that names the server, without anything it said."""
    while isinstance(wrong, BaseExceptionGroup):
        wrong = wrong.exceptions[0]
    match wrong:
        case MCPError(code=code) if code == _TIMED_OUT:
            why = "gave no answer in time"
        case MCPError(code=code) if code == types.CONNECTION_CLOSED:
            why = "ended the connection"
        case FileNotFoundError():
            why = f"can't be started: there is no {server.command[0]!r}"
        case TimeoutError():
            why = "did not start in time"
        case MCPError(code=code):
            why = f"answered with error {code}"
        case _:
            why = f"can't be used ({type(wrong).__name__})"
    return f"tool server {server.name} {why}"
