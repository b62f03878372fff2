"""Stored facts in words for people: one place, so that all screens speak alike.

A state differs from every other by symbol, word and role. Times and money are in
`measures`. All functions are plain: they take `now`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import assert_never

from console.measures import (
    age,
    count,
    money,
    span_of,
    when,
)
from console.when import told
from core.cleanse import one_line
from core.decision import Decision
from core.history import History, QueueRow
from core.identity import SentUnder
from core.journal import Claimed, IdentityChanged, Paused, Quarantined, Snoozed
from core.ledger import OnObject
from core.ports import HERE, Damaged, Pause, Presence
from core.quarantine import unreadable
from core.standing import Approval, Standing, approval
from core.ticket import JsonObject, Status

VIEWS = (
    ("1", "human", "needs a person", "person"),
    ("2", "approvals", "approvals", "approvals"),
    ("3", "mine", "mine", "mine"),
    ("4", "agent", "agent at work", "agent"),
    ("5", "waiting", "waiting for the buyer", "buyer"),
    ("6", "all", "all", "all"),
)
"""Key, name in the store, words, and one word for narrow screens."""

AGENT_OFF = ("agent (not running)", "agent off")
"""Long and short words for the agent's view while no worker is alive."""

EMPTY_VIEW = {
    "human": "Nothing needs a person now. {agent} shows the agent's work, {all}"
    " everything.",
    "approvals": "No decision waits, and nothing that is approved is still to be"
    " carried out. The agent's proposals appear here.",
    "mine": "You hold no ticket. {take} on a ticket takes it over.",
    "agent": "The agent works on nothing now. {all} shows everything.",
    "waiting": "No ticket waits for its buyer.",
    "all": "There is no ticket in this store yet.",
}

NO_AGENT = "No agent is running, and no ticket waits for one. {all} shows everything."


