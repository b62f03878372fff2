"""What `handoff.toml`, the options and the environment say, checked and complete.

The file is read once, at start. Every mistake in it is one line that names the file,
the key and what was expected; nothing in it is guessed or ignored. Relative paths in
it are relative to its folder, so that a configuration can be moved as a whole. It
never holds a secret: a password in its store URL is refused.

A tool's policy is made of two things that come from different sides: what this file
says of the tool, and, where it says nothing, what the tool's server says of it
(`read_only_hint`). `Config.policy_of` puts both together.
"""

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import platformdirs
import pydantic

from console import config_file as toml
from core.errors import BadConfiguration
from core.limits import Limits
from core.tool import FREE, UNKNOWN, Approve, Consequence, ToolPolicy
from core.turn import Prompt, PromptVersion

T = TypeVar("T")

DEFAULT_MODEL = "claude-sonnet-5-5"
_STORES = {"sqlite", "postgresql", "postgres", "postgresql+psycopg"}
_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?\n", re.DOTALL | re.MULTILINE)
_VERSION = re.compile(r"^version:[ \t]*(.+?)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServer:
    """An MCP server: a command to start, or an address to call.

    Attributes:
        name: Its name in messages and logs.
        command: Program and arguments; empty where there is a `url`.
        url: Of a streamable HTTP server, or None.
        env: Variables that a command gets besides the usual safe ones.
        start_timeout: How long it may take to start, or to list its tools.
        folder: Where a command runs: the configuration's folder.
    """

    name: str
    command: tuple[str, ...]
    url: str | None
    env: Mapping[str, str]
    start_timeout: timedelta
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that was configured, with the defaults filled in.

    Attributes:
        file: Where it was read from, or None where there was no file.
        store: URL of the store.
        model: The model that is asked for.
        prompt: The agent's system prompt.
        limits: The numbers that bound the agent.
        staff_messages: How staff's words reach the model: `auto`, `system`, `marked`.
        tool_servers: In the file's order.
        tools: What the file says of each tool.
        channels: Path of the replies file, by the channel's name.
        transcripts_days: How long full transcripts are kept.
        hold_off_human: How long a person's reply can be taken back before it leaves.
        bell: Whether the console's notices ring the terminal's bell.
        keys: Other keys for the console's commands, by the command's id.
    """

    file: Path | None
    store: str
    model: str
    prompt: Prompt
    limits: Limits
    staff_messages: str
    tool_servers: tuple[ToolServer, ...] = ()
    tools: Mapping[str, toml.Tool] = field(default_factory=dict)
    channels: Mapping[str, Path] = field(default_factory=dict)
    transcripts_days: int = 90
    hold_off_human: timedelta | None = None
    bell: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)

    def policy_of(self, tool: str, read_only: bool) -> ToolPolicy:  # noqa: FBT001 # a fact of the tool, not a switch
        """The policy of a tool.

        Args:
            tool: Its name.
            read_only: Whether its server marks it as only reading.
        """
        said = self.tools.get(tool)
        if said is None:
            return FREE if read_only else UNKNOWN
        return _policy(said, read_only=read_only)


def load(*, file: str | None, store: str | None) -> Config:
    """The configuration of this start.

    The file is the option's, else `HANDOFF_CONFIG`, else `handoff.toml` here, else
    none; the store is the option's, else `HANDOFF_STORE`, else the file's, else one
    in the platform's data folder.

    Args:
        file: What `--config` said.
        store: What `--store` said.

    A mistake is a `BadConfiguration` that names file, key and what was expected.
    """
    path = _find(file)
    if path is None:
        said, folder = toml.File(), Path.cwd()
    else:
        said, folder = _parse(path), path.resolve().parent
    asked = store or os.environ.get("HANDOFF_STORE")
    return Config(
        file=path,
        store=_store(asked, said.store, path, folder),
        model=said.agent.model or DEFAULT_MODEL,
        prompt=_prompt(said.agent.prompt, path, folder),
        limits=_limits(said.agent, said.delivery),
        staff_messages=said.agent.staff_messages,
        tool_servers=tuple(_server(s, folder) for s in said.tool_servers),
        tools=said.tools,
        channels={name: folder / c.path for name, c in said.channels.items()},
        transcripts_days=said.retention.transcripts_days,
        hold_off_human=said.delivery.hold_off_human,
        bell=said.console.bell,
        keys=said.keys,
    )


def data_folder() -> Path:
    """The platform's folder for Handoff's own files, made if it is not there.

    Raises:
        BadConfiguration: It can't be made.
    """
    folder = platformdirs.user_data_path("handoff", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        why = f"{folder}: expected a folder, {_reason(wrong)}"
        raise BadConfiguration(why) from None
    return folder


def read_prompt(text: str) -> Prompt:
    """A prompt from its file's text: optional front matter, then what is sent."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    front = _FRONT.match(text)
    named = _VERSION.search(front.group(1)) if front else None
    version = named.group(1).strip("\"'") if named else "unversioned"
    body = text[front.end() :] if front else text
    return Prompt(
        text=body.strip(), version=PromptVersion(version=version, sha256=digest)
    )


def prompt_at(path: Path) -> Prompt:
    """The prompt in a file.

    Raises:
        BadConfiguration: It can't be read; says why.
    """
    return read_prompt(_text(path, "--with-prompt"))


def _find(option: str | None) -> Path | None:
    named = option or os.environ.get("HANDOFF_CONFIG")
    if named:
        return Path(named)
    here = Path("handoff.toml")
    return here if here.is_file() else None


def _parse(path: Path) -> toml.File:
    try:
        values = tomllib.loads(_text(path, str(path)))
    except tomllib.TOMLDecodeError as wrong:
        raise BadConfiguration(f"{path}: not valid TOML: {wrong}") from None
    try:
        return toml.File.model_validate(values)
    except pydantic.ValidationError as wrong:
        raise BadConfiguration(f"{path}: {toml.first_mistake(wrong)}") from None


def _text(path: Path, where: str) -> str:
    try:
        return path.read_bytes().decode()
    except OSError as wrong:
        raise BadConfiguration(f"{where}: expected a file, {_reason(wrong)}") from None
    except UnicodeDecodeError:
        raise BadConfiguration(f"{where}: expected UTF-8 text") from None


def _reason(wrong: OSError) -> str:
    if isinstance(wrong, FileNotFoundError):
        return "there is none"
    return f"it can't be used: {(wrong.strerror or 'input/output error').lower()}"


def _store(asked: str | None, said: str | None, path: Path | None, folder: Path) -> str:
    if asked:
        return _checked_store(asked, "--store", Path.cwd())
    if said:
        if urlsplit(said).password is not None:
            raise BadConfiguration(
                f"{path}: store: a password does not belong in this file; "
                "use ~/.pgpass or PGPASSWORD"
            )
        return _checked_store(said, f"{path}: store", folder)
    return f"sqlite:///{data_folder() / 'handoff.db'}"


def _checked_store(url: str, where: str, folder: Path) -> str:
    scheme, found, rest = url.partition("://")
    if not found or scheme not in _STORES:
        raise BadConfiguration(
            f"{where}: expected sqlite:///PATH or postgresql://USER@HOST/DATABASE"
        )
    if scheme != "sqlite":
        return url
    name = rest.removeprefix("/")
    if not rest.startswith("/") or not name:
        raise BadConfiguration(f"{where}: expected sqlite:///PATH, a path to a file")
    return f"sqlite:///{(folder / Path(name).expanduser()).resolve()}"


def _prompt(named: str | None, path: Path | None, folder: Path) -> Prompt:
    if named is None:
        built_in = files("console").joinpath("default_prompt.md")
        return read_prompt(built_in.read_bytes().decode())
    prompt = read_prompt(_text(folder / named, f"{path}: agent.prompt: {named}"))
    if not prompt.text:
        raise BadConfiguration(f"{path}: agent.prompt: {named} holds no prompt")
    return prompt


def _limits(agent: toml.Agent, delivery: toml.Delivery) -> Limits:
    usual = Limits()
    return Limits(
        max_turns=_or(agent.max_turns, usual.max_turns),
        max_cost_usd=_or(agent.max_cost_usd, usual.max_cost_usd),
        max_ticket_cost_usd=agent.max_ticket_cost_usd,
        max_run=_or(agent.max_run, usual.max_run),
        max_output_tokens=_or(agent.max_output_tokens, usual.max_output_tokens),
        context_tokens=_or(agent.context_tokens, usual.context_tokens),
        lease=_or(agent.lease, usual.lease),
        hold_off_agent=delivery.hold_off_agent,
    )


def _or(said: T | None, usual: T) -> T:
    return usual if said is None else said


_START_TIMEOUT = timedelta(seconds=30)


def _server(said: toml.Server, folder: Path) -> ToolServer:
    return ToolServer(
        name=said.name,
        command=tuple(said.command or ()),
        url=said.url,
        env=said.env,
        start_timeout=_or(said.start_timeout, _START_TIMEOUT),
        folder=folder,
    )


def _policy(said: toml.Tool, *, read_only: bool) -> ToolPolicy:
    plain = Consequence.NONE if read_only else Consequence.ACCOUNT
    consequence = _or(said.consequence, plain)
    grave = consequence in {Consequence.ACCOUNT, Consequence.MONEY}
    usual = ToolPolicy(consequence=consequence, approve=Approve.NEVER)
    return ToolPolicy(
        consequence=consequence,
        approve=_or(said.approve, Approve.ALWAYS if grave else Approve.NEVER),
        approve_over=said.approve_over,
        four_eyes_over=said.four_eyes_over,
        object=said.object,
        expires=_or(said.expires, usual.expires),
        timeout=_or(said.timeout, usual.timeout),
        limit_per_ticket=said.limit_per_ticket,
        limit_per_day=said.limit_per_day,
        amount=said.amount,
        currency=said.currency,
        identity=said.identity,
        idempotency=said.idempotency,
        establishes_identity=said.establishes_identity,
        customer=said.customer,
        name=said.name,
    )
