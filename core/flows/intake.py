"""A message arrives: appended at once, whoever holds the ticket (rules 3 and 4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.flows.holding import store_acquisition, withhold
from core.journal import (
    Body,
    Escalated,
    LockChanged,
    Message,
    Refused,
    Thinking,
    ToolCalled,
    ToolReturned,
)
from core.lock import acquire_for_operator
from core.ports import Ids, Store, Transaction
from core.ticket import (
    Actor,
    Arrival,
    Json,
    JsonObject,
    Origin,
    RunId,
    Ticket,
    TicketId,
    agent,
    buyer,
    operator,
    system,
)

CHANNEL_OF_IMPORTS = "import"
_SUBJECT_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """Where a message is now.

    Attributes:
        ticket: Its ticket.
        seq: Its place in the journal.
        duplicate: True where it was there before (rule 4).
    """

    ticket: TicketId
    seq: int
    duplicate: bool


async def receive(store: Store, ids: Ids, arrival: Arrival) -> Received:
    """Stores a message that a channel hands in.

    It joins the ticket that it names or that its references name, if its sender is on
    that ticket; from a stranger it opens a ticket of its own for people, and else a
    new one. Never by address or subject: a claim is no identity.

    Raises:
        StoreUnreachable: Nothing was stored; hand it in again.
    """
    return await store.write(lambda tx: _receive(tx, ids, arrival))


def _receive(tx: Transaction, ids: Ids, arrival: Arrival) -> Received:
    known = tx.arrived(arrival.channel, arrival.external_id)
    if known is None:
        return _take_in(tx, ids, arrival, arrival.ticket)
    ticket, seq = known
    again = _same_text(tx, ticket, seq, arrival)
    if again is not None:
        return Received(ticket=ticket, seq=again, duplicate=True)
    kept = _take_in(tx, ids, replace(arrival, external_id=""), ticket)
    first = f"#{seq} on {ticket}"
    what = f"another text under the id of message {first}: kept as #{kept.seq}"
    refused = Refused(what=what, rule="a message id is stored once")
    tx.append(kept.ticket, system("intake"), refused)
    return replace(kept, duplicate=True)


def _take_in(
    tx: Transaction, ids: Ids, arrival: Arrival, named: TicketId | None
) -> Received:
    """Stores a message on the ticket where it belongs."""
    stranger = named is not None and not tx.has_ticket(named)
    joined = None if stranger else (named or _thread(tx, arrival))
    meant = joined or named
    if joined is not None and not _belongs(tx, joined, arrival):
        joined, stranger = None, True
    ticket = joined if joined is not None else _open(tx, ids, arrival)
    tx.add_participants(ticket, [arrival.sender, *arrival.cc])
    seq = _append(tx, ticket, arrival, meant if stranger else None)
    if arrival.external_id:
        tx.remember_arrival(arrival.channel, arrival.external_id, ticket, seq)
    return Received(ticket=ticket, seq=seq, duplicate=False)


def _same_text(
    tx: Transaction, ticket: TicketId, seq: int, arrival: Arrival
) -> int | None:
    """The message of this id that says the same, or another that does (rule 4)."""
    journal = tx.history(ticket).journal
    first = [e for e in journal if e.seq == seq]
    for entry in (*first, *journal):
        if isinstance(entry.body, Message) and entry.body.text == arrival.text:
            return entry.seq
    return None


def _thread(tx: Transaction, arrival: Arrival) -> TicketId | None:
    replied = [arrival.in_reply_to] if arrival.in_reply_to else []
    return tx.thread_of(arrival.channel, [*arrival.references, *replied])


def _belongs(tx: Transaction, ticket: TicketId, arrival: Arrival) -> bool:
    if arrival.outgoing:
        return True
    return arrival.sender.lower() in tx.participants(ticket)


def _open(tx: Transaction, ids: Ids, arrival: Arrival) -> TicketId:
    ticket = TicketId(ids.new("T"))
    tx.open_ticket(
        Ticket(
            id=ticket,
            subject=arrival.subject.strip() or _first_words(arrival.text),
            channel=arrival.channel,
            claim=arrival.sender,
            origin=Origin.LIVE,
            created_at=tx.now,
        )
    )
    return ticket


def _first_words(text: str) -> str:
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    cut = len(line) > _SUBJECT_LENGTH
    return line[: _SUBJECT_LENGTH - 1] + "…" if cut else line or "(no subject)"


def _append(
    tx: Transaction, ticket: TicketId, arrival: Arrival, meant: TicketId | None
) -> int:
    sent_at = arrival.sent_at.isoformat() if arrival.sent_at is not None else None
    message = Message(
        direction="out" if arrival.outgoing else "in",
        text=arrival.text,
        channel=arrival.channel,
        external_id=arrival.external_id or None,
        attachments=tuple(
            {"name": a.name, "type": a.type, "size": a.size}
            for a in arrival.attachments
        ),
        covers=tx.standing(ticket).last_buyer_seq if arrival.outgoing else None,
        stranger=meant is not None,
        named=meant,
        sent_at=sent_at,
    )
    if arrival.outgoing:
        return _append_outgoing(tx, ticket, arrival, message)
    entry = tx.append(ticket, buyer(arrival.sender), message)
    if tx.ticket(ticket).origin is Origin.IMPORTED:
        _to_people(tx, ticket, "a message came in on an imported ticket")
    return entry.seq


def _append_outgoing(
    tx: Transaction, ticket: TicketId, arrival: Arrival, message: Message
) -> int:
    """A person's reply that went another way counts as taking over.

    Where its author works here, the ticket is theirs, by the same rule as if they had
    asked for it: a run at work hands it over. Else it goes to people.
    """
    author = arrival.author or arrival.sender
    entry = tx.append(ticket, operator(author), message)
    history = tx.history(ticket)
    if history.standing.held_by is not None:
        return entry.seq
    if any(o.name == author and not o.disabled for o in tx.operators()):
        outcome = acquire_for_operator(history.lock, author, tx.now)
        store_acquisition(tx, history, outcome, author)
    else:
        _to_people(tx, ticket, f"{author} answered the buyer by another way")
    if tx.standing(ticket).held_by is None:
        withhold(tx, history)
    return entry.seq


def _to_people(tx: Transaction, ticket: TicketId, reason: str) -> None:
    tx.append(
        ticket, system("intake"), Escalated(reason=reason, tried="", summary=reason)
    )


async def bring_in(
    store: Store,
    ids: Ids,
    *,
    source_id: str,
    subject: str | None,
    messages: Sequence[JsonObject],
) -> Received:
    """Stores a finished conversation as a resolved ticket that is never runnable.

    Args:
        store: The store.
        ids: Names for new tickets.
        source_id: The conversation's own id; the same twice is stored once.
        subject: Its subject, or None to take its first words.
        messages: Messages in content blocks of the Messages API.

    Raises:
        ValueError: A message is none; says which and why. Nothing was stored.
        StoreUnreachable: Nothing was stored.
    """
    entries = [e for n, m in enumerate(messages, 1) for e in _imported(n, m)]
    if not entries:
        raise ValueError("the conversation has no messages")

    def bring(tx: Transaction) -> Received:
        known = tx.arrived(CHANNEL_OF_IMPORTS, source_id)
        if known is not None:
            return Received(ticket=known[0], seq=known[1], duplicate=True)
        ticket = TicketId(ids.new("T"))
        tx.open_ticket(
            Ticket(
                id=ticket,
                subject=subject or _first_words(_first_text(entries)),
                channel=CHANNEL_OF_IMPORTS,
                claim="",
                origin=Origin.IMPORTED,
                created_at=tx.now,
            )
        )
        seq = 0
        for actor, body in entries:
            seq = tx.append(ticket, actor, body).seq
        tx.append(ticket, system(CHANNEL_OF_IMPORTS), _RESOLVED)
        tx.remember_arrival(CHANNEL_OF_IMPORTS, source_id, ticket, seq)
        return Received(ticket=ticket, seq=seq, duplicate=False)

    return await store.write(bring)


_RESOLVED = LockChanged(
    change="released",
    holder={"kind": "system", "name": CHANNEL_OF_IMPORTS},
    token=0,
    to="resolved",
)


_BAD_CONTENT = "message {n}: content must be a text or a list of blocks"
_BAD_BLOCK = "message {n}: a content block must be an object"


def _imported(n: int, message: JsonObject) -> Iterable[tuple[Actor, Body]]:
    role, content = message.get("role"), message.get("content")
    if role not in {"user", "assistant"}:
        raise ValueError(f"message {n}: role must be user or assistant")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, Sequence):
        raise ValueError(_BAD_CONTENT.format(n=n))  # noqa: TRY004 # bad input, not a wrong type
    for block in content:
        if not isinstance(block, Mapping):
            raise ValueError(_BAD_BLOCK.format(n=n))  # noqa: TRY004 # bad input, not a wrong type
        yield _imported_block(n, role == "assistant", block)


def _imported_block(n: int, ours: bool, block: JsonObject) -> tuple[Actor, Body]:  # noqa: FBT001 # whose block it is
    side = agent(RunId(CHANNEL_OF_IMPORTS)) if ours else buyer("buyer")
    match block.get("type"):
        case "text":
            said = Message(
                direction="out" if ours else "in",
                text=_required(n, block, "text"),
                channel=CHANNEL_OF_IMPORTS,
            )
            return side, said
        case "tool_use":
            call, name = _required(n, block, "id"), _required(n, block, "name")
            return side, ToolCalled(id=call, name=name, input=block.get("input"))
        case "tool_result":
            returned = ToolReturned(
                id=_required(n, block, "tool_use_id"),
                content=block.get("content"),
                is_error=block.get("is_error") is True,
            )
            return agent(RunId(CHANNEL_OF_IMPORTS)), returned
        case _:
            return side, Thinking(block=block)


def _required(n: int, block: JsonObject, key: str) -> str:
    value = block.get(key)
    if not isinstance(value, str):
        raise ValueError(f"message {n}: a {block.get('type')} block needs {key}")  # noqa: TRY004 # bad input, not a wrong type
    return value


def _first_text(entries: Iterable[tuple[Actor, Body]]) -> str:
    texts: list[Json] = [b.text for _, b in entries if isinstance(b, Message)]
    return str(texts[0]) if texts else ""
