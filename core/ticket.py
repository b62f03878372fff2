"""The words of a ticket: who acts, what arrives, what a value may be.

A ticket is the only key of conversation state. A buyer, an order or a mail thread
never is: a household shares an address, one customer has two tickets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NewType, TypeAlias

TicketId = NewType("TicketId", str)
RunId = NewType("RunId", str)

Json: TypeAlias = (
    "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
)
JsonObject: TypeAlias = "Mapping[str, Json]"

UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands where a stored time can't be read; it is never shown as a time."""


class ActorKind(StrEnum):
    """Whose hand did it."""

    BUYER = "buyer"
    AGENT = "agent"
    OPERATOR = "operator"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who did something.

    Attributes:
        kind: Buyer, agent, operator or the system itself.
        name: The buyer's claimed address, the run's id, the operator's name, or
            the part of the system that acted ("lease", "delivery").
    """

    kind: ActorKind
    name: str


def buyer(name: str) -> Actor:
    """The buyer, by the address that the message claims."""
    return Actor(kind=ActorKind.BUYER, name=name)


def agent(run: RunId) -> Actor:
    """The agent, by its run."""
    return Actor(kind=ActorKind.AGENT, name=run)


def operator(name: str) -> Actor:
    """A person at the console."""
    return Actor(kind=ActorKind.OPERATOR, name=name)


def system(part: str) -> Actor:
    """Handoff itself, by the part that acted."""
    return Actor(kind=ActorKind.SYSTEM, name=part)


class Status(StrEnum):
    """Where a ticket stands. Derived from the journal, never set by hand."""

    QUEUED = "queued"
    AGENT = "agent"
    NEEDS_HUMAN = "needs_human"
    NEEDS_DECISION = "needs_decision"
    HELD = "held"
    WAITING_BUYER = "waiting_buyer"
    IN_DOUBT = "in_doubt"
    RESOLVED = "resolved"


class Origin(StrEnum):
    """How a ticket came into the store."""

    LIVE = "live"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One unit of support work, as it was opened.

    Attributes:
        id: Its name everywhere, such as `T-7K3QF2M`.
        subject: As the first message gave it, or made from its text.
        channel: The channel it came by ("mail").
        claim: The address that the first message claims to come from.
        origin: Live, or imported as finished (never runnable).
        created_at: When it was opened, by the database's clock.
    """

    id: TicketId
    subject: str
    channel: str
    claim: str
    origin: Origin
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What a message carried beside its text; only described, never opened.

    Attributes:
        name: As the sender wrote it; not a path.
        type: Its media type as claimed.
        size: In bytes, as claimed.
    """

    name: str
    type: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A message as a channel hands it in.

    Attributes:
        channel: The channel's name.
        external_id: The channel's id of it; the same twice is stored once (rule 4).
        sender: The From address: a claim, not an identity.
        subject: May be empty.
        text: As received.
        sent_at: As the message claims; order is the journal's seq, never this.
        ticket: The ticket that it names, if any.
        cc: Other people on it.
        in_reply_to: The external id that it answers, or None.
        references: External ids of its thread, oldest first.
        attachments: What it carried.
        outgoing: True for a person's reply that went another way.
        author: The person who wrote an outgoing one.
    """

    channel: str
    external_id: str
    sender: str
    subject: str
    text: str
    sent_at: datetime | None
    ticket: TicketId | None
    cc: tuple[str, ...]
    in_reply_to: str | None
    references: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    outgoing: bool
    author: str | None
