"""How the items of a timeline look, line by line.

Buyer and our side are told apart by name and role, tool calls take one line until
they are opened, what only the machinery does is thin. While a person held the
ticket, a bar runs down the left side.
"""

import json
from contextlib import suppress
from typing import assert_never

from console.measures import clock_time, span_of
from console.widgets.spans import (
    EMPTY,
    Line,
    Span,
    cells,
    clip,
    line,
    named,
    paragraph,
    width_of,
)
from console.widgets.timeline_events import (
    action_lines,
    decision_lines,
    escalated_lines,
    identity_lines,
    lock_lines,
    run_line,
)
from console.widgets.timeline_items import Item
from console.widgets.timeline_values import Reader, brief, more, text_of, value_lines
from console.wording import (
    DELIVERY,
    asleep_until,
    happened,
    quarantined,
    untold,
    why_refused,
)
from core.cleanse import changed, cleanse, one_line
from core.identity import SentUnder
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
    Quarantined,
    Refused,
    RunChanged,
    Snoozed,
    StateAmended,
    Thinking,
    ToolCalled,
    ToolReturned,
    Triaged,
)
from core.ticket import ActorKind, JsonObject

BAR = "┃ "


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
    tail = max(2, width - side - len(words) - 2)
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
            return [head, *(value_lines(body.content, reader) if opened else [])]
        case Thinking(block=block):
            said = untold(block)
            words = "thought, told to nobody" if said == "thinks" else said
            head = line((f"· {at} {words} ", "faint"), more(opened))
            return [head, *(value_lines(block, reader) if opened else [])]
        case Triaged(category=category, priority=priority):
            words = f"{one_line(category, 40)} · {one_line(priority, 20)}"
            return [line((f"· {at} triage ", "faint"), (words, "dim"))]
        case StateAmended(patch=patch):
            head = line(
                (f"· {at} state ", "faint"), (f"{brief(patch)} ", "dim"), more(opened)
            )
            return [head, *(value_lines(patch, reader) if opened else [])]
        case IdentityChanged() as body:
            return identity_lines(entry, body, reader)
        case DecisionChanged() as body:
            return decision_lines(item, body, reader)
        case ActionChanged() as body:
            return action_lines(entry, body, reader)
        case LockChanged() as body:
            return lock_lines(item, body, reader)
        case RunChanged() as body:
            return [run_line(body, at, item.detail)]
        case Escalated() as body:
            return escalated_lines(entry, body, reader)
        case Compacted(upto=upto, text=text):
            rule = f"── folded into a summary up to entry {upto} ──"
            folded = paragraph(cleanse(text), reader.width, "dim", indent=2)
            return [
                line((f"{rule} ", "faint"), more(opened)),
                *(folded if opened else []),
            ]
        case Delivery(state=state, why=why):
            word = DELIVERY.get(state)
            words = word.words if word else one_line(state)
            role = word.role if word else "dim"
            by = entry.actor
            whose = (
                f" by {one_line(by.name, 30)}" if by.kind is ActorKind.OPERATOR else ""
            )
            because = f": {one_line(why)}" if why else ""
            said = f"{words}{whose}{because}"
            return [line((f"· {at} reply ", "faint"), (said, role))]
        case Refused(what=what, rule=rule):
            said = (
                f"refused: {one_line(what, 80)} · {one_line(why_refused(what, rule))}"
            )
            column = cells(f"✗ {at} ")
            return named(f"✗ {at}", said, reader.width, role="dim", column=column)
        case Snoozed(until=str() as until):
            asleep = asleep_until(until, entry.at, reader.zone, brief=False)
            said = f"{one_line(entry.actor.name, 40)} lets it sleep{asleep[6:]}"
            return [line((f"· {at} {said}", "faint"))]
        case Paused() | Claimed() | Snoozed():
            said = f"{one_line(entry.actor.name, 40)} {happened(entry.body)}"
            return [line((f"· {at} {said}", "faint"))]
        case Erased(what=what, receipt=receipt):
            said = f"erased: {one_line(what, 80)} · {one_line(receipt, 60)}"
            return [line((f"✗ {at} {said}", "dim"))]
        case Quarantined() as body:
            return [line((f"! {at} {quarantined(body)}", "harm"))]
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
    under = _under(item.sent)
    if item.reply is None:
        return ((f" {who}{at} · to the buyer", "dim"), *under)
    word = DELIVERY.get(item.reply.state)
    if word is None:
        return ((f" {who}{at} · {one_line(item.reply.state)}", "dim"),)
    state = (f"{word.symbol} {word.words}", word.role)
    return ((f" {who}{at} · to the buyer", "dim"), *under, (" · ", "dim"), state)


def _under(sent: SentUnder | None) -> tuple[tuple[str, str], ...]:
    """Under which identity it was written; loud where that no longer holds."""
    if sent is None:
        return ()
    if sent.customer is None:
        return ((", unverified", "dim"),)
    if sent.ended is None:
        return ((", verified", "dim"),)
    return ((f", then verified as {one_line(sent.customer, 30)}", "wait"),)


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
    took = _took(item)
    end = line((took, "faint"), (" ", "faint"), more(opened))
    outcome = _outcome(returned)
    room = reader.width - width_of(head) - width_of(end)
    arguments = brief(body.input)
    keep = min(len(arguments), max(8, room // 2))
    first = clip(
        (*head, Span(one_line(arguments, keep) + " ", "dim"), outcome),
        reader.width - width_of(end),
    )
    lines: list[Line] = [(*first, *end)]
    if not opened:
        return lines
    lines += [line(("  arguments", "faint")), *value_lines(body.input, reader)]
    if returned is not None:
        lines += [line(("  result as returned", "faint"))]
        lines += value_lines(returned.content, reader)
        if returned.policy is not None:
            said = f"  judged under the rules {one_line(returned.policy, 12)}"
            lines.append(line((said, "faint")))
    return [*lines, EMPTY]


def _took(item: Item) -> str:
    """How long the tool took; a wait for a decision is not the tool's."""
    if item.waits:
        return " waits"
    if item.result is None:
        return ""
    took = item.result.at - item.entry.at
    if item.waits is not None:
        return f" waited {span_of(took)}"
    return f" {took.total_seconds():.1f} s"


def _outcome(returned: ToolReturned | None) -> Span:
    if returned is None:
        return Span("…", "dim")
    said = _told(text_of(returned.content))
    return Span(
        f"✗ {said}" if returned.is_error else said,
        "harm" if returned.is_error else "ok",
    )


def _told(text: str) -> str:
    """A tool's answer in a line; JSON without its braces."""
    if text.lstrip().startswith("{"):
        with suppress(ValueError):
            return brief(json.loads(text))
    return one_line(text, 160)
