"""The shape of `handoff.toml`, and its mistakes in one line each.

Strict: a number in quotes is not a number, an unknown key is a mistake. Durations are
written as `4h`, `60s`, `500ms`; money as a decimal in quotes, since a float would not
say what was meant.
"""

import re
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Literal, Self

import pydantic
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from console.keymap import key_named, wrong_key
from console.keytable import COMMANDS
from core.tool import Approve, Consequence

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _duration(value: object) -> object:
    length = _delay(value)
    if length == timedelta(0):
        raise ValueError("a duration above zero")
    return length


def _delay(value: object) -> object:
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError('a duration such as "60s", "15m", "4h" or "500ms"')
    return timedelta(seconds=float(found.group(1)) * _SECONDS[found.group(2)])


def _money(value: object) -> object:
    try:
        amount = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        amount = None
    if amount is None or not amount.is_finite() or amount < 0:
        raise ValueError('a decimal in quotes, such as "50.00"')
    return amount


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Delay = Annotated[timedelta, BeforeValidator(_delay)]
Money = Annotated[Decimal, BeforeValidator(_money)]
Count = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Agent(_Table):
    """`[agent]`."""

    model: Text | None = None
    prompt: Text | None = None
    max_turns: Count | None = None
    max_cost_usd: Money | None = None
    max_ticket_cost_usd: Money | None = None
    max_run: Duration | None = None
    max_output_tokens: Count | None = None
    lease: Duration | None = None
    context_tokens: Count | None = None
    staff_messages: Literal["auto", "system", "marked"] = "auto"


class Server(_Table):
    """`[[tool_servers]]`."""

    name: Text
    command: Annotated[list[str], Field(min_length=1)] | None = None
    url: Annotated[str, Field(pattern=r"^https?://.+")] | None = None
    env: dict[str, str] = {}
    start_timeout: Duration | None = None

    @model_validator(mode="after")
    def _one_way_to_it(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("either command or url")
        if self.url is not None and self.env:
            raise ValueError("env only beside command")
        return self


class Tool(_Table):
    """`[tools.NAME]`."""

    consequence: Annotated[Consequence, Field(strict=False)] | None = None
    approve: Annotated[Approve, Field(strict=False)] | None = None
    approve_over: Money | None = None
    four_eyes_over: Money | None = None
    object: Text | None = None
    expires: Duration | None = None
    timeout: Duration | None = None
    limit_per_ticket: Money | None = None
    limit_per_day: Money | None = None
    amount: Text | None = None
    currency: Text | None = None
    identity: bool = False
    idempotency: Text | None = None
    establishes_identity: Text | None = None
    customer: Text | None = None
    name: Text | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.approve is Approve.OVER and self.approve_over is None:
            raise ValueError('approve_over beside approve = "over"')
        silent = self.approve in {None, Approve.NEVER}
        if silent and self.approve_over is not None:
            raise ValueError('approve = "over" beside approve_over')
        bounds = ("approve_over", "four_eyes_over", "limit_per_ticket", "limit_per_day")
        bounded = [name for name in bounds if getattr(self, name) is not None]
        if bounded and self.amount is None:
            raise ValueError(f"amount (the argument that holds it) beside {bounded[0]}")
        if self.establishes_identity is not None and self.customer is None:
            raise ValueError("customer beside establishes_identity")
        return self


class Channel(_Table):
    """`[channels.NAME]`."""

    kind: Literal["jsonl"]
    path: Text


class Delivery(_Table):
    """`[delivery]`."""

    hold_off_agent: Delay = timedelta(0)
    hold_off_human: Delay | None = None


class Retention(_Table):
    """`[retention]`."""

    transcripts_days: Count = 90


class Console(_Table):
    """`[console]`."""

    bell: bool = False


def _times(keys: dict[str, str], key: str) -> int:
    return sum(key_named(other) == key_named(key) for other in keys.values())


class File(_Table):
    """The whole file."""

    store: Text | None = None
    agent: Agent = Agent()
    tool_servers: list[Server] = []
    tools: dict[str, Tool] = {}
    channels: dict[str, Channel] = {}
    delivery: Delivery = Delivery()
    retention: Retention = Retention()
    console: Console = Console()
    keys: dict[str, Text] = {}

    @pydantic.field_validator("keys")
    @classmethod
    def _keys_of_commands(cls, keys: dict[str, str]) -> dict[str, str]:
        for command, key in keys.items():
            wrong = wrong_key(COMMANDS, command, key)
            if wrong is not None:
                raise ValueError(f"{wrong} (at {command!r})")
        twice = [key for key in keys.values() if _times(keys, key) > 1]
        if twice:
            raise ValueError(f"each key once, {twice[0]!r} is there twice")
        return keys

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        names = [server.name for server in self.tool_servers]
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise ValueError(f"each tool server's name once, {twice!r} is there twice")
        return self


_TABLES: dict[str, type[_Table]] = {
    "agent": Agent,
    "tool_servers": Server,
    "tools": Tool,
    "channels": Channel,
    "delivery": Delivery,
    "retention": Retention,
    "console": Console,
}


def first_mistake(wrong: pydantic.ValidationError) -> str:
    """The first mistake in one line: the key, and what was expected."""
    mistake = wrong.errors(include_url=False, include_input=False)[0]
    where = mistake["loc"]
    key = ".".join(str(p) for p in where) or "the file"
    match mistake["type"]:
        case "extra_forbidden":
            table = _TABLES.get(str(where[0])) if len(where) > 1 else File
            known = ", ".join((table or File).model_fields)
            return f"{key}: unknown key, expected one of: {known}"
        case "missing":
            return f"{key}: is missing, expected a value"
        case "value_error":
            said = mistake["msg"].removeprefix("Value error, ")
            return f"{key}: expected {said}"
        case "dict_type" | "model_type":
            return f"{key}: expected a table"
        case "string_pattern_mismatch":
            return f"{key}: expected an address, http://… or https://…"
        case _:
            said = mistake["msg"].removeprefix("Input should be ")
            said = said.removeprefix("a valid ")
            return f"{key}: expected {said[:1].lower()}{said[1:]}"
