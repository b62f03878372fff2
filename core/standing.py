"""Where a ticket stands: what its journal comes to, entry by entry.

`fold` is the only place where an entry changes what is derived from the journal.
The store applies it as it appends, in the same transaction, and keeps the result
beside the ticket, so that the queue, the workers and the lock rule read one small
row and can never disagree with the journal. `reduce(fold, journal, Standing())`
gives the same value again; a test holds both together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import IntEnum
from operator import attrgetter

from core.identity import Identity, question_of
from core.journal import (
    ActionChanged,
    Claimed,
    Compacted,
    DecisionChanged,
    Delivery,
    Entry,
    Escalated,
    IdentityChanged,
    LockChanged,
    Message,
    Paused,
    RunChanged,
    Snoozed,
    StateAmended,
    Triaged,
)
from core.ticket import ActorKind, Json, JsonObject, Status


class Approval(IntEnum):
    """What the proposals of a ticket wait for, the most urgent first."""

    VERDICT = 0
    """Somebody has to approve or reject."""

    PERSON = 1
    """Approved; a person has to carry it out, or to give the ticket back."""

    AGENT = 2
    """Approved; the ticket's next run carries it out."""


_PROPOSED_AT = 4
"""Where a pending decision has the time of its proposal."""

UNANSWERED_KEPT = 100
"""How many unanswered messages are kept with their times; the last is always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a ticket's journal comes to.

    Attributes:
        last_seq: The newest entry.
        last_at: Its time.
        last_buyer_seq: The newest message of the buyer, 0 for none.
        last_buyer_at: Its time.
        answered_seq: Messages up to it are covered by a reply (rule 3).
        unanswered: `(seq, at)` of the buyer's messages after it, oldest first.
        on_their_way: Our replies that have not left yet, as `(seq, answers)`: if one
            never leaves, what it answered is unanswered again.
        wake_seq: The newest entry that asks the agent to look again.
        attended_seq: The newest entry that the agent had looked at when it let go.
        with_people: Why the ticket is in people's hands, or None.
        people_since: Since when, where nobody of them has answered the buyer since.
        resolved: Whether it was resolved and nothing came since.
        paused: Why the agent is stopped on this ticket, or None.
        owner: The operator who looks after it while the agent goes on, or None.
        snoozed_until: Until when it sleeps, RFC 3339, or None.
        held_by: The operator who holds, or None.
        held_since: Since when.
        wanted_by: The operator who waits for the run.
        run: The run that works on it, or None.
        run_turn: Its turn.
        run_since: Since when it works.
        pending: Decisions that wait for a verdict: id to `[tool, amount, currency,
            expires_at, proposed_at]`.
        ready: Ids of approved decisions not executed yet.
        doubts: Ids of actions in doubt.
        withheld: Seqs of agent replies caught by a take-over.
        undelivered: Seqs of replies that can't be delivered.
        triage: `(category, priority)`, or None.
        identity: The verified identity, or None.
        identity_question: Why only a person may verify the buyer now, or None.
        offered_to: The colleague who was asked to take the ticket, or None.
        offered_by: Who asked.
        task_state: The agent's working state.
        compacted_upto: Seq up to which a summary stands for the journal.
        last_out: `agent` or `operator`: who had our side's last word.
        messages: How many messages, in and out.
    """

    last_seq: int = 0
    last_at: datetime | None = None
    last_buyer_seq: int = 0
    last_buyer_at: datetime | None = None
    answered_seq: int = 0
    unanswered: tuple[tuple[int, datetime], ...] = ()
    on_their_way: tuple[tuple[int, tuple[tuple[int, datetime], ...]], ...] = ()
    wake_seq: int = 0
    attended_seq: int = 0
    with_people: str | None = None
    people_since: datetime | None = None
    resolved: bool = False
    paused: str | None = None
    owner: str | None = None
    snoozed_until: str | None = None
    held_by: str | None = None
    held_since: datetime | None = None
    wanted_by: str | None = None
    run: str | None = None
    run_turn: int = 0
    run_since: datetime | None = None
    pending: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    ready: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    withheld: tuple[int, ...] = ()
    undelivered: tuple[int, ...] = ()
    triage: tuple[str, str] | None = None
    identity: Identity | None = None
    identity_question: str | None = None
    offered_to: str | None = None
    offered_by: str | None = None
    task_state: JsonObject = field(default_factory=dict)
    compacted_upto: int = 0
    last_out: str | None = None
    messages: int = 0

    @property
    def waiting_since(self) -> datetime | None:
        """Since when the buyer has waited for an answer, or None."""
        return self.unanswered[0][1] if self.unanswered else None

    @property
    def ours_since(self) -> datetime | None:
        """Since when the ticket has waited for somebody here, or None.

        From the oldest of what waits: a message of the buyer, a proposal, or what a
        person was asked for. So it grows whoever writes meanwhile.
        """
        proposed = (at for p in self.pending.values() for at in p[_PROPOSED_AT:])
        times = [datetime.fromisoformat(at) for at in proposed if at]
        times += [at for _, at in self.unanswered[:1]]
        times += [] if self.people_since is None else [self.people_since]
        return min(times, default=None)

    @property
    def due(self) -> bool:
        """Whether the agent should look, were it free to (protocol "Arrival")."""
        asked = self.last_buyer_seq if self.unanswered else 0
        return (
            max(asked, self.wake_seq) > self.attended_seq
            and self.with_people is None
            and self.offered_to is None
            and self.paused is None
            and self.snoozed_until is None
        )


