"""Committed replies go to their channels (protocol "Delivery").

A reply is claimed in one transaction, handed to the channel outside, and its fate
stored in another. If the process dies in between, the next sender first asks the
channel whether it has the message id, and only then delivers again under the same.
"""

from dataclasses import dataclass, replace
from functools import partial

from core.errors import DeliveryFailed
from core.flows.house import House
from core.history import Reply
from core.journal import Delivery
from core.lock import HolderKind
from core.ports import Channel, Transaction
from core.ticket import ActorKind, system

_ATTEMPTS = 8
_BATCH = 50
_ACTOR = system("delivery")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claimed:
    """A reply that is this sender's to deliver.

    Attributes:
        again: Whether an earlier sender may have delivered it.
        silent: A person holds the ticket now: if it has not left, it is withheld.
    """

    reply: Reply
    again: bool
    silent: bool = False


async def deliver_due(house: House) -> int:
    """Delivers what waits; returns how many replies changed their state."""
    waiting = await house.store.read(lambda tx: tx.deliverable(_BATCH))
    moved = 0
    for reply in waiting:
        moved += await _deliver(house, reply)
    return moved


async def requeue_for_channels(house: House) -> int:
    """Queues replies again that had no channel and have one now."""
    stuck = await house.store.read(lambda tx: tx.stranded(house.channels))
    for reply in stuck:
        await house.store.write(partial(_requeue, reply.message_id))
    return len(stuck)


def _requeue(message_id: str, tx: Transaction) -> None:
    reply = tx.reply(message_id)
    if reply is not None and reply.state == "no_channel":
        tx.save_reply(replace(reply, state="queued"))
        _journal(tx, reply, "queued")


async def _deliver(house: House, listed: Reply) -> int:
    claimed = await house.store.write(partial(_claim, listed, house))
    if claimed is None:
        return 0
    channel = house.channels.get(claimed.reply.channel)
    if channel is None:
        return 1
    fate = await _hand_over(channel, claimed)
    await house.store.write(partial(_store_fate, fate))
    return 1


def _claim(listed: Reply, house: House, tx: Transaction) -> _Claimed | None:
    """Takes a reply, unless another sender did since it was listed."""
    reply = tx.reply(listed.message_id)
    if reply is None:
        return None
    if (reply.state, reply.attempts) != (listed.state, listed.attempts):
        return None
    if reply.unreadable is not None:  # people look at it, and may say it again
        lost = replace(reply, state="failed", why=f"{reply.unreadable} is damaged")
        tx.save_reply(lost)
        _journal(tx, lost, "failed")
        return None
    lock = tx.lock_of(reply.ticket)
    person = lock.holder is not None and lock.holder.kind is HolderKind.OPERATOR
    person = person or tx.standing(reply.ticket).offered_to is not None
    by_agent = reply.author.kind is ActorKind.AGENT
    if by_agent and not person and _stopped(tx, reply):
        return None
    if reply.not_before is not None and reply.not_before > tx.now:
        return None
    silent = by_agent and person
    if silent and reply.state == "queued":
        tx.save_reply(replace(reply, state="withheld"))
        _journal(tx, reply, "withheld")
        return None
    if reply.channel not in house.channels:
        tx.save_reply(replace(reply, state="no_channel"))
        _journal(tx, reply, "no_channel")
        return _Claimed(reply=reply, again=False)
    taken = replace(reply, state="sending", attempts=reply.attempts + 1)
    tx.save_reply(taken)
    return _Claimed(reply=taken, again=reply.state == "sending", silent=silent)


def _stopped(tx: Transaction, reply: Reply) -> bool:
    """Whether what the agent has said waits until it may go on."""
    return tx.pause() is not None or tx.standing(reply.ticket).paused is not None


async def _hand_over(channel: Channel, claimed: _Claimed) -> Reply:
    """The reply as it stands after the channel was asked."""
    reply = claimed.reply
    try:
        if claimed.again and await channel.find(reply.message_id):
            return replace(reply, state="delivered")
        if claimed.silent:
            return replace(reply, state="withheld")
        provider_id = await channel.deliver(reply)
    except DeliveryFailed as failed:
        lost = failed.permanent or reply.attempts >= _ATTEMPTS
        return replace(reply, state="failed" if lost else "sending", why=str(failed))
    return replace(reply, state="delivered", provider_id=provider_id)


def _store_fate(fate: Reply, tx: Transaction) -> None:
    """Stores what became of a reply, unless another sender took it up meanwhile."""
    reply = tx.reply(fate.message_id)
    if reply is None or (reply.state, reply.attempts) != ("sending", fate.attempts):
        return
    done = fate.state == "delivered"
    tx.save_reply(replace(fate, delivered_at=tx.now) if done else fate)
    if fate.state in {"delivered", "failed", "withheld"}:
        _journal(tx, fate, fate.state)


def _journal(tx: Transaction, reply: Reply, state: str) -> None:
    moved = Delivery(message_seq=reply.seq, state=state, why=reply.why)
    tx.append(reply.ticket, _ACTOR, moved)
