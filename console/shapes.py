"""The JSON of the command line: what is stored, in the contract's words.

Everything here is raw: texts, inputs and results are the values as received. Times
are RFC 3339 in UTC, money is a decimal string, what is unknown is null. The plain
text for people is `plain`, which cleanses what it shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime

from console.canned import Kept
from console.shapes_values import Shape, actor, when
from console.shapes_work import action, decision, run
from console.when import told as told_time
from core.decision import Operator
from core.history import Draft, History, QueueRow, Reply
from core.identity import Identity, SentUnder, sent_under
from core.journal import (
    Body,
    DecisionChanged,
    Entry,
    IdentityChanged,
    LockChanged,
    Message,
    Snoozed,
    to_json,
)
from core.lock import Holder, HolderKind, Lock
from core.ports import Presence
from core.standing import Standing, status
from core.ticket import Json, TicketId
from core.written import Unreadable, Written

_TIMES: Mapping[type[Body], tuple[str, ...]] = {
    Message: ("sent_at",),
    LockChanged: ("since", "until"),
    Snoozed: ("until",),
    DecisionChanged: ("expires_at",),
}
"""The fields of bodies that hold a time."""


def queue_row(row: QueueRow, there: Sequence[Presence] = ()) -> Shape:
    """A line of `handoff tickets`, with who has it on the screen."""
    s = row.standing
    return {
        "ticket": row.ticket,
        "subject": row.subject,
        "channel": row.channel,
        "status": row.status.value,
        "buyer": row.buyer,
        "verified": s.identity is not None,
        "held_by": s.held_by,
        "wanted_by": s.wanted_by,
        "owner": s.owner,
        "offered_to": s.offered_to,
        "paused": s.paused,
        "snoozed_until": _time(s.snoozed_until),
        "run": s.run,
        "triage": _triage(s),
        "waiting_since": when(s.waiting_since),
        "why": s.with_people,
        "decisions": list(s.pending),
        "in_doubt": list(s.doubts),
        "withheld": list(s.withheld),
        "undelivered": list(s.undelivered),
        "messages": s.messages,
        "presence": presence(row.ticket, there),
        "created_at": when(row.created_at),
        "updated_at": when(row.updated_at),
    }


def chart(history: History, there: Sequence[Presence] = ()) -> Shape:
    """The document of `handoff show`: the whole session chart.

    Each message of ours says under which identity it was committed.
    """
    ticket, s = history.ticket, history.standing
    sent = sent_under(history.journal)
    return {
        "ticket": ticket.id,
        "subject": ticket.subject,
        "channel": ticket.channel,
        "origin": ticket.origin.value,
        "status": status(s).value,
        "why": s.with_people,
        "paused": s.paused,
        "stopped": history.stopped,
        "owner": s.owner,
        "offered_to": s.offered_to,
        "presence": presence(ticket.id, there),
        "snoozed_until": _time(s.snoozed_until),
        "triage": _triage(s),
        "created_at": when(ticket.created_at),
        "updated_at": when(s.last_at or ticket.created_at),
        "lock": lock(history.lock),
        "identity": _identity(history),
        "task_state": s.task_state,
        "journal": [entry(e) | _under(sent.get(e.seq)) for e in history.journal],
        "decisions": [decision(d) for d in history.decisions],
        "actions": [action(a) for a in history.actions],
        "runs": [run(r) for r in history.runs],
        "outbox": [reply(r) for r in history.outbox],
        "facts": [],
        "drafts": [draft(d) for d in history.drafts],
    }


def entry(line: Entry) -> Shape:
    """One line of the journal."""
    return {
        "seq": line.seq,
        "at": when(line.at),
        "actor": actor(line.actor),
        "kind": line.kind,
        "body": body(line.body),
    }


def body(told: Body) -> Shape:
    """An entry's body: unlike in the store, all flags are there and times in UTC."""
    stored = to_json(told)
    for name in _TIMES.get(type(told), ()):
        at = stored.get(name)
        if isinstance(at, str):
            stored[name] = told_time(at)
    flags = {f.name: f.default for f in fields(told) if isinstance(f.default, bool)}
    return {**flags, **stored}