_NAMES = tuple(f.name for f in fields(Standing))
_VALUES_OF = attrgetter(*_NAMES)


def replace(standing: Standing, **changes: object) -> Standing:
    """As `dataclasses.replace`, at half its cost: a fold is little else."""
    values = dict(zip(_NAMES, _VALUES_OF(standing), strict=True))
    return Standing(**{**values, **changes})


def fold(standing: Standing, entry: Entry) -> Standing:
    """The standing after one more entry."""
    s = _folded(standing, entry)
    if s.with_people is None and s.people_since is not None:
        return replace(s, people_since=None)
    if s.with_people is not None and standing.with_people is None:
        return replace(s, people_since=entry.at)
    return s


def _folded(standing: Standing, entry: Entry) -> Standing:
    s = replace(standing, last_seq=entry.seq, last_at=entry.at)
    match entry.body:
        case Message() as body:
            return _said(s, entry, body)
        case LockChanged() as body:
            return _lock(s, entry, body)
        case RunChanged() as body:
            return _run(s, entry, body)
        case DecisionChanged() as body:
            return _decision(s, entry, body)
        case ActionChanged() as body:
            return _action(s, body)
        case Delivery() as body:
            return _delivery(s, body)
        case _:
            return _fact(s, entry)


def status(standing: Standing) -> Status:
    """The one word for where the ticket stands, worst first."""
    s = standing
    for stands, word in (
        (bool(s.doubts), Status.IN_DOUBT),
        (s.held_by is not None, Status.HELD),
        (s.run is not None, Status.AGENT),
        (s.snoozed_until is not None, Status.WAITING_BUYER),
        (s.offered_to is not None, Status.NEEDS_HUMAN),
        (s.with_people is not None, Status.NEEDS_HUMAN),
        (s.resolved, Status.RESOLVED),
        (s.due or (s.paused is not None and bool(s.unanswered)), Status.QUEUED),
        (bool(s.pending), Status.NEEDS_DECISION),
    ):
        if stands:
            return word
    return Status.WAITING_BUYER


def approval(standing: Standing) -> Approval | None:
    """What the ticket's proposals wait for (protocol "Approval"), None for nothing."""
    s = standing
    if s.pending:
        return Approval.VERDICT
    if not s.ready:
        return None
    runs = s.run is not None or s.due or s.snoozed_until is not None
    return Approval.AGENT if s.held_by is None and runs else Approval.PERSON


