"""The kinds of journal entries: a closed union, and their stored form.

The journal is the ticket's append-only timeline and the only source of a ticket's
state: `standing.fold` derives everything that is shown or decided from it, so a
change without an entry can't happen (rule 14). Bodies are stored as the JSON of
their fields; texts, inputs and results are the values as received, unchanged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from types import UnionType
from typing import TypeAlias, get_args, get_origin

from core.ticket import Actor, Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Something said between the buyer and our side.

    Attributes:
        direction: `in` from the buyer, `out` from us.
        text: As received or sent.
        channel: By which it came or goes.
        external_id: The channel's id, where it has one.
        attachments: Each `{name, type, size}`.
        covers: For `out`: the last seq that its author had seen (rule 3).
        stranger: True where the sender is nobody on the ticket that was named.
        named: The ticket that such a message named, or None.
        sent_at: As the sender's system claims, RFC 3339.
    """

    direction: str
    text: str
    channel: str
    external_id: str | None = None
    attachments: tuple[JsonObject, ...] = ()
    covers: int | None = None
    stranger: bool = False
    named: str | None = None
    sent_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An internal note; the model sees it only when it is for the agent."""

    text: str
    for_agent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """A tool call as asked for, by the agent or by the operator who holds."""

    id: str
    name: str
    input: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned:
    """What a tool call came to, in the very form that the model is told.

    Attributes:
        policy: The version of the rules under which it was judged, or None.
    """

    id: str
    content: Json
    is_error: bool = False
    policy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A block of the model's answer that nobody was told: kept byte for byte."""

    block: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Triaged:
    """Category and priority were set, or changed on purpose."""

    category: str
    priority: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAmended:
    """The task state was amended by this JSON merge patch."""

    patch: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityChanged:
    """Who the buyer is verified to be, or that this no longer holds.

    Attributes:
        verified: False where it was revoked or contradicted.
        customer: The customer's id in the shop, or None when revoked.
        name: The customer's name as the evidence gave it.
        method: How: `matched_order`, `confirmed_in_thread`, `operator`, …
        evidence: What it rests on, in words.
        contradicts: Where a lookup found another customer than the verified one:
            the verified one's id; `customer` is the one that was found.
    """

    verified: bool
    customer: str | None
    name: str | None
    method: str
    evidence: str
    contradicts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionChanged:
    """A decision was proposed, settled, withdrawn or executed.

    Attributes:
        policy: For a proposal or an override: the version of the rules that judged it.
    """

    decision: str
    state: str
    tool: str
    input: Json
    hash: str
    rule: str
    call: str | None = None
    why: str | None = None
    amount: str | None = None
    currency: str | None = None
    expires_at: str | None = None
    policy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionChanged:
    """A ledger row moved: `intended`, `done`, `failed` or `in_doubt`.

    Attributes:
        policy: For `intended`: the version of the rules that allowed it.
    """

    action: str
    state: str
    tool: str
    call: str | None = None
    amount: str | None = None
    currency: str | None = None
    object: str | None = None
    evidence: str | None = None
    policy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockChanged:
    """The lock moved; written from the lock's own change, in its transaction.

    Attributes:
        change: `acquired`, `wanted`, `handed_over`, `released`, `forced`, `expired`,
            `offered` or `declined`.
        holder: `{kind, name}` of whom it is about.
        token: The fencing token after the change.
        since: For an end: from when it was held, or wanted.
        until: For an end: to when; a `wanted` with it says that the wish is over.
        to: For `released`: `agent`, `queue`, `resolved`, `free` or a colleague.
        carry_on: For `released` to the agent: go on without a new message.
        why: A reason, where one was given.
    """

    change: str
    holder: JsonObject
    token: int
    since: str | None = None
    until: str | None = None
    to: str | None = None
    carry_on: bool = False
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChanged:
    """A run started, made a turn or ended.

    Attributes:
        run: Its id.
        change: `started`, `turn` or `ended`.
        stop: For `ended`: one of the contract's stop reasons.
        seen: For `ended`: the last seq that the agent had been shown.
        turn: For `turn`: its number in the run, from 1.
    """

    run: str
    change: str
    stop: str | None = None
    seen: int | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalated:
    """The ticket was handed to people (rule 15)."""

    reason: str
    tried: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A summary that stands for the journal up to a seq when context is rebuilt.

    Attributes:
        upto: The last seq that it stands for.
        text: The summary.
        kept: Seqs up to there that are told in full beside it.
    """

    upto: int
    text: str
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What became of a reply, such as `withheld` or `delivered`."""

    message_seq: int
    state: str
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something was tried and a rule said no.

    Attributes:
        call: For a tool call: its id.
        policy: For a tool call: the version of the rules that said so.
    """

    what: str
    rule: str
    call: str | None = None
    policy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """The agent was stopped on this ticket, or let go on."""

    paused: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """An operator looks after the ticket while the agent goes on; None: nobody."""

    owner: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snoozed:
    """The ticket sleeps until a time, or has woken (None)."""

    until: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """Bodies were removed; the entry says what and under which receipt."""

    what: str
    receipt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A record that can't be used, named in place of what it holds.

    Where an entry's own row can't be decoded, this is what is read there. Stored it
    says that people were told of such a record, or that the model's provider refuses
    what an entry holds: from here on the model is told that it was left out.

    Attributes:
        reason: In words; never what the record holds.
        was: Its kind as stored; `run` for a run's record, and `decision`, `action` or
            `reply` for one that is not of the journal.
        entry: The seq of the entry that it is about, or None.
        run: The id of the run whose record it is about, or None.
        record: The id of the decision, action or reply that it is about, or None.
    """

    reason: str
    was: str
    entry: int | None = None
    run: str | None = None
    record: str | None = None


