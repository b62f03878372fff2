"""A macro at work: the flows of single acts, one after the other.

Everything that can be known beforehand is asked first, so that no reply leaves where
the release would be refused. What fails all the same is said, and nothing after it
happens; what was done before stays done, as if by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.decision import Operator
from core.flows import amend, giving_back, handoff
from core.flows.answer import DIRECTLY, Leaving
from core.flows.giving_back import GiveBack, GivenBack
from core.flows.person import (
    Done,
    NotHolder,
    NotPossible,
    Refusal,
    as_of_now,
    hold_of,
)
from core.ports import Store, Transaction
from core.ticket import TicketId
from core.written import CARRY_ON, Written, filled, gaps

STEPS = ("reply", "state", "note", "note_for_agent", "release")
"""In which order things are done; a reply and the state need the hold, a note not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A written reply or macro as somebody uses it.

    Attributes:
        written: What to do.
        values: What its names stand for.
        seen: The last seq that the operator had looked at; the newest where None.
        leaving: How the reply leaves.
    """

    written: Written
    values: Mapping[str, str]
    seen: int | None = None
    leaving: Leaving = DIRECTLY


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """What came of it.

    Attributes:
        done: What was done, in order.
        failed: What was not, or None.
        refusal: Why not, or None.
        given: How the ticket was given back, or None.
        stays: Why the reply does not leave now, or None.
    """

    done: tuple[str, ...]
    failed: str | None = None
    refusal: Refusal | None = None
    given: GivenBack | None = None
    stays: str | None = None


def steps(written: Written) -> tuple[str, ...]:
    """The things that it does, of `STEPS`."""
    return tuple(step for step in STEPS if getattr(written, step))


def giving(written: Written, seen: int | None) -> GiveBack | None:
    """How it gives the ticket back, or None where it keeps it."""
    if written.release is None:
        return None
    on = written.release == CARRY_ON
    return GiveBack(to="agent" if on else written.release, carry_on=on, seen=seen)


async def perform(store: Store, ticket: TicketId, by: Operator, use: Use) -> Performed:
    """Does all of it, or says what it came to; the operator must hold the ticket.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: What was not stored by then, was not done.
    """
    missing = gaps(use.written, use.values)
    if missing:
        why = f"nothing says what {', '.join(missing)} is: fill it in"
        return Performed(done=(), failed="all", refusal=NotPossible(why=why))
    ready = replace(use, written=filled(use.written, use.values))
    refusal = await store.read(lambda tx: _refused(tx, ticket, by, ready))
    if refusal is not None:
        return Performed(done=(), failed="all", refusal=refusal)
    done: list[str] = []
    stays: str | None = None
    for step in steps(ready.written):
        outcome = await _step(store, ticket, by, ready, step)
        if isinstance(outcome, NotHolder | NotPossible):
            return Performed(
                done=tuple(done), failed=step, refusal=outcome, stays=stays
            )
        done.append(step)
        if isinstance(outcome, GivenBack):
            return Performed(done=tuple(done), given=outcome, stays=stays)
        stays = stays or outcome.stays
    return Performed(done=tuple(done), stays=stays)


async def _step(
    store: Store, ticket: TicketId, by: Operator, ready: Use, step: str
) -> Done | GivenBack | Refusal:
    said, how = ready.written, giving(ready.written, ready.seen)
    if step == "reply":
        return await handoff.reply(
            store, ticket, by, said.reply, seen=ready.seen, leaving=ready.leaving
        )
    if step == "state":
        return await amend.amend_state(store, ticket, by, said.state or {})
    if step == "release" and how is not None:
        return await giving_back.give_back(store, ticket, by, how)
    for_agent = step == "note_for_agent"
    text = said.note_for_agent if for_agent else said.note
    return await handoff.note(store, ticket, by, text, for_agent=for_agent)


def _refused(
    tx: Transaction, ticket: TicketId, by: Operator, ready: Use
) -> Refusal | None:
    """What would be refused anyway, before anything is done."""
    history, said = tx.history(ticket), ready.written
    hold = hold_of(history.lock, as_of_now(tx, by))
    if isinstance(hold, NotHolder):
        return hold
    newest = history.newest_buyer_seq()
    if said.reply and ready.seen is not None and newest > ready.seen:
        return NotPossible(why=f"the buyer wrote #{newest} meanwhile: look at it first")
    how = giving(said, ready.seen)
    wrong = None if how is None else giving_back.why_not_back(tx, history, by.name, how)
    return None if wrong is None else NotPossible(why=wrong)
