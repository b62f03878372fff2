"""What becomes of the agent's replies that a take-over has caught."""

from dataclasses import replace

from core.decision import Operator
from core.flows.answer import DIRECTLY, Leaving, answer_as
from core.flows.drafts import words_for
from core.flows.person import (
    Done,
    NotHolder,
    NotPossible,
    Refusal,
    as_of_now,
    hold_of,
    note_refusal,
)
from core.history import History, Reply
from core.journal import Delivery
from core.ports import Store, Transaction
from core.ticket import TicketId, operator


async def send_withheld(  # what a reply is made of
    store: Store,
    ticket: TicketId,
    by: Operator,
    message_seq: int,
    text: str | None,
    *,
    leaving: Leaving = DIRECTLY,
) -> Done | Refusal:
    """The holder sends a withheld reply of the agent, as it is or edited.

    It goes out as the operator's own reply; the agent's is discarded and says so. As it
    is, it answers what the agent had seen and no later message (rule 3).

    Args:
        store: The store.
        ticket: The ticket.
        by: The operator, who must hold it.
        message_seq: The agent's reply.
        text: The edited text, or None to send it as it is.
        leaving: How it leaves.
    """

    def send(tx: Transaction) -> Done | Refusal:
        history = tx.history(ticket)
        hold = hold_of(history.lock, as_of_now(tx, by))
        if isinstance(hold, NotHolder):
            return hold
        if text is not None and not text.strip():
            return NotPossible(why="an empty reply is not sent: discard it instead")
        held = _discard(tx, history, by, message_seq, f"sent by {by.name} instead")
        if held is None:
            return NotPossible(why=f"there is no withheld reply #{message_seq}")
        covers = held.covers if text is None else history.standing.last_seq
        words = held.text if text is None else text
        return answer_as(tx, hold, history, by, words, covers, leaving)

    outcome = await store.write(send)
    await note_refusal(store, ticket, by, "send a withheld reply", outcome)
    return outcome


async def discard_withheld(
    store: Store, ticket: TicketId, by: Operator, message_seq: int
) -> Done | Refusal:
    """The holder discards a withheld reply of the agent."""

    def discard(tx: Transaction) -> Done | Refusal:
        history = tx.history(ticket)
        hold = hold_of(history.lock, as_of_now(tx, by))
        if isinstance(hold, NotHolder):
            return hold
        held = _discard(tx, history, by, message_seq, f"discarded by {by.name}")
        if held is None:
            return NotPossible(why=f"there is no withheld reply #{message_seq}")
        return Done(seq=tx.standing(ticket).last_seq)

    outcome = await store.write(discard)
    await note_refusal(store, ticket, by, "discard a withheld reply", outcome)
    return outcome


def _discard(
    tx: Transaction, history: History, by: Operator, seq: int, why: str
) -> Reply | None:
    """Marks a withheld reply as discarded; returns it as it was, or None.

    What the operator had begun to write in its place goes with it.
    """
    for held in history.outbox:
        if held.seq == seq and held.state == "withheld":
            tx.save_reply(replace(held, state="discarded", why=why))
            gone = Delivery(message_seq=seq, state="discarded", why=why)
            tx.append(history.ticket.id, operator(by.name), gone)
            for draft in history.drafts:
                if (draft.operator, draft.mode) == (by.name, words_for(seq)):
                    tx.save_draft(replace(draft, text=""))
            return held
    return None
