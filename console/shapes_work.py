"""The JSON of work done: runs with all that was sent, decisions, the ledger, rules.

What holds for all shapes is said in `shapes`.
"""

import json
from collections.abc import Sequence

from console.shapes_values import Shape, actor, money, when
from core.decision import Decision
from core.judged import Judged
from core.ledger import Action, ActionEvent, OnObject
from core.policy import Rules
from core.ticket import Json, JsonObject
from core.tool import ToolResult
from core.turn import Run, RunRecord, Turn, Usage


def decision(
    proposed: Decision,
    rule: "JsonObject | None" = None,
    on_object: Sequence[OnObject] | None = None,
) -> Shape:
    """A decision and what became of it, with its tool's rule as it was then.

    Args:
        proposed: The decision.
        rule: The rule.
        on_object: What else was done, or waits, on the same object, where it was read.
    """
    moved, currency = proposed.moves
    return {
        "decision": proposed.id,
        "ticket": proposed.ticket,
        "state": proposed.state.value,
        "tool": proposed.tool,
        "input": proposed.input,
        "hash": proposed.hash,
        "policy": proposed.policy,
        "policy_rule": rule,
        "rule": proposed.rule,
        "amount": money(proposed.amount),
        "currency": proposed.currency,
        "object": proposed.object,
        "identity": proposed.identity,
        "evidence": list(proposed.evidence),
        "based_on": proposed.based_on,
        "four_eyes": proposed.four_eyes,
        "run": proposed.run,
        "call": proposed.call,
        "proposed_at": when(proposed.proposed_at),
        "expires_at": when(proposed.expires_at),
        "first": proposed.first,
        "decided_by": proposed.decided_by,
        "decided_at": when(proposed.decided_at),
        "why": proposed.why,
        "final_input": proposed.final_input,
        "final_hash": proposed.final_hash,
        "final_amount": money(moved) if proposed.final_input is not None else None,
        "final_currency": currency if proposed.final_input is not None else None,
        "unreadable": proposed.unreadable,
        "on_object": None if on_object is None else [_on_object(o) for o in on_object],
    }


def _on_object(one: OnObject) -> Shape:
    return {
        "id": one.id,
        "ticket": one.ticket,
        "decision": one.decision,
        "tool": one.tool,
        "amount": money(one.amount),
        "currency": one.currency,
        "state": one.state,
        "at": when(one.at),
    }


def action(row: Action) -> Shape:
    """A row of the ledger with its events."""
    return {
        "action": row.id,
        "state": row.state.value,
        "tool": row.tool,
        "input": row.input,
        "key": row.key,
        "call": row.call,
        "decision": row.decision,
        "amount": money(row.amount),
        "currency": row.currency,
        "object": row.object,
        "identity": row.identity,
        "token": row.token,
        "policy": row.policy,
        "by": actor(row.by),
        "events": [_event(e) for e in row.events],
        "unreadable": row.unreadable,
    }


def judged(said: Judged) -> Shape:
    """What the rules said of a tool call."""
    return {
        "seq": said.asked.seq,
        "at": when(said.asked.at),
        "by": actor(said.asked.actor),
        "call": said.call,
        "tool": said.tool,
        "verdict": said.verdict,
        "why": said.why,
        "decision": said.decision,
        "policy": said.policy,
        "rule": said.rule,
        "again": [
            {"seq": a.at.seq, "what": a.what, "policy": a.policy} for a in said.again
        ],
    }


def rules(kept: Rules) -> Shape:
    """A version of the tools' rules."""
    return {
        "policy": kept.version,
        "first_seen": when(kept.first_seen),
        "intact": kept.intact,
        "tools": kept.tools,
    }


def run(made: Run) -> Shape:
    """A run without what it sent: the line of `handoff runs`."""
    return {
        "run_id": made.id,
        "ticket": made.ticket,
        "started_at": when(made.started_at),
        "ended_at": when(made.ended_at),
        "trigger": made.trigger,
        "model": made.answered_by or made.model,
        "model_asked_for": made.model,
        "prompt_version": made.prompt.version.label,
        "outcome": _outcome(made),
        "unreadable": made.unreadable,
    }


def as_sent(message: bytes) -> Json:
    """A message as it was sent; one whose stored form is damaged says so."""
    try:
        value: Json = json.loads(message)
    except ValueError:
        return {"unreadable": "its stored form is damaged"}
    return value


def run_record(record: RunRecord) -> Shape:
    """The document of `handoff run`: everything that was sent and came back."""
    made = record.run
    return {
        **run(made),
        "prompt_sha256": made.prompt.version.sha256,
        "builder": made.builder,
        "max_tokens": made.max_tokens,
        "system": made.system,
        "tools": list(made.tools),
        "messages": [as_sent(message) for message in record.messages],
        "turns": [_turn(t) for t in made.turns],
        "task_state": made.task_state,
    }


def _event(event: ActionEvent) -> Shape:
    return {
        "n": event.n,
        "at": when(event.at),
        "state": event.state.value,
        "by": actor(event.by),
        "result": result(event.result) if event.result is not None else None,
        "evidence": event.evidence,
    }


def result(answer: ToolResult) -> Shape:
    """What a tool answered."""
    return {
        "content": answer.content,
        "is_error": answer.is_error,
        "structured": answer.structured,
    }


def _outcome(made: Run) -> Shape:
    return {
        "turns": len(made.turns),
        "stop": made.stop.value if made.stop is not None else None,
        **_usage(made.usage),
        "cost_usd": money(made.cost_usd),
        "escalated": made.escalated,
        "detail": made.detail,
    }


def _usage(used: Usage) -> Shape:
    return {
        "in_tokens": used.in_tokens,
        "out_tokens": used.out_tokens,
        "cache_read_tokens": used.cache_read_tokens,
        "cache_write_tokens": used.cache_write_tokens,
    }


def _turn(turn: Turn) -> Shape:
    answer = turn.response
    said: Json = None
    if answer is not None:
        said = {
            "id": answer.id,
            "model": answer.model,
            "content": list(answer.content),
            "stop_reason": answer.stop_reason,
        }
    return {
        "turn": turn.number,
        "request": turn.upto,
        "built_at": turn.built_at,
        "requested_at": when(turn.requested_at),
        "response": said,
        "usage": _usage(answer.usage) if answer is not None else None,
        "request_id": answer.request_id if answer is not None else None,
        "applied": turn.applied,
    }
