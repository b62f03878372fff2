"""Histories for the tests of the rules: a journal written line by line."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from core.builtin import BUILTINS
from core.context import Voice, build_request, tool_definitions
from core.decision import Decision, DecisionState, arguments_hash
from core.history import History
from core.journal import Body, Entry, LockChanged, Message, RunChanged
from core.ledger import Action, ActionEvent, ActionState, idempotency_key
from core.limits import Limits
from core.lock import FencingToken, Holder, HolderKind, Lock
from core.standing import Standing, fold
from core.ticket import (
    Actor,
    Json,
    Origin,
    RunId,
    Ticket,
    TicketId,
    agent,
    buyer,
    operator,
    system,
)
from core.tool import Approve, Consequence, ToolPolicy, ToolSpec
from core.turn import (
    ModelResponse,
    Prompt,
    PromptVersion,
    Request,
    Run,
    Turn,
    Usage,
)

T0 = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
TICKET = TicketId("T-7K3QF2M")
RUN = RunId("R-1")
MODEL = "claude-sonnet-5-5"
AGENT = agent(RUN)
BUYER = buyer("buyer@example.com")
ANA = operator("ana")
LEASE = system("lease")
PROMPT = Prompt(
    text="You are the support agent of a shop.",
    version=PromptVersion(version="1", sha256="0" * 64),
)

REFUND = ToolSpec(
    name="refund_order",
    description="Refunds an order.",
    input_schema={
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "amount": {"type": "string"},
            "currency": {"type": "string"},
        },
        "required": ["order_id", "amount"],
        "additionalProperties": False,
    },
    policy=ToolPolicy(
        consequence=Consequence.MONEY,
        approve=Approve.OVER,
        approve_over=Decimal(50),
        four_eyes_over=Decimal(500),
        object="order_id",
        amount="amount",
        currency="currency",
        identity=True,
    ),
)


def run_of(
    run: RunId = RUN,
    *,
    turns: tuple[Turn, ...] = (),
    model: str = MODEL,
) -> Run:
    """A run that is under way."""
    return Run(
        id=run,
        ticket=TICKET,
        token=1,
        trigger="message",
        model=model,
        prompt=PROMPT,
        system="",
        tools=tuple({"name": name} for name in ("get", "find", "refund_order")),
        max_tokens=1000,
        builder=1,
        staff_voice="system",
        started_at=T0,
        turns=turns,
    )


def turn(built_at: int, number: int = 1, *, applied: bool = True) -> Turn:
    """A turn that was answered."""
    return Turn(
        number=number,
        built_at=built_at,
        upto=1,
        requested_at=T0,
        response=answered() if applied else None,
        applied=applied,
    )


def answered(
    *content: dict[str, Json], stop: str | None = "end_turn", model: str = MODEL
) -> ModelResponse:
    """A model's answer."""
    return ModelResponse(
        id="msg_1",
        model=model,
        content=content,
        stop_reason=stop,
        usage=Usage(in_tokens=10, out_tokens=5),
        request_id=None,
    )


def journal(*lines: tuple[Actor, Body]) -> tuple[Entry, ...]:
    """The lines as entries, a minute apart."""
    return tuple(
        Entry(seq=n, at=T0 + timedelta(minutes=n), actor=actor, body=body)
        for n, (actor, body) in enumerate(lines, 1)
    )


def history(
    *lines: tuple[Actor, Body],
    runs: Iterable[Run] = (),
    decisions: Iterable[Decision] = (),
    actions: Iterable[Action] = (),
    wanted_by: str | None = None,
) -> History:
    """A ticket with this journal, held by the last of the runs."""
    written, kept = journal(*lines), tuple(runs)
    lock = Lock(ticket=TICKET, token=FencingToken(1), wanted_by=wanted_by)
    if kept:
        holder = Holder(kind=HolderKind.RUN, name=kept[-1].id)
        lock = replace(lock, holder=holder, since=T0, expires_at=T0)
    return History(
        ticket=Ticket(
            id=TICKET,
            subject="My parcel",
            channel="mail",
            claim="buyer@example.com",
            origin=Origin.LIVE,
            created_at=T0,
        ),
        standing=standing(*written),
        lock=lock,
        journal=written,
        decisions=tuple(decisions),
        actions=tuple(actions),
        runs=kept,
        outbox=(),
        drafts=(),
        now=T0 + timedelta(minutes=20),
    )