Body: TypeAlias = (
    Message
    | Note
    | ToolCalled
    | ToolReturned
    | Thinking
    | Triaged
    | StateAmended
    | IdentityChanged
    | DecisionChanged
    | ActionChanged
    | LockChanged
    | RunChanged
    | Escalated
    | Compacted
    | Delivery
    | Refused
    | Paused
    | Claimed
    | Snoozed
    | Erased
    | Quarantined
)

KINDS: Mapping[str, type[Body]] = {
    "message": Message,
    "note": Note,
    "tool_call": ToolCalled,
    "tool_result": ToolReturned,
    "thinking": Thinking,
    "triage": Triaged,
    "state": StateAmended,
    "identity": IdentityChanged,
    "decision": DecisionChanged,
    "action": ActionChanged,
    "lock": LockChanged,
    "run": RunChanged,
    "escalation": Escalated,
    "compaction": Compacted,
    "delivery": Delivery,
    "refused": Refused,
    "pause": Paused,
    "claim": Claimed,
    "snooze": Snoozed,
    "erased": Erased,
    "quarantine": Quarantined,
}
_KIND_OF = {cls: kind for kind, cls in KINDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a ticket's journal.

    Attributes:
        seq: From 1, without gaps; the order of everything on this ticket.
        at: The database's clock; for reading, never for order.
        actor: Who did it.
        body: What happened.
    """

    seq: int
    at: datetime
    actor: Actor
    body: Body

    @property
    def kind(self) -> str:
        """The stored name of the body's kind."""
        return _KIND_OF[type(self.body)]


def kind_of(body: Body) -> str:
    """The stored name of a body's kind."""
    return _KIND_OF[type(body)]


_NAMES = {cls: tuple(f.name for f in fields(cls)) for cls in KINDS.values()}
_OPTIONAL = {
    cls: {f.name: f.default for f in fields(cls) if f.default is not MISSING}
    for cls in KINDS.values()
}


def to_json(body: Body) -> dict[str, Json]:
    """The body's fields as JSON, leaving out those that were not set."""
    cls = type(body)
    optional = _OPTIONAL[cls]
    values = {name: getattr(body, name) for name in _NAMES[cls]}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if name not in optional or value != optional[name]
    }


_ITEMS: Mapping[str, type] = {"attachments": dict, "kept": int}


def _taken_by(annotation: object) -> tuple[type, ...]:
    """The types of stored JSON that a field takes."""
    if annotation == JsonObject:
        return (dict,)
    if get_origin(annotation) is UnionType:
        return tuple(t for arg in get_args(annotation) for t in _taken_by(arg))
    if get_origin(annotation) is tuple:
        return (list,)
    return (annotation,) if isinstance(annotation, type) else (object,)


_SHAPES: Mapping[type[Body], Sequence[tuple[str, tuple[type, ...]]]] = {
    cls: tuple((f.name, _taken_by(f.type)) for f in fields(cls))
    for cls in KINDS.values()
}


def from_json(kind: str, stored: JsonObject) -> Body:
    """The body that was stored under this kind.

    Fields that this version doesn't know are left out, so that a store written by a
    newer minor version can be read.

    Raises:
        KeyError: The kind is none of the closed union's.
        TypeError: A field is missing or has not the form that it should have.
    """
    cls = KINDS[kind]
    values: dict[str, object] = {}
    for name, takes in _SHAPES[cls]:
        if name in stored:
            value = stored[name]
            if not isinstance(value, takes):
                message = f"the {kind}'s {name} has another type"
                raise TypeError(message)
            values[name] = value
            if type(value) is list and name in _ITEMS:
                if not all(isinstance(item, _ITEMS[name]) for item in value):
                    message = f"the {kind}'s {name} holds something else"
                    raise TypeError(message)
                values[name] = tuple(value)
    return cls(**values)  # type: ignore[arg-type] # JSON written by to_json of the same class
