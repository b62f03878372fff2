"""An action that waits for a supervisor, and how it is settled (rule 6)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

from core.money import money_of
from core.ticket import Actor, ActorKind, Json, RunId, TicketId


class DecisionState(StrEnum):
    """Where a decision stands. A settled verdict stands."""

    PENDING = "pending"
    APPROVED = "approved"
    OVERRIDDEN = "overridden"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    EXECUTED = "executed"


class Role(StrEnum):
    """What an operator may do."""

    AGENT = "agent"
    SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A person who works at the console."""

    name: str
    role: Role
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a supervisor says of a decision.

    Attributes:
        kind: `approve`, `override` or `reject`.
        why: The reason; needed to reject.
        input: For an override: the new arguments.
        seen: The journal seq that the decider has looked at, or None.
    """

    kind: str
    why: str
    input: Json
    seen: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A proposal of the agent and what became of it.

    Attributes:
        id: Its name everywhere, such as `D-4F7Q2`.
        run: The run that proposed it; empty where an operator did.
        proposed_by: The run or the operator; nobody approves their own proposal.
        call: The tool call that it stands for.
        tool: The tool.
        input: The exact arguments as proposed.
        hash: sha256 of tool and arguments, re-checked at execution.
        rule: The rule that asked, in words.
        amount: In `currency`, where the tool moves money.
        object: What was to be acted on, as proposed.
        identity: The customer's id it was proposed for, or None.
        evidence: What the agent had read: seqs of tool results.
        based_on: The journal seq up to which the agent had read.
        first: Under four eyes: who approved first.
        final_input: The arguments to execute, once approved or overridden.
        final_hash: Their hash.
        policy: The version of the tools' policies it was proposed under.
        amount_in: The argument that holds the amount, where one does.
        currency_in: The argument that holds the currency.
        object_in: The argument that names what is acted on.
        unreadable: What of its record can't be read, in words: such a decision can be
            rejected and can expire; it is never approved or executed.
    """

    id: str
    ticket: TicketId
    run: RunId
    proposed_by: str
    call: str
    tool: str
    input: Json
    hash: str
    rule: str
    amount: Decimal | None
    currency: str | None
    object: str | None
    identity: str | None
    evidence: tuple[int, ...]
    based_on: int
    four_eyes: bool
    proposed_at: datetime
    expires_at: datetime
    state: DecisionState = DecisionState.PENDING
    first: str | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    why: str | None = None
    final_input: Json = None
    final_hash: str | None = None
    policy: str | None = None
    amount_in: str | None = None
    currency_in: str | None = None
    object_in: str | None = None
    unreadable: str | None = None

    @property
    def stands(self) -> Json:
        """The arguments as they stand: approved, or the first of two's, or its own."""
        return self.input if self.final_input is None else self.final_input

    @property
    def stands_hash(self) -> str:
        """Their hash."""
        return self.final_hash or self.hash

    @property
    def moves(self) -> tuple[Decimal | None, str | None]:
        """The money that the arguments move as they stand, with its currency."""
        if self.final_input is None or not isinstance(self.final_input, Mapping):
            return self.amount, self.currency
        amount = self.final_input.get(self.amount_in or "")
        currency = self.final_input.get(self.currency_in or "")
        moved = self.amount if amount is None else money_of(amount)
        return moved, self.currency if currency is None else str(currency)

    @property
    def acts_on(self) -> str | None:
        """What the arguments act on as they stand; an override may name another."""
        return self.object_of(self.final_input)

    def object_of(self, arguments: Json) -> str | None:
        """What it would act on with other arguments."""
        if self.object_in is None or not isinstance(arguments, Mapping):
            return self.object
        named = arguments.get(self.object_in)
        return str(named) if isinstance(named, str | int) else None

    @property
    def open(self) -> bool:
        """Whether it still waits for a verdict, or for its execution."""
        return self.state in _OPEN


