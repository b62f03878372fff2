"""A message as it comes in from outside, read from JSON and checked.

What is wrong is said in one line that names the key and what was expected, and never
repeats the text of a message.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from core.ticket import Arrival, Attachment, Json, JsonObject, TicketId


class BadLine(ValueError):
    """A line holds no message; says why in one line."""


def parsed(raw: bytes) -> JsonObject:
    """The JSON object on a line.

    Raises:
        BadLine: There is none.
    """
    try:
        said = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadLine("not UTF-8") from None
    found = json_of(said)
    if not isinstance(found, dict):
        raise BadLine("not a JSON object")
    return found


def json_of(text: str) -> Json:
    """The value that a JSON text holds.

    Raises:
        BadLine: It holds none: it breaks off, is nested too deep, or has numbers that
            JSON has not.
    """
    try:
        value: Json = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadLine("not JSON") from None
    return value


def _no_number(name: str) -> float:
    message = f"JSON has no number {name}"
    raise ValueError(message)


def arrival(said: JsonObject) -> Arrival:
    """The message that an object of `handoff ingest` stands for.

    Raises:
        BadLine: A key is missing or holds something else.
    """
    direction = optional(said, "direction") or "in"
    if direction not in {"in", "out"}:
        raise BadLine('direction: expected "in" or "out"')
    outgoing = direction == "out"
    ticket = optional(said, "ticket")
    return Arrival(
        channel=text(said, "channel"),
        external_id=text(said, "external_id"),
        sender=text(said, "from"),
        subject=optional(said, "subject") or "",
        text=_whole_text(said),
        sent_at=_time(said, "sent_at"),
        ticket=TicketId(ticket) if ticket else None,
        cc=_texts(said, "cc"),
        in_reply_to=optional(said, "in_reply_to") or None,
        references=_texts(said, "references"),
        attachments=tuple(_attachment(a) for a in _list(said, "attachments")),
        outgoing=outgoing,
        author=text(said, "author") if outgoing else None,
    )


def text(said: JsonObject, key: str) -> str:
    """A text that must be there.

    Raises:
        BadLine: It is not, or it is empty.
    """
    value = said.get(key)
    if not isinstance(value, str) or not value:
        raise BadLine(f"{key}: expected a text")
    return value


def optional(said: JsonObject, key: str) -> str | None:
    """A text that may be there.

    Raises:
        BadLine: Something else is.
    """
    value = said.get(key)
    if value is not None and not isinstance(value, str):
        raise BadLine(f"{key}: expected a text")
    return value


def objects(said: JsonObject, key: str) -> Sequence[JsonObject]:
    """A list of objects that must be there.

    Raises:
        BadLine: It is not.
    """
    value = said.get(key)
    if not isinstance(value, list):
        raise BadLine(f"{key}: expected a list of objects")
    found = [v for v in value if isinstance(v, dict)]
    if len(found) != len(value):
        raise BadLine(f"{key}: expected a list of objects")
    return found


def _whole_text(said: JsonObject) -> str:
    value = said.get("text")
    if not isinstance(value, str):
        raise BadLine("text: expected a text")
    return value


def _time(said: JsonObject, key: str) -> datetime | None:
    value = optional(said, key)
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise BadLine(f"{key}: expected a time such as 2026-03-01T09:30:00Z")
    return at


def _list(said: JsonObject, key: str) -> Sequence[Json]:
    value = said.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadLine(f"{key}: expected a list")
    return value


def _texts(said: JsonObject, key: str) -> tuple[str, ...]:
    values = _list(said, key)
    found = tuple(v for v in values if isinstance(v, str))
    if len(found) != len(values):
        raise BadLine(f"{key}: expected a list of texts")
    return found


def _attachment(value: Json) -> Attachment:
    if not isinstance(value, dict):
        raise BadLine("attachments: expected objects with name, type and size")
    size = value.get("size", 0)
    if not isinstance(size, int) or isinstance(size, bool):
        raise BadLine("attachments: expected size as a whole number")
    kind = optional(value, "type") or "application/octet-stream"
    return Attachment(name=optional(value, "name") or "", type=kind, size=size)
