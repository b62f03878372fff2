"""Scenes as a store: as of one fixed moment, and only to be read."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from core.decision import Decision, Operator, Role
from core.history import Draft, History, QueueRow, Reply
from core.ledger import OnObject
from core.ports import Pause, Presence, QueueQuery, Spent, Transaction, Worker
from core.standing import Standing, approval
from core.ticket import RunId, Status, TicketId
from core.turn import RunRecord
from tests.console.scenes import Scene
from tests.console.shown import ME, NOW

T = TypeVar("T")


@dataclass
class SceneStore:
    """Scenes as a store that can only be read, and stands still."""

    scenes: Sequence[Scene]
    counted: Mapping[str, int] = field(default_factory=dict)
    paused: Pause | None = None
    nearby: Sequence[tuple[str, TicketId, str]] = ()
    records: Mapping[RunId, RunRecord] = field(default_factory=dict)

    async def read(self, look: Callable[[Transaction], T]) -> T:
        return look(self)  # type: ignore[arg-type] # only what a screen reads

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        return transact(self)  # type: ignore[arg-type] # drafts and presence alone

    async def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        yield frozenset()
        while True:
            await asyncio.Event().wait()

    async def close(self) -> None:
        pass

    @property
    def now(self) -> datetime:
        return NOW

    def queue(self, query: QueueQuery) -> tuple[QueueRow, ...]:
        words = query.search.casefold()
        rows = [s.row() for s in self.scenes]
        rows = [
            r for r in rows if words in f"{r.ticket} {r.subject} {r.buyer}".casefold()
        ]
        free = [r for r in rows if r.standing.held_by is None]
        match query.view:
            case "human":
                asks = {Status.NEEDS_HUMAN, Status.IN_DOUBT}
                rows = [r for r in free if r.status in asks]
            case "waiting":
                rows = [r for r in free if r.status is Status.WAITING_BUYER]
            case "mine":
                rows = [r for r in rows if r.standing.held_by == query.operator]
            case "agent":
                rows = [r for r in rows if r.status is Status.AGENT]
            case "approvals":
                asks = {r.ticket: approval(r.standing) for r in rows}
                rows = [r for r in rows if asks[r.ticket] is not None]
                rows.sort(key=lambda r: asks[r.ticket] or 0)
        return tuple(rows[query.offset : query.offset + query.limit])

    def queue_rows(self, tickets: Sequence[TicketId]) -> tuple[QueueRow, ...]:
        return tuple(s.row() for s in self.scenes if s.ticket in tickets)

    def counts(self, operator: str) -> Mapping[str, int]:
        return {"all": len(self.scenes), "human": len(self.scenes)} | self.counted

    def workers(self) -> tuple[Worker, ...]:
        return tuple(
            Worker(id=f"w{n}", host="a", pid=n, started_at=NOW, seen_at=NOW, alive=True)
            for n in range(2)
        )

    def operators(self) -> tuple[Operator, ...]:
        return (ME, Operator(name="Mira", role=Role.AGENT))

    def canned(self) -> tuple[()]:
        return ()

    def pause(self) -> Pause | None:
        return self.paused

    def presences(self) -> tuple[Presence, ...]:
        return tuple(
            Presence(
                operator=name, ticket=ticket, doing=doing, active_at=NOW, seen_at=NOW
            )
            for name, ticket, doing in self.nearby
        )

    def on_object(self, acted_on: str) -> tuple[OnObject, ...]:
        return ()

    def of_customer(self, customer: str) -> tuple[QueueRow, ...]:
        rows = (s.row() for s in self.scenes)
        return tuple(
            r
            for r in rows
            if r.standing.identity and r.standing.identity.customer == customer
        )

    def report_presence(self, presence: Presence) -> None:
        del presence

    def drafts(self, ticket: TicketId) -> tuple[Draft, ...]:
        return self.history(ticket).drafts

    def save_draft(self, draft: Draft) -> None:
        del draft

    def standing(self, ticket: TicketId) -> Standing:
        return self.history(ticket).standing

    def decisions(self, *, open_only: bool) -> tuple[Decision, ...]:
        return tuple(d for s in self.scenes for d in s.decisions)

    def outbox(self) -> tuple[Reply, ...]:
        return tuple(r for s in self.scenes for r in s.outbox)

    def moved_since(self, since: datetime) -> dict[str, dict[str, Decimal]]:
        del since
        moved = {"EUR": Decimal("212.40"), "GBP": Decimal("20.00")}
        return {"refund_order": moved}

    def model_costs(self, since: datetime) -> Spent:
        return Spent(runs=31, cost_usd=Decimal("4.18"), unknown=0)

    def run_record(self, run: RunId) -> RunRecord | None:
        return self.records.get(run)

    def history(self, ticket: TicketId) -> History:
        return next(s.history() for s in self.scenes if s.ticket == ticket)