_OPEN = {DecisionState.PENDING, DecisionState.APPROVED, DecisionState.OVERRIDDEN}
READY = {DecisionState.APPROVED, DecisionState.OVERRIDDEN}
"""The states in which a decision is to be executed, once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """To be executed exactly as proposed."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Overridden:
    """To be executed with other arguments."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Never to be executed."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOfTwo:
    """One of two needed approvals is there."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyDecided:
    """Settled before; nothing changed.

    Attributes:
        executor: Who had it executed, where it was and that is known.
    """

    decision: Decision
    executor: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """Newer buyer messages exist that the decider has not looked at.

    Attributes:
        newer: The seq of the newest.
    """

    newer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """It had waited too long; it is closed as expired."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowed:
    """The decider may not: not a supervisor, disabled, or the proposer."""

    why: str


Settlement: TypeAlias = (
    Approved
    | Overridden
    | Rejected
    | FirstOfTwo
    | AlreadyDecided
    | Stale
    | Expired
    | NotAllowed
)


def settle(
    decision: Decision,
    verdict: Verdict,
    by: Operator,
    *,
    newest_buyer_seq: int,
    now: datetime,
    begun: bool = True,
) -> Settlement:
    """What a supervisor's verdict makes of a decision.

    The caller has checked an override's arguments against schema and policy. To be
    called, and its answer stored, within one transaction. An approval can be taken
    back by rejecting as long as its execution has not `begun`.
    """
    if by.disabled or by.role is not Role.SUPERVISOR:
        return NotAllowed(why=f"{by.name} is not a supervisor")
    if decision.proposed_by == by.name and verdict.kind != "reject":
        return NotAllowed(why="nobody approves their own proposal")
    if decision.state in READY and verdict.kind == "reject" and not begun:
        return Rejected(decision=_rejected(decision, verdict, by, now))
    if decision.state is not DecisionState.PENDING:
        return AlreadyDecided(decision=decision)
    if decision.unreadable is not None and verdict.kind != "reject":
        return NotAllowed(why=cannot_be_read(decision))
    if decision.expires_at <= now:
        return Expired(decision=replace(decision, state=DecisionState.EXPIRED))
    seen = max(verdict.seen or 0, decision.based_on)
    if verdict.kind != "reject" and newest_buyer_seq > seen:
        return Stale(newer=newest_buyer_seq)
    if verdict.kind == "reject":
        return Rejected(decision=_rejected(decision, verdict, by, now))
    settled = replace(decision, decided_by=by.name, decided_at=now, why=verdict.why)
    return _approve(settled, verdict, by)


def cannot_be_read(decision: Decision) -> str:
    """Why a decision whose record is damaged is not executed, in one line."""
    return (
        f"{decision.unreadable} of {decision.id} can't be read: "
        "reject it, and let it be proposed again"
    )


def approvers(decision: Decision) -> str:
    """Who decided it, of two who approved both: `Sam`, `Sam and Noor`; or ""."""
    stands = decision.state in READY or decision.state is DecisionState.EXECUTED
    both = [decision.first if stands else None, decision.decided_by]
    return " and ".join(dict.fromkeys(name for name in both if name))


def settled_words(decision: Decision, executor: Actor | None = None) -> str:
    """What became of it by whom: `executed, approved by Sam and Noor`."""
    by = f" by {approvers(decision)}" if approvers(decision) else ""
    state = decision.state.value
    if decision.state is DecisionState.EXECUTED:
        approved = f"approved{by}" if by else ""
        hand = _hand(executor)
        return f"executed{hand}, {approved}" if approved else f"executed{hand}"
    return f"{state}{by}"


def _hand(executor: Actor | None) -> str:
    if executor is None:
        return ""
    if executor.kind is ActorKind.AGENT:
        return f" by the agent's run {executor.name}"
    return f" by {executor.name}"


def _rejected(
    decision: Decision, verdict: Verdict, by: Operator, now: datetime
) -> Decision:
    """Rejected: what was approved before, by one or by two, is no longer."""
    return replace(
        decision,
        state=DecisionState.REJECTED,
        decided_by=by.name,
        decided_at=now,
        why=verdict.why,
        final_input=None,
        final_hash=None,
    )


def _approve(settled: Decision, verdict: Verdict, by: Operator) -> Settlement:
    final = verdict.input if verdict.kind == "override" else settled.input
    final_hash = arguments_hash(settled.tool, final)
    if settled.four_eyes and settled.first is None:
        waiting = replace(settled, decided_by=None, decided_at=None, first=by.name)
        waiting = replace(waiting, final_input=final, final_hash=final_hash)
        return FirstOfTwo(decision=waiting)
    if settled.four_eyes and settled.first == by.name:
        return NotAllowed(why=f"{by.name} has approved it already; another must too")
    if settled.four_eyes and settled.final_hash != final_hash:
        why = f"{settled.first} approved it with other arguments: look at them"
        return NotAllowed(why=why)
    settled = replace(settled, final_input=final, final_hash=final_hash)
    if final_hash == settled.hash:
        return Approved(decision=replace(settled, state=DecisionState.APPROVED))
    return Overridden(decision=replace(settled, state=DecisionState.OVERRIDDEN))


def canonical(value: Json) -> str:
    """JSON with sorted keys and no spaces: equal values, equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def arguments_hash(tool: str, arguments: Json) -> str:
    """sha256 of a tool call, as shown on the card and checked at execution."""
    text = f"{tool}\n{canonical(arguments)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
