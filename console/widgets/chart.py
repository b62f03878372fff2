"""The session chart, as lines: who the buyer is proven to be first, then the rest.

`chart_lines` fills the pane at the right of a wide screen; `strip_lines` says the
same in the few lines that a narrower one can spare.
"""

import json
from collections.abc import Mapping
from datetime import datetime

from console.measures import count, money, span_of, when
from console.widgets.card_lines import to_carry_out
from console.widgets.chart_runs import runs_lines
from console.widgets.sight import Sight, title_line
from console.widgets.spans import (
    EMPTY,
    Line,
    Span,
    clip,
    fit,
    line,
    named,
    paragraph,
    width_of,
)
from console.wording import LOST_LOCK, identity_change, lost_of, state_of
from core.cleanse import one_line
from core.decision import Decision, DecisionState, approvers
from core.history import History
from core.identity import Identity
from core.journal import IdentityChanged, Message
from core.ledger import ActionState
from core.ticket import ActorKind

_NAME = 10


def chart_lines(history: History, sight: Sight) -> list[Line]:
    """The whole chart, in sections."""
    sections = [
        damage_lines(history, sight),
        identity_lines(history, sight),
        [*_lock(history, sight), *_presence(history, sight)],
        _decisions(history, sight),
        _state(history, sight),
        _money(history, sight),
        runs_lines(history, sight),
        _others(sight),
        _ticket(history, sight),
    ]
    lines: list[Line] = []
    for section in sections:
        if section:
            lines += [*section, EMPTY]
    return [clip(spans, sight.width) for spans in lines]


def strip_lines(history: History, sight: Sight) -> list[Line]:
    """The chart in a few lines: identity, money, state."""
    lines = identity_lines(history, sight)
    lost = lost_of(history)
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        lines.insert(0, line((f"! {lost[0]}{more}", "harm")))
    moved = _money_words(history)
    if moved:
        lines.append((*line((fit("MONEY", _NAME), "strong")), *moved))
    words = _state_words(history)
    if words:
        lines.append(line((fit("STATE", _NAME), "strong"), (words, "dim")))
    return [clip(spans, sight.width) for spans in lines]


def damage_lines(history: History, sight: Sight) -> list[Line]:
    """What of the ticket's records can't be read, or nothing."""
    lost = lost_of(history)
    if not lost:
        return []
    said = [paragraph(f"! {words}", sight.width, "harm") for words in lost]
    return [title_line("DAMAGED"), *(shown for words in said for shown in words)]


def identity_lines(history: History, sight: Sight) -> list[Line]:
    """Who the buyer is verified to be, how, by whom; or that nobody knows."""
    identity = history.standing.identity
    claim = one_line(history.ticket.claim or "nothing", 120)
    past = _identity_history(history, sight)
    if identity is None:
        return [
            line((" UNVERIFIED ", "solid-quiet"), (" claims to be", "dim")),
            *named("claim", f"From: {claim}", sight.width, role="wait", column=_NAME),
            *past,
        ]
    head = one_line(identity.name or identity.customer, 80)
    return [
        line((" VERIFIED ", "solid-ok"), (f" {head}", "strong")),
        *_named("customer", one_line(identity.customer, 60), sight),
        *_named("how", one_line(identity.method.replace("_", " "), 60), sight),
        *_named("evidence", one_line(identity.evidence, 200), sight),
        *_named("by", _by(identity, history, sight), sight),
        *_named("claim", f"From: {claim}", sight),
        *past,
    ]


def _identity_history(history: History, sight: Sight) -> list[Line]:
    """What was recorded before, once there was more than one word on it."""
    bodies = [(e, e.body) for e in history.journal]
    changes = [(e, b) for e, b in bodies if isinstance(b, IdentityChanged)]
    question = history.standing.identity_question
    lines: list[Line] = []
    if question is not None:
        said = f"{one_line(question, 160)}; only a person records who it is"
        lines += named("question", said, sight.width, role="wait", column=_NAME)
    if len(changes) < _WORDS_ON_IT:
        return lines
    for entry, body in changes:
        at = when(entry.at, sight.now, sight.zone, brief=True)
        who = entry.actor
        by = "agent" if who.kind is ActorKind.AGENT else one_line(who.name, 20)
        lines += _named(f"#{entry.seq}", f"{identity_change(body)} · {by} {at}", sight)
    return lines


_WORDS_ON_IT = 2
"""From so many entries on, the history of an identity is told."""


def _by(identity: Identity, history: History, sight: Sight) -> str:
    at = when(identity.at, sight.now, sight.zone)
    del history
    if identity.by.kind is ActorKind.AGENT:
        return f"agent, run {one_line(identity.by.name, 24)} · {at}"
    who = "you" if identity.by.name == sight.me else one_line(identity.by.name, 30)
    return f"{who} · {at}"


