"""A run, its turns, and what is kept of them for ever: the run record.

Prices are the provider's public list prices per million tokens, dated; a model that
is not in the table has an unknown cost, which is None and never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from core.ticket import Json, JsonObject, RunId, TicketId


class Stop(StrEnum):
    """Why a run ended."""

    ANSWERED = "answered"
    AWAITING_DECISION = "awaiting_decision"
    HANDED_OVER = "handed_over"
    ESCALATED = "escalated"
    TURN_LIMIT = "turn_limit"
    COST_LIMIT = "cost_limit"
    REFUSED = "refused"
    ERROR = "error"
    PAUSED = "paused"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptVersion:
    """Which prompt: its `version:` front matter and the whole file's sha256."""

    version: str
    sha256: str

    @property
    def label(self) -> str:
        """Version and the start of the hash, as shown."""
        return f"{self.version}+{self.sha256[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The agent's system prompt.

    Attributes:
        text: What is sent, without the front matter.
        version: Which one it is.
    """

    text: str
    version: PromptVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more model calls, as the provider counted them."""

    in_tokens: int = 0
    out_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The sum of both."""
        return Usage(
            in_tokens=self.in_tokens + other.in_tokens,
            out_tokens=self.out_tokens + other.out_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A model request, built purely from stored records (rule 9).

    Attributes:
        model: What is asked for.
        max_tokens: Of the answer.
        system: The system prompt.
        tools: Tool definitions, in order.
        messages: In order; a later request of the same ticket begins with an
            earlier one's messages as long as nothing was folded.
    """

    model: str
    max_tokens: int
    system: str
    tools: tuple[JsonObject, ...]
    messages: tuple[JsonObject, ...]

    def body(self) -> dict[str, Json]:
        """The body as it is handed to the SDK.

        The cache mark makes the provider keep the conversation so far for the next
        turn, which begins with the same messages.
        """
        body: dict[str, Json] = {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "cache_control": {"type": "ephemeral"},
            "system": self.system,
            "messages": list(self.messages),
        }
        if self.tools:
            body["tools"] = list(self.tools)
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse:
    """The model's answer as returned.

    Attributes:
        id: The provider's id of the message.
        model: The exact model that answered.
        content: Blocks as JSON, byte for byte what will be sent back.
        stop_reason: As returned; None where the answer was cut off.
        usage: Tokens.
        request_id: The provider's id of the request, for support.
    """

    id: str
    model: str
    content: tuple[JsonObject, ...]
    stop_reason: str | None
    usage: Usage
    request_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One model call of a run, as stored.

    Attributes:
        number: From 1.
        built_at: The journal seq up to which its request was built.
        upto: How many of the run's messages its request sent.
        requested_at: When the request was stored.
        response: What came back, or None where nothing did (cancelled, crashed).
        applied: Whether the response was carried out (False: a person took over).
        folds: For a call that folds the journal into a summary: up to which seq.
    """

    number: int
    built_at: int
    upto: int
    requested_at: datetime
    response: ModelResponse | None = None
    applied: bool = False
    folds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One stretch of the agent on one ticket.

    Attributes:
        trigger: Why it started: `message`, `decision`, `release`, `resume`.
        model: What was asked for.
        prompt: The prompt file it worked by.
        system: The system prompt as sent, with what the builder adds.
        tools: Tool definitions as sent.
        max_tokens: Of each answer, as sent.
        builder: Version of `build_request`.
        staff_voice: How the request carries what staff say.
        unreadable: What of its record can't be read, in words; it is empty here.
    """

    id: RunId
    ticket: TicketId
    token: int
    trigger: str
    model: str
    prompt: Prompt
    system: str
    tools: tuple[JsonObject, ...]
    max_tokens: int
    builder: int
    staff_voice: str
    started_at: datetime
    ended_at: datetime | None = None
    stop: Stop | None = None
    detail: str | None = None
    escalated: bool = False
    turns: tuple[Turn, ...] = ()
    task_state: JsonObject = field(default_factory=dict)
    unreadable: str | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of all its turns."""
        return sum((t.response.usage for t in self.turns if t.response), Usage())

    @property
    def answered_by(self) -> str | None:
        """The exact model id from its last response, or None before the first."""
        answers = [t.response.model for t in self.turns if t.response is not None]
        return answers[-1] if answers else None

    @property
    def cost_usd(self) -> Decimal | None:
        """What its turns cost, or None where that is not known.

        It is not where a model's price isn't, or where a call of an ended run got no
        answer: the provider may have charged for it.
        """
        return self.final_cost_usd if self.ended_at is not None else self._cost()

    @property
    def final_cost_usd(self) -> Decimal | None:
        """What it will have cost if no turn follows."""
        if any(t.response is None for t in self.turns):
            return None
        return self._cost()

    def _cost(self) -> Decimal | None:
        costs = [cost(t.response) for t in self.turns if t.response is not None]
        known = [c for c in costs if c is not None]
        return sum(known, Decimal(0)) if len(known) == len(costs) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Everything of a run: the run, and its messages as they were sent.

    Attributes:
        run: The run with its turns.
        messages: The exact bytes of each message of its last request, in order
            (canonical JSON).
        requests: The same for every turn's request, in the order of turns; empty
            where retention has reduced the run.
    """

    run: Run
    messages: tuple[bytes, ...]
    requests: tuple[tuple[bytes, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens; above `long_over` input tokens, `long`."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    long_over: int | None = None
    long: "Price | None" = None


def _price(
    input: str,  # noqa: A002 # the field's own word
    output: str,
    cache_read: str | None = None,
    long: Price | None = None,
) -> Price:
    read = Decimal(cache_read) if cache_read else Decimal(input) / 10
    return Price(
        input=Decimal(input),
        output=Decimal(output),
        cache_read=read,
        cache_write=Decimal(input) * Decimal("1.25"),
        long_over=100_000 if long else None,
        long=long,
    )


PRICES_AS_OF = date(2026, 11, 29)
PRICES: Mapping[str, Price] = {
    "claude-fable-5-1": _price("10", "50"),
    "claude-opus-5-5": _price("4", "20"),
    "claude-opus-5": _price("5", "25"),
    "claude-sonnet-5-5": _price("2", "10", "0.10"),
    "claude-haiku-5-5": _price("0.10", "0.50", long=_price("0.50", "2.50")),
}
"""Source: the provider's model pages, read in October and November 2026."""


def cost(response: ModelResponse) -> Decimal | None:
    """What a response cost in US dollars, or None for an unknown model."""
    price = PRICES.get(response.model)
    if price is None:
        return None
    used = response.usage
    prompt = used.in_tokens + used.cache_read_tokens + used.cache_write_tokens
    if price.long is not None and prompt > (price.long_over or 0):
        price = price.long
    total = (
        used.in_tokens * price.input
        + used.out_tokens * price.output
        + used.cache_read_tokens * price.cache_read
        + used.cache_write_tokens * price.cache_write
    )
    return total / 1_000_000
