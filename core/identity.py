"""Who the buyer was verified to be: a recorded fact, never a header (rule 7)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.journal import IdentityChanged
from core.ticket import Actor, Json
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
    asked = json.dumps(call.input, ensure_ascii=False, sort_keys=True)
    return IdentityChanged(
        verified=True,
        customer=customer,
        name=_at(found, policy.name) if policy.name else None,
        method=policy.establishes_identity,
        evidence=f"{call.name} {asked} found {customer}",
    )


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
