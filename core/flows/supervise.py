"""Supervisors decide: a verdict is stored here and executed by the next holder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from core.decision import (
    AlreadyDecided,
    Approved,
    Decision,
    DecisionState,
    Expired,
    FirstOfTwo,
    NotAllowed,
    Operator,
    Overridden,
    Rejected,
    Settlement,
    Stale,
    Verdict,
    settle,
    settled_words,
)
from core.flows.recording import told
from core.journal import Refused
from core.policy import Allow, Forbid, NeedsDecision, NeedsIdentity, judge, rules_of
from core.ports import Store, Transaction
from core.ticket import operator, system
from core.tool import ToolCall, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownDecision:
    """There is no decision of this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongArguments:
    """What the verdict says can't be; `why` is one line."""

    why: str


Decided: TypeAlias = Settlement | UnknownDecision | WrongArguments


async def decide(
    store: Store,
    decision: str,
    verdict: Verdict,
    by: Operator,
    specs: Sequence[ToolSpec],
) -> Decided:
    """Settles a decision, or says why not; whatever happened is journaled.

    Args:
        store: The store.
        decision: Its id.
        verdict: What the supervisor says.
        by: The supervisor; the right is read again within the transaction.
        specs: The tools, to judge an override's arguments; an override is refused
            without the decision's own.

    Raises:
        StoreUnreachable: Nothing was changed.
    """
    return await store.write(lambda tx: _decide(tx, decision, verdict, by, specs))


def _decide(
    tx: Transaction,
    decision_id: str,
    verdict: Verdict,
    by: Operator,
    specs: Sequence[ToolSpec],
) -> Decided:
    found = tx.decision(decision_id)
    if found is None:
        return UnknownDecision()
    history = tx.history(found.ticket)
    decision = history.decision(decision_id) or found
    last = history.standing.last_seq
    if verdict.seen is not None and verdict.seen > last:
        # else whoever says a high number would have seen what is yet to come
        return WrongArguments(why=f"nobody has seen #{verdict.seen}: #{last} is last")
    if verdict.kind == "override":
        judged = _override(tx, decision, verdict, specs)
        if isinstance(judged, WrongArguments):
            refused = Refused(what=f"override {decision.id}", rule=judged.why)
            tx.append(decision.ticket, operator(by.name), refused)
            return judged
        decision = judged
    now = {o.name: o for o in tx.operators()}.get(by.name)
    begun = history.action_of(decision.id)
    outcome = settle(
        decision,
        verdict,
        now or replace(by, disabled=True),
        newest_buyer_seq=history.newest_buyer_seq(),
        now=tx.now,
        begun=begun is not None,
    )
    if isinstance(outcome, AlreadyDecided) and begun is not None:
        outcome = replace(outcome, executor=begun.by)
    _keep(tx, decision, outcome, by, verdict, specs)
    return outcome


def _override(
    tx: Transaction, decision: Decision, verdict: Verdict, specs: Sequence[ToolSpec]
) -> Decision | WrongArguments:
    """Policy is asked again on the new arguments; they may need a second person."""
    spec = next((s for s in specs if s.name == decision.tool), None)
    if spec is None:
        why = f"the tool {decision.tool} can't be reached to check the arguments"
        return WrongArguments(why=why)
    call = ToolCall(id=decision.call, name=decision.tool, input=verdict.input)
    match judge(call, spec, tx.history(decision.ticket)):
        case Forbid(why=why) | NeedsIdentity(why=why):
            return WrongArguments(why=why)
        case NeedsDecision(four_eyes=four_eyes):
            return replace(decision, four_eyes=decision.four_eyes or four_eyes)
        case Allow():
            return decision


def _keep(
    tx: Transaction,
    decision: Decision,
    outcome: Settlement,
    by: Operator,
    verdict: Verdict,
    specs: Sequence[ToolSpec],
) -> None:
    me = operator(by.name)
    match outcome:
        case Approved(decision=new) | Overridden(decision=new) | Rejected(decision=new):
            tx.save_decision(new)
            policy = _rules_of_override(tx, verdict, specs)
            tx.append(new.ticket, me, told(new, policy=policy))
        case FirstOfTwo(decision=new):
            tx.save_decision(new)
            policy = _rules_of_override(tx, verdict, specs)
            why = f"first of two: {by.name}"
            tx.append(new.ticket, me, told(new, why=why, policy=policy))
        case Expired(decision=new):
            tx.save_decision(new)
            tx.append(new.ticket, system("expiry"), told(new))
        case AlreadyDecided() | Stale() | NotAllowed():
            refused = Refused(
                what=f"{verdict.kind} {decision.id}", rule=why_not(outcome)
            )
            tx.append(decision.ticket, me, refused)


def _rules_of_override(
    tx: Transaction, verdict: Verdict, specs: Sequence[ToolSpec]
) -> str | None:
    """The version of the rules that judged new arguments, which is kept."""
    if verdict.kind != "override":
        return None
    rules = rules_of(specs)
    tx.keep_rules(rules)
    return rules.version


def why_not(outcome: AlreadyDecided | Stale | NotAllowed) -> str:
    """One line for somebody whose verdict changed nothing."""
    match outcome:
        case AlreadyDecided(decision=decision, executor=executor):
            return f"{decision.id} is already {settled_words(decision, executor)}"
        case Stale(newer=newer):
            return f"the buyer wrote #{newer} since the proposal; look at it first"
        case NotAllowed(why=why):
            return why


async def expire(store: Store) -> int:
    """Closes the decisions that nobody made in time; returns how many."""
    due = await store.read(
        lambda tx: [
            d.id
            for d in tx.decisions(open_only=True)
            if d.state is DecisionState.PENDING and d.expires_at <= tx.now
        ]
    )
    return sum([await store.write(partial(_close, decision)) for decision in due])


def _close(decision_id: str, tx: Transaction) -> int:
    decision = tx.decision(decision_id)
    if decision is None or decision.state is not DecisionState.PENDING:
        return 0
    if decision.expires_at > tx.now:
        return 0
    closed = replace(decision, state=DecisionState.EXPIRED)
    tx.save_decision(closed)
    tx.append(closed.ticket, system("expiry"), told(closed))
    return 1
