"""Lines as data: spans of text with a role, before anything knows a colour.

Everything that fills the screen is first a tuple of `Line`s, made by plain functions
that can be tested without a terminal. A role (`dim`, `agent`, `harm`, …) becomes a
style in `console.tcss`. Widths are cells, never characters: buyers write CJK, and
combining marks take no room.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, set_cell_size


class Span(NamedTuple):
    """A piece of a line.

    Attributes:
        text: Cleansed, without line ends.
        role: What it means; the stylesheet says how that looks.
        act: The command that a click on it runs, or "".
    """

    text: str
    role: str = "text"
    act: str = ""


Line: TypeAlias = tuple[Span, ...]

ROLES = (
    "text",
    "strong",
    "dim",
    "faint",
    "buyer",
    "agent",
    "yours",
    "yours-quiet",
    "other",
    "wait",
    "wait-strong",
    "ok",
    "harm",
    "key",
    "note",
    "found",
    "solid-yours",
    "solid-wait",
    "solid-harm",
    "solid-ok",
    "solid-agent",
    "solid-quiet",
)
"""Every role; each is a component class `role--NAME` in the stylesheet."""

EMPTY: Line = ()


_ASCII = str.maketrans(
    {
        "▲": "^", "■": "#", "□": "o", "●": "*", "○": "-", "◐": "~", "✓": "+",
        "✗": "x", "‖": "=", "▸": ">", "▾": "v", "▼": "v", "▌": "|", "┃": "|",
        "│": "|", "─": "-", "→": ">", "←": "<", "↑": "^", "↓": "v", "⏎": "enter",
        "⚠": "!", "·": "-", "…": ".", "“": '"', "”": '"', "\u2019": "'", "•": "*",
    }
)  # fmt: skip


_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
_JOINED = re.compile("[\u200d\ufe0e\ufe0f\u20e3]|(?<=\\S)[\U0001f3fb-\U0001f3ff]")
_TONE = re.compile("[\U0001f3fb-\U0001f3ff]")


def steady(text: str) -> str:
    """The text with each emoji by itself, and flags as the letters of their country.

    Terminals don't agree how wide a family, a flag or a coloured hand is, and what
    stands after it on the line would move, the next pane's border included.
    """
    if text.isascii():
        return text
    letters = _FLAG.sub(lambda m: chr(ord(m[0]) - 0x1F1A5), text)
    return _TONE.sub("■", _JOINED.sub("", letters))


def steady_line(spans: Line) -> Line:
    """The line in steady texts."""
    if all(span.text.isascii() for span in spans):
        return spans
    return tuple(span._replace(text=steady(span.text)) for span in spans)


def in_ascii(text: str) -> str:
    """The text for a terminal without Unicode, as wide as before where it can be."""
    if text.isascii():
        return text
    out = []
    for character in text.translate(_ASCII):
        size = 1 if character.isascii() else cell_len(character)
        out.append(character if character.isascii() else "?" * size)
    return "".join(out)


def line(*parts: str | tuple[str, str] | Span) -> Line:
    """A line from texts, `(text, role)` pairs and spans."""
    return tuple(Span(p) if isinstance(p, str) else Span(*p) for p in parts)


def cells(text: str) -> int:
    """Cells that a cleansed text takes."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(spans: Iterable[Span]) -> int:
    """Cells that a line takes."""
    return sum(cells(span.text) for span in spans)


def fit(text: str, width: int) -> str:
    """The text in exactly so many cells: padded, or cut with `…`."""
    if width <= 0:
        return ""
    if text.isascii():  # by far the most, and cutting graphemes is dear
        cut_off = text[: width - 1].rstrip() + "…"
        return (text if len(text) <= width else cut_off).ljust(width)
    text = steady(text)
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip(" …") + "…", width)


def cut(text: str, width: int) -> str:
    """The text in at most so many cells, cut with `…`."""
    text = steady(text)
    return text if cells(text) <= width else fit(text, width).rstrip()


def clip(spans: Line, width: int) -> Line:
    """The line in at most so many cells, its last span cut with `…`."""
    if width_of(spans) <= width:
        return spans
    spans = _without_blanks(spans)
    if width_of(spans) <= width:
        return spans
    out: list[Span] = []
    left = width
    for span in spans:
        size = cells(span.text)
        if size > left - 1 and left > 0:
            out.append(span._replace(text=cut(span.text + " ", left)))
            break
        out.append(span)
        left -= size
    return tuple(out)


