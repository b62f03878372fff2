"""The journal as plain lines, for the command line and whoever reads it aloud.

An entry is told with its whole text below it (`entry_line`), or as one line of a stream
of events (`event_line`). Whatever somebody else wrote goes through `cleanse`.
"""

import json
from datetime import datetime
from typing import assert_never

from console.shapes import when
from console.wording import (
    happened,
    identity_change,
    identity_words,
    money,
    quarantined,
    stop_words,
    untold,
)
from core.cleanse import cleanse, one_line
from core.identity import SentUnder
from core.journal import (
    ActionChanged,
    Body,
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
from core.ticket import Json, JsonObject

_EVENT = 160


def stamp(at: datetime | None) -> str:
    """A time to the second in UTC, or a dash."""
    text = when(at.replace(microsecond=0)) if at is not None else None
    return text or "-"


def compact(value: Json) -> str:
    """A value on one line, as JSON unless it is a text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, 400)


def entry_line(entry: Entry, sent: SentUnder | None = None) -> str:
    """A journal entry, its text below it; a message of ours with its identity."""
    return f"{entry.seq:>4} {by_whom(entry, sent)}: {_told(entry.body)}"


def by_whom(entry: Entry, sent: SentUnder | None = None) -> str:
    """When an entry was made and by whom; a message of ours with its identity."""
    who = f"{entry.actor.kind.value} {one_line(entry.actor.name, 40)}"
    under = f" [{identity_words(sent)}]" if sent is not None else ""
    return f"{stamp(entry.at)} {who}{under}"


def event_line(entry: Entry) -> str:
    """A journal entry on one line, its text shortened."""
    told = " ".join(part.strip() for part in entry_line(entry).strip().split("\n"))
    return told if len(told) <= _EVENT else f"{told[: _EVENT - 1]}…"


def _told(body: Body) -> str:
    match body:
        case Message():
            return _message(body)
        case Note(text=text, for_agent=for_agent):
            return f"notes{' for the agent' if for_agent else ''}:\n{_indented(text)}"
        case ToolCalled() | ToolReturned() | Thinking():
            return _tool(body)
        case LockChanged() | RunChanged() | DecisionChanged() | ActionChanged():
            return _moved(body)
        case _:
            return _fact(body)


def _message(body: Message) -> str:
    word = "writes" if body.direction == "in" else "replies"
    odd = ""
    if body.named is not None:
        odd = f" from nobody on {one_line(body.named, 40)}, which it names"
    elif body.stranger:
        odd = " from nobody on the ticket that it names"
    text = body.text if body.text.strip() else "(no text)"
    attached = (f"\n     {_attached(a)}" for a in body.attachments)
    return f"{word}{odd}:\n{_indented(text)}{''.join(attached)}"


def _attached(attachment: JsonObject) -> str:
    name = one_line(str(attachment.get("name") or "without a name"), 60)
    kind = one_line(str(attachment.get("type") or "unknown"), 40)
    return f"attached: {name} ({kind}, {attachment.get('size', '?')} bytes)"


def _tool(body: ToolCalled | ToolReturned | Thinking) -> str:
    match body:
        case ToolCalled(name=name, input=given):
            return f"calls {one_line(name, 60)} {compact(given)}"
        case ToolReturned(content=content, is_error=is_error):
            return f"{'gets an error' if is_error else 'gets'}: {compact(content)}"
        case Thinking(block=block):
            return untold(block)
        case _:
            assert_never(body)


def _moved(body: LockChanged | RunChanged | DecisionChanged | ActionChanged) -> str:
    match body:
        case LockChanged(change=change, holder=who, token=token, to=to, why=why):
            name = one_line(str(who.get("name", "")), 40)
            rest = f" to {one_line(to, 40)}" if to else ""
            rest += f" ({one_line(why, 80)})" if why else ""
            return f"lock {change} {name}{rest}, token {token}"
        case RunChanged(run=run, change=change, stop=stop):
            return f"run {run} {change}{f': {stop_words(stop)}' if stop else ''}"
        case DecisionChanged(decision=decision, state=state, tool=tool, rule=rule):
            amount = money(body.amount, body.currency)
            what = f"{one_line(tool, 40)} {amount}".rstrip()
            return f"decision {decision} {state}: {what} ({one_line(rule, 80)})"
        case ActionChanged(action=action, state=state, tool=tool):
            amount = money(body.amount, body.currency)
            return f"action {action} {state}: {one_line(tool, 40)} {amount}".rstrip()
        case _:
            assert_never(body)


def _fact(body: Body) -> str:
    match body:
        case IdentityChanged():
            return f"identity {identity_change(body)}"
        case Triaged(category=category, priority=priority):
            return f"triage {one_line(category, 40)}, {one_line(priority, 40)}"
        case StateAmended(patch=patch):
            return f"state {compact(patch)}"
        case Escalated(reason=reason, summary=summary):
            more = "" if summary == reason else f"\n{_indented(summary)}"
            return f"hands over to people: {one_line(reason)}{more}"
        case Compacted(upto=upto):
            return f"folded up to {upto} into a summary"
        case Delivery(message_seq=seq, state=state, why=why):
            return f"reply {seq} {state}{f' ({one_line(why, 80)})' if why else ''}"
        case Refused(what=what, rule=rule):
            return f"refused {one_line(what, 60)}: {one_line(rule)}"
        case Paused() | Claimed() | Snoozed():
            return happened(body)
        case Erased(what=what, receipt=receipt):
            return f"erased {one_line(what, 60)}, receipt {one_line(receipt, 60)}"
        case Quarantined():
            return quarantined(body)
        case _:
            return ""


def _indented(text: str) -> str:
    return "\n".join(f"     {line}" for line in cleanse(text).split("\n"))
