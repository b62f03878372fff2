"""What a team has written already: replies, and macros, which do more than reply.

Both are Markdown with names in braces that the chart fills in. A macro has a front
matter, a line for each thing that it does besides:

    ---
    note: promised a label by tomorrow
    note_for_agent: ask for the postcode first
    state: {"waits_for": "the warehouse"}
    release: agent
    ---
    Dear {name}, the label for order {order} is on its way.

A paragraph's lines are one line to the buyer, as everywhere in Markdown: where the file
breaks it is nobody's business but its editor's.

What the chart does not say is never sent as a gap: `gaps` names it, and a person
fills it in. Values are foreign text and are never looked at for further names.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.ticket import Json, JsonObject

LARGEST = 20_000
"""Characters of a written text."""

CARRY_ON = "carry-on"
"""A release to the agent, which goes on without a new message."""

_NAME = re.compile(r"\{([A-Za-z][A-Za-z0-9_ -]{0,39})\}")
_FRONT = re.compile(r"(?sm)\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)")
_OF_ITS_OWN = re.compile(r"\s|[-*+]\s|#{1,6}\s|[>|]|--|\d{1,9}[.)]\s|$")
"""How a line begins that is no part of a paragraph: indented, list, quote, table."""
_FENCE = ("```", "~~~")
_KEYS = ("note", "note_for_agent", "state", "release")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A reply or a macro.

    Attributes:
        name: What people call it.
        reply: For the buyer, or "".
        note: For colleagues, or "".
        note_for_agent: For the agent, or "".
        state: What the task state is amended by, or None.
        release: `agent`, `carry-on`, `queue`, `resolved`, a colleague, or None to
            keep the ticket.
    """

    name: str
    reply: str = ""
    note: str = ""
    note_for_agent: str = ""
    state: "JsonObject | None" = None
    release: str | None = None

    @property
    def is_macro(self) -> bool:
        """Whether it does more than reply."""
        others = (self.note, self.note_for_agent, self.state, self.release)
        return any(other for other in others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A text that is neither reply nor macro; `why` is one line."""

    name: str
    why: str


def read(name: str, text: str) -> Written | Unreadable:
    """What a Markdown text says, or what is wrong with it."""
    if len(text) > LARGEST:
        why = f"it is too long: {len(text):,} characters, at most {LARGEST:,}"
        return Unreadable(name=name, why=why)
    front = _FRONT.match(text)
    if front is None and re.match(r"---[ \t]*\r?\n", text):
        return Unreadable(name=name, why="line 1: the front matter has no end, a ---")
    found: dict[str, Json] = {}
    for number, line in enumerate(front[1].splitlines() if front else [], start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        wrong = _take(found, line)
        if wrong is not None:
            return Unreadable(name=name, why=f"line {number}: {wrong}")
    body = text[front.end() :] if front else text
    written = _made(name, _flowing(body.strip()), found)
    if not written.reply and not written.is_macro:
        return Unreadable(name=name, why="it is empty")
    return written


def _flowing(text: str) -> str:
    """The text with each paragraph on one line.

    Two spaces or a backslash at a line's end keep the break after it.
    """
    lines: list[str] = []
    fenced = in_paragraph = False
    for line in re.split(r"\r?\n", text):
        fence = line.lstrip().startswith(_FENCE)
        fenced ^= fence
        apart = fence or fenced or _OF_ITS_OWN.match(line) is not None
        if apart or not in_paragraph:
            lines.append(line)
        elif lines[-1].endswith(("  ", "\\")):
            lines[-1] = lines[-1].removesuffix("\\").rstrip()
            lines.append(line)
        else:
            lines[-1] = f"{lines[-1].rstrip()} {line}"
        in_paragraph = not apart
    return "\n".join(lines)


def _take(found: dict[str, Json], line: str) -> str | None:
    """Takes a line of the front matter; gives what is wrong with it."""
    key, colon, rest = line.partition(":")
    key, value = key.strip(), rest.strip()
    if not colon or key not in _KEYS:
        return f"unknown key {key[:40]!r}, expected one of: {', '.join(_KEYS)}"
    if key in found:
        return f"{key} is there twice"
    if key == "state" or value.startswith('"'):
        try:
            found[key] = json.loads(value)
        except (ValueError, RecursionError):
            wanted = '{"key": "value"}' if key == "state" else 'text, or "text"'
            return f"{key}: expected {wanted}"
    else:
        found[key] = value
    if key == "state" and not (isinstance(found[key], dict) and found[key]):
        return 'state: expected an object such as {"key": "value"}'
    if not found[key]:
        return f"{key}: is missing, expected a value"
    return None


def _made(name: str, reply: str, found: Mapping[str, Json]) -> Written:
    state, release = found.get("state"), found.get("release")
    return Written(
        name=name,
        reply=reply,
        note=str(found.get("note", "")),
        note_for_agent=str(found.get("note_for_agent", "")),
        state=state if isinstance(state, Mapping) else None,
        release=str(release) if release is not None else None,
    )


def names_in(written: Written) -> tuple[str, ...]:
    """The names in braces, each once, in order."""
    texts = (written.reply, *_strings(written.state))
    texts += (written.note, written.note_for_agent)
    return tuple(dict.fromkeys(n for text in texts for n in _NAME.findall(text)))


def gaps(written: Written, values: Mapping[str, str]) -> tuple[str, ...]:
    """The names for which there is no value."""
    return tuple(n for n in names_in(written) if not values.get(n, "").strip())


def gaps_left(text: str, names: frozenset[str]) -> tuple[str, ...]:
    """Which of the names still stand in braces in what a person is about to send."""
    return tuple(dict.fromkeys(n for n in _NAME.findall(text) if n in names))


def filled(written: Written, values: Mapping[str, str]) -> Written:
    """The same with every name that has a value replaced, each once."""
    there = {name: value for name, value in values.items() if value.strip()}
    state = written.state
    return replace(
        written,
        reply=_fill(written.reply, there),
        note=_fill(written.note, there),
        note_for_agent=_fill(written.note_for_agent, there),
        state=None if state is None else {k: _deep(v, there) for k, v in state.items()},
    )


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda m: values.get(m[1], m[0]), text)


def _deep(value: Json, values: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return _fill(value, values)
    if isinstance(value, Mapping):
        return {k: _deep(v, values) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_deep(v, values) for v in value]
    return value


def _strings(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return tuple(text for part in value for text in _strings(part))
    return ()
