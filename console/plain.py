"""What the command line says to people: plain lines, safe on any terminal.

Made for reading and for screen readers: no boxes, no colour, one thing a line, the
most important first. Everything that somebody else wrote goes through `cleanse`. The
same facts as JSON are in `shapes`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from console.canned import STEP_WORDS, Kept, release_words
from console.measures import count, money
from console.plain_journal import compact, entry_line, stamp
from console.shapes_work import as_sent
from console.when import told
from console.wording import LOST_LOCK, delivery_word, doing, stop_words
from core.cleanse import cleanse, one_line
from core.decision import Decision, Operator, approvers, settled_words
from core.history import History, QueueRow, Reply
from core.identity import sent_under
from core.judged import Judged
from core.ledger import OnObject
from core.lock import HolderKind, Lock
from core.policy import Rules
from core.ports import Presence
from core.standing import status
from core.ticket import Json, JsonObject, Status
from core.turn import Run, RunRecord
from core.written import Unreadable, Written

_GAP = "  "
_ONE = 60


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lines in columns, the last one as wide as it is."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    widths[-1] = 0
    padded = (
        _GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)


def queue(rows: Sequence[QueueRow]) -> str:
    """The queue."""
    if not rows:
        return "No ticket in this view."
    head = ("TICKET", "STATUS", "HOLDER", "WAITING SINCE", "BUYER", "SUBJECT")
    return table(head, [_queue_row(row) for row in rows])


def _queue_row(row: QueueRow) -> Sequence[str]:
    s = row.standing
    mark = "" if s.identity is not None else "?"
    return (
        row.ticket,
        _status(row),
        one_line(s.held_by or s.run or "-", 20),
        stamp(s.waiting_since),
        one_line(row.buyer, 36) + mark,
        one_line(row.subject, _ONE),
    )


def _status(row: QueueRow) -> str:
    until = row.standing.snoozed_until
    if until is None or row.status is not Status.WAITING_BUYER:
        return row.status.value
    return f"asleep until {stamp(datetime.fromisoformat(until))}"


def holder(lock: Lock) -> str:
    """Who holds, since when."""
    if lock.holder is None:
        return "nobody"
    if lock.unreadable:
        return f"{LOST_LOCK}, token {lock.token}"
    kind = "run" if lock.holder.kind is HolderKind.RUN else "operator"
    wanted = f", wanted by {one_line(lock.wanted_by, 40)}" if lock.wanted_by else ""
    name = one_line(lock.holder.name, 40)
    return f"{kind} {name} since {stamp(lock.since)}, token {lock.token}{wanted}"


def chart(history: History, there: Sequence[Presence] = ()) -> str:
    """The session chart: identity first, then what stands, then the journal."""
    sent = sent_under(history.journal)
    entries = (entry_line(e, sent.get(e.seq)) for e in history.journal)
    return "\n".join([*facts(history, there), "", *entries])


def facts(history: History, there: Sequence[Presence] = ()) -> list[str]:
    """Where a ticket stands, a line for each fact, identity first."""
    ticket, s = history.ticket, history.standing
    known = s.identity
    lines = [
        f"{ticket.id}  {one_line(ticket.subject)}",
        f"status     {status(s).value}"
        + (f": {one_line(s.with_people)}" if s.with_people else ""),
        f"buyer      UNVERIFIED, {_claims(ticket.claim)}"
        if known is None
        else f"buyer      VERIFIED {one_line(known.name or known.customer, 100)} "
        f"({one_line(known.customer, 60)}, {one_line(known.method, 40)}, "
        f"{stamp(known.at)})",
        f"holder     {holder(history.lock)}",
    ]
    if s.identity_question is not None:
        lines.insert(3, f"           in question: {one_line(s.identity_question, 200)}")
    if s.offered_to is not None:
        to, by = one_line(s.offered_to, 40), one_line(s.offered_by or "", 40)
        lines.append(f"offered    to {to} by {by}")
    lines += [
        f"there      {one_line(p.operator, 40)}{doing(p, p.ticket, history.now)}"
        for p in there
        if p.ticket == ticket.id
    ]
    if history.stopped is not None:
        lines.append(f"paused     everywhere, {one_line(history.stopped, 100)}")
    if s.paused is not None:
        lines.append(f"paused     here, {one_line(s.paused, 100)}")
    if s.owner is not None:
        lines.append(f"owner      {one_line(s.owner, 40)}")
    if s.snoozed_until is not None:
        at = told(s.snoozed_until, to_the_second=True)
        lines.append(f"asleep     until {one_line(at, 40)}")
    if s.triage is not None:
        lines.append(f"triage     {one_line(', '.join(s.triage))}")
    if s.task_state:
        lines.append(f"state      {compact(s.task_state)}")
    lines += [f"decision   {decision_line(d)}" for d in history.decisions if d.open]
    lines += [
        f"action     {a.id} {one_line(a.tool, 40)} {a.state.value} "
        f"{money(a.amount, a.currency)}".rstrip()
        for a in history.actions
    ]
    lines += [f"reply      {_reply_line(r)}" for r in history.outbox]
    return [*lines, *(f"run        {_run_line(r)}" for r in history.runs)]


def _claims(claim: str) -> str:
    return f"claims {one_line(claim, 100)}" if claim.strip() else "claims nothing"


def decision_line(decision: Decision) -> str:
    """A decision in one line."""
    amount = money(*decision.moves)
    until = f", until {stamp(decision.expires_at)}" if decision.open else ""
    settled = one_line(settled_words(decision), 100)
    what = f"{one_line(decision.tool, 40)} {amount}".rstrip()
    return f"{decision.id} {settled}: {what} ({one_line(decision.rule, 80)}){until}"


def decisions(
    found: Sequence[Decision],
    also: Mapping[str, Sequence[OnObject]] = MappingProxyType({}),
) -> str:
    """Decisions with their exact arguments, one a line.

    Args:
        found: The decisions.
        also: What else was done, or waits, on the same object, by the decision's id.
    """
    if not found:
        return "No decision waits."
    lines = []
    for decision in found:
        lines.append(f"{decision_line(decision)}  on {decision.ticket}")
        given = _arguments(decision.stands)
        lines += [f"    {one_line(k, 40)} = {compact(v)}" for k, v in given.items()]
        if decision.stands != decision.input:
            by = one_line(decision.decided_by or decision.first or "", 40)
            asked = compact(dict(_arguments(decision.input)))
            lines.append(f"    changed by {by}; proposed was {asked}")
        lines.append(f"    {_based_on(decision)}")
        lines += [f"    also: {_on_object(one)}" for one in also.get(decision.id, ())]
        if decision.four_eyes:
            by = one_line(approvers(decision) or decision.first or "nobody yet", 80)
            lines.append(f"    needs two people; approved by {by}")
    return "\n".join(lines)


def _arguments(given: Json) -> JsonObject:
    return given if isinstance(given, Mapping) else {}


def _on_object(one: OnObject) -> str:
    amount = money(one.amount, one.currency)
    what = f"{amount} {one_line(one.tool, 40)}".strip()
    state = one.state.replace("_", " ")
    return f"{what} {state} {one.id} on {one.ticket} since {stamp(one.at)}"


def _based_on(decision: Decision) -> str:
    """What the proposal rests on: who for, and what was read."""
    buyer = one_line(decision.identity, 60) if decision.identity else "NOT VERIFIED"
    read = ", ".join(f"#{seq}" for seq in decision.evidence) or "nothing"
    return f"for {buyer}; read {read}; hash {decision.stands_hash[:12]}"


def judged(found: Sequence[Judged]) -> str:
    """Why calls were made, asked about or refused, each under its own rule."""
    if not found:
        return "No tool was called."
    lines = []
    for said in found:
        what = f"#{said.asked.seq} {stamp(said.asked.at)} {one_line(said.tool, 40)}"
        name = f" {said.decision}" if said.decision is not None else ""
        lines.append(f"{what} {said.verdict}{name}: {one_line(said.why, 200)}")
        if said.rule is not None and said.policy is not None:
            lines.append(f"    rules {said.policy[:12]}: {_rule(said.rule)}")
        lines += [
            f"    #{a.at.seq} {one_line(a.what, 60)}, under the rules {a.policy[:12]}"
            for a in said.again
        ]
    return "\n".join(lines)


def _rule(rule: JsonObject) -> str:
    """What a rule says, without what it leaves open."""
    kept = {k: v for k, v in rule.items() if v is not None and v is not False}
    return ", ".join(f"{k} {compact(v)}" for k, v in kept.items())


def versions(kept: Sequence[Rules]) -> str:
    """The versions of the rules, the newest first."""
    lines = [
        f"{r.version} since {stamp(r.first_seen)}, {count(len(r.tools), 'tool')}"
        for r in kept
    ]
    return "\n".join(lines) or "No call was judged yet."


def rules(kept: Rules) -> str:
    """One version of the rules, a tool a line."""
    head = f"{kept.version} since {stamp(kept.first_seen)}"
    if not kept.intact:
        head += "\nALTERED: this is not the text that the version names"
    lines = [
        f"{one_line(name, 60)}: {_rule(rule) if isinstance(rule, Mapping) else ''}"
        for name, rule in kept.tools.items()
    ]
    return "\n".join([head, *lines])


def value(given: Json) -> str:
    """A tool's answer, safe to read."""
    if isinstance(given, str):
        return cleanse(given, limit=20_000)
    return cleanse(json.dumps(given, indent=1, ensure_ascii=False), limit=20_000)


