"""What a tool call may do: free, needs identity, needs a decision, forbidden.

A limit is a number without a currency, and no rate is known here. One call's amount is
held against it in the call's own currency. Where a sum counts, of a ticket or a day,
what was moved in other currencies takes up the same limit, number by number: so a
second currency opens no second limit. That is a bound and no sum of money; people are
shown each currency by itself.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import TypeAlias

from core.decision import Decision, canonical
from core.fitting import invalid_arguments
from core.history import History
from core.ledger import Action, Sums, by_currency
from core.money import meant, money_of, too_fine
from core.ticket import Json, JsonObject
from core.tool import Approve, Consequence, ToolCall, ToolPolicy, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """It may be called now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsIdentity:
    """The buyer must be verified first."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsDecision:
    """A supervisor decides.

    Attributes:
        rule: The rules that ask, in words, all of them.
        four_eyes: Whether two different people must approve.
    """

    rule: str
    four_eyes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbid:
    """It is not called, and nobody is asked to approve it.

    Attributes:
        why: One line for whoever asked.
    """

    why: str


Judgement: TypeAlias = Allow | NeedsIdentity | NeedsDecision | Forbid


def judge(
    call: ToolCall,
    spec: ToolSpec | None,
    history: History,
    *,
    spent_today: Sums = MappingProxyType({}),
) -> Judgement:
    """What the policy says of a call on this ticket now.

    Args:
        call: The call, unchecked.
        spec: The tool, or None where there is none of this name.
        history: The ticket.
        spent_today: What this tool moved today on all tickets.
    """
    if spec is None:
        return Forbid(why=f"there is no tool {call.name!r}")
    wrong = _unclear(spec, call.input) or invalid_arguments(spec, call.input)
    if wrong is not None:
        return Forbid(why=wrong)
    policy = spec.policy
    if policy.consequence is not Consequence.NONE:
        taken = busy_with(policy, call, history.decisions, history.actions)
        if taken is not None:
            return Forbid(why=taken)
    if policy.identity and history.standing.identity is None:
        return NeedsIdentity(why=_unverified(history.standing.identity_question))
    return _decide(policy, call, history, spent_today)


def _unverified(question: str | None) -> str:
    if question is None:
        return "the buyer is not verified yet"
    return (
        f"the buyer's identity is in question ({question}); "
        "a person must record who it is"
    )


def _decide(
    policy: ToolPolicy, call: ToolCall, history: History, spent_today: Sums
) -> Judgement:
    amount = amount_of(policy, call.input)
    if policy.amount is not None and amount is None:
        return Forbid(why=f"{policy.amount} is not a positive amount of money")
    moved = amount or Decimal(0)
    currency = text_argument(policy.currency, call.input)
    rule = _rule(policy, moved, currency, history.spent_on_ticket(), spent_today)
    if rule is None:
        return Allow()
    return NeedsDecision(rule=rule, four_eyes=_needs_two(policy, moved))


def _unclear(spec: ToolSpec, arguments: Json) -> str | None:
    """Why the amount can't be meant as it is written, in words, or None.

    Said before the tool's own schema is asked, which would only name its pattern.
    """
    name = spec.policy.amount
    if name is None or not isinstance(arguments, Mapping):
        return None
    amount, hint = amount_of(spec.policy, arguments), meant(arguments.get(name))
    if amount is not None:
        hint = too_fine(amount, _currency(spec, arguments))
    return hint and f"{name}: {hint}"


def _currency(spec: ToolSpec, arguments: Json) -> str | None:
    """The currency of a call: as it says, else what its schema takes for unsaid."""
    name, known = spec.policy.currency, spec.input_schema.get("properties")
    said = known.get(name) if name and isinstance(known, Mapping) else None
    default = said.get("default") if isinstance(said, Mapping) else None
    unsaid = default if isinstance(default, str) else None
    return text_argument(name, arguments) or unsaid


def _rule(
    policy: ToolPolicy,
    amount: Decimal,
    currency: str | None,
    on_ticket: Sums,
    today: Sums,
) -> str | None:
    """All that asks for a decision, or None."""
    asks: list[str] = []
    if policy.approve is Approve.ALWAYS:
        asks.append(f"{policy.consequence.value} always needs a decision")
    over = policy.approve_over if policy.approve is Approve.OVER else None
    if over is not None and amount > over:
        asks.append(f"{policy.consequence.value} over {over}")
    for limit, where, before in (
        (policy.limit_per_ticket, "ticket", on_ticket),
        (policy.limit_per_day, "day", today),
    ):
        sums = by_currency([*((v, k) for k, v in before.items()), (amount, currency)])
        if limit is not None and _fills(sums) > limit:
            asks.append(f"over {limit} on one {where}{_several(sums)}")
    if asks and _needs_two(policy, amount):
        asks.append(f"four eyes over {policy.four_eyes_over}")
    return "; ".join(asks) or None


def _needs_two(policy: ToolPolicy, amount: Decimal) -> bool:
    return policy.four_eyes_over is not None and amount > policy.four_eyes_over


def _fills(sums: Sums) -> Decimal:
    """How much of a limit is taken up: the numbers alone, whatever the currency."""
    return sum(sums.values(), Decimal(0))


def _several(sums: Sums) -> str:
    """The sums, where more than one currency counts; else the limit says it all."""
    if len(sums) < 2:  # noqa: PLR2004 # several
        return ""
    parts = ", ".join(f"{v:f} {k or 'without a currency'}" for k, v in sums.items())
    return f", all currencies counted: {parts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The tools' policies as they were in force at some time.

    Attributes:
        version: sha256 of `tools` as canonical JSON.
        tools: By the tool's name, the fields of its policy as text.
        first_seen: When the store saw them first, or None before.
    """

    version: str
    tools: JsonObject
    first_seen: datetime | None = None

    @property
    def intact(self) -> bool:
        """Whether the text is the very one that the version names."""
        return self.version == _version(self.tools)

    def of(self, tool: str) -> "JsonObject | None":
        """The policy of a tool; None for one that had none."""
        rule = self.tools.get(tool)
        return rule if isinstance(rule, Mapping) else None


