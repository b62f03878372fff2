"""A ticket with fixed ids and times, as the console reads it.

Its standing is folded from its journal as the store does it.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from core.context import BUILDER, Voice, build_request, canonical_message
from core.decision import Decision, Operator, Role
from core.history import Draft, History, QueueRow, Reply
from core.journal import Body, Entry
from core.ledger import Action
from core.limits import Limits
from core.lock import FencingToken, Holder, HolderKind, Lock
from core.standing import Standing, fold, status
from core.ticket import Actor, Origin, RunId, Ticket, TicketId
from core.turn import Prompt, PromptVersion, Run, RunRecord

NOW = datetime(2026, 3, 12, 9, 15, tzinfo=UTC)
ME = Operator(name="Noor", role=Role.SUPERVISOR)
PROMPT = Prompt(text="Be brief.", version=PromptVersion(version="7", sha256="c4" * 32))


@dataclass
class Shown:
    """One ticket as far as it is written, as the console reads it."""

    id: str
    subject: str
    claim: str
    at: datetime
    entries: list[Entry] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    outbox: list[Reply] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)
    token: int = 0
    run_id: str = ""

    def __post_init__(self) -> None:
        self.ticket = TicketId(self.id)
        self.opened = self.at

    def later(self, **delta: float) -> Self:
        self.at += timedelta(**delta)
        return self

    def add(self, actor: Actor, body: Body) -> Self:
        seq = len(self.entries) + 1
        self.entries.append(Entry(seq=seq, at=self.at, actor=actor, body=body))
        return self

    def standing(self) -> Standing:
        standing = Standing()
        for entry in self.entries:
            standing = fold(standing, entry)
        return standing

    def history(self) -> History:
        standing = self.standing()
        holder = None
        if standing.held_by is not None:
            holder = Holder(kind=HolderKind.OPERATOR, name=standing.held_by)
        lock = Lock(
            ticket=self.ticket,
            token=FencingToken(self.token),
            holder=holder,
            since=standing.held_since,
        )
        return History(
            ticket=Ticket(
                id=self.ticket,
                subject=self.subject,
                channel="mail",
                claim=self.claim,
                origin=Origin.LIVE,
                created_at=self.opened,
            ),
            standing=standing,
            lock=lock,
            journal=tuple(self.entries),
            decisions=tuple(self.decisions),
            actions=tuple(self.actions),
            runs=tuple(self.runs),
            outbox=tuple(self.outbox),
            drafts=tuple(self.drafts),
            now=NOW,
        )

    def row(self) -> QueueRow:
        standing = self.standing()
        name = standing.identity.name if standing.identity else None
        return QueueRow(
            ticket=self.ticket,
            subject=self.subject,
            channel="mail",
            buyer=name or self.claim,
            status=status(standing),
            standing=standing,
            created_at=self.opened,
            updated_at=self.entries[-1].at,
            version=len(self.entries),
        )

    def record(self, run: RunId) -> RunRecord:
        """The run with its requests, as they are built from the journal."""
        history = self.history()
        found = history.run(run)
        assert found is not None
        limits = replace(Limits(), max_output_tokens=found.max_tokens)
        built = [
            build_request(
                history.as_of(turn.built_at),
                found.prompt,
                found.tools,
                limits,
                model=found.model,
                voice=Voice(found.staff_voice),
            )
            for turn in found.turns
        ]
        requests = tuple(tuple(map(canonical_message, b.messages)) for b in built)
        whole = replace(found, system=built[0].system, builder=BUILDER)
        return RunRecord(run=whole, messages=requests[-1], requests=requests)
