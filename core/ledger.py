"""The ledger of consequential tool calls, from intent to result (rule 5).

An action's intent is committed before its call and its result after. What lies
between is *in doubt*: it is retried only where the tool takes the idempotency key,
else people look. Events are dated and none is updated in place; the present state
is the last event's.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

from core.decision import canonical
from core.ticket import Actor, Json, TicketId
from core.tool import ToolPolicy, ToolResult

Sums: TypeAlias = Mapping[str, Decimal]
"""Money by its currency (`""` where none is said), which is never added across them."""


def by_currency(amounts: Iterable[tuple[Decimal | None, str | None]]) -> Sums:
    """The sum of each currency; EUR and eur are one."""
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for amount, currency in amounts:
        if amount is not None:
            sums[(currency or "").strip().upper()] += amount
    return dict(sorted(sums.items()))


class ActionState(StrEnum):
    """What an event says of an action."""

    INTENDED = "intended"
    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionEvent:
    """One dated event of an action.

    Attributes:
        n: From 1 for each action.
        by: Who or what established it.
        result: The tool's answer, where there is one.
        evidence: For a doubt and its end: what is known, in words.
    """

    n: int
    at: datetime
    state: ActionState
    by: Actor
    result: ToolResult | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One consequential tool call.

    Attributes:
        id: Its name, such as `A-8Z3KD`.
        key: The idempotency key that the tool was given.
        call: The tool call.
        decision: The decision that allowed it, or None.
        input: The exact arguments, without the key.
        identity: The customer's id it was done for, or None.
        token: The fencing token of the hold that intended it.
        policy: The version of the rules that let it begin; None for none recorded.
        events: In order.
        unreadable: What of its record can't be read, in words, or None.
    """

    id: str
    ticket: TicketId
    key: str
    call: str
    decision: str | None
    tool: str
    input: Json
    amount: Decimal | None
    currency: str | None
    object: str | None
    identity: str | None
    token: int
    by: Actor
    events: tuple[ActionEvent, ...]
    policy: str | None = None
    unreadable: str | None = None

    @property
    def state(self) -> ActionState:
        """What its last event says."""
        return self.events[-1].state

    @property
    def open(self) -> bool:
        """Whether nobody knows yet what became of it."""
        return self.state in {ActionState.INTENDED, ActionState.IN_DOUBT}


@dataclass(frozen=True, slots=True, kw_only=True)
class OnObject:
    """What was done to an object, or waits to be, on whatever ticket.

    Attributes:
        id: Of the action; of the decision while nothing is begun.
        decision: The decision that it is, or that allowed it; None where none did.
        amount: What it moves; None for nothing, or where it can't be read.
        state: An action's `done`, `intended` or `in_doubt`, else a decision's
            `pending`, `approved` or `overridden`. What moved nothing is not told.
        at: Since when it stands so.
    """

    id: str
    ticket: TicketId
    decision: str | None
    tool: str
    amount: Decimal | None
    currency: str | None
    state: str
    at: datetime


def besides(found: Iterable[OnObject], decision: str) -> tuple[OnObject, ...]:
    """What else there is on an object: not the decision itself, nor its action."""
    return tuple(one for one in found if one.decision != decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """No intent yet: store it, then call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """What became of it is known: that is the answer."""

    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """In doubt, and the tool takes the key: call again with the same key."""

    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHuman:
    """In doubt, and calling again could act twice: people look."""

    action: Action


WhatNow: TypeAlias = Execute | Reuse | Reconcile | AskHuman


def idempotency_key(ticket: TicketId, cause: str, tool: str, arguments: Json) -> str:
    """The key of an action: the same cause with the same arguments, the same key.

    Args:
        ticket: The ticket.
        cause: The id of the tool call or of the decision.
        tool: The tool.
        arguments: Without the key itself.
    """
    text = "\n".join([ticket, cause, tool, canonical(arguments)])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return "hk_" + digest[:40]


def what_now(action: Action | None, policy: ToolPolicy) -> WhatNow:
    """What is to be done about a call, given its ledger row or None."""
    if action is None:
        return Execute()
    if not action.open:
        return Reuse(result=action.events[-1].result or _settled(action))
    doubts = sum(e.state is ActionState.IN_DOUBT for e in action.events)
    if policy.idempotency is not None and doubts < _DOUBTS:
        return Reconcile(action=action)
    return AskHuman(action=action)


def _settled(action: Action) -> ToolResult:
    """What a person has found out about a call without an answer."""
    last = action.events[-1]
    done = last.state is ActionState.DONE
    found = "it was carried out" if done else "it was not carried out"
    content = f"{last.by.name} has checked: {found}. {last.evidence or ''}".strip()
    return ToolResult(content=content, is_error=not done)


_DOUBTS = 3
"""How often a call may stay without an answer before people look at it."""
