"""What people and rules did meanwhile is told, each by name (rule 10)."""

import json

import pytest

from core.context import Voice
from core.journal import (
    ActionChanged,
    Body,
    DecisionChanged,
    Delivery,
    IdentityChanged,
    Note,
    Refused,
)
from tests.core.as_told import BOTH, block_texts, told
from tests.core.building import ANA, given_back, history, replied, request, said, taken


@BOTH
def test_f50_user_blocks_hold_the_buyer_s_words_and_no_colleague_s(
    voice: Voice,
) -> None:
    chart = history(
        said("alpha"), taken(), replied("bravo", 1, ANA), said("charlie"), given_back()
    )
    body = request(chart, voice).body()
    users = [t for t in block_texts(body, "user") if "<handoff:facts>" not in t]
    assert [t for t in users if not t.startswith("Subject:")] == ["alpha", "charlie"]
    assert block_texts(body, "assistant") == []
    facts = "\n".join(told(body, voice))
    assert "Your colleague ana (a person) answered the buyer:\n> bravo" in facts


@BOTH
def test_f73_a_colleague_s_promise_is_in_the_next_request(voice: Voice) -> None:
    chart = history(
        said("my parcel is late"),
        taken(),
        replied("I gave you 10 % code ZED9", 1, ANA),
        given_back(),
        said("what was the code?"),
    )
    facts = "\n".join(told(request(chart, voice).body(), voice))
    assert "> I gave you 10 % code ZED9" in facts


@BOTH
def test_f66_all_of_twenty_human_messages_are_there_in_their_order(
    voice: Voice,
) -> None:
    talk = [
        line
        for n in range(20)
        for line in (said(f"question {n}."), replied(f"answer {n}.", 2 * n + 2, ANA))
    ]
    body = request(history(taken(), *talk, given_back(), said("next")), voice).body()
    everything = "\n".join([*block_texts(body, "user"), *block_texts(body, "system")])
    facts = "\n".join(told(body, voice))
    places = [facts.index(f"> answer {n}.") for n in range(20)]
    assert places == sorted(places)
    assert all(f"question {n}." in everything for n in range(20))


@BOTH
def test_f55_the_end_of_a_human_stretch_is_a_fact_with_who_and_when(
    voice: Voice,
) -> None:
    chart = history(said("m1"), taken(), said("m2"), given_back())
    facts = "\n".join(told(request(chart, voice).body(), voice))
    assert (
        "Your colleague ana (a person) held the ticket from 2026-11-30 09:00 UTC "
        "to 2026-11-30 09:30 UTC and has given it back to you" in facts
    )


@BOTH
def test_f30_a_note_among_colleagues_never_reaches_the_model(voice: Voice) -> None:
    chart = history(
        said("hi"),
        (ANA, Note(text="NOTE-7")),
        (ANA, Note(text="NOTE-8", for_agent=True)),
        (ANA, Refused(what="NOTE-7", rule="NOTE-7")),
    )
    body = request(chart, voice).body()
    assert "NOTE-7" not in json.dumps(body)
    assert "Your colleague ana (a person) left a note for you:\n> NOTE-8" in "\n".join(
        told(body, voice)
    )


@BOTH
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            IdentityChanged(
                verified=True,
                customer="c-1",
                name="Bo",
                method="matched_order",
                evidence="order O-1",
            ),
            "The buyer is verified as Bo (customer c-1) by matched_order",
        ),
        (
            IdentityChanged(
                verified=False, customer=None, name=None, method="m", evidence=""
            ),
            "revoked the buyer's identity",
        ),
        (
            DecisionChanged(
                decision="D-1",
                state="overridden",
                tool="refund_order",
                input={"amount": "20.00"},
                hash="0",
                rule="r",
            ),
            "approved the proposal D-1 (refund_order) with other arguments:\n> {",
        ),
        (
            DecisionChanged(
                decision="D-1",
                state="rejected",
                tool="refund_order",
                input={},
                hash="0",
                rule="r",
                why="too much",
            ),
            "rejected the proposal D-1 (refund_order):\n> too much",
        ),
        (
            DecisionChanged(
                decision="D-1",
                state="expired",
                tool="refund_order",
                input={},
                hash="0",
                rule="r",
            ),
            "Nobody decided the proposal D-1 (refund_order) in time",
        ),
        (Delivery(message_seq=4, state="withheld"), "Your message #4 was withheld"),
        (
            ActionChanged(
                action="A-1",
                state="in_doubt",
                tool="refund_order",
                evidence="no answer",
            ),
            "It is not known whether A-1 (refund_order) was carried out:\n> no answer",
        ),
    ],
    ids=lambda value: getattr(value, "state", None) or type(value).__name__,
)
def test_rule_10_what_happened_meanwhile_is_told_as_a_fact(
    voice: Voice, body: Body, words: str
) -> None:
    chart = history(said("hi"), (ANA, body))
    assert words in "\n".join(told(request(chart, voice).body(), voice))