def _without_blanks(spans: Line) -> Line:
    """The line without the blanks that it ends in: where they go, nothing is lost."""
    while spans and not spans[-1].text.rstrip():
        spans = spans[:-1]
    if not spans:
        return spans
    return (*spans[:-1], spans[-1]._replace(text=spans[-1].text.rstrip()))


def ends(left: Line, right: Line, width: int) -> Line:
    """A line with one part at each end; the left one gives way."""
    room = width - width_of(right) - 1
    head = clip(left, max(room, 0))
    gap = max(width - width_of(head) - width_of(right), 1)
    return (*head, Span(" " * gap, head[-1].role if head else "text"), *right)


def wrap(text: str, width: int) -> list[str]:
    """Cleansed text in lines of at most so many cells, broken between words.

    What is moved in stays so in each line that it is broken into.
    """
    width = max(width, 4)
    out: list[str] = []
    for part in steady(text).split("\n"):
        if len(part) <= width and (part.isascii() or cells(part) <= width):
            out.append(part)
        else:
            bare = part.lstrip(" ")
            margin = part[: min(len(part) - len(bare), width // 2)]
            out += [margin + p for p in _greedy(bare, width - len(margin))]
    return out


def _greedy(part: str, width: int) -> list[str]:
    out: list[str] = []
    current, used = "", 0
    for word in part.split(" "):
        size = cells(word)
        if current and used + 1 + size <= width:
            current, used = f"{current} {word}", used + 1 + size
            continue
        if current:
            out.append(current)
        current, used = word, size
        while used > width:
            head, current = _chop(current, width)
            out.append(head)
            used = cells(current)
    return [*out, current]


_JOINTS = "@/_-.,;:"
"""After these a long address or name is broken, if that leaves enough of it."""


def _chop(word: str, width: int) -> tuple[str, str]:
    """The longest beginning that fits, and the rest."""
    if word.isascii():
        at = max(word.rfind(mark, width // 2, width) for mark in _JOINTS) + 1
        return word[: at or width], word[at or width :]
    low, high = 1, min(len(word), width)
    while low < high:
        middle = (low + high + 1) // 2
        if cells(word[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return word[:low], word[low:]


def paragraph(text: str, width: int, role: str = "text", indent: int = 0) -> list[Line]:
    """Cleansed text as wrapped lines of one role, moved in."""
    margin = " " * indent
    return [
        line((margin + part, role)) if part else EMPTY
        for part in wrap(text, width - indent)
    ]


def folded(lines: Sequence[Line], width: int) -> list[Line]:
    """The lines in at most so many cells: a text is wrapped, a row of parts is cut."""
    out: list[Line] = []
    for spans in lines:
        if len(spans) == 1 and width_of(spans) > width:
            out += paragraph(spans[0].text, width, spans[0].role)
        else:
            out.append(clip(spans, width))
    return out


def named(
    name: str, value: str, width: int, *, role: str = "text", column: int = 10
) -> list[Line]:
    """A name in its column and a value wrapped beside it."""
    parts = wrap(value, width - column)
    first = line((fit(name, column - 1) + " ", "dim"), (parts[0], role))
    margin = " " * column
    return [first, *(line((margin + part, role)) for part in parts[1:])]


def marked(spans: Line, words: str) -> Line:
    """The line with these words, in whatever case, in the role of what was found."""
    out: list[Span] = []
    for span in spans:
        folded, at = span.text.casefold(), 0
        if words not in folded or len(folded) != len(span.text):
            out.append(span)
            continue
        while (found := folded.find(words, at)) >= 0:
            end = found + len(words)
            out += (span._replace(text=span.text[at:found]),)
            out += (span._replace(text=span.text[found:end], role="found"),)
            at = end
        out.append(span._replace(text=span.text[at:]))
    return tuple(span for span in out if span.text)


def plain(lines: Sequence[Line]) -> str:
    """The lines without their roles, for tests and for copying."""
    return "\n".join("".join(s.text for s in spans).rstrip() for spans in lines)
