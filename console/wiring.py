"""Where the parts are put together: the only file that names a database or an adapter.

Adapters and the store are loaded when they are first needed, since importing all their
libraries takes seconds, and most commands need one of them. So this file, alone,
imports inside functions, and it alone reads the clock and makes ids. The console
paints before even this file is loaded (`commands.console`).
"""

import asyncio
import getpass
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType

from console.canned import files_beside
from console.config import Config
from console.in_force import Start, in_force
from console.live import Services
from console.settings import Section
from console.web.door import Door
from core.context import Voice, voice_for
from core.decision import Operator, Role
from core.errors import BadConfiguration, HandoffError, ToolLost
from core.flows.answer import Leaving
from core.flows.house import Hands, House
from core.ports import Channel, Clock, Ids, Model, Store, Tools, Transaction, Worker
from core.tool import ToolSpec
from core.who import nobody

SCRIPTED = "handoff-scripted-1"
"""The model id of the demo's own model, which needs no network."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTHS = {"T": 7}
_LENGTH = 10

_UNDO = timedelta(seconds=8)
"""How long a reply written at the desk can be taken back, unless it is configured."""


class OperatorDisabled(HandoffError):
    """The operator may not work here any more."""


@dataclass(frozen=True, slots=True)
class SystemClock:
    """This machine's clock, for waiting and showing (`core.ports.Clock`)."""

    def now(self) -> datetime:
        """This machine's time in UTC."""
        return datetime.now(tz=UTC)

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class RandomIds:
    """Random names in Crockford's base 32, without letters that look alike.

    A ticket's is short, to be said and typed; the store refuses one that is there
    already.
    """

    def new(self, prefix: str) -> str:
        """A fresh id such as `T-7K3QF2M`."""
        length = _LENGTHS.get(prefix, _LENGTH)
        return f"{prefix}-" + "".join(secrets.choice(_ALPHABET) for _ in range(length))


def clock() -> Clock:
    """This machine's clock."""
    return SystemClock()


def ids() -> Ids:
    """Fresh names."""
    return RandomIds()


@asynccontextmanager
async def open_store(
    config: Config, tell_first: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Store]:
    """The configured store, up to date, with somebody in it who may decide.

    At the first start on SQLite the system's user becomes the first supervisor, on
    PostgreSQL the database's login does.

    Args:
        config: Names the store.
        tell_first: Told who that is, where this is the first start.
    """
    store = await asyncio.to_thread(_opened, config.store)
    try:
        if not await store.read(lambda tx: tx.operators()):
            first = await store.write(_first_supervisor)
            if first is not None:
                tell_first(first)
        yield store
    finally:
        await store.close()


def _opened(url: str) -> Store:
    """The store; its library is loaded here, on a thread, since that takes long."""
    from store.transaction import SqlStore

    return SqlStore.open(url)


def _first_supervisor(tx: Transaction) -> str | None:
    if tx.operators():
        return None
    name = tx.login() or system_user()
    tx.save_operator(Operator(name=name, role=Role.SUPERVISOR))
    return name


def system_user() -> str:
    """The name of the user that this process runs as."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user-{os.getuid()}"


async def operator(store: Store, asked: str | None) -> Operator:
    """Who sits here.

    Args:
        store: The store, which knows the people.
        asked: What `--as` said; else `HANDOFF_OPERATOR`, else the system's user. On
            PostgreSQL it is always the database's login.

    Raises:
        BadConfiguration: There is nobody of this name.
        OperatorDisabled: They may not work here any more.
    """
    login = await store.read(lambda tx: tx.login())
    if login is not None and asked not in {None, login}:
        raise BadConfiguration(f"--as: on PostgreSQL you are your login, {login}")
    name = login or asked or os.environ.get("HANDOFF_OPERATOR") or system_user()
    people = await store.read(lambda tx: tx.operators())
    found = next((o for o in people if o.name == name), None)
    if found is None:
        adding = f"a supervisor adds one with: handoff operator add {name}"
        raise BadConfiguration(nobody(name, (o.name for o in people), adding))
    if found.disabled:
        raise OperatorDisabled(f"the operator {name} is disabled")
    return found


@asynccontextmanager
async def open_tools(config: Config) -> AsyncIterator[Tools]:
    """The configured tool servers; they are started when first needed."""
    from core.adapters.mcp_servers import Server
    from core.adapters.mcp_tools import McpTools

    servers = [
        Server(
            name=said.name,
            command=said.command,
            url=said.url,
            env=said.env,
            folder=said.folder,
            start_timeout=said.start_timeout,
        )
        for said in config.tool_servers
    ]
    stderr = os.environ.get("HANDOFF_TOOL_LOG")
    log = Path(stderr) if stderr else None
    async with McpTools(servers, config.policy_of, stderr=log) as tools:
        yield tools


@asynccontextmanager
async def open_hands(config: Config, store: Store) -> AsyncIterator[Hands]:
    """What an operator needs to use a tool."""
    async with open_tools(config) as tools:
        yield Hands(store=store, tools=tools, ids=ids())


@asynccontextmanager
async def open_model(config: Config) -> AsyncIterator[Model]:
    """The configured model: the Messages API, or the demo's own."""
    if config.model == SCRIPTED:
        from core.adapters.scripted_model import ScriptedModel

        yield ScriptedModel(delay=float(os.environ.get("HANDOFF_SCRIPTED_DELAY", "0")))
        return
    from core.adapters.anthropic_model import AnthropicModel

    base_url = os.environ.get("ANTHROPIC_BASE_URL") or None
    model = AnthropicModel(
        api_key=_key(base_url),
        base_url=base_url,
        timeout=config.limits.model_patience.total_seconds(),
    )
    try:
        yield model
    finally:
        await model.close()


_CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")


def _key(base_url: str | None) -> str | None:
    """The model's key; a server of one's own may want none."""
    key = os.environ.get("ANTHROPIC_API_KEY")
    if not key and base_url and not os.environ.get("ANTHROPIC_AUTH_TOKEN"):
        return "no-key"
    return key or None


async def try_model(config: Config) -> str:
    """How the model can be reached, in words; a `ModelFailed` says why not."""
    async with open_model(config) as model:
        look_up = getattr(model, "look_up", None)
        if look_up is None:
            return "the demo's own model, no network needed"
        known = await look_up(config.model)
    return "reached" if known else f"reached, but it does not know {config.model}"


def channels(config: Config) -> Mapping[str, Channel]:
    """The configured ways to the buyer, by name."""
    from core.adapters.jsonl_channel import JsonlChannel

    return {name: JsonlChannel(path) for name, path in config.channels.items()}


@asynccontextmanager
async def open_house(config: Config, store: Store) -> AsyncIterator[House]:
    """Everything that the agent's flows need.

    Raises:
        BadConfiguration: There is no key for the model; no run could do anything.
    """
    if config.model != SCRIPTED and not any(os.environ.get(n) for n in _CREDENTIALS):
        raise BadConfiguration(
            "there is no key for the model: set ANTHROPIC_API_KEY, "
            "or ANTHROPIC_BASE_URL for a server of your own"
        )
    async with AsyncExitStack() as stack:
        yield House(
            store=store,
            model=await stack.enter_async_context(open_model(config)),
            tools=await stack.enter_async_context(open_tools(config)),
            channels=channels(config),
            clock=clock(),
            ids=ids(),
            prompt=config.prompt,
            limits=config.limits,
            model_id=config.model,
            voice=voice(config),
        )


def voice(config: Config) -> Voice:
    """How staff's words reach the configured model."""
    if config.staff_messages == "auto":
        return voice_for(config.model)
    return Voice(config.staff_messages)


def worker() -> Worker:
    """This process as a worker."""
    now = clock().now()
    return Worker(
        id=ids().new("W"),
        host=socket.gethostname(),
        pid=os.getpid(),
        started_at=now,
        seen_at=now,
        alive=True,
    )


async def tool_specs(config: Config) -> Mapping[str, ToolSpec]:
    """The tools of all servers by name, from servers started for this question."""
    async with open_tools(config) as tools:
        return {spec.name: spec for spec in await tools.specs()}


def leaving(config: Config, usual: timedelta = timedelta(0)) -> Leaving:
    """How the replies of people leave who sit at this configuration.

    Args:
        config: It.
        usual: How long they can be taken back where it says nothing of that.
    """
    off = config.hold_off_human
    return Leaving(
        hold_off=usual if off is None else off, channels=tuple(config.channels)
    )


def services(config: Config, store: Store, who: Operator, title: str = "") -> Services:
    """What the console is given."""
    known: dict[str, ToolSpec] = {}

    async def tools() -> Mapping[str, ToolSpec]:
        if not known:
            known.update(await tool_specs(config))
        return known

    return Services(
        store=store,
        operator=who,
        clock=clock(),
        ids=ids(),
        title=title,
        leaving=leaving(config, _UNDO),
        keys=config.keys,
        bell=config.bell,
        settings=lambda now: settings(config, store, now, known),
        ascii=not _encoding().lower().startswith("utf"),
        canned=partial(files_beside, config.file),
        tools=tools if config.tool_servers else None,
        hands=partial(open_hands, config, store) if config.tool_servers else None,
        log_path=_log_path(),
    )


def _log_path() -> Path | None:
    named = os.environ.get("HANDOFF_LOG")
    return Path(named) if named else None


def settings(
    config: Config,
    store: Store,
    who: Operator,
    known: Mapping[str, ToolSpec] = MappingProxyType({}),
) -> Sequence[Section]:
    """What is in force by configuration.

    Args:
        config: It.
        store: The store, which knows where it is.
        who: Who sits here.
        known: What the tool servers offer, as far as they were asked already.
    """
    start = Start(
        config=config,
        store=getattr(store, "place", ""),
        who=who,
        undo=_UNDO,
        log=_log_path(),
    )
    return in_force(start, known)


def _encoding() -> str:
    """The terminal's, also while the console has put its own in the way of output."""
    return getattr(sys.__stdout__, "encoding", None) or ""


async def serve_web(
    door: Door, opened: Callable[[int], None], stopping: asyncio.Event
) -> None:
    """Serves the console to browsers until it is to stop."""
    from console.web.server import serve

    await serve(door, opened, stopping)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """How one tool server answers.

    Attributes:
        name: The server.
        tools: What it offers; empty where it is away.
        problem: Why it is of no use, or None.
    """

    name: str
    tools: tuple[ToolSpec, ...] = ()
    problem: str | None = None


async def try_servers(config: Config) -> Sequence[ServerReport]:
    """Starts each tool server on its own and lists its tools."""
    reports = []
    for said in config.tool_servers:
        async with open_tools(replace(config, tool_servers=(said,))) as tools:
            try:
                specs = await tools.specs()
                reports.append(ServerReport(name=said.name, tools=specs))
            except HandoffError as wrong:
                words = wrong.said if isinstance(wrong, ToolLost) else ""
                problem = f"{wrong}; it said: {words}" if words else str(wrong)
                reports.append(ServerReport(name=said.name, problem=problem))
    return reports