def merge_patch(target: Json, patch: Json) -> Json:
    """A JSON merge patch applied. Source: RFC 7396."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _said(s: Standing, entry: Entry, body: Message) -> Standing:
    s = replace(s, messages=s.messages + 1)
    if body.direction == "in":
        kept = s.unanswered[: UNANSWERED_KEPT - 1]
        s = replace(
            s,
            last_buyer_seq=entry.seq,
            last_buyer_at=entry.at,
            unanswered=(*kept, (entry.seq, entry.at)),
            resolved=False,
            snoozed_until=None,
        )
        if body.stranger:
            return replace(s, with_people="from somebody who is not on the ticket")
        return s
    by, upto = entry.actor.kind, body.covers or 0
    answers = tuple(u for u in s.unanswered if u[0] <= upto)
    s = replace(_covered(s, upto), last_out=by.value)
    if by is not ActorKind.AGENT:
        s = replace(_answered_otherwise(s, upto), people_since=None)
    # one with a channel's own id has gone another way already
    if answers and body.external_id is None:
        return replace(s, on_their_way=(*s.on_their_way, (entry.seq, answers)))
    return s


def _covered(s: Standing, upto: int) -> Standing:
    left = tuple(u for u in s.unanswered if u[0] > upto)
    return replace(s, answered_seq=max(s.answered_seq, upto), unanswered=left)


def _answered_otherwise(s: Standing, upto: int) -> Standing:
    """A person has answered these: the agent's replies to them are not needed."""
    kept = [(m, tuple(u for u in a if u[0] > upto)) for m, a in s.on_their_way]
    return replace(s, on_their_way=tuple(k for k in kept if k[1]))


def _never_left(s: Standing, message_seq: int) -> Standing:
    """What the reply had answered is unanswered again (rule 3)."""
    again = [u for m, a in s.on_their_way if m == message_seq for u in a]
    s = _left(s, message_seq)
    if not again:
        return s
    before = min(seq for seq, _ in again) - 1
    return replace(
        s,
        unanswered=tuple(sorted((*again, *s.unanswered))),
        answered_seq=min(s.answered_seq, before),
    )


def _left(s: Standing, message_seq: int) -> Standing:
    others = tuple(r for r in s.on_their_way if r[0] != message_seq)
    return replace(s, on_their_way=others)


def _lock(s: Standing, entry: Entry, body: LockChanged) -> Standing:
    by_person = body.holder.get("kind") == "operator"
    name = body.holder.get("name")
    person = name if by_person and isinstance(name, str) else None
    match body.change:
        case "wanted":
            return replace(s, wanted_by=person if body.until is None else None)
        case "acquired" | "handed_over" | "forced" if by_person:
            return replace(
                s,
                held_by=person,
                held_since=entry.at,
                wanted_by=None,
                resolved=False,
                snoozed_until=None,
                offered_to=None,
                offered_by=None,
            )
        case "acquired" if isinstance(name, str):
            return replace(s, run=name, run_turn=0, run_since=entry.at)
        case "expired" | "released":
            s = replace(s, run=None, run_since=None, held_by=None, held_since=None)
            return _given_back(s, entry, body) if body.to is not None else s
        case "offered":
            return replace(s, offered_to=person, offered_by=entry.actor.name)
        case "declined":
            people = s.with_people or f"{person} declined it"
            return replace(s, offered_to=None, offered_by=None, with_people=people)
        case _:
            return s


def _given_back(s: Standing, entry: Entry, body: LockChanged) -> Standing:
    match body.to:
        case "resolved":
            # what a reply on its way answers is open again should it never leave
            s = _covered(s, s.last_buyer_seq)
            return replace(s, resolved=True, with_people=None, attended_seq=entry.seq)
        case "agent":
            # a person's reply has also seen to what else the agent was woken for
            attended = max(s.attended_seq, s.answered_seq)
            look = body.carry_on or s.unanswered or s.ready
            wake = entry.seq if look else s.wake_seq
            return replace(s, with_people=None, attended_seq=attended, wake_seq=wake)
        case "queue":
            people = s.with_people or "given to the queue"
            since = s.people_since or entry.at
            return replace(s, with_people=people, people_since=since)
        case _:
            return s


