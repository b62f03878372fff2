"""The few column types that make rows exact, on both databases alike.

Texts of people and tools can hold anything, so `Exact` keeps any `str`: the two things
that PostgreSQL's text can't hold, NUL and lone surrogates, are written as escapes.
JSON is kept as text, because a database's own JSON reorders keys and changes numbers.
"""

import json
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from typing_extensions import override

from core.ticket import Json

_UNSAFE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")


def encode_text(text: str) -> str:
    """The text in characters that every database takes; undone by `decode_text`."""
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(lambda m: f"\x1a{ord(m[0]):04x}", text)


def decode_text(stored: str) -> str:
    """The text that was encoded."""
    if "\x1a" not in stored:
        return stored
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), stored)


def stored_text(value: str | None) -> str | None:
    """The text of a column, or None."""
    if value is None or "\x1a" not in value:
        return value
    return decode_text(value)


def stored_moment(value: str | None) -> datetime | None:
    """The time of a column of SQLite, or None."""
    return None if value is None else datetime.fromisoformat(value)


def dumps(value: Json) -> str:
    """Compact JSON in the order of its fields."""
    return _ENCODER.encode(value)


def _plain_mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    message = f"{type(value).__name__} is not JSON"
    raise TypeError(message)


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=_plain_mapping
)


class Exact(sa.types.TypeDecorator[str]):
    """Any text, given back character for character."""

    impl = sa.Text
    cache_ok = True

    @override
    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """The stored form."""
        return None if value is None else encode_text(value)

    @override
    def process_result_value(
        self, value: str | None, dialect: sa.Dialect
    ) -> str | None:
        """The text."""
        return stored_text(value)


class JsonText(sa.types.TypeDecorator[Json]):
    """A JSON value as text, so that order, numbers and texts come back as they were."""

    impl = sa.Text
    cache_ok = True

    @override
    def process_bind_param(self, value: Json, dialect: sa.Dialect) -> str:
        """The stored form; None is JSON's null."""
        return encode_text(dumps(value))

    @override
    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Json:
        """The value."""
        return None if value is None else loads(decode_text(value))


def loads(text: str) -> Json:
    """The value that `dumps` wrote.

    Raises:
        ValueError: It is no JSON.
    """
    value: Json
    value, end = _DECODER.raw_decode(text)
    if end != len(text):
        message = "stored JSON has more than one value"
        raise ValueError(message)
    return value


_DECODER = json.JSONDecoder(strict=False)
"""Made once, and asked for the value alone: what was stored has no blanks around it."""


class Packed(sa.types.TypeDecorator[bytes]):
    """Bytes, kept deflated where that is shorter; the first byte says which.

    What was sent to a model repeats its own words and those of the journal; packed, it
    takes a third to a half. A small window makes that cost microseconds.
    """

    impl = sa.LargeBinary
    cache_ok = True

    @override
    def process_bind_param(
        self, value: bytes | None, dialect: sa.Dialect
    ) -> bytes | None:
        """The stored form."""
        return None if value is None else packed(value)

    @override
    def process_result_value(
        self, value: bytes | None, dialect: sa.Dialect
    ) -> bytes | None:
        """The bytes."""
        return None if value is None else unpacked(bytes(value))


_PLAIN, _DEFLATED = b"\x00", b"\x01"
_WINDOW, _MEMORY = -13, 5


def packed(content: bytes) -> bytes:
    """The bytes as they are stored; undone by `unpacked`."""
    deflate = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    shorter = deflate.compress(content) + deflate.flush()
    if len(shorter) < len(content):
        return _DEFLATED + shorter
    return _PLAIN + content


def unpacked(stored: bytes) -> bytes:
    """The bytes that were packed.

    Raises:
        zlib.error: They are damaged.
    """
    if stored[:1] == _PLAIN:
        return stored[1:]
    return zlib.decompress(stored[1:], _WINDOW)


class Moment(sa.types.TypeDecorator[datetime]):
    """An aware time in UTC; on SQLite text of fixed width, which sorts by time."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    @override
    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Text on SQLite, whose own type would drop the zone."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(sa.Text())
        return dialect.type_descriptor(sa.DateTime(timezone=True))

    @override
    def process_bind_param(
        self, value: datetime | None, dialect: sa.Dialect
    ) -> datetime | str | None:
        """The stored form."""
        if value is None:
            return None
        if value.tzinfo is None:
            message = "a time without a zone can't be stored"
            raise ValueError(message)
        utc = value.astimezone(UTC)
        sqlite = dialect.name == "sqlite"
        return utc.isoformat(timespec="microseconds") if sqlite else utc

    @override
    def process_result_value(
        self, value: datetime | str | None, dialect: sa.Dialect
    ) -> datetime | None:
        """The time in UTC."""
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        return None if value is None else value.astimezone(UTC)


class Money(sa.types.TypeDecorator[Decimal]):
    """An amount as decimal text, never a float."""

    impl = sa.Text
    cache_ok = True

    @override
    def process_bind_param(
        self, value: Decimal | None, dialect: sa.Dialect
    ) -> str | None:
        """The stored form."""
        return None if value is None else str(value)

    @override
    def process_result_value(
        self, value: str | None, dialect: sa.Dialect
    ) -> Decimal | None:
        """The amount."""
        return None if value is None else Decimal(value)
