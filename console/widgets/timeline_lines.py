"""How the items of a timeline look, line by line.

Buyer and our side are told apart by name and role, tool calls take one line until
they are opened, what only the machinery does is thin. While a person held the
ticket, a bar runs down the left side.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from typing import assert_never

from console.widgets.spans import EMPTY, Line, Span, clip, line, paragraph, width_of
from console.widgets.timeline_items import Item
from console.wording import DELIVERY, clock_time, happened, money, stop_words
from core.cleanse import changed, cleanse, one_line
from core.journal import (
    ActionChanged,
    Claimed,
    Compacted,
    DecisionChanged,
    Delivery,
    Entry,
    Erased,
    Escalated,
    IdentityChanged,
    LockChanged,
    Message,
    Note,
    Paused,
    Refused,
    RunChanged,
    Snoozed,
    StateAmended,
    Thinking,
    ToolCalled,
    ToolReturned,
    Triaged,
)
from core.ticket import ActorKind, Json, JsonObject

BAR = "┃ "
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


def lines_of(item: Item, reader: Reader, *, opened: bool) -> list[Line]:
    """An item's lines; the first of them is where the cursor stands."""
    inner = reader
    if item.stretch:
        inner = Reader(
            me=reader.me, buyer=reader.buyer, zone=reader.zone, width=reader.width - 2
        )
    made = [clip(spans, inner.width) for spans in _body(item, inner, opened=opened)]
    if item.stretch:
        made = [(Span(BAR, "yours"), *spans) for spans in made]
    if item.new_day:
        made = [*_new_day(item.new_day, reader.width), *made]
    return made