def rules_of(specs: Iterable[ToolSpec]) -> Rules:
    """The policies that hold now, to be kept with what they decide."""
    tools: dict[str, Json] = {
        s.name: {f.name: _plain(getattr(s.policy, f.name)) for f in _RULES}
        for s in specs
        if not s.builtin
    }
    return Rules(version=_version(tools), tools=tools)


def _version(tools: JsonObject) -> str:
    return hashlib.sha256(canonical(tools).encode()).hexdigest()


def why_allowed(rule: JsonObject) -> str:
    """Why a call was made without asking anybody, by the rule that was in force."""
    consequence = rule.get("consequence")
    verified = ", the buyer verified" if rule.get("identity") is True else ""
    if consequence == Consequence.NONE.value:
        return f"it only reads{verified}"
    limits = [
        f"{words} {rule[name]}"
        for name, words in _LIMITS.items()
        if rule.get(name) is not None
    ]
    within = f", within {'; '.join(limits)}" if limits else ""
    return f"{consequence} needs no decision{within}{verified}"


_LIMITS = {
    "approve_over": "a call's",
    "limit_per_ticket": "a ticket's",
    "limit_per_day": "a day's",
}


_RULES = fields(ToolPolicy)


def _plain(value: object) -> Json:
    return value if isinstance(value, bool | None) else str(value)


def amount_of(policy: ToolPolicy, arguments: Json) -> Decimal | None:
    """The positive, finite amount that a call moves, or None."""
    if policy.amount is None or not isinstance(arguments, Mapping):
        return None
    amount = money_of(arguments.get(policy.amount))
    if amount is None or not amount.is_finite() or amount <= 0:
        return None
    return amount if abs(amount.adjusted()) <= _DIGITS else None


_DIGITS = 15
"""No sum of money is larger, or a smaller part of one: `1e999999999` is no amount."""


def text_argument(name: str | None, arguments: Json) -> str | None:
    """The text of a named argument, or None."""
    if name is None or not isinstance(arguments, Mapping):
        return None
    value = arguments.get(name)
    return str(value) if isinstance(value, str | int) else None


def busy_with(
    policy: ToolPolicy,
    call: ToolCall,
    decisions: Iterable[Decision],
    actions: Iterable[Action],
) -> str | None:
    """Why the object of a call can't take another action now, or None.

    Two proposals for the same object are one, and nothing is done to an object
    while it is unknown what became of the last action on it.
    """
    name = text_argument(policy.object, call.input)
    if name is None:
        return None
    for action in actions:
        if action.object == name and action.open and action.call != call.id:
            return f"{action.id} on {name} is still open; its end must be known first"
    for decision in decisions:
        if decision.acts_on == name and decision.open and decision.call != call.id:
            return f"{decision.id} on {name} is waiting for a decision already"
    return None
