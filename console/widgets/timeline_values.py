"""Tool arguments and results as lines: in a few words, or whole."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo

from console.widgets.spans import Line, Span, paragraph
from core.cleanse import cleanse, one_line
from core.ticket import Json

_FULL = 100_000
"""Characters of an opened entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """For whom the lines are made.

    Attributes:
        me: The operator.
        buyer: The verified name, or "".
        zone: The person's zone; None for the system's.
        width: Cells.
    """

    me: str
    buyer: str
    zone: tzinfo | None
    width: int


def more(opened: bool) -> Span:  # noqa: FBT001 # its one argument
    """The mark of what can be opened, or closed again."""
    return Span("▾" if opened else "▸", "faint")


def text_of(content: Json) -> str:
    """A tool's answer as text, whatever its form."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = [b.get("text") for b in content if isinstance(b, Mapping)]
        if texts and all(isinstance(t, str) for t in texts):
            return " ".join(str(t) for t in texts)
    return json.dumps(content, ensure_ascii=False)


def brief(value: Json) -> str:
    """Arguments in a few words: the values with their names, no braces."""
    if not isinstance(value, Mapping):
        return one_line(json.dumps(value, ensure_ascii=False), 120)
    parts = []
    for name, part in list(value.items())[:6]:
        text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
        parts.append(f"{one_line(str(name), 30)} {one_line(text, 60)}")
    return ", ".join(parts)


def value_lines(value: Json, reader: Reader) -> list[Line]:
    """A value as JSON, whole; text that is JSON itself is laid out too."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, indent=2)
    shown = cleanse(text, limit=_FULL, lines=2000)
    return paragraph(shown, reader.width, "dim", indent=4)
