"""Tools as the agent and the policy see them."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from core.ticket import Json, JsonObject


class Consequence(StrEnum):
    """What a call of the tool does to the world, from least to most."""

    NONE = "none"
    REVERSIBLE = "reversible"
    MESSAGE = "message"
    ACCOUNT = "account"
    MONEY = "money"


class Approve(StrEnum):
    """When a call needs a supervisor's decision."""

    NEVER = "never"
    ALWAYS = "always"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """What the configuration says of one tool (`[tools.NAME]`).

    Attributes:
        consequence: What a call does.
        approve: When it needs a decision.
        approve_over: With `over`: amounts above it need one.
        four_eyes_over: Amounts above it need two different people.
        object: The argument that names what is acted on; one open action or
            decision for each.
        expires: How long a decision may wait.
        timeout: How long a call may take before it is in doubt.
        limit_per_ticket: What all tools may move on one ticket, this call with it;
            above it a decision is needed.
        limit_per_day: What this tool may move in a day (UTC) on all tickets.
        amount: The argument that holds the amount.
        currency: The argument that holds the currency.
        identity: Whether the buyer must be verified.
        idempotency: The argument that takes the idempotency key, `meta`, or None.
        establishes_identity: The method that a successful result of it proves.
        customer: Where the result holds the customer's id; "." is the bare result.
        name: Where the result holds the customer's name.
    """

    consequence: Consequence
    approve: Approve
    approve_over: Decimal | None = None
    four_eyes_over: Decimal | None = None
    object: str | None = None
    expires: timedelta = timedelta(hours=4)
    timeout: timedelta = timedelta(seconds=60)
    limit_per_ticket: Decimal | None = None
    limit_per_day: Decimal | None = None
    amount: str | None = None
    currency: str | None = None
    identity: bool = False
    idempotency: str | None = None
    establishes_identity: str | None = None
    customer: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool that the agent may call.

    Attributes:
        name: Unique among all servers.
        description: As its server gives it.
        input_schema: JSON schema of its arguments, as the model is shown it.
        policy: What the configuration, or else its annotations, says of it.
        builtin: True for Handoff's own, which change only the ticket.
    """

    name: str
    description: str
    input_schema: JsonObject
    policy: ToolPolicy
    builtin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as asked for: the model's or an operator's words, unchecked."""

    id: str
    name: str
    input: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered.

    Attributes:
        content: A string, or content blocks, as the server returned them.
        is_error: Whether the server called it an error.
        structured: The structured result, where there is one.
    """

    content: Json
    is_error: bool
    structured: Json = None


FREE = ToolPolicy(consequence=Consequence.NONE, approve=Approve.NEVER)
"""The policy of a tool that only reads."""

UNKNOWN = ToolPolicy(consequence=Consequence.ACCOUNT, approve=Approve.ALWAYS)
"""The policy of a tool of which nothing is known: a person decides."""
