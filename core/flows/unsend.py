"""Taking one's own reply back before it has left (protocol "Delivery").

A hold-off before delivery gives the time for it. What the reply had answered is
unanswered again, and its text is given back, so that nothing that was typed is lost.
Who has let the ticket go since, as a macro does, gets it back with the reply, as long
as nobody has it: a reply that is not on its way is again somebody's to write.
"""

from dataclasses import dataclass, replace

from core.decision import Operator
from core.flows.holding import seat
from core.flows.person import (
    NotHolder,
    NotPossible,
    Refusal,
    as_of_now,
    hold_of,
    note_refusal,
)
from core.history import History, Reply
from core.journal import Delivery, Note, StateAmended
from core.lock import Acquired, HolderKind, acquire_for_operator
from core.ports import Store, Transaction
from core.ticket import TicketId, operator


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """The reply will not be sent.

    Attributes:
        seq: The journal entry that says so.
        text: What it would have said.
        yours_again: Whether its author had let the ticket go and holds it again.
        stays: What its author did after it, as a macro does, and what is not undone:
            of `note`, `note for the agent`, `change of the state`.
    """

    seq: int
    text: str
    yours_again: bool = False
    stays: tuple[str, ...] = ()

    @property
    def stays_words(self) -> str:
        """What is not undone, in words, or ""."""
        if not self.stays:
            return ""
        verb = "stays" if len(self.stays) == 1 else "stay"
        return f"the {' and the '.join(self.stays)} {verb}"


async def unsend(
    store: Store, ticket: TicketId, by: Operator, message_seq: int | None = None
) -> TakenBack | Refusal:
    """An author takes back a reply of their own that is still queued.

    Nobody else may hold the ticket meanwhile; where nobody does, it is theirs again.

    Args:
        store: The store.
        ticket: The ticket.
        by: Its author.
        message_seq: The reply; the newest of their own where None.

    Raises:
        UnknownTicket: There is none.
        StoreUnreachable: Nothing was changed.
    """

    def take_back(tx: Transaction) -> TakenBack | Refusal:
        history = tx.history(ticket)
        hold = hold_of(history.lock, as_of_now(tx, by))
        mine = _own(history, by, message_seq)
        if isinstance(hold, NotHolder) and (mine is None or hold.disabled):
            return hold
        if mine is None:
            return NotPossible(why="there is no such reply of yours")
        if mine.state not in {"queued", "no_channel"}:
            return NotPossible(why=_too_late(mine))
        again = isinstance(hold, NotHolder)
        if isinstance(hold, NotHolder):
            acquired = acquire_for_operator(history.lock, by.name, tx.now)
            if not isinstance(acquired, Acquired):
                return NotPossible(why=_with_others(hold, mine))
            seat(tx, history, acquired)
            hold = acquired.lock.hold
        why = f"{_TAKEN_BACK}{by.name}"
        tx.save_reply(replace(mine, state="discarded", why=why))
        gone = Delivery(message_seq=mine.seq, state="taken_back")
        seq = tx.append_as(hold, operator(by.name), gone).seq
        return TakenBack(
            seq=seq, text=mine.text, yours_again=again, stays=_stays(history, mine)
        )

    outcome = await store.write(take_back)
    await note_refusal(store, ticket, by, "take back", outcome)
    return outcome


def _stays(history: History, reply: Reply) -> tuple[str, ...]:
    """What the reply's author did on the ticket after it."""
    found: list[str] = []
    for entry in history.journal:
        if entry.seq <= reply.seq or entry.actor != reply.author:
            continue
        match entry.body:
            case Note(for_agent=for_agent):
                found.append("note for the agent" if for_agent else "note")
            case StateAmended():
                found.append("change of the state")
            case _:
                pass
    return tuple(dict.fromkeys(found))


def _with_others(now: NotHolder, reply: Reply) -> str:
    """Who has the ticket since, so that nothing on it is the author's to take back."""
    holder = now.holder
    if holder is None or holder.kind is HolderKind.RUN:
        return f"the agent works on the ticket again: #{reply.seq} stays as it is"
    return f"{holder.called} holds the ticket now: #{reply.seq} stays as it is"


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
