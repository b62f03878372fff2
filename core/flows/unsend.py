"""Taking one's own reply back before it has left (protocol "Delivery").

A hold-off before delivery gives the time for it. What the reply had answered is
unanswered again, and its text is given back, so that nothing that was typed is lost.
"""

from dataclasses import dataclass, replace

from core.decision import Operator
from core.flows.person import (
    NotHolder,
    NotPossible,
    Refusal,
    as_of_now,
    hold_of,
    not_holder,
    note_refusal,
)
from core.history import History, Reply
from core.journal import Delivery
from core.ports import Store, Transaction
from core.ticket import TicketId, operator


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """The reply will not be sent.

    Attributes:
        seq: The journal entry that says so.
        text: What it would have said.
    """

    seq: int
    text: str


async def unsend(
    store: Store, ticket: TicketId, by: Operator, message_seq: int | None = None
) -> TakenBack | Refusal:
    """The holder takes back a reply of their own that is still queued.

    Args:
        store: The store.
        ticket: The ticket.
        by: Its author, who must hold the ticket.
        message_seq: The reply; the newest of their own where None.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def take_back(tx: Transaction) -> TakenBack | Refusal:
        history = tx.history(ticket)
        hold = hold_of(history.lock, as_of_now(tx, by))
        if isinstance(hold, NotHolder):
            return hold
        me = operator(by.name)
        mine = _own(history, by, message_seq)
        if mine is None:
            return NotPossible(why="there is no such reply of yours")
        if mine.state not in {"queued", "no_channel"}:
            return NotPossible(why=_too_late(mine))
        why = f"{_TAKEN_BACK}{by.name}"
        tx.save_reply(replace(mine, state="discarded", why=why))
        gone = Delivery(message_seq=mine.seq, state="taken_back")
        return TakenBack(seq=tx.append_as(hold, me, gone).seq, text=mine.text)

    outcome = await store.write(take_back)
    if isinstance(outcome, NotHolder):
        await note_refusal(store, ticket, by, "take back", not_holder(outcome))
    if isinstance(outcome, NotPossible):
        await note_refusal(store, ticket, by, "take back", outcome.why)
    return outcome


def _too_late(reply: Reply) -> str:
    """Why a reply can't be taken back any more."""
    words = {
        "sending": "is leaving this moment: too late",
        "delivered": "has been delivered already",
        "failed": "could not be delivered: there is nothing to take back",
        "in_doubt": "may have left: nobody knows, and it can't be taken back",
        "withheld": "is withheld: send or discard it",
        "discarded": "was discarded already",
    }.get(reply.state, f"is {reply.state}: too late")
    if reply.state == "discarded" and reply.why is not None:
        taken = reply.why.startswith(_TAKEN_BACK)
        words = f"was {reply.why} already" if taken else words
    return f"#{reply.seq} {words}"


_TAKEN_BACK = "taken back by "


def _own(history: History, by: Operator, seq: int | None) -> Reply | None:
    """The author's reply of this seq, or their newest."""
    mine = [r for r in history.outbox if r.author == operator(by.name)]
    if seq is not None:
        mine = [r for r in mine if r.seq == seq]
    return mine[-1] if mine else None
