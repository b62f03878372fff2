"""Why a call was made, asked about or refused: answered from the records alone.

Rules change; the records keep the version that each call was judged under, and the
store keeps every version's text. So weeks later, under another configuration, the
answer is still the one that was true then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.builtin import BUILTINS
from core.history import History
from core.journal import (
    ActionChanged,
    DecisionChanged,
    Entry,
    Refused,
    ToolCalled,
    ToolReturned,
)
from core.policy import Rules, why_allowed
from core.ticket import JsonObject

_OWN = {spec.name for spec in BUILTINS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the rules said of one tool call.

    Attributes:
        asked: The journal entry of the call.
        tool: Its tool.
        verdict: `allowed`, `asked` (a supervisor), `refused`, or `not judged` where it
            never came to that.
        why: In words.
        decision: The decision that it became, or None.
        policy: The version of the rules, or None where none is recorded.
        rule: The tool's rule as it was then; None where its text is not kept.
        again: What was judged later, in order: an override, the beginning of the call.
    """

    asked: Entry
    call: str
    tool: str
    verdict: str
    why: str
    decision: str | None
    policy: str | None
    rule: "JsonObject | None"
    again: "tuple[JudgedAgain, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAgain:
    """A later judgement of the same call.

    Attributes:
        at: The journal entry that tells of it.
        what: `overridden by NAME`, or `begun as ACTION`.
        policy: The version of the rules.
    """

    at: Entry
    what: str
    policy: str


def judged(history: History, kept: Iterable[Rules]) -> tuple[Judged, ...]:
    """What the rules said of each tool call on a ticket, oldest first.

    Args:
        history: The ticket.
        kept: All versions of the rules; one that is not intact counts as not kept.
    """
    rules = {r.version: r for r in kept if r.intact}
    said = _said(history)
    return tuple(
        _judged(entry, entry.body, history, said.get(entry.body.id), rules)
        for entry in history.journal
        if isinstance(entry.body, ToolCalled) and entry.body.name not in _OWN
    )


_Said = Refused | ActionChanged | ToolReturned


def _said(history: History) -> Mapping[str, _Said]:
    """The first word of the rules on each call."""
    found: dict[str, _Said] = {}
    for entry in history.journal:
        match entry.body:
            case Refused(call=str(call)) | ActionChanged(call=str(call)) as body:
                found.setdefault(call, body)
            case ToolReturned(id=call) as body:
                found.setdefault(call, body)
            case _:
                pass
    return found


def _judged(
    entry: Entry,
    call: ToolCalled,
    history: History,
    said: _Said | None,
    rules: Mapping[str, Rules],
) -> Judged:
    decision = history.decision_for(call.id)
    policy = said.policy if said is not None else None
    policy = decision.policy if decision is not None else policy
    version = rules.get(policy or "")
    rule = version.of(call.name) if version is not None else None
    if decision is not None:
        verdict, why = "asked", decision.rule
    elif isinstance(said, Refused):
        verdict, why = "refused", said.rule
    elif said is None or said.policy is None:
        verdict, why = "not judged", "no rule is recorded for it"
    else:
        verdict, why = "allowed", why_allowed(rule) if rule else "its rule allowed it"
    return Judged(
        asked=entry,
        call=call.id,
        tool=call.name,
        verdict=verdict,
        why=why,
        decision=decision.id if decision is not None else None,
        policy=policy,
        rule=rule,
        again=_again(history, call.id),
    )


def _again(history: History, call: str) -> tuple[JudgedAgain, ...]:
    """What was judged after the proposal; nobody overrides their own."""
    decision = history.decision_for(call)
    proposer = decision.proposed_by if decision is not None else None
    begun = {a.id: a.policy for a in history.actions if a.call == call}
    found = []
    for entry in history.journal:
        match entry.body:
            case DecisionChanged(call=id_, policy=str(policy)) if (
                id_ == call and entry.actor.name != proposer
            ):
                what = f"overridden by {entry.actor.name}"
                found.append(JudgedAgain(at=entry, what=what, policy=policy))
            case ActionChanged(action=action, state="intended") if begun.get(action):
                what, policy = f"begun as {action}", begun[action] or ""
                found.append(JudgedAgain(at=entry, what=what, policy=policy))
            case _:
                pass
    return tuple(found)
