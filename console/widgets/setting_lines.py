"""What is in force, section by section, each with where it is set."""

from collections.abc import Sequence

from console.settings import Section, Setting
from console.widgets.spans import (
    EMPTY,
    Line,
    Span,
    ends,
    line,
    named,
    paragraph,
    width_of,
)

_COLUMN = 20
_INDENT = 2


def setting_lines(sections: Sequence[Section], width: int) -> list[Line]:
    """The sections in a width: heads with their table, names in a column."""
    lines: list[Line] = []
    for section in sections:
        lines += _head(section, width)
        for setting in section.settings:
            lines += _setting(setting, width)
        lines.append(EMPTY)
    return lines[:-1]


def _head(section: Section, width: int) -> list[Line]:
    """The title, and its table at the other end, or below where there is no room."""
    title, where = line((section.title, "strong")), line((section.where, "dim"))
    if not section.where:
        return [title]
    if width_of(title) + width_of(where) < width:
        return [ends(title, where, width)]
    return [title, *paragraph(section.where, width, "dim")]


def _setting(setting: Setting, width: int) -> list[Line]:
    """A name in its column, or above it where it is long, and what holds beside it."""
    margin, room = Span(" " * _INDENT), width - _INDENT
    column = min(_COLUMN, room // 2)
    head: list[Line] = []
    name = setting.name
    if len(name) >= column:
        head, name = paragraph(name, room, "dim"), ""
    lines = [*head, *named(name, setting.value, room, column=column)]
    if setting.where:
        lines = _with_where(lines, setting.where, room, column)
    return [(margin, *spans) for spans in lines]


def _with_where(lines: list[Line], where: str, room: int, column: int) -> list[Line]:
    """What sets it, at the end of the value where there is room, else below."""
    words = f"  {where}"
    if width_of(lines[-1]) + len(words) <= room:
        return [*lines[:-1], (*lines[-1], Span(words, "dim"))]
    return [*lines, *paragraph(where, room, "dim", indent=column)]