def _new_day(words: str, width: int) -> list[Line]:
    side = max(2, min(10, (width - len(words) - 2) // 2))
    tail = max(2, min(width, 72) - side - len(words) - 2)
    return [EMPTY, line((f"{'─' * side} {words} {'─' * tail}", "faint"))]


def _body(item: Item, reader: Reader, *, opened: bool) -> list[Line]:  # noqa: C901, PLR0911, PLR0912, PLR0915 # one branch for each kind of a closed union
    entry = item.entry
    at = clock_time(entry.at, reader.zone)
    match entry.body:
        case Message() as body:
            return _message(item, body, reader)
        case Note() as body:
            return _note(entry, body, reader)
        case ToolCalled() as body:
            return _call(item, body, reader, opened=opened)
        case ToolReturned() as body:
            head = line(("← ", "agent"), ("result ", "dim"), _outcome(body))
            return [head, *(_value(body.content, reader) if opened else [])]
        case Thinking(block=block):
            head = line((f"· {at} thought, told to nobody ", "faint"), _more(opened))
            return [head, *(_value(block, reader) if opened else [])]
        case Triaged(category=category, priority=priority):
            words = f"{one_line(category, 40)} · {one_line(priority, 20)}"
            return [line((f"· {at} triage ", "faint"), (words, "dim"))]
        case StateAmended(patch=patch):
            head = line(
                (f"· {at} state ", "faint"), (f"{_brief(patch)} ", "dim"), _more(opened)
            )
            return [head, *(_value(patch, reader) if opened else [])]
        case IdentityChanged() as body:
            return _identity(entry, body, reader)
        case DecisionChanged() as body:
            return _decision(entry, body, reader)
        case ActionChanged() as body:
            return _action(entry, body, reader)
        case LockChanged() as body:
            return _lock(item, body, reader)
        case RunChanged() as body:
            return [_run(body, at, item.detail)]
        case Escalated() as body:
            return _escalated(entry, body, reader)
        case Compacted(upto=upto, text=text):
            rule = f"── folded into a summary up to entry {upto} ──"
            folded = paragraph(cleanse(text), reader.width, "dim", indent=2)
            return [
                line((f"{rule} ", "faint"), _more(opened)),
                *(folded if opened else []),
            ]
        case Delivery(state=state, why=why):
            word = DELIVERY.get(state)
            words = word.words if word else one_line(state)
            role = word.role if word else "dim"
            because = f": {one_line(why)}" if why else ""
            return [line((f"· {at} reply ", "faint"), (f"{words}{because}", role))]
        case Refused(what=what, rule=rule):
            said = f"refused: {one_line(what, 80)} · {one_line(rule, 120)}"
            return [line((f"✗ {at} {said}", "dim"))]
        case Paused() | Claimed() | Snoozed():
            said = f"{one_line(entry.actor.name, 40)} {happened(entry.body)}"
            return [line((f"· {at} {said}", "faint"))]
        case Erased(what=what, receipt=receipt):
            said = f"erased: {one_line(what, 80)} · {one_line(receipt, 60)}"
            return [line((f"✗ {at} {said}", "dim"))]
        case _:
            assert_never(entry.body)


def _message(item: Item, body: Message, reader: Reader) -> list[Line]:
    entry = item.entry
    at = clock_time(entry.at, reader.zone)
    tail: tuple[tuple[str, str], ...]
    match entry.actor.kind:
        case ActorKind.BUYER:
            name = reader.buyer or one_line(entry.actor.name or "Buyer", 40)
            role, tail = (
                "buyer",
                ((f" buyer · {at} · {one_line(body.channel, 20)}", "dim"),),
            )
        case ActorKind.AGENT:
            name, role, tail = "Agent", "agent", _to_buyer(item, at, "")
        case ActorKind.OPERATOR:
            mine = entry.actor.name == reader.me
            name = "You" if mine else one_line(entry.actor.name, 30)
            role, tail = "yours", _to_buyer(item, at, "" if mine else "operator · ")
        case _:
            name, role, tail = "Handoff", "strong", _to_buyer(item, at, "")
    if body.stranger:
        tail = (*tail, (" · not on this ticket", "wait"))
    if changed(body.text):
        tail = (*tail, (" · hidden characters shown", "wait"))
    text = cleanse(body.text.strip() or "(no text)", limit=20_000, lines=400)
    lines = [line((name, role), *tail)]
    lines += paragraph(text, reader.width, "text", indent=2)
    lines += [_attached(a, reader) for a in body.attachments]
    return [*lines, EMPTY]


def _to_buyer(item: Item, at: str, who: str) -> tuple[tuple[str, str], ...]:
    if item.reply is None:
        return ((f" {who}{at} · to the buyer", "dim"),)
    word = DELIVERY.get(item.reply.state)
    if word is None:
        return ((f" {who}{at} · {one_line(item.reply.state)}", "dim"),)
    state = (f"{word.symbol} {word.words}", word.role)
    return ((f" {who}{at} · to the buyer · ", "dim"), state)


def _attached(attachment: JsonObject, reader: Reader) -> Line:
    name = one_line(str(attachment.get("name", "?")), 60)
    kind = one_line(str(attachment.get("type", "?")), 40)
    said = f"  attached: {name} ({kind}, {attachment.get('size', '?')} bytes)"
    return clip(line((said, "dim")), reader.width)


def _note(entry: Entry, body: Note, reader: Reader) -> list[Line]:
    at = clock_time(entry.at, reader.zone)
    who = "You" if entry.actor.name == reader.me else one_line(entry.actor.name, 30)
    for_whom = "for the agent" if body.for_agent else "only colleagues see it"
    head = line((who, "note"), (f" note · {at} · {for_whom}", "dim"))
    text = paragraph(cleanse(body.text, limit=20_000), reader.width, "note", indent=2)
    return [head, *text, EMPTY]


def _call(item: Item, body: ToolCalled, reader: Reader, *, opened: bool) -> list[Line]:
    result = item.result
    returned = result.body if result and isinstance(result.body, ToolReturned) else None
    by = item.entry.actor
    who = "" if by.kind is ActorKind.AGENT else f"{one_line(by.name, 20)} "
    name = one_line(body.name, 40)
    head = line(("→ ", "agent"), (f"{who}{name} ", "agent"))
    took = ""
    if result is not None:
        took = f" {(result.at - item.entry.at).total_seconds():.1f} s"
    end = line((took, "faint"), (" ", "faint"), _more(opened))
    outcome = _outcome(returned)
    room = reader.width - width_of(head) - width_of(end)
    arguments = _brief(body.input)
    keep = min(len(arguments), max(8, room // 2))
    first = clip(
        (*head, Span(one_line(arguments, keep) + " ", "dim"), outcome),
        reader.width - width_of(end),
    )
    lines: list[Line] = [(*first, *end)]
    if not opened:
        return lines
    lines += [line(("  arguments", "faint")), *_value(body.input, reader)]
    if returned is not None:
        lines += [line(("  result as returned", "faint"))]
        lines += _value(returned.content, reader)
    return [*lines, EMPTY]


def _outcome(returned: ToolReturned | None) -> Span:
    if returned is None:
        return Span("…", "dim")
    said = _told(_text_of(returned.content))
    return Span(
        f"✗ {said}" if returned.is_error else said,
        "harm" if returned.is_error else "ok",
    )


def _told(text: str) -> str:
    """A tool's answer in a line; JSON without its braces."""
    if text.lstrip().startswith("{"):
        with suppress(ValueError):
            return _brief(json.loads(text))
    return one_line(text, 160)


def _more(opened: bool) -> Span:  # noqa: FBT001 # one word, used in one place
    return Span("▾" if opened else "▸", "faint")


def _text_of(content: Json) -> str:
    """A tool's answer as text, whatever its form."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = [b.get("text") for b in content if isinstance(b, Mapping)]
        if texts and all(isinstance(t, str) for t in texts):
            return " ".join(str(t) for t in texts)
    return json.dumps(content, ensure_ascii=False)


def _brief(value: Json) -> str:
    """Arguments in a few words: the values with their names, no braces."""
    if not isinstance(value, Mapping):
        return one_line(json.dumps(value, ensure_ascii=False), 120)
    parts = []
    for name, part in list(value.items())[:6]:
        text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
        parts.append(f"{one_line(str(name), 30)} {one_line(text, 60)}")
    return ", ".join(parts)


def _value(value: Json, reader: Reader) -> list[Line]:
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


def _identity(entry: Entry, body: IdentityChanged, reader: Reader) -> list[Line]:
    at = clock_time(entry.at, reader.zone)
    if not body.verified:
        return [
            line(
                (f"? {at} verification withdrawn ", "wait"),
                (one_line(body.evidence, 160), "dim"),
            )
        ]
    who = one_line(body.name or body.customer or "", 60)
    how = f"{one_line(body.customer or '', 30)} · {one_line(body.method, 40)}"
    return [line((f"✓ {at} verified {who} ", "ok"), (how, "dim"))]


def _decision(entry: Entry, body: DecisionChanged, reader: Reader) -> list[Line]:
    name = f"{one_line(body.decision, 24)} "
    what = f"{one_line(body.tool, 30)} {money(body.amount, body.currency)}".strip()
    at = clock_time(entry.at, reader.zone)
    by = one_line(entry.actor.name, 24)
    why = f": {one_line(body.why, 160)}" if body.why else ""
    match body.state:
        case "pending":
            return [
                line(
                    ("▲ Decision ", "wait-strong"),
                    (name, "wait-strong"),
                    (f"{what} · {one_line(body.rule, 80)} · {at}", "dim"),
                )
            ]
        case "executed":
            return [
                line(
                    ("✓ Decision ", "ok"),
                    (name, "ok"),
                    (f"{what} executed, {at}", "dim"),
                )
            ]
        case "approved" | "overridden":
            said = "approved" if body.state == "approved" else "approved with changes"
            return [
                line(
                    ("✓ Decision ", "ok"),
                    (name, "ok"),
                    (f"{what} {said} by {by}, {at}{why}", "dim"),
                )
            ]
        case _:
            return [
                line(
                    ("✗ Decision ", "dim"),
                    (name, "dim"),
                    (f"{what} {one_line(body.state, 20)} · {by}, {at}{why}", "dim"),
                )
            ]


def _action(entry: Entry, body: ActionChanged, reader: Reader) -> list[Line]:
    at = clock_time(entry.at, reader.zone)
    what = f"{one_line(body.tool, 30)} {money(body.amount, body.currency)}".strip()
    known = f" · {one_line(body.evidence, 160)}" if body.evidence else ""
    match body.state:
        case "in_doubt":
            return [
                line(
                    (f"! In doubt: {what} ", "harm"),
                    (f"{one_line(body.action, 24)} · {at}{known}", "dim"),
                )
            ]
        case "done":
            return [
                line(
                    (f"✓ {what} done ", "ok"),
                    (f"{one_line(body.action, 24)} · {at}{known}", "dim"),
                )
            ]
        case state:
            return [line((f"· {at} {what} {one_line(state, 20)}{known}", "faint"))]


def _lock(item: Item, body: LockChanged, reader: Reader) -> list[Line]:
    at = clock_time(item.entry.at, reader.zone)
    name = str(body.holder.get("name", ""))
    who = "you" if name == reader.me else one_line(name, 30)
    match body.change:
        case "acquired" | "handed_over" | "forced":
            lasting = ", still held" if item.open_end else ""
            why = f" · {one_line(body.why, 120)}" if body.why else ""
            forced = " · taken by force" if body.change == "forced" else ""
            return [
                line(
                    (f"■ Held by {who} ", "yours"),
                    (f"from {at}{lasting}{forced}{why}", "dim"),
                )
            ]
        case "released":
            to = {
                "agent": "to the agent",
                "queue": "to the queue",
                "resolved": "resolved",
                "free": "",
            }.get(body.to or "", f"to {one_line(body.to or '', 30)}")
            said = "Resolved" if body.to == "resolved" else f"Given back {to}".strip()
            since = "" if body.since is None else " · the human stretch ends"
            return [line((f"■ {said} ", "yours"), (f"{at}{since}", "dim")), EMPTY]
        case "wanted":
            asks = "asked to take over" if body.until is None else "asks no longer"
            return [line((f"◐ {at} {who} {asks}", "yours-quiet"))]
        case _:
            return [line((f"· {at} the run's lease ran out: {who}", "dim"))]


def _run(body: RunChanged, at: str, detail: str) -> Line:
    name = one_line(body.run, 24)
    if body.change == "started":
        return line((f"{at} run {name}{detail}", "faint"))
    stop = stop_words(body.stop or "")
    role = "dim" if body.stop == "escalated" else "harm"
    return line((f"{at} run {name} ", "faint"), (stop, role))


def _escalated(entry: Entry, body: Escalated, reader: Reader) -> list[Line]:
    at = clock_time(entry.at, reader.zone)
    lines = [
        line(
            (f"▲ Handed to people: {one_line(body.reason, 160)} ", "wait-strong"),
            (at, "dim"),
        )
    ]
    lines += paragraph(cleanse(body.summary), reader.width, "text", indent=2)
    if body.tried:
        tried = f"tried: {cleanse(body.tried)}"
        lines += paragraph(tried, reader.width, "dim", indent=2)
    return [*lines, EMPTY]