def outbox(rows: Sequence[Reply]) -> str:
    """The outbox."""
    if not rows:
        return "No reply is on its way."
    return "\n".join(f"{row.ticket} {_reply_line(row)}" for row in rows)


def _reply_line(row: Reply) -> str:
    why = f" ({one_line(row.why, 80)})" if row.why else ""
    if row.state in {"queued", "no_channel"} and row.not_before is not None:
        why += f" (not before {stamp(row.not_before)})"
    text = one_line(row.text, _ONE)
    to = one_line(row.to, 60)
    state, author = delivery_word(row.state), row.author.kind.value
    return f"{row.message_id} {state}{why} {author} to {to}: {text}"


def runs(found: Sequence[Run]) -> str:
    """A ticket's runs."""
    return "\n".join(_run_line(r) for r in found) or "The agent had no run here."


def _run_line(run: Run) -> str:
    stop = stop_words(run.stop.value) if run.stop is not None else "at work"
    cost = run.cost_usd
    price = f"{cost} USD" if cost is not None else "cost unknown"
    turns, model = count(len(run.turns), "turn"), run.answered_by or run.model
    lost = f", can't be read: {run.unreadable}" if run.unreadable else ""
    return (
        f"{run.id} {stamp(run.started_at)} {one_line(run.trigger, 20)}: {stop}, "
        f"{turns}, {model}, {price}{lost}"
    )