def _named(name: str, value: str, sight: Sight) -> list[Line]:
    return named(name, value, sight.width, column=_NAME)


def _lock(history: History, sight: Sight) -> list[Line]:
    s, lock = history.standing, history.lock
    token = ("", f" · token {lock.token}")
    if lock.unreadable:
        return [title_line("LOCK"), *paragraph(LOST_LOCK, sight.width, "wait")]
    if s.held_by is not None and s.held_since is not None:
        mine = s.held_by == sight.me
        who = "you hold it" if mine else f"{one_line(s.held_by, 30)} holds it"
        since = f" since {when(s.held_since, sight.now, sight.zone)}{token[1]}"
        symbol = "■ " if mine else "□ "
        role = "yours" if mine else "other"
        return [title_line("LOCK"), line((symbol, role), (who, role), (since, "dim"))]
    if s.run is not None:
        lines = [
            title_line("LOCK"),
            line(
                ("● ", "agent"),
                (f"run {one_line(s.run, 20)}", "agent"),
                (f", turn {s.run_turn or 1}{token[1]}", "dim"),
            ),
        ]
        if s.wanted_by is not None:
            who = "you" if s.wanted_by == sight.me else one_line(s.wanted_by, 24)
            lines.append(line(("◐ ", "yours"), (f"{who} asked to take over", "yours")))
        return lines
    if s.offered_to is not None:
        to = "you" if s.offered_to == sight.me else one_line(s.offered_to, 24)
        by = one_line(s.offered_by or "", 24)
        offered = line(
            ("▲ ", "wait"), (f"offered to {to}", "wait"), (f" by {by}", "dim")
        )
        return [title_line("LOCK"), offered]
    waits = " · waits for a decision" if s.pending else ""
    return [
        title_line("LOCK"),
        line(
            ("○ ", "wait" if s.pending else "dim"),
            ("free", "text"),
            (f"{waits}{token[1]}", "dim"),
        ),
    ]


def _presence(history: History, sight: Sight) -> list[Line]:
    """What colleagues do at this ticket."""
    return [
        line((f"  {one_line(name, 30)}", "text"), (words, "wait"))
        for name, words in sight.presence.items()
        if words.startswith(" ·") or history.standing.held_by == name
    ]


def _decisions(history: History, sight: Sight) -> list[Line]:
    lines: list[Line] = []
    for decision in history.decisions:
        if decision.state is DecisionState.PENDING:
            lines += _pending(decision, sight)
        elif decision.open:
            lines += _approved(decision, history, sight)
    return [title_line("DECISION"), *lines] if lines else []


def _approved(decision: Decision, history: History, sight: Sight) -> list[Line]:
    """What is approved, by whom, and who will carry it out."""
    amount = money(*decision.moves)
    by = one_line(approvers(decision), 50)
    return [
        line(
            ("○ ", "ok"),
            (f"{amount} " if amount else "", "strong"),
            (one_line(decision.tool, 30), "strong"),
            (f" {one_line(decision.id, 20)}", "dim"),
        ),
        line((f"  approved by {by}, not carried out", "dim")),
        clip(to_carry_out(history, sight, margin="  "), sight.width),
    ]


def _pending(decision: Decision, sight: Sight) -> list[Line]:
    amount = money(*decision.moves)
    left = span_of(decision.expires_at - sight.now)
    first = (
        f" · {one_line(decision.first, 20)} approved, one more"
        if decision.first
        else ""
    )
    opens = f" · {sight.keys['decide']} opens it"
    ends = line((f"  expires in {left}{first}", "dim"))
    if width_of(ends) + len(opens) <= sight.width:
        ends = (*ends, Span(opens, "key", "decide"))
    return [
        line(
            ("▲ ", "wait"),
            (f"{amount} " if amount else "", "wait-strong"),
            (one_line(decision.tool, 30), "strong"),
            (f" {one_line(decision.id, 20)}", "dim"),
        ),
        ends,
    ]


def _state(history: History, sight: Sight) -> list[Line]:
    s = history.standing
    lines: list[Line] = []
    if s.triage is not None:
        category, priority = s.triage
        said = f"{one_line(category, 30)} · {one_line(priority, 20)}"
        lines += _named("triage", said, sight)
    if s.with_people is not None:
        said = one_line(s.with_people, 200)
        lines += named("people", said, sight.width, role="wait", column=_NAME)
    if s.paused is not None:
        said = one_line(s.paused, 200)
        lines += named("paused", said, sight.width, role="wait", column=_NAME)
    if s.owner is not None:
        lines += _named("owner", one_line(s.owner, 40), sight)
    if s.snoozed_until is not None:
        lines += _named("sleeps", _sleeps(s.snoozed_until, sight), sight)
    for name, value in list(s.task_state.items())[:12]:
        lines += _named(one_line(name, 9), _brief(value), sight)
    return [title_line("STATE"), *lines] if lines else []


