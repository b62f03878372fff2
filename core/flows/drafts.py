"""What people have written and not sent: kept, and discarded only on purpose.

Drafts are no record: they are nobody's words yet, and leave no trace in the journal.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from core.decision import Operator
from core.history import Draft, History
from core.ports import Store, Transaction
from core.ticket import TicketId

UNSENT = "there is an unsent draft: send or discard it first"
"""Why a ticket is not let go."""


def words_for(seq: int) -> str:
    """The mode of what is to be said in place of a withheld reply."""
    return f"words for #{seq}"


def drop_sent(
    tx: Transaction, kept: Iterable[Draft], by: Operator, mode: str, text: str
) -> None:
    """Discards the draft that was just sent, with it: no console offers it again."""
    for draft in kept:
        same = draft.text.strip() == text.strip()
        if (draft.operator, draft.mode) == (by.name, mode) and same:
            tx.save_draft(replace(draft, text=""))


async def save_draft(
    store: Store, ticket: TicketId, by: Operator, mode: str, text: str
) -> datetime:
    """Keeps unsent text per operator, ticket and mode; an empty one is discarded.

    Args:
        store: The store.
        ticket: The ticket.
        by: Whose it is.
        mode: `reply`, `note` or what `words_for` says; a draft keeps its own.
        text: The text.

    Returns:
        Since when it is kept, by the store's clock.
    """

    def keep(tx: Transaction) -> datetime:
        seen = tx.standing(ticket).last_seq
        tx.save_draft(
            Draft(
                ticket=ticket,
                operator=by.name,
                mode=mode,
                text=text,
                written_at_seq=seen,
                updated_at=tx.now,
            )
        )
        return tx.now

    return await store.write(keep)


def unsent(history: History, name: str) -> tuple[Draft, ...]:
    """What somebody has written on a ticket and not sent."""
    mine = (d for d in history.drafts if d.operator == name)
    return tuple(draft for draft in mine if draft.text.strip())


def drop_drafts(tx: Transaction, history: History, by: Operator) -> tuple[Draft, ...]:
    """Discards an operator's drafts of a ticket; gives them as they were."""
    dropped = unsent(history, by.name)
    for draft in dropped:
        tx.save_draft(replace(draft, text=""))
    return dropped


async def discard_drafts(
    store: Store, ticket: TicketId, by: Operator
) -> tuple[Draft, ...]:
    """Discards what the operator has written on a ticket and not sent.

    Returns:
        The drafts as they were.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was discarded.
    """
    return await store.write(lambda tx: drop_drafts(tx, tx.history(ticket), by))
