"""Who the buyer was verified to be: a recorded fact, never a header (rule 7).

What a lookup finds establishes an identity only where the ticket has none and never
lost one. It never replaces one. A lookup that finds another customer than the verified
one contradicts it, and from then on nobody is verified: a household shares an address,
and which of the two is writing is for a person to say. Neither does a lookup give back
what a person has revoked. In both cases the identity is *in question*: whatever needs
one is refused, approvals given for the old one are not executed, and only a person who
holds the ticket records who it is. Rereading the same customer changes nothing.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from core.journal import Entry, IdentityChanged, Message
from core.ticket import Actor, ActorKind, Json
from core.tool import ToolCall, ToolPolicy, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The verified identity of a ticket's buyer.

    Attributes:
        customer: The customer's id in the shop.
        name: As the evidence gave it, or None.
        method: How it was verified.
        evidence: What it rests on, in words.
        by: Who recorded it.
        at: When, by the database's clock.
        seq: The journal entry that recorded it.
    """

    customer: str
    name: str | None
    method: str
    evidence: str
    by: Actor
    at: datetime
    seq: int


def proven_by(
    policy: ToolPolicy, call: ToolCall, result: ToolResult
) -> IdentityChanged | None:
    """What a lookup's result proves about the buyer.

    Only a successful result of a tool that the configuration names as evidence
    proves anything, and only where it holds a customer's id.

    Returns:
        The identity to record, or None.
    """
    if policy.establishes_identity is None or result.is_error:
        return None
    found = result.structured if result.structured is not None else result.content
    customer = _at(found, policy.customer)
    if not customer:
        return None
    return IdentityChanged(
        verified=True,
        customer=customer,
        name=_at(found, policy.name) if policy.name else None,
        method=policy.establishes_identity,
        evidence=f"{_plain(call.name)} {_asked(call.input)} found {_plain(customer)}",
    )


_WORD = re.compile(r"[\w@.+-]+")


def _asked(given: Json) -> str:
    if not isinstance(given, Mapping):
        return _plain(given)
    return ", ".join(f"{_plain(n)} {_plain(v)}" for n, v in sorted(given.items()))


def _plain(said: Json) -> str:
    """A word as it is, anything else in quotes: evidence can't be written into it."""
    if isinstance(said, str) and _WORD.fullmatch(said):
        return said
    return json.dumps(said, ensure_ascii=False, sort_keys=True)


def weighed(
    proven: IdentityChanged, known: Identity | None, question: str | None
) -> IdentityChanged | None:
    """What is recorded of a lookup's result, given what is recorded already.

    Args:
        proven: What the result proves by itself.
        known: Who is verified.
        question: Why nobody may be verified by a lookup any more, or None.

    Returns:
        The first identity, a contradiction of the known one, or None: nothing new.
    """
    if known is None:
        return proven if question is None else None
    if known.customer == proven.customer:
        return None
    return replace(proven, verified=False, contradicts=known.customer)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentUnder:
    """Under which identity a message of ours was committed.

    Attributes:
        customer: Who was verified then, or None.
        name: As the evidence gave it.
        method: How it was verified, or None.
        seq: The journal entry that recorded it, or None.
        ended: The later entry with which it no longer held, or None.
    """

    customer: str | None = None
    name: str | None = None
    method: str | None = None
    seq: int | None = None
    ended: int | None = None


def sent_under(journal: Iterable[Entry]) -> Mapping[int, SentUnder]:
    """Under which identity each message of ours was committed, by its seq."""
    found: dict[int, SentUnder] = {}
    now = SentUnder()
    for entry in journal:
        match entry.body:
            case Message(direction="out"):
                found[entry.seq] = now
            case IdentityChanged() as body:
                if body.customer != now.customer or not body.verified:
                    for seq, under in found.items():
                        if under.seq is not None and under.ended is None:
                            found[seq] = replace(under, ended=entry.seq)
                now = _now_under(entry.seq, body)
            case _:
                pass
    return found


def _now_under(seq: int, body: IdentityChanged) -> SentUnder:
    if not body.verified:
        return SentUnder()
    return SentUnder(
        customer=body.customer, name=body.name, method=body.method, seq=seq
    )


def question_of(entry: Entry, body: IdentityChanged) -> str | None:
    """Why only a person may verify the buyer after this entry, or None."""
    if body.verified:
        return None
    if body.contradicts is not None:
        return f"{body.contradicts} was verified, then a lookup found {body.customer}"
    who = entry.actor.name if entry.actor.kind is ActorKind.OPERATOR else "Handoff"
    return f"{who} revoked it"


def _at(found: Json, path: str | None) -> str | None:
    """The text at a dotted path of a result; "." is the bare result."""
    if path is None:
        return None
    value = _decoded(found)
    if path != ".":
        for step in path.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
    elif isinstance(value, Mapping) and list(value) == ["result"]:
        value = value["result"]
    text = value if isinstance(value, str) else None
    return text.strip() or None if text is not None else None


def _decoded(found: Json) -> Json:
    """The value behind text blocks or a string of JSON."""
    if isinstance(found, list | tuple):
        texts = [b.get("text") for b in found if isinstance(b, Mapping)]
        found = "".join(t for t in texts if isinstance(t, str))
    if isinstance(found, str):
        try:
            decoded: Json = json.loads(found)
        except ValueError:
            return found
        return decoded if isinstance(decoded, Mapping) else found
    return found
