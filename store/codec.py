"""How values become JSON in a row, and come back equal.

The standing is stored beside its ticket, so that nobody has to fold a journal to show
a queue. Only what differs from an empty standing is written. A test holds what is
read back against the fold of the stored journal.
"""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from types import UnionType
from typing import TypeVar, get_args, get_origin

from core.decision import Decision
from core.identity import Identity
from core.standing import Standing
from core.ticket import Actor, ActorKind, Json, JsonObject, RunId, TicketId
from core.tool import ToolResult
from core.turn import ModelResponse, Usage

T = TypeVar("T")

_NAMES = tuple(f.name for f in fields(Standing))
_VALUES_OF = operator.attrgetter(*_NAMES)
_EMPTY = _VALUES_OF(Standing())
_SIMPLE = set(_NAMES) - {"task_state", "identity"}
_AT = "$at"
"""Marks a time among a standing's values; no id looks like this."""


def standing_to_json(standing: Standing) -> JsonObject:
    """The standing's fields that are not empty."""
    stored: dict[str, Json] = {}
    values = zip(_NAMES, _VALUES_OF(standing), _EMPTY, strict=True)
    for name, value, empty in values:
        if value == empty:
            continue
        match name:
            case "task_state":
                stored[name] = value
            case "identity":
                stored[name] = identity_to_json(value)
            case _:
                stored[name] = _plain(value)
    return stored


def standing_from_json(stored: Json, version: int) -> Standing:
    """The standing that was stored; fields that this version doesn't know are left.

    Args:
        stored: As it was written.
        version: The ticket's: it has entries, and so more than an empty standing, once
            it has changed.

    Raises:
        TypeError: A field has not the form that it should have.
        ValueError: A time is none, or everything is missing.
    """
    found = object_of(stored)
    values = {n: _frozen(value) for n, value in found.items() if n in _SIMPLE}
    for name, value in values.items():
        if not _FITS[name](value):
            message = f"the standing's {name} has another form"
            raise TypeError(message)
    if "task_state" in found:
        values["task_state"] = object_of(found["task_state"])
    if "identity" in found:
        values["identity"] = identity_from_json(object_of(found["identity"]))
    standing = Standing(**values)  # type: ignore[arg-type] # as standing_to_json wrote it
    if not standing.last_seq and version > 1:
        message = "an empty standing is stored for a ticket that has changed"
        raise ValueError(message)
    waiting = standing.pending.values()
    times = (at for _, _, _, ends, *began in waiting for at in (ends, *began))
    for time in (standing.snoozed_until, *times):
        if time is not None:
            datetime.fromisoformat(time)
    return standing


def _fits(annotation: object) -> Callable[[object], bool]:
    """Says of a value whether a field of this type may hold it."""
    of = get_args(annotation)
    match get_origin(annotation):
        case origin if origin is UnionType:
            either = [_fits(arg) for arg in of]
            return lambda value: any(fits(value) for fits in either)
        case origin if origin is tuple and of[-1] is Ellipsis:
            item = _fits(of[0])
            return lambda value: isinstance(value, tuple) and all(map(item, value))
        case origin if origin is tuple:
            return _fits_each([_fits(arg) for arg in of])
        case origin if origin is Mapping:
            item = _fits(of[1])
            return lambda value: (
                isinstance(value, dict) and all(map(item, value.values()))
            )
        case _ if annotation is int:  # a bool is an int too
            return lambda value: type(value) is int
        case _ if isinstance(annotation, type):
            return lambda value: isinstance(value, annotation)
        case _:
            return lambda _: True


def _fits_each(items: Sequence[Callable[[object], bool]]) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(items)
        and all(fits(part) for fits, part in zip(items, value, strict=True))
    )


_FITS = {f.name: _fits(f.type) for f in fields(Standing)}


def _plain(value: object) -> Json:
    match value:
        case None | bool() | int() | str():
            return value
        case datetime():
            return {_AT: value.isoformat()}
        case tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            message = f"a standing can't hold {type(value).__name__}"
            raise TypeError(message)


def _frozen(value: Json) -> object:
    match value:
        case list():
            return tuple([_frozen(item) for item in value])
        case dict():
            at = value.get(_AT)
            if isinstance(at, str) and len(value) == 1:
                return datetime.fromisoformat(at)
            return {key: _frozen(item) for key, item in value.items()}
        case _:
            return value


def identity_to_json(identity: Identity) -> JsonObject:
    """An identity's fields."""
    return {
        "customer": identity.customer,
        "name": identity.name,
        "method": identity.method,
        "evidence": identity.evidence,
        "by": [identity.by.kind.value, identity.by.name],
        "at": identity.at.isoformat(),
        "seq": identity.seq,
    }


