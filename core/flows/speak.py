"""The one way by which our side speaks to the buyer: the outbox (rules 2 and 3)."""

from datetime import timedelta

from core.history import History, Reply
from core.journal import Delivery, Entry, Message
from core.lock import Hold
from core.ports import Transaction
from core.ticket import Actor, system


def say(  # noqa: PLR0913 # a reply is made of these
    tx: Transaction,
    hold: Hold,
    history: History,
    actor: Actor,
    text: str,
    covers: int,
    *,
    hold_off: timedelta = timedelta(0),
    state: str = "queued",
) -> Entry:
    """Commits a reply: journal and outbox, fenced, in the caller's transaction.

    Args:
        tx: The transaction.
        hold: The speaker's hold.
        history: The ticket.
        actor: Who speaks.
        text: What the buyer is told.
        covers: The last seq that the author had seen; the reply answers no later
            message.
        hold_off: How long it waits before it is delivered.
        state: `no_channel` where nobody delivers by the ticket's channel.
    """
    ticket = history.ticket
    said = Message(direction="out", text=text, channel=ticket.channel, covers=covers)
    entry = tx.append_as(hold, actor, said)
    answered = _answered(history, covers)
    body = answered.body if answered is not None else None
    tx.enqueue(
        hold,
        Reply(
            message_id=f"{ticket.id}.{entry.seq}@handoff",
            ticket=ticket.id,
            seq=entry.seq,
            author=actor,
            channel=ticket.channel,
            to=answered.actor.name if answered is not None else ticket.claim,
            subject=_re(ticket.subject),
            text=text,
            covers=covers,
            state=state,
            created_at=tx.now,
            not_before=tx.now + hold_off if hold_off else None,
            in_reply_to=body.external_id if isinstance(body, Message) else None,
        ),
    )
    if state != "queued":
        stays = Delivery(message_seq=entry.seq, state=state)
        tx.append(ticket.id, system("delivery"), stays)
    return entry


def _answered(history: History, covers: int) -> Entry | None:
    """The newest message of the buyer that the author had seen."""
    for entry in reversed(history.journal):
        body = entry.body
        if isinstance(body, Message) and body.direction == "in" and entry.seq <= covers:
            return entry
    return None


def _re(subject: str) -> str:
    return subject if subject.lower().startswith("re:") else f"Re: {subject}"