def _sleeps(until: str, sight: Sight) -> str:
    try:
        at = datetime.fromisoformat(until)
    except ValueError:
        return f"until {one_line(until, 30)}"
    return f"until {when(at, sight.now, sight.zone)}"


def _state_words(history: History) -> str:
    s = history.standing
    words = [one_line(part, 24) for part in s.triage or ()]
    if s.with_people is not None:
        words.append(one_line(s.with_people, 60))
    words += [_brief(value) for value in list(s.task_state.values())[:3]]
    return " · ".join(words)


def _brief(value: object) -> str:
    if isinstance(value, str):
        return one_line(value, 160)
    if isinstance(value, Mapping):
        parts = [
            f"{k} {v if isinstance(v, str) else json.dumps(v)}"
            for k, v in value.items()
        ]
        return one_line(", ".join(parts), 160)
    return one_line(json.dumps(value, ensure_ascii=False, default=str), 160)


_ACTION = {
    ActionState.DONE: ("✓ ", "ok"),
    ActionState.FAILED: ("✗ ", "dim"),
    ActionState.NOT_RUN: ("✗ ", "dim"),
    ActionState.IN_DOUBT: ("! ", "harm"),
    ActionState.INTENDED: ("◐ ", "dim"),
}


def _money(history: History, sight: Sight) -> list[Line]:
    lines: list[Line] = []
    for action in history.actions:
        symbol, role = _ACTION[action.state]
        amount = money(action.amount, action.currency)
        by = (
            "agent"
            if action.by.kind is ActorKind.AGENT
            else one_line(action.by.name, 16)
        )
        at = when(action.events[-1].at, sight.now, sight.zone, brief=True)
        what = one_line(action.tool, 24)
        doubt = " · in doubt" if action.state is ActionState.IN_DOUBT else ""
        lines.append(
            line(
                (symbol, role),
                (f"{amount:>10} " if amount else "", "strong"),
                (what, "text"),
                (doubt, "harm"),
                (f" {by} {at}", "dim"),
            )
        )
    return [title_line("ACTIONS"), *lines] if lines else []


def _money_words(history: History) -> Line:
    spans: list[tuple[str, str]] = []
    for action in history.actions[-4:]:
        symbol, role = _ACTION[action.state]
        amount = money(action.amount, action.currency) or one_line(action.tool, 20)
        spans += [(symbol, role), (f"{amount}  ", "text")]
    for decision in history.decisions:
        if not decision.open:
            continue
        pending = decision.state is DecisionState.PENDING
        amount = money(*decision.moves) or one_line(decision.tool, 20)
        spans += [
            ("▲ ", "wait") if pending else ("○ ", "ok"),
            (f"{amount} " if pending else f"{amount} approved ", "text"),
            (one_line(decision.id, 20) + "  ", "dim"),
        ]
    return line(*spans)


def _others(sight: Sight) -> list[Line]:
    """Other tickets of the same verified customer."""
    if not sight.others:
        return []
    lines: list[Line] = [title_line("SAME CUSTOMER")]
    for row in sight.others:
        word = state_of(
            row,
            sight.me,
            sight.now,
            workers=1,
            stopped=sight.stopped is not None,
            zone=sight.zone,
        )
        act = f"ticket:{row.ticket}"
        lines.append(
            (
                Span(f"{word.symbol} ", word.role, act),
                Span(fit(one_line(row.ticket, 24), 10) + " ", "text", act),
                Span(one_line(row.subject or "(no subject)", 60), "dim", act),
            )
        )
    return lines


def _ticket(history: History, sight: Sight) -> list[Line]:
    ticket = history.ticket
    said = sum(isinstance(e.body, Message) for e in history.journal)
    said -= sum(reply.state == "discarded" for reply in history.outbox)  # never sent
    opened = when(ticket.created_at, sight.now, sight.zone)
    said_words = count(said, "message")
    return [
        title_line("TICKET"),
        *paragraph(one_line(ticket.subject or "(no subject)", 200), sight.width),
        *paragraph(
            f"{one_line(ticket.channel, 20)} · opened {opened} · {said_words}",
            sight.width,
            "dim",
        ),
        *(
            [line(("imported, finished", "dim"))]
            if ticket.origin.value == "imported"
            else []
        ),
    ]