def identity_from_json(stored: JsonObject) -> Identity:
    """The identity that was stored."""
    kind, name = list_of(stored["by"])
    return Identity(
        customer=text_of(stored["customer"]),
        name=text_or_none(stored["name"]),
        method=text_of(stored["method"]),
        evidence=text_of(stored["evidence"]),
        by=Actor(kind=ActorKind(text_of(kind)), name=text_of(name)),
        at=datetime.fromisoformat(text_of(stored["at"])),
        seq=number_of(stored["seq"]),
    )


def decision_to_json(decision: Decision) -> JsonObject:
    """What was proposed; it never changes. The rest has columns."""
    return {
        "run": decision.run,
        "call": decision.call,
        "tool": decision.tool,
        "input": decision.input,
        "hash": decision.hash,
        "rule": decision.rule,
        "amount": None if decision.amount is None else str(decision.amount),
        "currency": decision.currency,
        "object": decision.object,
        "identity": decision.identity,
        "evidence": decision.evidence,
        "based_on": decision.based_on,
        "expires_at": decision.expires_at.isoformat(),
        "amount_in": decision.amount_in,
        "currency_in": decision.currency_in,
        "object_in": decision.object_in,
        "policy": decision.policy,
    }


def decision_from_json(
    decision: str, ticket: str, proposed_at: datetime, document: Json
) -> Decision:
    """The proposal of a row, without what became of it."""
    d = object_of(document)
    amount = text_or_none(d["amount"])
    return Decision(
        id=decision,
        ticket=TicketId(ticket),
        run=RunId(text_of(d["run"])),
        proposed_by="",
        call=text_of(d["call"]),
        tool=text_of(d["tool"]),
        input=d["input"],
        hash=text_of(d["hash"]),
        rule=text_of(d["rule"]),
        amount=None if amount is None else Decimal(amount),
        currency=text_or_none(d["currency"]),
        object=text_or_none(d["object"]),
        identity=text_or_none(d["identity"]),
        evidence=tuple(number_of(seq) for seq in list_of(d["evidence"])),
        based_on=number_of(d["based_on"]),
        four_eyes=False,
        proposed_at=proposed_at,
        expires_at=datetime.fromisoformat(text_of(d["expires_at"])),
        amount_in=text_or_none(d.get("amount_in")),
        currency_in=text_or_none(d.get("currency_in")),
        object_in=text_or_none(d.get("object_in")),
        policy=text_or_none(d["policy"]),
    )


def response_to_json(response: ModelResponse) -> JsonObject:
    """A model's response; its content unchanged."""
    usage = response.usage
    return {
        "id": response.id,
        "model": response.model,
        "content": response.content,
        "stop_reason": response.stop_reason,
        "usage": [
            usage.in_tokens,
            usage.out_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
        ],
        "request_id": response.request_id,
    }


def response_from_json(stored: JsonObject) -> ModelResponse:
    """The response that was stored."""
    fresh, out, read, written = map(number_of, list_of(stored["usage"]))
    return ModelResponse(
        id=text_of(stored["id"]),
        model=text_of(stored["model"]),
        content=tuple(map(object_of, list_of(stored["content"]))),
        stop_reason=text_or_none(stored["stop_reason"]),
        usage=Usage(
            in_tokens=fresh,
            out_tokens=out,
            cache_read_tokens=read,
            cache_write_tokens=written,
        ),
        request_id=text_or_none(stored["request_id"]),
    )


def result_to_json(result: ToolResult | None) -> Json:
    """A tool's result, or null."""
    if result is None:
        return None
    return [result.content, result.is_error, result.structured]


def result_from_json(stored: Json) -> ToolResult | None:
    """The result that was stored, or None."""
    if stored is None:
        return None
    content, is_error, structured = list_of(stored)
    return ToolResult(content=content, is_error=is_error is True, structured=structured)


@functools.lru_cache(maxsize=4096)
def actor(kind: str, name: str) -> Actor:
    """The actor of a row."""
    return Actor(kind=ActorKind(kind), name=name)


def object_of(value: object) -> JsonObject:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        message = f"stored JSON holds {type(value).__name__}, not an object"
        raise TypeError(message)
    return value


def list_of(value: object) -> Sequence[Json]:
    """The value, which must be an array."""
    return _of(value, list)


def text_of(value: object) -> str:
    """The value, which must be text."""
    return _of(value, str)


def text_or_none(value: object) -> str | None:
    """The value, which must be text or null."""
    return None if value is None else _of(value, str)


def number_of(value: object) -> int:
    """The value, which must be a whole number."""
    return _of(value, int)


def _of(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        message = f"stored JSON holds {type(value).__name__}, not {kind.__name__}"
        raise TypeError(message)
    return value
