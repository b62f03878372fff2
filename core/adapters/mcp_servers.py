"""MCP servers: programs that are started and kept, and addresses that are called.

A started program is kept and shared by all calls. The library requires that a client
is left by the task that entered it, so each program belongs to one task of its own,
which waits until the program ends or the servers are closed. When a program has ended,
the next call starts it again. An HTTP server gets a client for every call: a call
costs one round trip more, and there is no session that a restart could break.

A program gets the usual harmless variables and those configured for it, nothing else
of our environment. `python` means the Python that Handoff runs in.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self

import anyio
from mcp import Client, MCPError, types
from mcp.client._transport import TransportStreams  # its type has no public name
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage

from core.adapters.mcp_stderr import Heard, stderr_of
from core.errors import ToolLost

log = logging.getLogger("handoff.tools")
# the library logs what it could not parse, and that may be a buyer's words
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)

NOTICE = 3.0
"""Seconds after which the log says that a server is waited for."""

_HARMLESS = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")
_TIMED_OUT = -32001
_GARBAGE = "prints what is not MCP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An MCP server.

    Attributes:
        command: Program and arguments, where there is no `url`.
        folder: Where the program runs.
        start_timeout: How long it may take to start, or to list its tools.
    """

    name: str
    command: tuple[str, ...]
    url: str | None
    env: Mapping[str, str]
    folder: Path
    start_timeout: timedelta = timedelta(seconds=30)


@dataclass(slots=True)
class _Program:
    """A program: its client while it runs, and the event that says it is over.

    Attributes:
        garbage: Whether it has printed what is not MCP.
        heard: What it said on stderr while it started.
    """

    starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    client: Client | None = None
    garbage: bool = False
    heard: Heard = field(default_factory=Heard)


class McpServers:
    """The servers; programs run while it is entered.

    Args:
        servers: Started when first needed.
        stderr: File that takes what programs write to stderr.
    """

    def __init__(self, servers: Sequence[Server], stderr: Path) -> None:
        self._stderr = stderr
        self._tasks = asyncio.TaskGroup()
        self._programs = {server.name: _Program() for server in servers}

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        for program in self._programs.values():
            program.over.set()
        # the programs' tasks end by themselves; the caller's error stays what it is
        await self._tasks.__aexit__(None, None, None)

    def over(self, server: Server) -> asyncio.Event:
        """The event that is set once the server's program has ended."""
        return self._programs[server.name].over

    @asynccontextmanager
    async def client(self, server: Server) -> AsyncIterator[Client]:
        """A client of the server.

        Raises:
            ToolLost: It can't be started or reached; nothing was asked of it.
        """
        if server.url is None:
            yield await self._running(server)
            return
        client = Client(server.url)
        try:
            with self._telling(server):
                async with asyncio.timeout(server.start_timeout.total_seconds()):
                    await client.__aenter__()
        except Exception as wrong:  # noqa: BLE001 # whatever a foreign server causes
            raise ToolLost(lost(server, wrong), started=False) from None
        try:
            yield client
        finally:
            with suppress(Exception):  # what was to be said was said by then
                await client.__aexit__(None, None, None)

    @contextmanager
    def _telling(self, server: Server) -> Iterator[None]:
        """Says after a while that the server is waited for."""

        def tell() -> None:
            program = self._programs[server.name]
            why = f"; it {_GARBAGE}" if program.garbage else ""
            log.warning("waiting for the tool server %s to start%s …", server.name, why)

        timer = asyncio.get_running_loop().call_later(NOTICE, tell)
        try:
            yield
        finally:
            timer.cancel()

    async def _running(self, server: Server) -> Client:
        program = self._programs[server.name]
        async with program.starting:
            if program.client is None or program.over.is_set():
                program.client, program.over = None, asyncio.Event()
                program.garbage, program.heard = False, Heard()
                ready: asyncio.Future[Client] = asyncio.Future()
                self._tasks.create_task(self._own(server, program, ready))
                with self._telling(server):
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
            async with stderr_of(program.heard, self._stderr) as stderr:
                transport = _watched(stdio_client(_parameters(server), stderr), program)
                async with (
                    asyncio.timeout(server.start_timeout.total_seconds()) as limit,
                    Client(transport) as client,
                ):
                    limit.reschedule(None)
                    program.client, program.heard.started = client, True
                    ready.set_result(client)
                    await over.wait()
        except Exception as wrong:  # noqa: BLE001 # whatever a foreign program causes
            if not ready.done():
                why = lost(server, wrong, garbage=program.garbage)
                said = program.heard.last_line
                ready.set_exception(ToolLost(why, started=False, said=said))
                ready.exception()  # nobody may be waiting for it any more
        finally:
            over.set()
            ready.cancel()


@asynccontextmanager
async def _watched(
    inner: AbstractAsyncContextManager[TransportStreams], program: _Program
) -> AsyncIterator[TransportStreams]:
    """The same transport; what it shows of the program is kept with it."""
    over = program.over
    async with inner as (read, write), anyio.create_task_group() as tasks:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def relay() -> None:
            async with send:
                async for message in read:
                    program.garbage |= isinstance(message, Exception)
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


def lost(server: Server, wrong: BaseException, *, garbage: bool = False) -> str:
    """One line that names the server, without anything it said."""
    while isinstance(wrong, BaseExceptionGroup):
        wrong = wrong.exceptions[0]
    match wrong:
        case MCPError() | TimeoutError() if garbage:
            why = f"{_GARBAGE}: only the protocol belongs on its stdout"
        case MCPError(code=code) if code == _TIMED_OUT:
            why = "gave no answer in time"
        case MCPError(code=code) if code == types.CONNECTION_CLOSED:
            why = "ended the connection"
        case FileNotFoundError():
            why = f"can't be started: there is no {server.command[0]!r}"
        case TimeoutError():
            seconds = f"{server.start_timeout.total_seconds():g} s"
            why = f"did not start within {seconds} (start_timeout)"
        case MCPError(code=code):
            why = f"answered with error {code}"
        case _:
            why = f"can't be used ({type(wrong).__name__})"
    return f"tool server {server.name} {why}"
