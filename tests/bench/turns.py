"""What the benchmark of the store writes: a ticket at work, its requests and turns.

A turn is a tool call and its result with the model's response: texts of 3,480 bytes
in all. Its request and the ledger's commits are transactions of their own.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from core.journal import Message, ToolCalled, ToolReturned
from core.lock import (
    Hold,
    Holder,
    HolderKind,
    Lease,
    Released,
    acquire_for_run,
    release,
)
from core.ticket import Origin, RunId, Ticket, TicketId, agent, buyer
from core.turn import ModelResponse, Turn, Usage
from tests.core.building import run_of

TEXT = "y" * 870
ENTRIES_OF_A_TURN = 2
LEASE = Lease(length=timedelta(hours=1))


def open_ticket(name: str) -> Callable[..., Hold]:
    """A transaction that opens a ticket and gives it to a run."""
    ticket, run = TicketId(name), RunId(f"R-{name}")

    def opening(tx) -> Hold:  # type: ignore[no-untyped-def]
        tx.open_ticket(
            Ticket(
                id=ticket,
                subject="A parcel",
                channel="mail",
                claim="a@example.com",
                origin=Origin.LIVE,
                created_at=tx.now,
            )
        )
        said = Message(direction="in", text=TEXT, channel="mail")
        tx.append(ticket, buyer("a@example.com"), said)
        holder = Holder(kind=HolderKind.RUN, name=run)
        lock = acquire_for_run(tx.lock_of(ticket), holder, tx.now, LEASE).lock  # type: ignore[union-attr]
        tx.save_lock(lock)
        tx.start_run(lock.hold, replace(run_of(run), ticket=ticket))
        return lock.hold

    return opening


def a_request(hold: Hold, n: int, messages: list[bytes] | None = None):  # type: ignore[no-untyped-def]
    """Stores a request, a small one unless its messages are given."""
    run = RunId(f"R-{hold.ticket}")
    sent = [b'{"role":"user","content":"?"}'] if messages is None else messages

    def asking(tx) -> None:  # type: ignore[no-untyped-def]
        seq = tx.standing(hold.ticket).last_seq
        turn = Turn(number=n, built_at=seq, upto=len(sent), requested_at=tx.now)
        tx.store_request(hold, run, turn, sent)

    return asking


def a_turn(hold: Hold, n: int, text: str = TEXT) -> Callable[..., None]:
    """Stores what a turn leaves: the response, a call and its result."""
    run = RunId(f"R-{hold.ticket}")
    call = f"toolu_{n}"

    def persisting(tx) -> None:  # type: ignore[no-untyped-def]
        tx.store_response(hold, run, n, a_response(n, text), applied=True)
        asked = ToolCalled(id=call, name="find", input={"q": text})
        tx.append_as(hold, agent(run), asked)
        tx.append_as(hold, agent(run), ToolReturned(id=call, content=text * 2))

    return persisting


def a_response(n: int, text: str = TEXT) -> ModelResponse:
    """A model's answer that calls a tool."""
    block = {"type": "tool_use", "id": f"toolu_{n}", "name": "find"}
    return ModelResponse(
        id=f"msg_{n}",
        model="claude-sonnet-5-5",
        content=({**block, "input": {"q": text}},),
        stop_reason="tool_use",
        usage=Usage(in_tokens=10, out_tokens=10),
        request_id=None,
    )


def sent_back(n: int, text: str) -> list[bytes]:
    """The two messages that a turn adds to the next request."""
    asked = {"role": "assistant", "content": list(a_response(n, text).content)}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": text * 2}
    told = {"role": "user", "content": [result]}
    return [json.dumps(m, separators=(",", ":")).encode() for m in (asked, told)]


def claim(ticket: TicketId) -> Callable[..., None]:
    """Takes a ticket's lock for a run."""

    def claiming(tx) -> None:  # type: ignore[no-untyped-def]
        holder = Holder(kind=HolderKind.RUN, name="R-C")
        tx.save_lock(acquire_for_run(tx.lock_of(ticket), holder, tx.now, LEASE).lock)  # type: ignore[union-attr]

    return claiming


def free(ticket: TicketId) -> Callable[..., None]:
    """Gives a ticket's lock back."""

    def freeing(tx) -> None:  # type: ignore[no-untyped-def]
        lock = tx.lock_of(ticket)
        outcome = release(lock, lock.hold, tx.now)
        if isinstance(outcome, Released):
            tx.save_lock(outcome.lock)

    return freeing