def lock(held: Lock) -> Shape:
    """The ticket's lock."""
    return {
        "holder": _holder(held.holder),
        "token": held.token,
        "since": when(held.since),
        "expires_at": when(held.expires_at),
        "wanted_by": held.wanted_by,
        "unreadable": held.unreadable,
    }


def identity(known: Identity | None, claim: str) -> Shape:
    """Who the buyer is verified to be, or only claims to be."""
    if known is None:
        unknown = ("customer", "name", "method", "evidence", "by", "at")
        return {"verified": False, "claim": claim, **dict.fromkeys(unknown)}
    return {
        "verified": True,
        "claim": claim,
        "customer": known.customer,
        "name": known.name,
        "method": known.method,
        "evidence": known.evidence,
        "by": actor(known.by),
        "at": when(known.at),
    }


def _identity(history: History) -> Shape:
    """Who the buyer is, and all that was ever recorded of it on this ticket."""
    s = history.standing
    changes = [e for e in history.journal if isinstance(e.body, IdentityChanged)]
    return {
        **identity(s.identity, history.ticket.claim),
        "question": s.identity_question,
        "history": [
            {"seq": e.seq, "at": when(e.at), "by": actor(e.actor), **body(e.body)}
            for e in changes
        ],
    }


def _under(sent: SentUnder | None) -> Shape:
    """The identity of a message of ours; nothing for other entries."""
    if sent is None:
        return {}
    return {
        "identity": {
            "customer": sent.customer,
            "name": sent.name,
            "method": sent.method,
            "recorded_seq": sent.seq,
            "ended_seq": sent.ended,
        }
    }


def presence(ticket: TicketId, there: Sequence[Presence]) -> Json:
    """Whose console shows the ticket, and whether somebody types."""
    return [
        {
            "operator": p.operator,
            "doing": p.doing,
            "active_at": when(p.active_at),
            "seen_at": when(p.seen_at),
        }
        for p in there
        if p.ticket == ticket and p.here
    ]


def reply(row: Reply) -> Shape:
    """A row of the outbox."""
    return {
        "message_id": row.message_id,
        "ticket": row.ticket,
        "seq": row.seq,
        "state": row.state,
        "author": actor(row.author),
        "channel": row.channel,
        "to": row.to,
        "subject": row.subject,
        "text": row.text,
        "in_reply_to": row.in_reply_to,
        "covers": row.covers,
        "attempts": row.attempts,
        "created_at": when(row.created_at),
        "not_before": when(row.not_before),
        "delivered_at": when(row.delivered_at),
        "provider_id": row.provider_id,
        "why": row.why,
        "unreadable": row.unreadable,
    }


def draft(kept: Draft) -> Shape:
    """Text that was not sent yet."""
    return {
        "operator": kept.operator,
        "mode": kept.mode,
        "text": kept.text,
        "written_at_seq": kept.written_at_seq,
        "updated_at": when(kept.updated_at),
    }


def person(who: Operator) -> Shape:
    """An operator."""
    return {"operator": who.name, "role": who.role.value, "disabled": who.disabled}


def _triage(s: Standing) -> Json:
    if s.triage is None:
        return None
    category, priority = s.triage
    return {"category": category, "priority": priority}


def _holder(holder: Holder | None) -> Json:
    if holder is None:
        return None
    by_run = holder.kind is HolderKind.RUN
    return {
        "kind": holder.kind.value,
        "name": holder.name,
        "run": holder.name if by_run else None,
    }


def written(said: Written) -> Shape:
    """What a reply or macro does."""
    return {
        "name": said.name,
        "kind": "macro" if said.is_macro else "reply",
        "reply": said.reply or None,
        "state": said.state,
        "note": said.note or None,
        "note_for_agent": said.note_for_agent or None,
        "release": said.release,
    }


def canned(kept: Kept) -> Shape:
    """A line of `handoff canned list`."""
    said = kept.said
    by = kept.canned
    shown: Shape = {"name": kept.name, "from": "file" if by is None else "store"}
    if isinstance(said, Unreadable):
        return shown | {"kind": None, "problem": said.why}
    shown |= written(said)
    shown["by"] = None if by is None else by.by
    shown["at"] = None if by is None else when(by.at)
    return shown


def _time(text: str | None) -> str | None:
    return when(datetime.fromisoformat(text)) if text is not None else None
