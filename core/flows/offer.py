"""A ticket passed to a colleague: offered, then accepted or declined.

Nobody becomes a holder without saying so. The giver's stretch ends; until the colleague
takes the ticket it is free, the agent is silent on it, and it stands in the colleague's
own view. Taking it accepts, and declining puts it before everybody. If the colleague
never answers, anybody may take it over as any other free ticket.
"""

from core.decision import Operator
from core.flows.person import Done, NotPossible, as_of_now, disabled, note_refusal
from core.history import History
from core.journal import LockChanged
from core.lock import Hold, HolderKind, Released, release
from core.ports import Store, Transaction
from core.stretch import ended
from core.ticket import Actor, JsonObject, TicketId, operator


def offer(
    tx: Transaction, history: History, hold: Hold, by: Actor, to: str, why: str | None
) -> int:
    """Ends a hold and offers the ticket to a colleague; gives the entry's seq."""
    outcome = release(history.lock, hold, tx.now)
    tx.append_as(hold, by, ended(history.lock, "released", tx.now, to=to, why=why))
    if isinstance(outcome, Released):
        tx.save_lock(outcome.lock)
    return tx.append(
        hold.ticket,
        by,
        LockChanged(change="offered", holder=_person(to), token=hold.token, why=why),
    ).seq


def not_taken(history_token: int, name: str, why: str | None) -> LockChanged:
    """The entry of an offer that was not accepted."""
    return LockChanged(
        change="declined", holder=_person(name), token=history_token, why=why
    )


async def decline(
    store: Store, ticket: TicketId, by: Operator, why: str = ""
) -> Done | NotPossible:
    """The colleague says no: the ticket is before everybody again.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def say_no(tx: Transaction) -> Done | NotPossible:
        lock, to = tx.lock_of(ticket), tx.standing(ticket).offered_to
        if as_of_now(tx, by).disabled:
            return disabled(by)
        if to != by.name:
            whom = f"it is offered to {to}" if to is not None else "nobody offers it"
            return NotPossible(why=f"{whom}; there is nothing for you to decline")
        no = not_taken(lock.token, by.name, why.strip() or None)
        return Done(seq=tx.append(ticket, operator(by.name), no).seq)

    outcome = await store.write(say_no)
    await note_refusal(store, ticket, by, "decline", outcome)
    return outcome


def _person(name: str) -> JsonObject:
    return {"kind": HolderKind.OPERATOR.value, "name": name}
