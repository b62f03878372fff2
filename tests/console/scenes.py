"""Tickets with fixed ids and times, for pictures and for what is painted.

A `Scene` is a ticket's journal written by hand; its standing is folded from it as
the store does it. `SceneStore` shows scenes to the console as of one fixed moment;
it can only be read.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TypeVar

from core.context import BUILDER, Voice, build_request, canonical_message
from core.decision import Decision, Operator, Role, arguments_hash
from core.history import Draft, History, QueueRow, Reply
from core.journal import (
    ActionChanged,
    Body,
    DecisionChanged,
    Delivery,
    Entry,
    Escalated,
    IdentityChanged,
    LockChanged,
    Message,
    Note,
    RunChanged,
    StateAmended,
    ToolCalled,
    ToolReturned,
    Triaged,
)
from core.ledger import Action, ActionEvent, ActionState
from core.limits import Limits
from core.lock import FencingToken, Holder, HolderKind, Lock
from core.ports import Pause, Presence, QueueQuery, Spent, Transaction, Worker
from core.standing import Standing, fold, status
from core.ticket import (
    Actor,
    Json,
    JsonObject,
    Origin,
    RunId,
    Status,
    Ticket,
    TicketId,
    agent,
    buyer,
    system,
)
from core.ticket import operator as person
from core.tool import ToolResult
from core.turn import (
    ModelResponse,
    Prompt,
    PromptVersion,
    Run,
    RunRecord,
    Stop,
    Turn,
    Usage,
)

T = TypeVar("T")

NOW = datetime(2026, 3, 12, 9, 15, tzinfo=UTC)
ME = Operator(name="Noor", role=Role.SUPERVISOR)
PROMPT = Prompt(text="Be brief.", version=PromptVersion(version="7", sha256="c4" * 32))


@dataclass
class Scene:
    """One ticket, written entry by entry."""

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

    def later(self, **delta: float) -> "Scene":
        self.at += timedelta(**delta)
        return self

    def add(self, actor: Actor, body: Body) -> "Scene":
        seq = len(self.entries) + 1
        self.entries.append(Entry(seq=seq, at=self.at, actor=actor, body=body))
        return self

    def asks(self, text: str) -> "Scene":
        said = Message(direction="in", text=text, channel="mail")
        return self.add(buyer(self.claim), said)

    def run(self, run: str, *, trigger: str = "message") -> "Scene":
        self.run_id, self.token = run, self.token + 1
        lock = LockChanged(
            change="acquired", holder={"kind": "run", "name": run}, token=self.token
        )
        self.add(system("lock"), lock)
        self.runs.append(
            Run(
                id=RunId(run),
                ticket=self.ticket,
                token=self.token,
                trigger=trigger,
                model="claude-sonnet-5-5",
                prompt=PROMPT,
                system="Be brief.",
                tools=(),
                max_tokens=8192,
                builder=1,
                staff_voice="system",
                started_at=self.at,
            )
        )
        return self.add(agent(RunId(run)), RunChanged(run=run, change="started"))

    def turns(self, count: int, sent: int, said: int) -> "Scene":
        response = ModelResponse(
            id="msg",
            model="claude-sonnet-5-5",
            content=(),
            stop_reason="end_turn",
            usage=Usage(in_tokens=sent // count, out_tokens=said // count),
            request_id=None,
        )
        turns = tuple(
            Turn(
                number=n + 1,
                built_at=1,
                upto=n + 1,
                requested_at=self.at,
                response=response,
                applied=True,
            )
            for n in range(count)
        )
        self.runs[-1] = replace(self.runs[-1], turns=turns)
        turned = RunChanged(run=self.run_id, change="turn", turn=count)
        return self.add(agent(RunId(self.run_id)), turned)

    def turn(self, *content: JsonObject, sent: int = 3_000, said: int = 130) -> "Scene":
        """One turn, with what came back; its request is built from the journal."""
        run = self.runs[-1]
        usage = Usage(in_tokens=sent, out_tokens=said)
        response = ModelResponse(
            id=f"msg-{len(run.turns) + 1}",
            model="claude-sonnet-5-5",
            content=content,
            stop_reason="tool_use",
            usage=usage,
            request_id=None,
        )
        turn = Turn(
            number=len(run.turns) + 1,
            built_at=len(self.entries),
            upto=0,
            requested_at=self.at,
            response=response,
            applied=True,
        )
        self.runs[-1] = replace(run, turns=(*run.turns, turn))
        return self

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

    def calls(
        self,
        name: str,
        arguments: Json,
        result: Json,
        *,
        wrong: bool = False,
        took: float = 0.4,
    ) -> "Scene":
        call = f"call-{len(self.entries)}"
        who = agent(RunId(self.run_id))
        self.add(who, ToolCalled(id=call, name=name, input=arguments))
        self.later(seconds=took)
        return self.add(
            system("tools"), ToolReturned(id=call, content=result, is_error=wrong)
        )

    def answers(self, text: str, state: str = "delivered") -> "Scene":
        return self._out(agent(RunId(self.run_id)), text, state)

    def writes(self, name: str, text: str, state: str = "delivered") -> "Scene":
        return self._out(person(name), text, state)

    def _out(self, actor: Actor, text: str, state: str) -> "Scene":
        seq = len(self.entries) + 1
        self.outbox.append(
            Reply(
                message_id=f"{self.id}.{seq}@handoff",
                ticket=self.ticket,
                seq=seq,
                author=actor,
                channel="mail",
                to=self.claim,
                subject=self.subject,
                text=text,
                covers=seq - 1,
                state=state,
                created_at=self.at,
            )
        )
        said = Message(direction="out", text=text, channel="mail", covers=seq - 1)
        self.add(actor, said)
        if state in {"withheld", "failed"}:
            self.add(system("delivery"), Delivery(message_seq=seq, state=state))
        return self

    def ends(self, stop: Stop) -> "Scene":
        ended = RunChanged(
            run=self.run_id, change="ended", stop=stop.value, seen=len(self.entries)
        )
        self.add(agent(RunId(self.run_id)), ended)
        self.runs[-1] = replace(self.runs[-1], stop=stop, ended_at=self.at)
        free = LockChanged(
            change="released",
            holder={"kind": "run", "name": self.run_id},
            token=self.token,
        )
        return self.add(system("lock"), free)

    def taken(self, name: str) -> "Scene":
        self.token += 1
        holder = {"kind": "operator", "name": name}
        lock = LockChanged(change="acquired", holder=holder, token=self.token)
        return self.add(person(name), lock)

    def given_back(self, name: str, to: str = "agent") -> "Scene":
        holder = {"kind": "operator", "name": name}
        since = self.at.isoformat()
        lock = LockChanged(
            change="released", holder=holder, token=self.token, since=since, to=to
        )
        return self.add(person(name), lock)

    def verified(self, customer: str, name: str, evidence: str) -> "Scene":
        known = IdentityChanged(
            verified=True,
            customer=customer,
            name=name,
            method="matched_order",
            evidence=evidence,
        )
        return self.add(agent(RunId(self.run_id)), known)

    def note(self, name: str, text: str, *, for_agent: bool = False) -> "Scene":
        return self.add(person(name), Note(text=text, for_agent=for_agent))

    def triage(self, category: str, priority: str) -> "Scene":
        return self.add(
            agent(RunId(self.run_id)), Triaged(category=category, priority=priority)
        )

    def state(self, patch: Mapping[str, Json]) -> "Scene":
        return self.add(agent(RunId(self.run_id)), StateAmended(patch=patch))

    def escalated(self, reason: str, tried: str, summary: str) -> "Scene":
        body = Escalated(reason=reason, tried=tried, summary=summary)
        return self.add(agent(RunId(self.run_id)), body)

    def proposes(
        self, decision: str, arguments: Mapping[str, Json], amount: str, rule: str
    ) -> "Scene":
        seq = len(self.entries)
        found = [e.seq for e in self.entries if isinstance(e.body, ToolReturned)]
        hashed = arguments_hash("refund_order", arguments)
        identity = self.standing().identity
        self.decisions.append(
            Decision(
                id=decision,
                ticket=self.ticket,
                run=RunId(self.run_id),
                proposed_by=self.run_id,
                call=f"call-{decision}",
                tool="refund_order",
                input=arguments,
                hash=hashed,
                rule=rule,
                amount=Decimal(amount),
                currency="EUR",
                object=str(arguments.get("order_id")),
                identity=None if identity is None else identity.customer,
                evidence=tuple(found),
                based_on=seq,
                four_eyes=False,
                proposed_at=self.at,
                expires_at=self.at + timedelta(hours=4),
            )
        )
        return self.add(
            agent(RunId(self.run_id)),
            DecisionChanged(
                decision=decision,
                state="pending",
                tool="refund_order",
                input=arguments,
                hash=hashed,
                rule=rule,
                amount=amount,
                currency="EUR",
                expires_at=(self.at + timedelta(hours=4)).isoformat(),
            ),
        )

    def acts(self, action: str, tool: str, amount: str, state: ActionState) -> "Scene":
        who = agent(RunId(self.run_id))
        result = ToolResult(content="ok", is_error=False)
        event = ActionEvent(n=1, at=self.at, state=state, by=who, result=result)
        self.actions.append(
            Action(
                id=action,
                ticket=self.ticket,
                key=f"hk_{action}",
                call=f"call-{action}",
                decision=None,
                tool=tool,
                input={},
                amount=Decimal(amount),
                currency="EUR",
                object="SU-88421",
                identity="C-5512",
                token=self.token,
                by=who,
                events=(event,),
            )
        )
        changed = ActionChanged(
            action=action, state=state.value, tool=tool, amount=amount, currency="EUR"
        )
        return self.add(who, changed)

    # As the console reads it

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
                rows = [r for r in rows if r.standing.pending]
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

    def of_customer(self, customer: str) -> tuple[QueueRow, ...]:
        rows = (s.row() for s in self.scenes)
        return tuple(
            r
            for r in rows
            if r.standing.identity and r.standing.identity.customer == customer
        )

    def report_presence(self, presence: Presence) -> None:
        del presence

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
