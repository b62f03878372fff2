"""The journal as plain lines, for the command line and whoever reads it aloud.

An entry is told with its whole text below it (`entry_line`), or as one line of a stream
of events (`event_line`). Whatever somebody else wrote goes through `cleanse`.
"""

import json
from datetime import datetime
from typing import assert_never

from console.measures import LOST_TIME, money
from console.shapes_values import when
from console.wording import (
    DELIVERY,
    happened,
    identity_change,
    identity_words,
    quarantined,
    stop_words,
    untold,
    why_refused,
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
from core.ticket import UNKNOWN_TIME, Json, JsonObject

_EVENT = 160


def stamp(at: datetime | None) -> str:
    """A time to the second in UTC, a dash for none, or that it can't be read."""
    if at == UNKNOWN_TIME:
        return LOST_TIME
    text = when(at.replace(microsecond=0)) if at is not None else None
    return text or "-"


def compact(value: Json) -> str:
    """A value on one line, as JSON unless it is a text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, 400)


def entry_line(entry: Entry, sent: SentUnder | None = None) -> str:
    """A journal entry, its text below it; a message of ours with its identity."""
    return f"{entry.seq:>4} {by_whom(entry, sent)} {_told(entry)}"


def by_whom(entry: Entry, sent: SentUnder | None = None) -> str:
    """When an entry was made and by whom; a message of ours with its identity."""
    who = f"{entry.actor.kind.value} {one_line(entry.actor.name, 40)}"
    under = f" [{identity_words(sent)}]" if sent is not None else ""
    return f"{stamp(entry.at)} {who}{under}"


def event_line(entry: Entry) -> str:
    """A journal entry on one line, its text shortened."""
    told = " ".join(part.strip() for part in entry_line(entry).strip().split("\n"))
    return told if len(told) <= _EVENT else f"{told[: _EVENT - 1]}…"


def _told(entry: Entry) -> str:
    """What happened, in words that follow the name of who did it."""
    match entry.body:
        case Message() as body:
            return _message(body)
        case Note(text=text, for_agent=for_agent):
            return f"notes{' for the agent' if for_agent else ''}:\n{_indented(text)}"
        case ToolCalled() | ToolReturned() | Thinking() as body:
            return _tool(body)
        case LockChanged() as body:
            return f"{_changed_hands(body, entry.actor.name)}, token {body.token}"
        case RunChanged() | DecisionChanged() | ActionChanged() as body:
            return _moved(body)
        case body:
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


def _changed_hands(body: LockChanged, actor: str) -> str:
    """Who got the ticket, gave it back or asked for it."""
    name = one_line(str(body.holder.get("name", "")), 40)
    who = "" if name == one_line(actor, 40) else f" for {name}"
    why = f" ({one_line(body.why, 400)})" if body.why else ""
    match body.change:
        case "acquired":
            return f"takes the ticket{who}{why}"
        case "forced":
            return f"takes the ticket by force{who}{why}"
        case "handed_over":
            got = f"hands the ticket over to {name}" if who else "is handed the ticket"
            return f"{got}{why}"
        case "released":
            of = f" of {name}" if who else ""
            return f"{_let_go(body.to, of)}{why}"
        case "wanted" if body.until is None:
            return f"asks for the ticket{who}{why}"
        case "wanted":
            return f"no longer asks for the ticket{who}{why}"
        case "offered":
            return f"offers the ticket to {name}{why}"
        case "declined":
            return f"declines the ticket{who}{why}"
        case _:
            return f"finds that the hold of {name} has run out{why}"


def _let_go(to: str | None, of: str) -> str:
    match to:
        case "resolved":
            return f"ends the hold{of} and resolves the ticket"
        case "free" | None:
            return f"ends the hold{of}"
        case "agent" | "queue":
            ends = f"ends the hold{of} and " if of else ""
            return f"{ends}gives the ticket back to the {to}"
        case _ if of:
            return f"ends the hold{of}"
        case _:
            return f"gives the ticket to {one_line(to, 40)}"


_SETTLED = {
    "pending": "asks for decision",
    "approved": "approves decision",
    "overridden": "approves with changes decision",
    "rejected": "rejects decision",
    "withdrawn": "withdraws decision",
    "executed": "executes decision",
    "expired": "lets expire decision",
}


def _decided(body: DecisionChanged) -> tuple[str, str]:
    """What was done with a decision, and what else there is to say of it."""
    if body.state == "pending" and body.why is not None:
        return "approves decision", ": one more must approve it"
    did = _SETTLED.get(body.state, f"{one_line(body.state, 20)}: decision")
    return did, f": {one_line(body.why, 400)}" if body.why else ""


def _moved(body: RunChanged | DecisionChanged | ActionChanged) -> str:
    match body:
        case RunChanged(run=run, change="turn", turn=turn):
            return f"asks the model, turn {turn} of run {run}"
        case RunChanged(run=run, change="started"):
            return f"begins run {run}"
        case RunChanged(run=run, stop=stop):
            return f"ends run {run}{f': {stop_words(stop)}' if stop else ''}"
        case DecisionChanged(decision=decision, tool=tool, rule=rule):
            amount = money(body.amount, body.currency)
            what = f"{one_line(tool, 40)} {amount}".rstrip()
            did, more = _decided(body)
            return f"{did} {decision}, {what} ({one_line(rule, 80)}){more}"
        case ActionChanged(action=action, state=state, tool=tool):
            amount = money(body.amount, body.currency)
            known = f": {one_line(body.evidence, 400)}" if body.evidence else ""
            did = state.replace("_", " ")
            what = f"{one_line(tool, 40)} {amount}".rstrip()
            return f"has action {action} {did}, {what}{known}"
        case _:
            assert_never(body)


def _fact(body: Body) -> str:
    match body:
        case IdentityChanged():
            return f"records the identity: {identity_change(body)}"
        case Triaged(category=category, priority=priority):
            return f"triages: {one_line(category, 40)}, {one_line(priority, 40)}"
        case StateAmended(patch=patch):
            return f"amends the state: {compact(patch)}"
        case Escalated(reason=reason, summary=summary, tried=tried):
            told = [] if summary == reason else [summary]
            told += [f"Tried: {tried}"] if tried.strip() else []
            more = "".join(f"\n{_indented(part)}" for part in told)
            return f"hands over to people: {one_line(reason)}{more}"
        case Compacted(upto=upto):
            return f"folds all up to #{upto} into a summary"
        case Delivery(message_seq=seq, state=state, why=why):
            word = DELIVERY.get(state)
            said = word.words if word is not None else one_line(state, 40)
            return f"reply #{seq}: {said}{f' ({one_line(why, 400)})' if why else ''}"
        case Refused(what=what, rule=rule):
            why = one_line(why_refused(what, rule))
            return f"was refused: {one_line(what, 60)}: {why}"
        case Paused() | Claimed() | Snoozed():
            return happened(body)
        case Erased(what=what, receipt=receipt):
            return f"erases {one_line(what, 60)}, receipt {one_line(receipt, 60)}"
        case Quarantined():
            return f"says: {quarantined(body)}"
        case _:
            return ""


def _indented(text: str) -> str:
    return "\n".join(f"     {line}" for line in cleanse(text).split("\n"))