def empty_words(view: str, workers: int | None, keys: Mapping[str, str]) -> str:
    """Why a view shows no ticket, and what to do, with the person's keys."""
    words = NO_AGENT if view == "agent" and workers == 0 else EMPTY_VIEW.get(view, "")
    return words.format_map({id_.removeprefix("view:"): k for id_, k in keys.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A state as it is shown.

    Attributes:
        symbol: One cell, readable without colour.
        words: In a word or two.
        role: How it looks.
        tail: What follows the words and stays where they are cut.
    """

    symbol: str
    words: str
    role: str
    tail: str = ""


def undecided_words(withheld: int) -> str:
    """What becomes of withheld replies that nobody decided on; "" for none."""
    if not withheld:
        return ""
    rest = "is not decided: it stays" if withheld == 1 else "are not decided: they stay"
    return f"{count(withheld, 'withheld reply', 'withheld replies')} {rest} unsent"


def what_waits(standing: Standing) -> str:
    """The pending decision in a few words, or "" for none."""
    for tool, amount, currency, *_ in standing.pending.values():
        return money(amount, currency) or one_line(tool or "", 24)
    return ""


LET_GO = "; you no longer hold it"
"""Added where an act gave a ticket back by the way."""


def asleep_until(
    until: str, now: datetime, zone: tzinfo | None, *, brief: bool = True
) -> str:
    """Until when a ticket sleeps, as in `asleep until 14:30`."""
    try:
        at = datetime.fromisoformat(until)
    except ValueError:
        return "asleep"
    return f"asleep until {when(at, now, zone, brief=brief)}"


def proposal_words(decision: Decision | None) -> str | None:
    """What a decision would do, such as `refund_order 556.00 EUR`; None for none."""
    if decision is None:
        return None
    return f"{one_line(decision.tool, 30)} {money(*decision.moves)}".rstrip()


def on_object_words(
    one: OnObject, beside: Decision, now: datetime, zone: tzinfo | None
) -> str:
    """What stands on an object beside a decision: `40.00 EUR done on T-1, 12 Nov`.

    Its tool is named where it is another.
    """
    amount = money(one.amount, one.currency)
    tool = "" if one.tool == beside.tool and amount else one_line(one.tool, 30)
    what = f"{amount} {tool}".strip()
    where = "this ticket" if one.ticket == beside.ticket else one_line(one.ticket, 24)
    state = _ON_OBJECT.get(one.state, one_line(one.state, 20))
    return f"{what} {state} on {where}, {when(one.at, now, zone)}"


_ON_OBJECT = {
    "done": "done",
    "intended": "begun",
    "in_doubt": "IN DOUBT",
    "pending": "waits for a decision",
    "approved": "approved, not carried out",
    "overridden": "approved, not carried out",
}


def state_of(  # one branch for each status
    row: QueueRow,
    me: str,
    now: datetime,
    *,
    workers: int,
    stopped: bool = False,
    zone: tzinfo | None = None,
) -> Word:
    """Where a ticket stands, for its row in the queue; `stopped`: the agent is."""
    s = row.standing
    if (stopped or s.paused is not None) and row.status is Status.QUEUED:
        return Word(symbol="‖", words="paused", role="wait")
    match row.status:
        case Status.IN_DOUBT:
            return Word(symbol="!", words="in doubt", role="harm")
        case Status.HELD:
            return _held(s, me, now)
        case Status.AGENT:
            if s.wanted_by is not None:
                who = "you" if s.wanted_by == me else one_line(s.wanted_by, 16)
                return Word(symbol="◐", words=f"stopping for {who}", role="yours")
            return Word(
                symbol="●", words=f"agent, turn {s.run_turn or 1}", role="agent"
            )
        case Status.NEEDS_HUMAN:
            words = one_line(s.with_people or "asks for a person", 60)
            if s.offered_to is not None:
                to = "you" if s.offered_to == me else one_line(s.offered_to, 16)
                words = f"offered to {to}"
            return Word(symbol="▲", words=words, role="wait")
        case Status.NEEDS_DECISION:
            return Word(symbol="▲", words=f"decide {what_waits(s)}", role="wait")
        case Status.QUEUED:
            words = "agent is next" if workers else "no agent running"
            return Word(symbol="○", words=words, role="agent" if workers else "wait")
        case Status.WAITING_BUYER if s.snoozed_until is not None:
            words = asleep_until(s.snoozed_until, now, zone)
            return Word(symbol="○", words=words, role="dim")
        case Status.WAITING_BUYER:
            words = "undelivered" if s.undelivered else "buyer"
            role = "wait" if s.undelivered else "dim"
            return Word(symbol="○", words=words, role=role)
        case Status.RESOLVED:
            return Word(symbol="✓", words="resolved", role="ok")
        case _:
            assert_never(row.status)


def approval_of(row: QueueRow, me: str, *, workers: int) -> Word | None:
    """What the proposals of a ticket wait for, for its row among the approvals."""
    s = row.standing
    match approval(s):
        case None:
            return None
        case Approval.VERDICT:
            return Word(symbol="▲", words=f"decide {what_waits(s)}", role="wait")
        case Approval.AGENT:
            by, role = ("agent", "ok") if workers else ("no agent", "wait")
            return Word(symbol="○", words=f"approved: {by}", role=role)
        case Approval.PERSON if s.held_by == me:
            return Word(symbol="■", words="approved: yours", role="yours")
        case Approval.PERSON if s.held_by is not None:
            words = f"approved: {one_line(s.held_by, 40)}"
            return Word(symbol="□", words=words, role="other")
        case Approval.PERSON:
            return Word(symbol="✓", words="approved: take it", role="wait")
        case _ as never:
            assert_never(never)


def _held(s: Standing, me: str, now: datetime) -> Word:
    if s.held_by == me:
        caught = f", {len(s.withheld)} withheld" if s.withheld else ""
        return Word(symbol="■", words=f"you{caught}", role="yours")
    who, since = one_line(s.held_by or "", 40), age(s.held_since, now)
    return Word(symbol="□", words=who, tail=f", {since}", role="other")


_AT = {
    Status.AGENT: ("agent", "now in agent"),
    Status.QUEUED: ("agent", "now in agent"),
    Status.NEEDS_HUMAN: ("human", "now needs a person"),
    Status.IN_DOUBT: ("human", "now in doubt"),
    Status.NEEDS_DECISION: ("approvals", "now in approvals"),
    Status.WAITING_BUYER: ("waiting", "now waits for buyer"),
    Status.RESOLVED: ("resolved", "now resolved"),
}


def now_in(row: QueueRow, me: str, view: str) -> str:
    """Where a ticket is that is shown in a view it has left; "" if it has not."""
    s = row.standing
    if view == "all":
        return ""
    if me in (s.held_by, s.wanted_by, s.offered_to):
        return "" if view == "mine" else "now in mine"
    if s.held_by is not None:
        return f"now with {one_line(s.held_by, 16)}"
    at, words = _AT.get(row.status, ("", ""))
    return "" if at == view else words


def stop_words(stop: str) -> str:
    """A run's stop reason in plain words."""
    return {
        "answered": "answered",
        "awaiting_decision": "waits for a decision",
        "handed_over": "handed over",
        "escalated": "handed to people",
        "turn_limit": "stopped at its turn limit",
        "cost_limit": "stopped at its cost limit",
        "refused": "the model refused",
        "error": "stopped by an error",
        "paused": "paused",
        "crashed": "its process died",
    }.get(stop, one_line(stop, 40))


DELIVERY = {
    "queued": Word(symbol="○", words="queued", role="dim"),
    "sending": Word(symbol="◐", words="sending", role="dim"),
    "withheld": Word(symbol="■", words="withheld", role="wait"),
    "delivered": Word(symbol="✓", words="delivered", role="ok"),
    "failed": Word(symbol="✗", words="not delivered", role="harm"),
    "in_doubt": Word(symbol="!", words="delivery in doubt", role="harm"),
    "no_channel": Word(symbol="▲", words="stored: no channel", role="wait"),
    "discarded": Word(symbol="✗", words="discarded", role="dim"),
    "taken_back": Word(symbol="✗", words="taken back", role="dim"),
}
"""What became of a reply, by its state in the outbox."""


def why_refused(what: str, rule: str) -> str:
    """Why something was refused, without what is said of it before: it is named once.

    A rule begins with its tool (`refund: …`), or with the decision that it is of
    (`D-1 is already …`), and what was tried ends in either.
    """
    for before in (f"{what}: ", f"{what.rpartition(' ')[2]} is "):
        if rule.startswith(before):
            return rule.removeprefix(before)
    return rule


def delivery_word(state: str) -> str:
    """What became of a reply, in words."""
    known = DELIVERY.get(state)
    return known.words if known is not None else one_line(state, 40)


def quarantined(body: Quarantined) -> str:
    """Which record can't be used, and why."""
    what = f"entry #{body.entry} ({one_line(body.was, 24)})"
    if body.run is not None:
        what = f"a part of the record of run {one_line(body.run, 24)}"
    if body.record is not None:
        what = f"the record of {one_line(f'{body.was} {body.record}', 80)}"
    return f"{what} can't be used: {one_line(body.reason, 200)}"


def damaged(record: Damaged) -> str:
    """Which record can't be read: `T-1 decision D-1`."""
    name = one_line(f"{record.kind} {record.name}", 80)
    if record.ticket is None or record.kind in {"ticket", "lock"}:
        return name
    return f"{record.ticket} {name}"


MENDED = "its record is damaged: what is shown is read from its journal"
"""That a ticket is shown although its own row can't be read."""

LOST_LOCK = "who holds it can't be read: the agent is silent"
"""That the lock is damaged or gone."""


def lost_of(history: History) -> list[str]:
    """What is stored about a ticket and can't be read, a line each."""
    lines = [MENDED] if history.mended else []
    if history.lock.unreadable:
        lines = [f"{LOST_LOCK}; a supervisor takes it by force"]
    return lines + [quarantined(q) for q in unreadable(history)]


def cannot_be_read(decision: Decision) -> str:
    """What can still be done about a decision whose record is damaged."""
    return f"{decision.unreadable} can't be read: it can only be rejected"


def happened(body: Paused | Claimed | Snoozed) -> str:
    """What somebody did to the ticket, in words that follow their name."""
    match body:
        case Paused(paused=True, why=why):
            return f"stopped the agent here: {one_line(why, 80)}"
        case Paused():
            return "let the agent go on"
        case Claimed(owner=None):
            return "no longer looks after it"
        case Claimed(owner=owner):
            return f"looks after it: {one_line(owner or '', 40)}"
        case Snoozed(until=None):
            return "woke it"
        case Snoozed(until=until):
            at = told(until or "", to_the_second=True)
            return f"lets it sleep until {one_line(at, 40)}"


_THOUGHT = {"thinking", "redacted_thinking", "text"}


def untold(block: JsonObject) -> str:
    """What a kept block is that is no text and no call, in words after a name."""
    kind = block.get("type")
    if kind in _THOUGHT:
        return "thinks"
    if kind == "image":
        return "adds an image"
    return f"adds a block of type {one_line(str(kind), 40)}"


def stopped_words(pause: Pause | None) -> str | None:
    """Who stopped the agent everywhere, and why; None where nobody did."""
    if pause is None:
        return None
    why = f": {one_line(pause.why, 120)}" if pause.why else ""
    return f"by {one_line(pause.by, 40)}{why}"


_IDLE = timedelta(minutes=5)
"""Without a key for so long somebody is away."""


def identity_words(sent: SentUnder) -> str:
    """Under which identity a message of ours was committed."""
    if sent.customer is None:
        return "to an unverified buyer"
    since = "" if sent.ended is None else f", no longer since #{sent.ended}"
    return f"to verified {one_line(sent.customer, 40)}{since}"


def identity_change(body: IdentityChanged) -> str:
    """What an entry of the identity's history says."""
    customer = one_line(body.customer or "", 40)
    if body.contradicts is not None:
        known = one_line(body.contradicts, 40)
        return f"in question: {known} was verified, a lookup found {customer}"
    if not body.verified:
        return "revoked"
    return f"verified {customer} by {one_line(body.method.replace('_', ' '), 40)}"


def doing(said: Presence, ticket: str | None, now: datetime) -> str:
    """What a colleague does at a ticket, in words that follow their name, or ""."""
    if not said.here or now - said.seen_at > HERE:
        return ", console closed" if said.ticket == ticket else ""
    if now - said.active_at > _IDLE:
        return f", away {span_of(now - said.active_at)}"
    if said.ticket != ticket or ticket is None:
        return ""
    return " · types now" if said.doing == "typing" else " · looks at it"
