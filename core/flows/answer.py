"""A person's own reply: committed as any, and its author told where it can't leave.

Nobody is to believe that a buyer was answered who was not. Who delivers are the
workers, so what they have counts; the configuration where the person sits says what a
worker would have as long as none lives.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.decision import Operator
from core.flows.person import Done
from core.flows.speak import say
from core.history import History
from core.lock import Hold
from core.ports import Transaction
from core.ticket import operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """What is known, where a person sits, of how their reply leaves.

    Attributes:
        hold_off: How long it can be taken back.
        channels: The channels that are configured there; None: not looked at.
    """

    hold_off: timedelta = timedelta(0)
    channels: Collection[str] | None = None


DIRECTLY = Leaving()
"""At once, whatever channels there are."""


_NOT_SENT = frozenset({"discarded", "failed", "no_channel", "withheld"})

_JUST = timedelta(hours=24)


def said_already(
    history: History, by: Operator, text: str, now: datetime
) -> str | None:
    """Why a text is not sent once more, or None.

    A draft is seen on every console of its author: who sent it on one, and looks at
    another that shows it still, would send it twice.
    """
    since = history.standing.last_buyer_seq
    for reply in history.outbox:
        if (
            reply.author == operator(by.name)
            and reply.text.strip() == text.strip()
            and reply.seq > since
            and reply.state not in _NOT_SENT
            and now - reply.created_at < _JUST
        ):
            return "you sent these very words since the buyer's last message"
    return None


def answer_as(  # noqa: PLR0913 # a reply is made of these
    tx: Transaction,
    hold: Hold,
    history: History,
    by: Operator,
    text: str,
    covers: int,
    leaving: Leaving,
) -> Done:
    """Commits a person's reply, and tells them where it will not leave now."""
    why, state = None, "queued"
    if leaving.channels is not None:
        why, state = _stays(tx, history.ticket.channel, leaving.channels)
    entry = say(
        tx,
        hold,
        history,
        operator(by.name),
        text,
        covers,
        hold_off=leaving.hold_off,
        state=state,
    )
    message_id = f"{history.ticket.id}.{entry.seq}@handoff"
    return Done(seq=entry.seq, message_id=message_id, stays=why)


def _stays(
    tx: Transaction, channel: str, here: Collection[str]
) -> tuple[str | None, str]:
    """Why a reply does not leave now, or None; and its state in the outbox."""
    alive = [w for w in tx.workers() if w.alive]
    known = {name for w in alive for name in w.channels} if alive else set(here)
    if channel not in known:
        return f"no channel {channel!r} is configured", "no_channel"
    return (None if alive else "no worker is running"), "queued"
