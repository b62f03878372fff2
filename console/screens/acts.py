"""What the desk does to tickets: a flow each, and its answer in one plain line.

Nothing is said to be done before the flow has come back: then it is stored.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from console.live import Services
from console.measures import clock_time
from console.screens.decision import Ruling
from console.screens.withheld import Caught
from core.cleanse import one_line
from core.decision import (
    AlreadyDecided,
    Approved,
    Decision,
    Expired,
    FirstOfTwo,
    NotAllowed,
    Overridden,
    Rejected,
    Stale,
    Verdict,
)
from core.errors import HandoffError, StoreUnreachable
from core.flows import giving_back, handoff, person, supervise, unsend
from core.flows.drafts import discard_drafts, save_draft
from core.flows.withheld import discard_withheld, send_withheld
from core.lock import Acquired, AlreadyYours, HeldBy, PassedOn, TakeoverWanted
from core.ticket import TicketId
from core.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an act came to.

    Attributes:
        words: One line for the person; "" where the screen shows it anyway.
        done: Whether it is stored.
        waiting: For a take-over: whether the run has still to hand over.
        over: Where it is not done: whether it must not be tried again as it was, since
            a part of it happened, or may have.
    """

    words: str
    done: bool
    waiting: bool = False
    over: bool = False


class Acts:
    """The acts of one operator."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.store
        self._me = services.operator

    async def take(self, ticket: TicketId) -> Said:
        """Takes a ticket over, or asks its run to hand it over."""
        return await told(self._take, ticket)

    async def _take(self, ticket: TicketId) -> Said:
        match await handoff.take_over(self._store, ticket, self._me):
            case Acquired() | AlreadyYours():
                return Said(words="", done=True)
            case TakeoverWanted():
                return Said(words="", done=True, waiting=True)
            case HeldBy(holder=holder, since=since):
                at = clock_time(since, self._services.zone)
                return no(f"{one_line(holder.called, 30)} has it since {at}")
            case PassedOn(lock=lock):
                name = lock.holder.called if lock.holder else "a colleague"
                return no(f"{one_line(name, 30)} asked first and has it now")
            case person.NotPossible(why=why):
                return no(why)

    async def press(self, ticket: TicketId) -> Said:
        """Looks whether a run that was asked to hand over is dead."""

        async def look(ticket: TicketId) -> Said:
            await handoff.settle_wanted(self._store, ticket)
            return Said(words="", done=True)

        return await told(look, ticket)

    async def reply(self, ticket: TicketId, text: str, seen: int) -> Said:
        """Answers the buyer; covers what was on the screen."""

        async def send(ticket: TicketId) -> Said:
            me, leaving = self._me, self._services.leaving
            done = await handoff.reply(
                self._store, ticket, me, text, seen=seen, leaving=leaving
            )
            return reply_said(done)

        return await told(send, ticket)

    async def unsend(self, ticket: TicketId, seq: int) -> tuple[Said, str]:
        """Takes a reply back; its text comes with the answer, or ""."""
        text = ""

        async def take_back(ticket: TicketId) -> Said:
            nonlocal text
            outcome = await unsend.unsend(self._store, ticket, self._me, seq)
            if isinstance(outcome, unsend.TakenBack):
                text = outcome.text
                yours = f", and {one_line(ticket, 24)} is yours again"
                more = yours if outcome.yours_again else ""
                stays = outcome.stays_words
                more += f"; {stays}" if stays else ""
                return Said(words=f"Taken back; nothing was sent{more}", done=True)
            return outcome_said(outcome, "")

        return await told(take_back, ticket), text

    async def note(self, ticket: TicketId, text: str) -> Said:
        """Leaves a note for colleagues."""

        async def keep(ticket: TicketId) -> Said:
            return outcome_said(
                await handoff.note(self._store, ticket, self._me, text), "Note kept"
            )

        return await told(keep, ticket)

    async def save_draft(
        self, ticket: TicketId, mode: str, text: str
    ) -> datetime | None:
        """Keeps unsent text; since when, or None where that was not possible."""
        try:
            return await save_draft(self._store, ticket, self._me, mode, text)
        except HandoffError:
            return None

    async def discard(self, ticket: TicketId) -> Said:
        """Discards what is written and not sent."""

        async def drop(ticket: TicketId) -> Said:
            gone = await discard_drafts(self._store, ticket, self._me)
            first = one_line(gone[0].text.strip(), 30) if gone else ""
            return Said(words=f"Discarded “{first}”", done=True)

        return await told(drop, ticket)

    async def give_back(self, ticket: TicketId, how: giving_back.GiveBack) -> Said:
        """Lets a ticket go."""

        async def let_go(ticket: TicketId) -> Said:
            outcome = await giving_back.give_back(self._store, ticket, self._me, how)
            if not isinstance(outcome, giving_back.GivenBack):
                return outcome_said(outcome, "")
            if how.to == "agent" and not outcome.workers_alive:
                return Said(words="Given back; no agent is running now", done=True)
            verb = "Given" if how.to in giving_back.PLACES else "Offered"
            to = f"the {how.to}" if how.to in giving_back.PLACES else how.to
            words = "Resolved" if how.to == "resolved" else f"{verb} to {to}"
            return Said(words=one_line(words, 60), done=True)

        return await told(let_go, ticket)

    async def withheld(self, ticket: TicketId, caught: Caught) -> Said:
        """Sends, edits or discards a withheld reply."""

        async def settle(ticket: TicketId) -> Said:
            store, me, seq = self._store, self._me, caught.seq
            if caught.choice == "discard":
                gone = await discard_withheld(store, ticket, me, seq)
                return outcome_said(gone, "Discarded")
            text = caught.text if caught.choice == "edit" else None
            leaving = self._services.leaving
            sent = await send_withheld(store, ticket, me, seq, text, leaving=leaving)
            return reply_said(sent)

        return await told(settle, ticket)

    async def decide(self, decision: Decision, ruling: Ruling) -> Said:
        """Settles a decision."""

        async def settle(ticket: TicketId) -> Said:
            del ticket
            specs: tuple[ToolSpec, ...] = ()
            if ruling.kind == "override" and self._services.tools is not None:
                specs = tuple((await self._services.tools()).values())
            verdict = Verdict(
                kind=ruling.kind, why=ruling.why, input=ruling.input, seen=ruling.seen
            )
            return _ruled(
                await supervise.decide(
                    self._store, decision.id, verdict, self._me, specs
                )
            )

        return await told(settle, decision.ticket)


def taken_words(ticket: TicketId, seconds: float) -> str:
    """What is said when a take-over has come through."""
    if seconds < 1:
        return f"{ticket} is yours, after {max(1, round(seconds * 1000))} ms"
    return f"{ticket} is yours, after {seconds:.1f} s"


def _ruled(outcome: supervise.Decided) -> Said:
    match outcome:
        case Approved(decision=new):
            return Said(words=f"{new.id} approved", done=True)
        case Overridden(decision=new):
            return Said(words=f"{new.id} approved with changed arguments", done=True)
        case Rejected(decision=new):
            return Said(words=f"{new.id} rejected", done=True)
        case FirstOfTwo(decision=new):
            return Said(words=f"{new.id}: a second person must approve too", done=True)
        case Expired(decision=new):
            return no(f"{new.id} has expired")
        case AlreadyDecided() | Stale() | NotAllowed():
            return no(supervise.why_not(outcome))
        case supervise.WrongArguments(why=why):
            return no(why)
        case supervise.UnknownDecision():
            return no("there is no such decision any more")


def reply_said(outcome: person.Done | person.Refusal) -> Said:
    """What became of a reply."""
    if isinstance(outcome, person.Done) and outcome.stays is not None:
        words = f"Stored, but it does not leave yet: {one_line(outcome.stays, 80)}"
        return Said(words=words, done=True)
    return outcome_said(outcome, "Stored and on its way to the buyer")


def outcome_said(outcome: person.Done | person.Refusal, words: str) -> Said:
    """What an act came to, where it is done or refused."""
    match outcome:
        case person.Done():
            return Said(words=words, done=True)
        case person.NotHolder(disabled=True):
            return no("a supervisor has disabled you: nothing was done")
        case person.NotHolder(holder=holder):
            who = "nobody" if holder is None else one_line(holder.called, 30)
            return no(f"you do not hold it any more: {who} does")
        case person.NotPossible(why=why):
            return no(why)


def no(why: str, *, over: bool = False) -> Said:
    """It was not done, and why."""
    return Said(words=one_line(why, 200), done=False, over=over)


async def told(
    act: Callable[[TicketId], Awaitable[Said]],
    ticket: TicketId,
    *,
    in_parts: bool = False,
) -> Said:
    """An act whose expected failures are an answer too.

    Args:
        act: What is done.
        ticket: On which ticket.
        in_parts: Whether a part is stored before the next one: where the store is lost
            in between, it is looked at first and never done again as it was.
    """
    try:
        return await act(ticket)
    except StoreUnreachable as error:
        return no(str(error), over=in_parts)
    except HandoffError as error:
        return no(str(error))