def _run(s: Standing, entry: Entry, body: RunChanged) -> Standing:
    match body.change:
        case "turn":
            return replace(s, run_turn=body.turn or 0)
        case "ended":
            s = replace(s, run=None, run_since=None, run_turn=0)
            return replace(s, attended_seq=max(s.attended_seq, body.seen or 0))
        case _:
            return replace(s, run=body.run, run_since=entry.at)


def _decision(s: Standing, entry: Entry, body: DecisionChanged) -> Standing:
    pending = {k: v for k, v in s.pending.items() if k != body.decision}
    ready = tuple(d for d in s.ready if d != body.decision)
    match body.state:
        case "pending":
            before = s.pending.get(body.decision, ())[_PROPOSED_AT:]
            pending[body.decision] = (
                body.tool,
                body.amount,
                body.currency,
                body.expires_at,
                *(before or (entry.at.isoformat(),)),
            )
            return replace(s, pending=pending)
        case "approved" | "overridden":
            ready = (*ready, body.decision)
            return replace(s, pending=pending, ready=ready, wake_seq=entry.seq)
        case "rejected" | "expired":
            return replace(s, pending=pending, ready=ready, wake_seq=entry.seq)
        case _:
            return replace(s, pending=pending, ready=ready)


def _action(s: Standing, body: ActionChanged) -> Standing:
    doubts = tuple(d for d in s.doubts if d != body.action)
    if body.state == "in_doubt":
        doubts = (*doubts, body.action)
    return replace(s, doubts=doubts)


def _delivery(s: Standing, body: Delivery) -> Standing:
    match body.state:
        case "delivered":
            s = _left(s, body.message_seq)
        case "withheld" | "discarded" | "taken_back" | "failed":
            s = _never_left(s, body.message_seq)
        case _:
            pass
    withheld = tuple(m for m in s.withheld if m != body.message_seq)
    failed = tuple(m for m in s.undelivered if m != body.message_seq)
    if body.state == "withheld":
        withheld = (*withheld, body.message_seq)
    if body.state in {"failed", "no_channel", "in_doubt"}:
        failed = (*failed, body.message_seq)
    people = s.with_people
    if body.state == "failed":
        people = people or "a reply could not be delivered"
    return replace(s, withheld=withheld, undelivered=failed, with_people=people)


def _fact(s: Standing, entry: Entry) -> Standing:
    match entry.body:
        case Triaged(category=category, priority=priority):
            return replace(s, triage=(category, priority))
        case StateAmended(patch=patch):
            merged = merge_patch(s.task_state, patch)
            state = merged if isinstance(merged, Mapping) else {}
            return replace(s, task_state=state)
        case IdentityChanged() as body:
            question = question_of(entry, body)
            known = _identity(entry, body)
            return replace(s, identity=known, identity_question=question)
        case Escalated(reason=reason):
            return replace(s, with_people=reason)
        case Paused(paused=paused, why=why):
            return replace(s, paused=(why or "paused") if paused else None)
        case Claimed(owner=owner):
            return replace(s, owner=owner)
        case Snoozed(until=until):
            return replace(s, snoozed_until=until)
        case Compacted(upto=upto):
            return replace(s, compacted_upto=max(upto, s.compacted_upto))
        case _:
            return s


def _identity(entry: Entry, body: IdentityChanged) -> Identity | None:
    if not body.verified or body.customer is None:
        return None
    return Identity(
        customer=body.customer,
        name=body.name,
        method=body.method,
        evidence=body.evidence,
        by=entry.actor,
        at=entry.at,
        seq=entry.seq,
    )
