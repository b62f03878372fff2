"""A ticket's conversation over the real shop, the real request and the scripted model.

It keeps a journal as the product does and asks the model with requests that
`build_request` makes of it, so that the tests see what the model would see.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from console.demo.shop_book import Books, Refused
from console.demo.shop_tools import Shop
from core.adapters.scripted_model import ScriptedModel
from core.builtin import BUILTINS
from core.context import Voice, build_request, tool_definitions
from core.history import History
from core.journal import (
    ActionChanged,
    Body,
    DecisionChanged,
    Entry,
    IdentityChanged,
    LockChanged,
    Message,
    Note,
    ToolCalled,
    ToolReturned,
)
from core.limits import Limits
from core.lock import FencingToken, Lock
from core.standing import Standing, fold
from core.ticket import (
    Actor,
    Json,
    JsonObject,
    Origin,
    RunId,
    Ticket,
    TicketId,
    agent,
    buyer,
    operator,
    system,
)
from core.tool import FREE, ToolSpec
from core.turn import ModelResponse, Prompt, PromptVersion, Request

START = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
TICKET = TicketId("T-TEST")
WAITS = "Proposed as D-1; it waits for a supervisor's decision and was not done yet."
PROMPT = Prompt(text="Be kind.", version=PromptVersion(version="1", sha256="0" * 64))


def shop_at(path: Path) -> Shop:
    books = Books(path=path, today=date(2026, 3, 10))
    books.open()
    return Shop(books, lambda: date(2026, 3, 10))


def _spec(tool: Callable[..., object]) -> ToolSpec:
    names = [n for n in tool.__annotations__ if n not in {"return", "idempotency_key"}]
    schema: JsonObject = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
    }
    return ToolSpec(
        name=tool.__name__, description="", input_schema=schema, policy=FREE
    )


@dataclass
class Conversation:
    """One ticket; `decide` names the tools whose calls wait for a person."""

    shop: Shop
    decide: frozenset[str] = frozenset()
    voice: Voice = Voice.SYSTEM
    journal: list[Entry] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def add(self, actor: Actor, body: Body) -> None:
        seq = len(self.journal) + 1
        at = START + timedelta(minutes=seq)
        self.journal.append(Entry(seq=seq, at=at, actor=actor, body=body))

    def buyer_writes(self, text: str, attachment: str = "") -> None:
        file: JsonObject = {"name": attachment, "type": "image/png", "size": 9}
        body = Message(
            direction="in",
            text=text,
            channel="mail",
            attachments=(file,) if attachment else (),
        )
        self.add(buyer("b@example.com"), body)

    def colleague_answers(self, name: str, text: str) -> None:
        self.colleague_takes_over(name)
        body = Message(direction="out", text=text, channel="mail")
        self.add(operator(name), body)

    def colleague_takes_over(self, name: str) -> None:
        holder: JsonObject = {"kind": "operator", "name": name}
        self.add(operator(name), LockChanged(change="acquired", holder=holder, token=1))

    def colleague_gives_back(self, name: str, note: str = "") -> None:
        if note:
            self.add(operator(name), Note(text=note, for_agent=True))
        body = LockChanged(
            change="released",
            holder={"kind": "operator", "name": name},
            token=1,
            since=START.isoformat(),
            until=START.isoformat(),
            to="agent",
            carry_on=True,
        )
        self.add(operator(name), body)

    def request(self) -> Request:
        standing = Standing()
        for entry in self.journal:
            standing = fold(standing, entry)
        history = History(
            ticket=Ticket(
                id=TICKET,
                subject="",
                channel="mail",
                claim="b@example.com",
                origin=Origin.LIVE,
                created_at=START,
            ),
            standing=standing,
            lock=Lock(ticket=TICKET, token=FencingToken(1)),
            journal=tuple(self.journal),
            decisions=(),
            actions=(),
            runs=(),
            outbox=(),
            drafts=(),
            now=START,
        )
        tools = tool_definitions([*BUILTINS, *map(_spec, self._tools().values())])
        return build_request(
            history, PROMPT, tools, Limits(), model="any", voice=self.voice
        )

    async def ask(self) -> ModelResponse:
        return await ScriptedModel().respond(self.request())

    async def run(self) -> str:
        """Lets the agent work: its answer, `escalated: …` or `awaits a decision`."""
        for _ in range(12):
            response = await self.ask()
            run = agent(RunId("R-1"))
            if response.stop_reason == "end_turn":
                text = str(response.content[0]["text"])
                self.add(run, Message(direction="out", text=text, channel="mail"))
                self.answers.append(text)
                return text
            ended = ""
            for block in response.content:
                name, given = str(block["name"]), block["input"]
                call = str(block["id"])
                self.add(run, ToolCalled(id=call, name=name, input=given))
                ended = self._carry_out(call, name, given) or ended
            if ended:
                return ended
        return "no end"

    def _carry_out(self, call: str, name: str, given: Json) -> str:
        assert isinstance(given, dict)
        if name in self.decide:
            return "awaits a decision"
        if name == "escalate":
            self.returns(call, "handed over")
            return f"escalated: {given['reason']}"
        tool = self._tools().get(name)
        if tool is None:
            self.returns(call, "done")
            return ""
        keyed = {"idempotency_key": call} if name in _WRITES else {}
        try:
            result = tool(**given, **keyed)
        except Refused as refusal:
            self.returns(call, str(refusal), is_error=True)
            return ""
        self.returns(call, json.dumps(result, indent=2))
        if name == "find_customer":
            self.verified(str(result["customer_id"]), str(result["name"]))
        return ""

    def returns(self, call: str, content: str, *, is_error: bool = False) -> None:
        body = ToolReturned(id=call, content=content, is_error=is_error)
        self.add(agent(RunId("R-1")), body)

    def verified(self, customer: str, name: str) -> None:
        body = IdentityChanged(
            verified=True,
            customer=customer,
            name=name,
            method="matched_order",
            evidence="found",
        )
        self.add(system("identity"), body)

    def still_waits(self) -> None:
        """The buyer wrote meanwhile: the open call is told as waiting."""
        self.returns(self.open_call().id, WAITS)

    def approved(self) -> None:
        """The open call is carried out as approved, before it was told as waiting."""
        call = self.open_call()
        tool = self._tools()[call.name]
        given = call.input
        assert isinstance(given, dict)
        self.returns(call.id, json.dumps(tool(**given, idempotency_key=call.id)))

    def settled_later(self, state: str, why: str = "", result: JsonObject = {}) -> None:  # noqa: B006 - only read
        """The verdict comes as a fact, after the call was told as waiting."""
        call = self.calls()[-1]
        body = DecisionChanged(
            decision="D-1",
            state=state,
            tool=call.name,
            input=call.input,
            hash="",
            rule="",
            why=why or None,
        )
        self.add(operator("Sam"), body)
        if result:
            done = ActionChanged(
                action="A-1", state="done", tool=call.name, evidence=json.dumps(result)
            )
            self.add(system("ledger"), done)

    def calls(self) -> list[ToolCalled]:
        own = {"set_triage", "update_state"}
        bodies = [entry.body for entry in self.journal]
        return [b for b in bodies if isinstance(b, ToolCalled) and b.name not in own]

    def open_call(self) -> ToolCalled:
        bodies = [entry.body for entry in self.journal]
        closed = {b.id for b in bodies if isinstance(b, ToolReturned)}
        return next(call for call in self.calls() if call.id not in closed)

    def _tools(self) -> dict[str, Callable[..., dict[str, object]]]:
        shop = self.shop
        tools = (
            shop.find_customer,
            shop.get_order,
            shop.list_orders,
            shop.track_parcel,
            shop.check_voucher,
            shop.get_policy_text,
            shop.refund_order,
            shop.cancel_order,
            shop.change_address,
            shop.send_replacement,
            shop.issue_voucher,
        )
        return {tool.__name__: tool for tool in tools}


_WRITES = {
    "refund_order",
    "cancel_order",
    "change_address",
    "send_replacement",
    "issue_voucher",
}
