"""The kill switch: no new runs, running ones stop at their boundary.

Everywhere or on one ticket. What the agent has said and what is not delivered yet
waits with it; nothing is lost, and `resume` goes on where it stopped.
"""

from core.decision import Operator, Role
from core.flows.person import Done, NotPossible, as_of_now
from core.journal import Paused, Refused
from core.ports import HouseAct, Store, Transaction
from core.ticket import TicketId, operator


async def pause(
    store: Store, by: Operator, why: str, ticket: TicketId | None = None
) -> Done | NotPossible:
    """Stops the agent everywhere (supervisors only), or on one ticket.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def stop(tx: Transaction) -> Done | NotPossible:
        wrong = _may_not(as_of_now(tx, by), ticket)
        if wrong is not None:
            return _refused(tx, by, ticket, "pause", wrong)
        if ticket is None and tx.pause() is not None:
            return _refused(tx, by, ticket, "pause", "the agent is stopped already")
        if ticket is None:
            tx.keep_act(_act(tx, by, "paused", why))
            return Done(seq=0)
        if tx.standing(ticket).paused is not None:
            rule = f"the agent is stopped on {ticket} already"
            return _refused(tx, by, ticket, "pause", rule)
        paused = Paused(paused=True, why=f"{by.name}: {why}" if why else by.name)
        return Done(seq=tx.append(ticket, operator(by.name), paused).seq)

    return await store.write(stop)


async def resume(
    store: Store, by: Operator, ticket: TicketId | None = None
) -> Done | NotPossible:
    """Lets the agent go on everywhere, or on one ticket.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def go_on(tx: Transaction) -> Done | NotPossible:
        wrong = _may_not(as_of_now(tx, by), ticket)
        if wrong is not None:
            return _refused(tx, by, ticket, "resume", wrong)
        if ticket is None:
            if tx.pause() is None:
                rule = "the agent is not stopped"
                return _refused(tx, by, ticket, "resume", rule)
            tx.keep_act(_act(tx, by, "resumed", ""))
            return Done(seq=0)
        if tx.standing(ticket).paused is None:
            rule = f"the agent is not stopped on {ticket}"
            return _refused(tx, by, ticket, "resume", rule)
        body = Paused(paused=False)
        return Done(seq=tx.append(ticket, operator(by.name), body).seq)

    return await store.write(go_on)


def _act(tx: Transaction, by: Operator, act: str, why: str) -> HouseAct:
    return HouseAct(by=by.name, act=act, whom=None, why=why, at=tx.now)


def _refused(
    tx: Transaction, by: Operator, ticket: TicketId | None, what: str, rule: str
) -> NotPossible:
    """Keeps the refused try, by itself in its transaction (rule 14)."""
    if ticket is None:
        tx.keep_act(_act(tx, by, "refused", f"{what}: {rule}"))
    else:
        tx.append(ticket, operator(by.name), Refused(what=what, rule=rule))
    return NotPossible(why=rule)


def _may_not(by: Operator, ticket: TicketId | None) -> str | None:
    if by.disabled:
        return f"the operator {by.name} is disabled"
    if ticket is None and by.role is not Role.SUPERVISOR:
        return "only a supervisor may stop the agent everywhere"
    return None