def run(record: RunRecord) -> str:
    """A run record: what was sent and what came back, turn by turn."""
    made = record.run
    lines = [_run_line(made), f"prompt {made.prompt.version.label}", ""]
    lines += [
        cleanse(json.dumps(as_sent(m), indent=1, ensure_ascii=False), limit=20_000)
        for m in record.messages
    ]
    for turn in made.turns:
        said = list(turn.response.content) if turn.response is not None else None
        lines.append(
            f"turn {turn.number} sent {turn.upto} messages, got {compact(said)}"
        )
    return "\n".join(lines)


def people(found: Sequence[Operator]) -> str:
    """The operators."""
    head = ("NAME", "ROLE", "")
    return table(
        head,
        [
            (one_line(o.name), o.role.value, "disabled" if o.disabled else "")
            for o in found
        ],
    )


def person(who: Operator) -> str:
    """An operator on a line."""
    gone = " disabled" if who.disabled else ""
    return f"{one_line(who.name)} {who.role.value}{gone}"


def canned(found: Sequence[Kept]) -> str:
    """What is written already: name, kind, and the beginning."""
    return "\n".join(_kept(k) for k in found) or "Nothing is written yet."


def _kept(kept: Kept) -> str:
    said = kept.said
    name = f"{one_line(kept.name, 60):24}"
    if isinstance(said, Unreadable):
        return f"{name} ! {one_line(said.why, 300)}"
    kind = "macro" if said.is_macro else "reply"
    return f"{name} {kind}  {one_line(said.reply, 60)}".rstrip()


def macro(said: Written) -> str:
    """All that a reply or macro would do, in order."""
    state = said.state and json.dumps(dict(said.state), ensure_ascii=False)
    parts = {
        "reply": said.reply,
        "state": state,
        "note": said.note,
        "note_for_agent": said.note_for_agent,
        "release": said.release and release_words(said.release),
    }
    return "\n".join(
        f"{STEP_WORDS[step]}:\n  " + cleanse(text).replace("\n", "\n  ")
        for step, text in parts.items()
        if text
    )