def standing(*entries: Entry) -> Standing:
    """What the entries come to."""
    came_to = Standing()
    for entry in entries:
        came_to = fold(came_to, entry)
    return came_to


def said(text: str, **more: object) -> tuple[Actor, Body]:
    """The buyer writes."""
    return BUYER, Message(direction="in", text=text, channel="mail", **more)  # type: ignore[arg-type]


def replied(text: str, covers: int, by: Actor = AGENT) -> tuple[Actor, Body]:
    """Our side answers."""
    return by, Message(direction="out", text=text, channel="mail", covers=covers)


def taken(by: Actor = ANA, change: str = "acquired") -> tuple[Actor, Body]:
    """A person takes the ticket over."""
    holder = {"kind": "operator", "name": by.name}
    return by, LockChanged(change=change, holder=holder, token=2)


def given_back(
    to: str = "agent", *, by: Actor = ANA, carry_on: bool = False
) -> tuple[Actor, Body]:
    """A person gives the ticket back."""
    return by, LockChanged(
        change="released",
        holder={"kind": "operator", "name": by.name},
        token=2,
        since=T0.isoformat(),
        until=(T0 + timedelta(minutes=30)).isoformat(),
        to=to,
        carry_on=carry_on,
    )


def run_began(run: RunId = RUN) -> tuple[Actor, Body]:
    """A run takes the ticket."""
    holder = {"kind": "run", "name": run}
    return agent(run), LockChanged(change="acquired", holder=holder, token=1)


def run_ended(
    run: RunId = RUN, *, seen: int | None, stop: str = "answered"
) -> tuple[Actor, Body]:
    """A run ends."""
    return agent(run), RunChanged(run=run, change="ended", stop=stop, seen=seen)


def decision(
    *,
    name: str = "D-1",
    call: str = "toolu_1",
    state: DecisionState = DecisionState.PENDING,
    asked: Json = None,
    based_on: int = 1,
    four_eyes: bool = False,
    **more: object,
) -> Decision:
    """A proposal to refund 80."""
    given = {"order_id": "O-1", "amount": "80.00"} if asked is None else asked
    made = Decision(
        id=name,
        ticket=TICKET,
        run=RUN,
        proposed_by=RUN,
        call=call,
        tool=REFUND.name,
        input=given,
        hash=arguments_hash(REFUND.name, given),
        rule="money over 50",
        amount=Decimal("80.00"),
        currency=None,
        object="O-1",
        identity="c-1",
        evidence=(),
        based_on=based_on,
        four_eyes=four_eyes,
        proposed_at=T0,
        expires_at=T0 + timedelta(hours=4),
        state=state,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def action(
    *states: ActionState,
    name: str = "A-1",
    call: str = "toolu_1",
    on: str | None = "O-1",
    decision: str | None = None,
) -> Action:
    """A refund in the ledger."""
    events = tuple(
        ActionEvent(n=n, at=T0, state=state, by=AGENT)
        for n, state in enumerate(states, 1)
    )
    given = {"order_id": "O-1", "amount": "80.00"}
    return Action(
        id=name,
        ticket=TICKET,
        key=idempotency_key(TICKET, call, REFUND.name, given),
        call=call,
        decision=decision,
        tool=REFUND.name,
        input=given,
        amount=Decimal("80.00"),
        currency=None,
        object=on,
        identity="c-1",
        token=1,
        by=AGENT,
        events=events,
    )


def request(chart: History, voice: Voice = Voice.SYSTEM, model: str = MODEL) -> Request:
    """What the model would be asked."""
    return build_request(
        chart,
        PROMPT,
        tool_definitions((*BUILTINS, REFUND)),
        Limits(),
        model=model,
        voice=voice,
    )
