"""What a model request says, taken apart: who said what, which tools did what.

Only the request's JSON body is read, as a model would. Facts of staff and system are
told by messages of role `system`, or, where the system prompt announces them, between
marks that no buyer text can hold. Everything else from the user side is the buyer's,
whatever it claims to be.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from core.ticket import Json, JsonObject

_MARKED = re.compile(r"<handoff:facts>\n?(.*?)\n?</handoff:facts>", re.DOTALL)
_PLACE = re.compile(r"\(The buyer wrote message \d+ above\.\)")
_STAND_INS = frozenset(
    {
        "[The conversation begins with our own message.]",
        "[No new message from the buyer.]",
        "In this order:",
    }
)
_ATTACHED = "[attachment: "
_HEADING = re.compile(r"Subject: ([^\n]*)(?:\nFrom: [^\n]* \(claimed, not verified\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """One thing said.

    Attributes:
        kind: `buyer`, `agent`, `house` (a colleague or the system), or `heading`: the
            subject, which is the buyer's but no message.
        text: what was said.
        at: its place among all voices and calls of the request.
    """

    kind: str
    text: str
    at: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call and what it came to; `result` is None when there is none yet."""

    id: str
    name: str
    input: JsonObject
    at: int = -1
    result: str | None = None
    is_error: bool = False

    def data(self) -> Mapping[str, Json]:
        """Give the result's JSON object; empty when it is none."""
        try:
            found = json.loads(self.result or "")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A request taken apart.

    Attributes:
        voices: in order.
        calls: in order.
        tools: input schema by name.
    """

    voices: tuple[Voice, ...]
    calls: tuple[Call, ...]
    tools: Mapping[str, JsonObject] = field(default_factory=dict)

    def said_by(self, kind: str, since: int = -1) -> tuple[Voice, ...]:
        """Give what a kind of voice said after a place."""
        return tuple(v for v in self.voices if v.kind == kind and v.at > since)

    def called(self, name: str) -> tuple[Call, ...]:
        """Give the calls of one tool."""
        return tuple(call for call in self.calls if call.name == name)


_Event: TypeAlias = "Voice | Call"


def read(body: JsonObject) -> Reading:
    """Take a Messages API body apart."""
    marked = "<handoff:facts>" in str(body.get("system"))
    events: list[_Event] = []
    for message in _objects(body.get("messages")):
        blocks = _blocks(message.get("content"))
        match message.get("role"):
            case "assistant":
                events += [_own(block) for block in blocks if _known(block)]
            case "system":
                events = _with_facts(events, "\n\n".join(map(_text, blocks)))
            case _:
                _settle(events, blocks)
                events += _heard(blocks, marked=marked)
    events = [replace(event, at=at) for at, event in enumerate(events)]
    return Reading(
        voices=tuple(event for event in events if isinstance(event, Voice)),
        calls=tuple(event for event in events if isinstance(event, Call)),
        tools={
            str(tool.get("name")): _object(tool.get("input_schema"))
            for tool in _objects(body.get("tools"))
        },
    )


def _known(block: JsonObject) -> bool:
    return block.get("type") in {"text", "tool_use"}


def _own(block: JsonObject) -> _Event:
    if block.get("type") == "tool_use":
        return Call(
            id=str(block.get("id")),
            name=str(block.get("name")),
            input=_object(block.get("input")),
        )
    return Voice(kind="agent", text=_text(block))


def _heard(blocks: Sequence[JsonObject], *, marked: bool) -> list[Voice]:
    found: list[Voice] = []
    for block in blocks:
        text = _text(block)
        if block.get("type") != "text" or text in _STAND_INS:
            continue
        fact = _MARKED.fullmatch(text.strip()) if marked else None
        if fact is not None:
            found.append(Voice(kind="house", text=_plain(fact.group(1))))
            continue
        said = _plain(text) if marked else text
        if not found and (heading := _HEADING.fullmatch(said)) is not None:
            found.append(Voice(kind="heading", text=heading[1]))
            continue
        if said.startswith(_ATTACHED) and found and found[-1].kind == "buyer":
            # one message: its words, then what was attached to it
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n{said}")
        else:
            found.append(Voice(kind="buyer", text=said))
    return found


def _plain(text: str) -> str:
    return text.replace("&lt;", "<").replace("&amp;", "&")


def _with_facts(events: list[_Event], text: str) -> list[_Event]:
    """Puts facts where they belong among the buyer's messages just before them."""
    first = len(events)
    while first and _is_buyers(events[first - 1]):
        first -= 1
    told = [part for part in text.split("\n\n") if part not in _STAND_INS]
    heard, placed = events[first:], list[_Event]()
    for part in told:
        if _PLACE.fullmatch(part):
            placed, heard = [*placed, *heard[:1]], heard[1:]
        else:
            placed.append(Voice(kind="house", text=part))
    return [*events[:first], *placed, *heard]


def _is_buyers(event: _Event) -> bool:
    return isinstance(event, Voice) and event.kind == "buyer"


def _settle(events: list[_Event], blocks: Sequence[JsonObject]) -> None:
    results = {
        str(block.get("tool_use_id")): block
        for block in blocks
        if block.get("type") == "tool_result"
    }
    for place, event in enumerate(events):
        if isinstance(event, Call) and event.id in results:
            block = results[event.id]
            said = "".join(_text(part) for part in _blocks(block.get("content")))
            error = block.get("is_error") is True
            events[place] = replace(event, result=said, is_error=error)


def _blocks(content: Json) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return _objects(content)


def _objects(value: Json) -> list[JsonObject]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [one for one in value if isinstance(one, Mapping)]


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _text(block: JsonObject) -> str:
    return str(block.get("text", ""))
