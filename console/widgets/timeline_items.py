"""The journal as items of a timeline: what belongs together is one item.

A tool call and its result are one item, a reply and its delivery too; a run's turns
and its own lock changes say nothing to people and are left out. An item's `key`
changes exactly when it looks different, so that its lines are made once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, tzinfo

from console.measures import day
from core.cleanse import one_line
from core.decision import DecisionState
from core.history import History, Reply
from core.identity import SentUnder, sent_under
from core.journal import (
    Compacted,
    DecisionChanged,
    Delivery,
    Entry,
    Escalated,
    LockChanged,
    Message,
    Note,
    RunChanged,
    StateAmended,
    Thinking,
    ToolCalled,
    ToolReturned,
)
from core.ledger import ActionState
from core.ticket import ActorKind, Origin, RunId

_QUIET = {"queued", "sending", "delivered", "withheld"}
"""States of a reply that its own line says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that happened, as people see it.

    Attributes:
        entry: The journal entry that it is.
        result: For a tool call: the entry of its result, once there.
        reply: For a message to the buyer: its row in the outbox.
        stretch: Whether a person held the ticket then.
        new_day: The day, where it is another than the item's before.
        open_end: For a hold: whether it lasts.
        detail: For a run: its model and prompt.
        waits: For a tool call that a decision is about: whether it is decided yet.
        failed_action: For an executed decision: whether its action failed.
        sent: For a message of ours: under which identity it was committed.
    """

    entry: Entry
    result: Entry | None = None
    reply: Reply | None = None
    stretch: bool = False
    new_day: str = ""
    open_end: bool = False
    detail: str = ""
    waits: bool | None = None
    failed_action: bool = False
    sent: SentUnder | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal keys, equal lines."""
        state = self.reply.state if self.reply else ""
        done = self.result.seq if self.result else 0
        return (
            self.entry.seq,
            done,
            state,
            self.stretch,
            self.new_day,
            self.open_end,
            self.detail,
            self.waits,
            self.failed_action,
            self.sent,
        )

    @property
    def opens(self) -> bool:
        """Whether there is more to see than its line."""
        kinds = ToolCalled | ToolReturned | Thinking | StateAmended | Compacted
        return isinstance(self.entry.body, kinds)

    @property
    def by_person(self) -> bool:
        """Whether a buyer or an operator said it."""
        said = isinstance(self.entry.body, Message | Note)
        return said and self.entry.actor.kind is not ActorKind.AGENT

    @property
    def failed(self) -> bool:
        """Whether it is a tool call that went wrong."""
        body = self.result.body if self.result else self.entry.body
        return isinstance(body, ToolReturned) and body.is_error

    def words(self) -> str:
        """Its text as stored, for searching."""
        body = self.entry.body
        match body:
            case Message() | Note() | Compacted():
                return f"{self.entry.actor.name}\n{body.text}"
            case Escalated():
                return f"{body.reason}\n{body.tried}\n{body.summary}"
            case ToolCalled():
                content = ""
                if self.result and isinstance(self.result.body, ToolReturned):
                    content = str(self.result.body.content)
                return f"{body.name}\n{body.input}\n{content}"
            case _:
                return f"{self.entry.kind}\n{body}"


def items_of(history: History, zone: tzinfo | None) -> tuple[Item, ...]:
    """The items of a ticket, oldest first."""
    results = {
        e.body.id: e for e in history.journal if isinstance(e.body, ToolReturned)
    }
    calls = {e.body.id for e in history.journal if isinstance(e.body, ToolCalled)}
    replies = {reply.seq: reply for reply in history.outbox}
    return tuple(_items(history, zone, results, calls, replies))


def _items(
    history: History,
    zone: tzinfo | None,
    results: dict[str, Entry],
    calls: set[str],
    replies: dict[int, Reply],
) -> Iterator[Item]:
    last: date | None = None
    held = False
    live = history.ticket.origin is Origin.LIVE
    sent = sent_under(history.journal) if live else {}
    for entry in history.journal:
        body = entry.body
        if isinstance(body, ToolReturned) and body.id in calls:
            continue
        change = _persons_lock(entry)
        shown = not _says_nothing(entry)
        if shown:
            today = entry.at.astimezone(zone).date()
            result = results.get(body.id) if isinstance(body, ToolCalled) else None
            yield Item(
                entry=entry,
                result=result,
                reply=replies.get(entry.seq),
                stretch=held and change is None,
                new_day=day(entry.at, zone) if today != last else "",
                open_end=change is True and history.standing.held_since == entry.at,
                detail=_detail(entry, history),
                waits=_waits(entry, history),
                failed_action=_failed(entry, history),
                sent=sent.get(entry.seq),
            )
            last = today
        if change is not None:
            held = change


def _detail(entry: Entry, history: History) -> str:
    body = entry.body
    if not isinstance(body, RunChanged) or body.change != "started":
        return ""
    run = history.run(RunId(body.run))
    if run is None:
        return ""
    model = one_line(run.answered_by or run.model, 40)
    return f" · {model} · prompt {one_line(run.prompt.version.version, 24)}"


def _waits(entry: Entry, history: History) -> bool | None:
    """Whether a call's decision is open; None for a call that needed none."""
    body = entry.body
    if not isinstance(body, ToolCalled):
        return None
    asked = next((d for d in history.decisions if d.call == body.id), None)
    return None if asked is None else asked.state is DecisionState.PENDING


def _failed(entry: Entry, history: History) -> bool:
    body = entry.body
    if not isinstance(body, DecisionChanged) or body.state != "executed":
        return False
    done = (a for a in history.actions if a.decision == body.decision)
    return any(a.state is ActionState.FAILED for a in done)


def _persons_lock(entry: Entry) -> bool | None:
    """True where a person's hold begins, False where it ends, else None."""
    body = entry.body
    if not isinstance(body, LockChanged) or body.holder.get("kind") != "operator":
        return None
    if body.change in {"acquired", "handed_over", "forced"}:
        return True
    return False if body.change == "released" else None


def _says_nothing(entry: Entry) -> bool:
    match entry.body:
        case LockChanged(change=change, holder=holder):
            return holder.get("kind") == "run" and change != "expired"
        case RunChanged(change="turn"):
            return True
        case RunChanged(change="ended", stop=stop):
            return stop in {"answered", "handed_over", "awaiting_decision"}
        case Delivery(state=state):
            return state in _QUIET
        case _:
            return False
