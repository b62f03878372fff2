"""Journal entries as facts for the agent: what people and the system said and did.

One line says who did what and when, by the stored time; whatever somebody wrote is
quoted below it, each line set off, so that no quoted text can pass for a fact of its
own. Entries that are no fact for the agent (its own steps, runs, crashes, notes among
colleagues) have none.
"""

import json

from core.journal import (
    ActionChanged,
    DecisionChanged,
    Delivery,
    Entry,
    Escalated,
    IdentityChanged,
    LockChanged,
    Message,
    Note,
    Quarantined,
    StateAmended,
    Thinking,
    ToolCalled,
    ToolReturned,
    Triaged,
)
from core.ticket import ActorKind, Json


def fact_of(entry: Entry) -> str | None:
    """The entry as a fact for the agent, or None where it is none."""
    body = entry.body
    by_agent = entry.actor.kind is ActorKind.AGENT
    match body:
        case Message(direction="out", text=text) if not by_agent:
            return _told(entry, f"{_who(entry)} answered the buyer", text)
        case Note(text=text, for_agent=True):
            return _told(entry, f"{_who(entry)} left a note for you", text)
        case ToolCalled(name=name, input=given) if not by_agent:
            return _told(entry, f"{_who(entry)} used the tool {name}", _shown(given))
        case ToolReturned(content=content) if not by_agent:
            return _told(entry, "The colleague's tool returned", _shown(content))
        case Triaged(category=category, priority=priority) if not by_agent:
            return _told(entry, f"{_who(entry)} set triage", f"{category}, {priority}")
        case StateAmended(patch=patch) if not by_agent:
            return _told(entry, f"{_who(entry)} amended the state", _shown(patch))
        case IdentityChanged():
            return _identity(entry, body)
        case DecisionChanged():
            return _decision(entry, body)
        case ActionChanged():
            return _action(entry, body)
        case LockChanged():
            return _lock(entry, body)
        case Escalated(reason=reason) if entry.actor.kind is ActorKind.SYSTEM:
            return _told(entry, "The ticket was handed to people", reason)
        case Delivery():
            return _delivery(entry, body)
        case _:
            return None


def retold(entry: Entry) -> str | None:
    """An entry as told beside a summary: facts, and the buyer's words as quoted."""
    if isinstance(entry.body, Message) and entry.body.direction == "in":
        return _told(entry, "The buyer wrote", entry.body.text)
    return fact_of(entry)


_KINDS_TOLD = {
    "message": "A message",
    "note": "A note",
    "tool_call": "A tool call",
    "tool_result": "A tool's result",
}


def fact_without(entry: Entry, out: Quarantined) -> str | None:
    """What is told in the place of an entry that is left out, or None for a thought."""
    what = _KINDS_TOLD.get(out.was, "A record")
    match entry.body:
        case Thinking():
            return None
        case Quarantined():
            return _told(entry, f"{what} stands here that can't be read")
        case ToolCalled(name=name) if entry.actor.kind is ActorKind.AGENT:
            return _told(entry, f"A call of yours to {name} is left out here")
        case Message(direction="out") if entry.actor.kind is ActorKind.AGENT:
            return _told(entry, "An answer of yours to the buyer is left out here")
        case _:
            return _told(entry, f"{what} is left out here")


def returned_without(entry: Entry, body: ToolReturned) -> str:
    """What a call of the agent's came to, where the call itself is left out."""
    head = "The call that is left out " + ("failed" if body.is_error else "returned")
    return _told(entry, head, _shown(body.content))


def _told(entry: Entry, head: str, quoted: str = "") -> str:
    # a name with line ends in it must not begin a fact of its own
    line = f"[#{entry.seq}, {entry.at:%Y-%m-%d %H:%M} UTC] {' '.join(head.split())}"
    if not quoted:
        return line + "."
    return line + ":\n" + set_off(quoted)


def set_off(text: str) -> str:
    """What somebody wrote, each line quoted."""
    return "\n".join(f"> {part}" for part in text.splitlines())


def _who(entry: Entry) -> str:
    if entry.actor.kind is ActorKind.OPERATOR:
        return f"Your colleague {entry.actor.name} (a person)"
    return "Handoff"


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _identity(entry: Entry, body: IdentityChanged) -> str:
    if body.contradicts is not None:
        head = (
            f"The buyer's identity is in question: {body.contradicts} was verified, "
            f"then a lookup found {body.customer}; a colleague must say who it is"
        )
        return _told(entry, head, body.evidence)
    if not body.verified:
        return _told(entry, f"{_who(entry)} revoked the buyer's identity")
    who = f"{body.name} (customer {body.customer})" if body.name else body.customer
    head = f"The buyer is verified as {who} by {body.method}"
    return _told(entry, head, body.evidence)


def _decision(entry: Entry, body: DecisionChanged) -> str | None:
    what = f"the proposal {body.decision} ({body.tool})"
    arguments = _shown(body.input)
    match body.state:
        case "approved":
            return _told(entry, f"{_who(entry)} approved {what}", arguments)
        case "overridden":
            head = f"{_who(entry)} approved {what} with other arguments"
            return _told(entry, head, arguments)
        case "rejected":
            return _told(entry, f"{_who(entry)} rejected {what}", body.why or "")
        case "expired":
            return _told(entry, f"Nobody decided {what} in time; it has expired")
        case _:
            return None


def _action(entry: Entry, body: ActionChanged) -> str | None:
    if body.state == "in_doubt":
        head = f"It is not known whether {body.action} ({body.tool}) was carried out"
        return _told(entry, head, body.evidence or "")
    if body.evidence is None:
        return None
    outcome = {"done": "was carried out", "failed": "failed"}.get(body.state)
    head = f"{body.action} ({body.tool}) {outcome or 'was not carried out'}"
    return _told(entry, head, body.evidence)


def _lock(entry: Entry, body: LockChanged) -> str | None:
    if body.holder.get("kind") != "operator":
        return None
    name = body.holder.get("name")
    match body.change:
        case "acquired" | "handed_over" | "forced":
            return _told(
                entry, f"Your colleague {name} (a person) took the ticket over"
            )
        case "released":
            head = f"Your colleague {name} (a person) held the ticket"
            if body.since is not None and body.until is not None:
                head += f" from {_minute(body.since)} to {_minute(body.until)}"
            return _told(entry, head + _given(body))
        case _:
            return None


def _given(body: LockChanged) -> str:
    match body.to:
        case "agent" if body.carry_on:
            return ", has given it back to you and asks you to carry on now"
        case "agent":
            return " and has given it back to you"
        case "resolved":
            return " and resolved it"
        case _:
            return " and gave it back"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ") + " UTC"


def _delivery(entry: Entry, body: Delivery) -> str | None:
    match body.state:
        case "withheld":
            head = f"Your message #{body.message_seq} was withheld and not sent"
        case "discarded":
            head = f"Your message #{body.message_seq} was discarded and never sent"
        case "taken_back":
            head = f"{_who(entry)} took the message #{body.message_seq} back unsent"
        case "failed":
            head = f"The message #{body.message_seq} could not be delivered"
        case _:
            return None
    return _told(entry, head)
