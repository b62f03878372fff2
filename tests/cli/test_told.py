"""The journal in plain lines: who did what, as a sentence that can be read aloud."""

from datetime import UTC, datetime

import pytest

from console.plain_journal import entry_line
from core.journal import (
    ActionChanged,
    Body,
    DecisionChanged,
    Delivery,
    Entry,
    LockChanged,
    Refused,
    RunChanged,
)
from core.ticket import Actor, operator, system

AT = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
SAM = operator("Sam")


def lock(change: str, name: str, **more: str) -> LockChanged:
    kind = "run" if name.startswith("R-") else "operator"
    return LockChanged(
        change=change,
        holder={"kind": kind, "name": name},
        token=4,
        to=more.get("to"),
        why=more.get("why"),
        until=more.get("until"),
    )


def decision(state: str, why: str | None = None) -> DecisionChanged:
    return DecisionChanged(
        decision="D-7",
        state=state,
        tool="refund_order",
        input={},
        hash="h",
        rule="over 50.00",
        amount="118.00",
        currency="EUR",
        why=why,
    )


@pytest.mark.parametrize(
    ("actor", "body", "told"),
    [
        (SAM, lock("acquired", "Sam"), "takes the ticket, token 4"),
        (
            SAM,
            lock("forced", "Sam", why="asleep"),
            "takes the ticket by force (asleep), token 4",
        ),
        (SAM, lock("wanted", "Sam"), "asks for the ticket, token 4"),
        (
            SAM,
            lock("wanted", "Sam", until="then"),
            "no longer asks for the ticket, token 4",
        ),
        (
            SAM,
            lock("released", "Sam", to="agent"),
            "gives the ticket back to the agent, token 4",
        ),
        (
            SAM,
            lock("released", "Mira", to="Sam", why="on leave"),
            "ends the hold of Mira (on leave), token 4",
        ),
        (
            SAM,
            lock("released", "Sam", to="resolved"),
            "ends the hold and resolves the ticket, token 4",
        ),
        (SAM, lock("offered", "Mira"), "offers the ticket to Mira, token 4"),
        (
            system("agent"),
            lock("handed_over", "Sam"),
            "hands the ticket over to Sam, token 4",
        ),
        (
            system("worker"),
            lock("expired", "R-1"),
            "finds that the hold of R-1 has run out, token 4",
        ),
        (
            system("agent"),
            RunChanged(run="R-1", change="turn", turn=2),
            "asks the model, turn 2 of run R-1",
        ),
        (
            SAM,
            decision("rejected", "too late"),
            "rejects decision D-7, refund_order 118.00 EUR (over 50.00): too late",
        ),
        (
            SAM,
            decision("pending", "first of two: Sam"),
            "approves decision D-7, refund_order 118.00 EUR (over 50.00): "
            "one more must approve it",
        ),
        (
            SAM,
            Refused(what="take over", rule="held by Mira since 9:00"),
            "was refused: take over: held by Mira since 9:00",
        ),
        (
            system("agent"),
            ActionChanged(action="A-1", state="in_doubt", tool="refund_order"),
            "has action A-1 in doubt, refund_order",
        ),
        (
            system("sender"),
            Delivery(message_seq=5, state="failed", why="no such mailbox"),
            "reply #5: not delivered (no such mailbox)",
        ),
    ],
)
def test_an_entry_is_told_as_a_sentence_about_who_did_it(
    actor: Actor, body: Body, told: str
) -> None:
    line = entry_line(Entry(seq=3, at=AT, actor=actor, body=body))
    name = f"{actor.kind.value} {actor.name}"

    assert line == f"   3 2026-11-01T09:30:00Z {name} {told}"
