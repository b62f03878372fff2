"""Small histories for the store's tests."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from core.decision import Decision, arguments_hash
from core.history import Reply
from core.journal import LockChanged, Message
from core.ledger import Action, ActionEvent, ActionState
from core.lock import Acquired, Hold, Holder, HolderKind, Lease, acquire_for_run
from core.ports import Transaction
from core.ticket import Origin, RunId, Ticket, TicketId, agent, buyer, system
from core.turn import Prompt, PromptVersion, Run, Turn

T1 = TicketId("T-1")
R1 = RunId("R-1")
HOSTILE = "a\x00b\x1a\x1a0000\ud800\udc00 \udcff %_\\'\";--\n\u202eäß\U0001f600"
SOON = datetime(2100, 1, 1, tzinfo=UTC)


def opened(
    ticket: TicketId = T1, subject: str = "Where is it?", claim: str = "ann@example.org"
) -> Callable[[Transaction], None]:
    """Opens a ticket."""

    def transact(tx: Transaction) -> None:
        tx.open_ticket(
            Ticket(
                id=ticket,
                subject=subject,
                channel="mail",
                claim=claim,
                origin=Origin.LIVE,
                created_at=tx.now,
            )
        )

    return transact


def said(text: str = "hello") -> Message:
    """A message of the buyer."""
    return Message(direction="in", text=text, channel="mail")


def says(text: str = "hello", ticket: TicketId = T1) -> Callable[[Transaction], int]:
    """Appends a message of the buyer; gives its seq."""
    return lambda tx: tx.append(ticket, buyer("ann@example.org"), said(text)).seq


def asked(ticket: TicketId = T1, text: str = "hello") -> Callable[[Transaction], int]:
    """Opens a ticket with a first message."""

    def transact(tx: Transaction) -> int:
        opened(ticket)(tx)
        return says(text, ticket)(tx)

    return transact


def taken(
    ticket: TicketId = T1, run: str = R1, lease: timedelta = timedelta(minutes=2)
) -> Callable[[Transaction], Hold]:
    """A run acquires the lock, or the test fails."""

    def transact(tx: Transaction) -> Hold:
        holder = Holder(kind=HolderKind.RUN, name=run)
        answer = acquire_for_run(
            tx.lock_of(ticket), holder, tx.now, Lease(length=lease)
        )
        assert isinstance(answer, Acquired)
        tx.save_lock(answer.lock)
        body = LockChanged(
            change="acquired",
            holder={"kind": "run", "name": run},
            token=answer.lock.token,
        )
        tx.append_as(answer.lock.hold, system("lock"), body)
        return answer.lock.hold

    return transact


def a_run(hold: Hold, run: RunId = R1) -> Run:
    """A run without turns."""
    version = PromptVersion(version="3", sha256="ab" * 32)
    return Run(
        id=run,
        ticket=hold.ticket,
        token=hold.token,
        trigger="message",
        model="claude-sonnet-5-5",
        prompt=Prompt(text="Be kind. " * 50 + HOSTILE, version=version),
        system="Be kind. " * 60,
        tools=({"name": "find_order", "input_schema": {"type": "object"}},),
        max_tokens=1024,
        builder=1,
        staff_voice="system",
        started_at=SOON,
    )


def a_turn(number: int, upto: int) -> Turn:
    """A turn without an answer."""
    return Turn(number=number, built_at=1, upto=upto, requested_at=SOON)


def a_decision(ticket: TicketId = T1, decision: str = "D-1") -> Decision:
    """A proposal to refund."""
    arguments = {"order_id": "O-7", "amount": "118.00", "note": HOSTILE}
    return Decision(
        id=decision,
        ticket=ticket,
        run=R1,
        proposed_by=R1,
        call="call-1",
        tool="refund_order",
        input=arguments,
        hash=arguments_hash("refund_order", {"order_id": "O-7"}),
        rule="amounts over 50.00 need a decision",
        amount=Decimal("118.00"),
        currency="EUR",
        object="O-7",
        identity="C-4",
        evidence=(1, 2),
        based_on=2,
        four_eyes=False,
        proposed_at=SOON - timedelta(hours=5),
        expires_at=SOON,
    )


def an_action(hold: Hold, action: str, amount: str, at: datetime) -> Action:
    """An intent to refund."""
    return Action(
        id=action,
        ticket=hold.ticket,
        key=f"hk_{action}",
        call=f"call-{action}",
        decision=None,
        tool="refund_order",
        input={"order_id": "O-7"},
        amount=Decimal(amount),
        currency="EUR",
        object="O-7",
        identity="C-4",
        token=hold.token,
        by=agent(R1),
        events=(ActionEvent(n=1, at=at, state=ActionState.INTENDED, by=agent(R1)),),
    )


def a_reply(message_id: str, seq: int, state: str, at: datetime) -> Reply:
    """A reply of the agent."""
    return Reply(
        message_id=message_id,
        ticket=T1,
        seq=seq,
        author=agent(R1),
        channel="mail",
        to="ann@example.org",
        subject="Re: " + HOSTILE,
        text=HOSTILE,
        covers=1,
        state=state,
        created_at=at,
    )
