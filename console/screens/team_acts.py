"""What people do about a ticket, its agent and each other, besides working it.

Each is a flow and its answer in one plain line, as in `acts`.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime

from console.canned import STEP_WORDS
from console.live import Services
from console.screens.acts import Said, no, outcome_said, told
from console.wording import LET_GO
from core.cleanse import one_line
from core.decision import Role
from core.flows import amend, giving_back, handoff, offer, people, switch
from core.flows.macro import Use, perform
from core.flows.person import Done, NotPossible
from core.lock import Acquired, AlreadyYours, HeldBy, PassedOn, TakeoverWanted
from core.ticket import TicketId
from core.written import CARRY_ON


class TeamActs:
    """The acts of one operator that concern others."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._me = services.operator

    async def force(self, ticket: TicketId, why: str) -> Said:
        """Takes a ticket away from whoever has it."""

        async def take(ticket: TicketId) -> Said:
            outcome = await handoff.take_over(
                self._store, ticket, self._me, forced=True, why=why
            )
            match outcome:
                case Acquired() | AlreadyYours():
                    return Said(words=f"{one_line(ticket, 40)} is yours", done=True)
                case NotPossible(why=why_not):
                    return no(why_not)
                case TakeoverWanted() | HeldBy() | PassedOn():
                    return no("somebody else was faster")

        return await told(take, ticket)

    async def transfer(self, ticket: TicketId, to: str, why: str) -> Said:
        """Gives a colleague's ticket to another, the queue or the agent."""

        async def give(ticket: TicketId) -> Said:
            how = giving_back.GiveBack(to=to, forced=True, why=why)
            outcome = await giving_back.give_back(self._store, ticket, self._me, how)
            if isinstance(outcome, giving_back.GivenBack):
                verb = "Given" if to in giving_back.PLACES else "Offered"
                return Said(words=f"{verb} to {one_line(to, 40)}", done=True)
            return outcome_said(outcome, "")

        return await told(give, ticket)

    async def decline(self, ticket: TicketId, why: str) -> Said:
        """Says no to a ticket that a colleague offers."""

        async def say_no(ticket: TicketId) -> Said:
            done = await offer.decline(self._store, ticket, self._me, why)
            return outcome_said(done, "Declined; it is before everybody now")

        return await told(say_no, ticket)

    async def claim(self, ticket: TicketId, *, drop: bool) -> Said:
        """Looks after a ticket, or no longer."""

        async def mine(ticket: TicketId) -> Said:
            words = "You no longer look after it" if drop else "You look after it now"
            done = await amend.claim(self._store, ticket, self._me, drop=drop)
            return outcome_said(done, words)

        return await told(mine, ticket)

    async def whisper(self, ticket: TicketId, text: str) -> Said:
        """Leaves a note that the agent reads at its next turn."""

        async def leave(ticket: TicketId) -> Said:
            note = await handoff.note(
                self._store, ticket, self._me, text, for_agent=True
            )
            return outcome_said(note, "The agent reads it at its next turn")

        return await told(leave, ticket)

    async def snooze(
        self, ticket: TicketId, until: datetime, *, note: str, discard: bool
    ) -> Said:
        """Lets a ticket sleep, with a note for the agent, or "" for none."""

        async def sleep(ticket: TicketId) -> Said:
            done = await amend.snooze(
                self._store, ticket, self._me, until, note=note, discard=discard
            )
            words = "It sleeps; a message of the buyer wakes it"
            let_go = isinstance(done, Done) and done.let_go
            return outcome_said(done, f"{words}{LET_GO if let_go else ''}")

        return await told(sleep, ticket)

    async def macro(self, ticket: TicketId, use: Use) -> Said:
        """Does all that a macro says, or tells how far it came."""

        async def work(ticket: TicketId) -> Said:
            came = await perform(self._store, ticket, self._me, use)
            name = one_line(use.written.name, 40)
            if came.refusal is None:
                to_agent = use.written.release in {"agent", CARRY_ON}
                given = came.given
                off = to_agent and given is not None and not given.workers_alive
                more = "; no agent is running now" if off else ""
                if came.stays is not None:
                    more += (
                        f"; the reply does not leave yet: {one_line(came.stays, 80)}"
                    )
                return Said(words=f"{name}: all of it is done{more}", done=True)
            why = outcome_said(came.refusal, "").words
            if not came.done:
                return no(f"{name}: {why}")
            did = ", ".join(STEP_WORDS[step] for step in came.done)
            return no(f"{name}: {why}. Done: {did}", over=True)

        return await told(work, ticket, in_parts=True)

    async def pause(self, ticket: TicketId | None, *, on: bool, why: str) -> Said:
        """Stops the agent on a ticket or everywhere, or lets it go on."""

        async def turn(_: TicketId) -> Said:
            if on:
                done = await switch.pause(self._store, self._me, why, ticket)
                return outcome_said(done, "The agent stops at its next boundary")
            done = await switch.resume(self._store, self._me, ticket)
            return outcome_said(done, "The agent may go on")

        return await told(turn, ticket or TicketId(""))

    async def add(self, name: str) -> Said:
        """Adds somebody."""
        return await self._people(
            lambda: people.add(self._store, self._me, name, Role.AGENT),
            f"{one_line(name, 40)} works here now",
        )

    async def give_role(self, name: str, role: Role) -> Said:
        """Gives somebody another role."""
        return await self._people(
            lambda: people.give_role(self._store, self._me, name, role),
            f"{one_line(name, 40)} is {role.value} now",
        )

    async def let_work(self, name: str, *, on: bool) -> Said:
        """Lets somebody work here, or no more."""
        change = people.enable if on else people.disable
        words = "works here again" if on else "works here no more"
        return await self._people(
            lambda: change(self._store, self._me, name),
            f"{one_line(name, 40)} {words}",
        )

    async def _people(
        self,
        change: Callable[[], Awaitable[people.Changed | NotPossible]],
        words: str,
    ) -> Said:
        async def do(_: TicketId) -> Said:
            outcome = await change()
            if isinstance(outcome, NotPossible):
                return no(outcome.why)
            if outcome.to_run:
                return Said(
                    words=f"{words}; an administrator must run: "
                    f"{one_line('; '.join(outcome.to_run), 200)}",
                    done=True,
                )
            return Said(words=words, done=True)

        return await told(do, TicketId(""))
