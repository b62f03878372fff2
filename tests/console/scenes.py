"""Tickets with fixed ids and times, for pictures and for what is painted.

A `Scene` is a ticket's journal written by hand, one verb for each thing that happens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Self

from core.decision import Decision, DecisionState, arguments_hash
from core.history import Reply
from core.journal import (
    ActionChanged,
    DecisionChanged,
    Delivery,
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
from core.ticket import Actor, Json, JsonObject, RunId, agent, buyer, system
from core.ticket import operator as person
from core.tool import ToolResult
from core.turn import ModelResponse, Run, Stop, Turn, Usage
from tests.console.shown import PROMPT, Shown


@dataclass
class Scene(Shown):
    """One ticket, written entry by entry."""

    def asks(self, text: str) -> Self:
        said = Message(direction="in", text=text, channel="mail")
        return self.add(buyer(self.claim), said)

    def run(self, run: str, *, trigger: str = "message") -> Self:
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

    def turns(self, count: int, sent: int, said: int) -> Self:
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

    def turn(self, *content: JsonObject, sent: int = 3_000, said: int = 130) -> Self:
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

    def calls(
        self,
        name: str,
        arguments: Json,
        result: Json,
        *,
        wrong: bool = False,
        took: float = 0.4,
    ) -> Self:
        call = f"call-{len(self.entries)}"
        who = agent(RunId(self.run_id))
        self.add(who, ToolCalled(id=call, name=name, input=arguments))
        self.later(seconds=took)
        return self.add(
            system("tools"), ToolReturned(id=call, content=result, is_error=wrong)
        )

    def answers(self, text: str, state: str = "delivered") -> Self:
        return self._out(agent(RunId(self.run_id)), text, state)

    def writes(self, name: str, text: str, state: str = "delivered") -> Self:
        return self._out(person(name), text, state)

    def _out(self, actor: Actor, text: str, state: str) -> Self:
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

    def ends(self, stop: Stop) -> Self:
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

    def taken(self, name: str) -> Self:
        self.token += 1
        holder = {"kind": "operator", "name": name}
        lock = LockChanged(change="acquired", holder=holder, token=self.token)
        return self.add(person(name), lock)

    def given_back(self, name: str, to: str = "agent") -> Self:
        holder = {"kind": "operator", "name": name}
        since = self.at.isoformat()
        lock = LockChanged(
            change="released", holder=holder, token=self.token, since=since, to=to
        )
        return self.add(person(name), lock)

    def verified(self, customer: str, name: str, evidence: str) -> Self:
        known = IdentityChanged(
            verified=True,
            customer=customer,
            name=name,
            method="matched_order",
            evidence=evidence,
        )
        return self.add(agent(RunId(self.run_id)), known)

    def note(self, name: str, text: str, *, for_agent: bool = False) -> Self:
        return self.add(person(name), Note(text=text, for_agent=for_agent))

    def triage(self, category: str, priority: str) -> Self:
        return self.add(
            agent(RunId(self.run_id)), Triaged(category=category, priority=priority)
        )

    def state(self, patch: Mapping[str, Json]) -> Self:
        return self.add(agent(RunId(self.run_id)), StateAmended(patch=patch))

    def escalated(self, reason: str, tried: str, summary: str) -> Self:
        body = Escalated(reason=reason, tried=tried, summary=summary)
        return self.add(agent(RunId(self.run_id)), body)

    def proposes(
        self, decision: str, arguments: Mapping[str, Json], amount: str, rule: str
    ) -> Self:
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

    def decides(self, name: str) -> Self:
        """Approves the last proposal."""
        last = self.decisions[-1]
        self.decisions[-1] = replace(
            last,
            state=DecisionState.APPROVED,
            decided_by=name,
            decided_at=self.at,
            final_input=last.input,
            final_hash=last.hash,
        )
        body = DecisionChanged(
            decision=last.id,
            state="approved",
            tool=last.tool,
            input=last.input,
            hash=last.hash,
            rule=last.rule,
        )
        return self.add(person(name), body)

    def acts(self, action: str, tool: str, amount: str, state: ActionState) -> Self:
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
