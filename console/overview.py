"""What a supervisor wants to know of the whole house, as of one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from core.decision import READY, Decision, DecisionState, Operator
from core.history import QueueRow, Reply
from core.ledger import Sums
from core.ports import Pause, Presence, QueueQuery, Spent, Store, Transaction, Worker

_MOST = 100
_LOST = {"failed", "in_doubt", "no_channel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The house.

    Attributes:
        held: Tickets that people hold, longest first.
        runs: Tickets that the agent works on.
        waiting: Tickets that need a person, as the queue has them.
        counts: Tickets by view.
        workers: Those that reported within the last day.
        decisions: Those that wait.
        approved: Those that are approved and not carried out yet.
        undelivered: Replies that did not reach their buyer, and those withheld that
            nobody is there to decide on.
        moved: Money moved today in the person's zone, by tool and currency.
        spent: What the model cost today, in the person's zone.
        people: Everybody.
        presences: Consoles of the last half hour.
        pause: Who stopped the agent everywhere, or None.
        now: The database's clock.
    """

    held: tuple[QueueRow, ...]
    runs: tuple[QueueRow, ...]
    waiting: tuple[QueueRow, ...]
    counts: Mapping[str, int]
    workers: tuple[Worker, ...]
    decisions: tuple[Decision, ...]
    approved: tuple[Decision, ...]
    undelivered: tuple[Reply, ...]
    moved: Mapping[str, Sums]
    spent: Spent
    people: tuple[Operator, ...]
    presences: tuple[Presence, ...]
    pause: Pause | None
    now: datetime


async def overview(store: Store, me: str, zone: tzinfo | None = None) -> Overview:
    """Reads it.

    Args:
        store: The store.
        me: Who asks.
        zone: Where today is today; None for the system's.
    """

    def look(tx: Transaction) -> Overview:
        people = tx.operators()
        found = tx.decisions(open_only=True)
        decisions = tuple(d for d in found if d.state is DecisionState.PENDING)
        local = tx.now.astimezone(zone)
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        return Overview(
            held=_held(tx, people),
            runs=tx.queue(QueueQuery(view="agent", operator=me, limit=_MOST)),
            waiting=tx.queue(QueueQuery(view="human", operator=me, limit=_MOST)),
            counts=tx.counts(me),
            workers=tx.workers(),
            decisions=decisions,
            approved=tuple(d for d in found if d.state in READY),
            undelivered=tuple(r for r in tx.outbox() if _lost(tx, r)),
            moved=tx.moved_since(midnight),
            spent=tx.model_costs(midnight),
            people=people,
            presences=tx.presences(),
            pause=tx.pause(),
            now=tx.now,
        )

    return await store.read(look)


def _lost(tx: Transaction, reply: Reply) -> bool:
    if reply.state != "withheld":
        return reply.state in _LOST
    return tx.standing(reply.ticket).held_by is None


def _held(tx: Transaction, people: Sequence[Operator]) -> tuple[QueueRow, ...]:
    rows = [
        row
        for o in people
        for row in tx.queue(QueueQuery(view="mine", operator=o.name, limit=_MOST))
        if row.standing.held_by == o.name
    ]
    return tuple(sorted(rows, key=lambda r: r.standing.held_since or r.updated_at))
