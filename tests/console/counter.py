"""What happens on the other side of the desk: buyers write, the agent works."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

from core.decision import Decision, Operator, Role, arguments_hash
from core.flows.handoff import take_over
from core.flows.holding import seat
from core.flows.intake import receive
from core.flows.speak import say
from core.journal import DecisionChanged, LockChanged
from core.lock import (
    Acquired,
    HandedOver,
    Hold,
    Holder,
    HolderKind,
    Lease,
    acquire_for_run,
    hand_over,
    release,
)
from core.ports import Transaction
from core.stretch import ended
from core.ticket import Attachment, Json, RunId, TicketId, agent
from core.turn import Prompt, PromptVersion, Run
from store.transaction import SqlStore
from tests.console.shown import ME
from tests.console.steps import Numbered
from tests.worlds.letters import letter

RUN = RunId("R-1")
MIRA = Operator(name="Mira", role=Role.AGENT)


@dataclass
class Counter:
    """Buyers and the agent, on a real store."""

    store: SqlStore
    ids: Numbered = field(default_factory=Numbered)
    sent: int = 0

    async def people(self) -> "Counter":
        """Puts the two operators into the store."""

        def save(tx: Transaction) -> None:
            tx.save_operator(ME)
            tx.save_operator(MIRA)

        await self.store.write(save)
        return self

    async def writes(
        self,
        text: str,
        *,
        subject: str = "Where is it?",
        ticket: str | None = None,
        sender: str = "ann@example.com",
        files: tuple[Attachment, ...] = (),
    ) -> TicketId:
        """A buyer writes; a new ticket where none is named."""
        self.sent += 1
        arrival = letter(
            f"m{self.sent}",
            text,
            TicketId(ticket) if ticket else None,
            subject=subject,
            sender=sender,
            attachments=files,
        )
        return (await receive(self.store, self.ids, arrival)).ticket

    async def works(
        self, ticket: TicketId, *, run: RunId = RUN, model: str = "m"
    ) -> Hold:
        """A run takes the ticket."""

        def take(tx: Transaction) -> Hold:
            holder = Holder(kind=HolderKind.RUN, name=run)
            lease = Lease(length=timedelta(minutes=2))
            got = acquire_for_run(tx.lock_of(ticket), holder, tx.now, lease)
            assert isinstance(got, Acquired)
            seat(tx, tx.history(ticket), got)
            version = PromptVersion(version="1", sha256="ab" * 32)
            begun = Run(
                id=run,
                ticket=ticket,
                token=got.lock.token,
                trigger="message",
                model=model,
                prompt=Prompt(text="Be kind.", version=version),
                system="Be kind.",
                tools=(),
                max_tokens=100,
                builder=1,
                staff_voice="system",
                started_at=tx.now,
            )
            tx.start_run(got.lock.hold, begun)
            return got.lock.hold

        return await self.store.write(take)

    async def answers(self, hold: Hold, text: str) -> None:
        """The run commits a reply."""

        def speak(tx: Transaction) -> None:
            history = tx.history(hold.ticket)
            say(tx, hold, history, agent(RUN), text, history.standing.last_seq)

        await self.store.write(speak)

    async def hands_over(self, ticket: TicketId) -> None:
        """The run comes to its boundary and is wanted."""

        def give(tx: Transaction) -> None:
            lock = tx.lock_of(ticket)
            moved = hand_over(lock, lock.hold, tx.now)
            assert isinstance(moved, HandedOver)
            seat(tx, tx.history(ticket), moved)

        await self.store.write(give)

    async def hands_over_to(self, ticket: TicketId, who: Operator) -> None:
        """Somebody asks for the ticket, and the run comes to its boundary."""
        await take_over(self.store, ticket, who)
        await self.hands_over(ticket)

    async def proposes(
        self,
        ticket: TicketId,
        arguments: Json,
        *,
        amount: str = "118.00",
        tool: str = "refund_order",
        name: str = "D-1",
        on: str = "O-1",
    ) -> str:
        """A run proposes a refund and lets go."""
        run = RunId(name.replace("D", "R"))
        hold = await self.works(ticket, run=run)

        def propose(tx: Transaction) -> None:
            hashed = arguments_hash(tool, arguments)
            seen = tx.standing(ticket).last_seq
            decision = Decision(
                id=name,
                ticket=ticket,
                run=run,
                proposed_by=run,
                call="call-1",
                tool=tool,
                input=arguments,
                hash=hashed,
                rule="money over 50.00",
                amount=Decimal(amount),
                amount_in="amount",
                currency="EUR",
                object=on,
                object_in="order_id",
                identity=None,
                evidence=(),
                based_on=seen,
                four_eyes=False,
                proposed_at=tx.now,
                expires_at=tx.now + timedelta(hours=4),
            )
            tx.propose(hold, decision)
            told = DecisionChanged(
                decision=name,
                state="pending",
                tool=tool,
                input=arguments,
                hash=hashed,
                rule="money over 50.00",
                amount=amount,
                currency="EUR",
            )
            tx.append_as(hold, agent(run), told)
            lock = tx.lock_of(ticket)
            free = release(lock, hold, tx.now)
            gone: LockChanged = ended(lock, "released", tx.now)
            tx.append_as(hold, agent(run), gone)
            tx.save_lock(replace(free.lock))

        await self.store.write(propose)
        return "D-1"
