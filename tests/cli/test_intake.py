"""`handoff ingest` and `handoff import`."""

import json
from typing import Any

from tests.cli.conftest import Handoff, message, opened


def test_rule_04_the_same_message_twice_is_stored_once_and_says_so(
    both: Handoff,
) -> None:
    said = both("ingest", "-", stdin=message() * 2)
    ticket = said.lines[0]["ticket"]

    assert said.code == 0
    assert said.lines == [
        {"ticket": ticket, "seq": 1, "duplicate": False},
        {"ticket": ticket, "seq": 1, "duplicate": True},
    ]


def test_a_bad_line_is_told_by_its_number_and_the_rest_goes_on(
    handoff: Handoff,
) -> None:
    bad = [
        "{broken",
        "[]",
        "3",
        message(2, text=None),
        message(3, channel=""),
        message(4, sent_at="yesterday"),
        message(5, sent_at="2026-11-01T10:00:00"),
        message(6, references="<1>"),
        message(7, attachments=[3]),
        message(8, direction="sideways"),
        message(9, direction="out"),
    ]
    lines = [message(0).strip(), "", *[b.strip() for b in bad], message(99).strip()]
    said = handoff("ingest", "-", stdin="\n".join(lines))

    assert said.code == 1
    assert len(said.lines) == 2
    told = said.err.splitlines()
    assert [t.split(":")[1].strip() for t in told[:-1]] == [
        f"line {n}" for n in range(3, 3 + len(bad))
    ]
    assert told[-1] == f"handoff: {len(bad)} lines not stored"


def test_what_is_no_utf_8_is_a_bad_line(handoff: Handoff) -> None:
    said = handoff("ingest", "-", stdin=b'{"text": "\xff"}\n' + message().encode())

    assert said.code == 1
    assert "line 1: not UTF-8" in said.err
    assert len(said.lines) == 1


def test_every_text_is_kept_as_it_came(both: Handoff) -> None:
    texts = ["\x00 NUL", "\x1b]52;c;QUJD\x07", "\u202eabc", "\ud800 alone", "e\u0301"]
    said = both(
        "ingest", "-", stdin="".join(message(n, text=t) for n, t in enumerate(texts))
    )
    charts = [both("show", line["ticket"], "--json").json for line in said.lines]

    assert [chart["journal"][0]["body"]["text"] for chart in charts] == texts


def test_f25_a_payload_that_calls_its_sender_verified_proves_nothing(
    handoff: Handoff,
) -> None:
    ticket = opened(handoff, verified=True, identity={"verified": True})
    identity = handoff("show", ticket, "--json").json["identity"]

    assert identity["verified"] is False
    assert identity["claim"] == "dana@example.com"


def test_f28_a_stranger_who_names_a_ticket_gets_one_of_their_own(
    handoff: Handoff,
) -> None:
    mine = opened(handoff)
    theirs = opened(handoff, n=2, ticket=mine, **{"from": "mallory@example.com"})

    assert theirs != mine
    assert handoff("show", theirs, "--json").json["status"] == "needs_human"
    assert len(handoff("show", mine, "--json").json["journal"]) == 1


def test_a_message_joins_the_ticket_that_its_references_name(handoff: Handoff) -> None:
    first = opened(handoff)
    second = opened(handoff, n=2, references=["<1@example.com>"])
    other = opened(handoff, n=3, subject="Re: Lamp")

    assert second == first
    assert other != first


CONVERSATION: dict[str, Any] = {
    "id": "c-1",
    "subject": "An old matter",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Where is it?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": " x\n"}
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "There."}]},
    ],
}


def test_an_imported_conversation_is_a_resolved_ticket_with_its_whole_history(
    both: Handoff,
) -> None:
    line = json.dumps(CONVERSATION) + "\n"
    said = both("import", "-", stdin=line * 2)
    chart = both("show", said.lines[0]["ticket"], "--json").json

    assert [s["duplicate"] for s in said.lines] == [False, True]
    assert chart["status"] == "resolved"
    assert [(e["kind"], e["actor"]["kind"]) for e in chart["journal"][:5]] == [
        ("message", "buyer"),
        ("message", "agent"),
        ("tool_call", "agent"),
        ("tool_result", "agent"),
        ("message", "agent"),
    ]
    assert chart["journal"][3]["body"]["content"] == " x\n"


def test_a_conversation_that_is_none_is_a_bad_line(handoff: Handoff) -> None:
    bad = [
        {"id": "c", "messages": []},
        {"id": "c", "messages": 3},
        {"id": "c", "messages": [{"role": "king", "content": "x"}]},
        {"messages": CONVERSATION["messages"]},
    ]
    said = handoff("import", "-", stdin="\n".join(json.dumps(b) for b in bad))

    assert said.code == 1
    assert said.out == ""
    assert len(said.err.splitlines()) == len(bad) + 1


def test_what_is_no_json_is_said_in_plain_words(handoff: Handoff) -> None:
    bad = ["{broken", "[]", '{"size": NaN}', "[" * 100_000]
    said = handoff("ingest", "-", stdin="\n".join(bad))

    assert said.err.splitlines()[:-1] == [
        "handoff: line 1: not JSON",
        "handoff: line 2: not a JSON object",
        "handoff: line 3: not JSON",
        "handoff: line 4: not JSON",
    ]


def test_an_imported_block_is_called_what_it_is(handoff: Handoff) -> None:
    blocks = [
        {"type": "image", "source": {"type": "url", "url": "https://x.example/a"}},
        {"type": "document"},
        {"type": "tool_result", "tool_use_id": "t1", "content": "found"},
    ]
    said = {"id": "c1", "messages": [{"role": "user", "content": blocks}]}
    ticket = handoff("import", "-", stdin=json.dumps(said)).lines[0]["ticket"]
    shown = handoff("show", ticket).out
    journal = handoff("show", ticket, "--json").json["journal"]

    assert "adds an image\n" in shown
    assert "adds a block of type document\n" in shown
    assert "thinks" not in shown
    assert "UNVERIFIED, claims nothing\n" in shown
    results = [e["body"] for e in journal if e["kind"] == "tool_result"]
    assert results == [{"id": "t1", "content": "found", "is_error": False}]
