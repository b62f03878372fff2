"""People at work by the command line, on both databases."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from console.plain_journal import entry_line, event_line
from core.journal import Entry, Escalated
from core.ticket import system
from tests.cli.conftest import Handoff, message, opened


def test_rule_01_a_ticket_has_one_holder_and_taking_it_gives_a_new_token(
    handoff: Handoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    handoff("operator", "add", "Mira")
    ticket = opened(handoff)
    first = handoff("take", ticket, "--json").json
    again = handoff("take", ticket, "--json").json
    other = handoff("take", ticket, "--as", "Mira")
    forced = handoff("take", ticket, "--force", "--why", "mine", "--as", "Mira")
    handoff("release", ticket, "--to", "queue")
    second = handoff("take", ticket, "--json", "--as", "Mira").json

    assert first == again
    assert other.code == 1
    assert first["holder"]["name"] in other.err
    assert first["since"][:19] in other.err
    assert forced.code == 1
    assert "only a supervisor" in forced.err
    assert second["token"] == first["token"] + 1


def test_f38_who_does_not_hold_the_ticket_says_nothing_to_its_buyer(
    both: Handoff,
) -> None:
    ticket = opened(both)
    free = both("reply", ticket, "Hello.")
    both("take", ticket)
    held = both("reply", ticket, "Hello.", "--json")
    replies = both("outbox", "--json").json

    assert free.code == 1
    assert "nobody holds the ticket" in free.err
    assert held.code == 0
    assert [(r["text"], r["state"]) for r in replies] == [("Hello.", "no_channel")]
    assert replies[0]["message_id"] == held.json["message_id"]


def test_f30_a_note_is_for_colleagues_and_goes_nowhere_else(both: Handoff) -> None:
    ticket = opened(both)
    note = both("note", ticket, "-", stdin="NOTE-7\n")
    whisper = both("whisper", ticket, "NOTE-8")
    bodies = [e["body"] for e in both("show", ticket, "--json").json["journal"][1:]]

    assert note.code == whisper.code == 0
    assert bodies == [
        {"text": "NOTE-7", "for_agent": False},
        {"text": "NOTE-8", "for_agent": True},
    ]
    assert both("outbox", "--json").json == []


def test_rule_14_the_end_of_a_stretch_says_who_held_it_and_from_when_to_when(
    both: Handoff,
) -> None:
    ticket = opened(both)
    taken = both("take", ticket, "--json").json
    given = both("release", ticket, "--to", "agent", "--note", "be kind", "--carry-on")
    chart = both("show", ticket, "--json").json
    note, end = chart["journal"][-2:]

    assert given.code == 0
    assert "no agent is running" in given.err
    assert note["body"] == {"text": "be kind", "for_agent": True}
    assert end["body"]["change"] == "released"
    assert end["body"]["holder"]["name"] == taken["holder"]["name"]
    assert {"since", "until"} <= set(end["body"])
    assert chart["lock"]["holder"] is None
    assert chart["status"] == "queued"


def test_a_ticket_goes_to_a_colleague_or_is_resolved(handoff: Handoff) -> None:
    handoff("operator", "add", "Mira")
    ticket = opened(handoff)
    handoff("take", ticket)
    nobody = handoff("release", ticket, "--to", "Nobody")
    nearly = handoff("release", ticket, "--to", "mira")
    handoff("release", ticket, "--to", "Mira")
    handoff("take", ticket, "--as", "Mira")
    holder = handoff("show", ticket, "--json").json["lock"]["holder"]
    taken_back = handoff(
        "release", ticket, "--to", "queue", "--force", "--why", "she is out"
    )
    handoff("take", ticket)
    handoff("release", ticket, "--resolve")

    assert nobody.code == 2
    assert nobody.err == "handoff: there is no operator named Nobody\n"
    assert nearly.code == 2
    assert nearly.err == "handoff: there is no operator named mira; is it Mira?\n"
    assert holder == {"kind": "operator", "name": "Mira", "run": None}
    assert taken_back.code == 0
    assert handoff("show", ticket, "--json").json["status"] == "resolved"


def test_the_queue_shows_each_view_and_finds_words(both: Handoff) -> None:
    mine = opened(both)
    other = opened(both, n=2, subject="Chair", text="100% broken_leg")
    both("take", mine)

    def seen(*arguments: str) -> set[str]:
        return {row["ticket"] for row in both("tickets", "--json", *arguments).json}

    assert seen() == {mine, other}
    assert seen("--view", "mine") == {mine}
    assert seen("--view", "agent") == {other}
    assert seen("--search", "chair") == {other}
    assert seen("--search", "100%") == {other}
    assert seen("--search", "%") == {other}
    assert seen("--search", "nothing like it") == set()


def test_rule_03_a_message_to_a_held_ticket_is_stored_at_once(both: Handoff) -> None:
    ticket = opened(both)
    both("take", ticket)
    line = message(2, ticket=ticket)
    said = both("ingest", "-", stdin=line)

    assert said.lines == [{"ticket": ticket, "seq": 3, "duplicate": False}]
    assert both("show", ticket, "--json").json["status"] == "held"


def test_an_empty_reply_is_refused(handoff: Handoff) -> None:
    ticket = opened(handoff)
    handoff("take", ticket)

    assert handoff("reply", ticket, "  ").code == 1
    assert handoff("note", ticket, "").code == 1


@pytest.mark.parametrize("command", ["reply", "note", "whisper"])
def test_what_is_no_utf_8_is_refused_and_not_stored(
    handoff: Handoff, command: str
) -> None:
    ticket = opened(handoff)
    handoff("take", ticket)
    before = handoff("show", ticket, "--json").json["journal"]
    said = handoff(command, ticket, "-", stdin=b"caf\xe9")

    assert said.code == 2
    assert said.err == "handoff: the text on stdin is not UTF-8; nothing was stored\n"
    assert handoff("show", ticket, "--json").json["journal"] == before


def test_f116_each_attachment_has_a_line_and_a_message_is_never_blank(
    handoff: Handoff,
) -> None:
    files = [
        {"name": "../../x\x1b[2J", "type": "image/png", "size": 25_000_000},
        {"type": "audio/ogg"},
    ]
    ticket = opened(handoff, text=" ", attachments=files)
    said = handoff("show", ticket).out

    assert "writes:\n     (no text)\n     attached: ../../x␛[2J (image/png" in said
    assert "attached: without a name (audio/ogg, 0 bytes)" in said


def test_a_stranger_s_message_says_which_ticket_it_named(handoff: Handoff) -> None:
    ticket = opened(handoff)
    strange = {"ticket": ticket, "from": "eve@example.com"}
    other = handoff("ingest", "-", stdin=message(2, **strange)).lines[0]["ticket"]
    said = handoff("show", other).out

    assert other != ticket
    assert f"writes from nobody on {ticket}, which it names:" in said


def test_why_a_ticket_went_to_people_is_said_once() -> None:
    asked = Escalated(reason="wants a person", tried="", summary="wants a person")
    at = datetime(2026, 11, 1, tzinfo=UTC)
    entry = Entry(seq=3, at=at, actor=system("intake"), body=asked)

    assert entry_line(entry).count("wants a person") == 1
    assert event_line(entry).endswith("hands over to people: wants a person")
    assert isinstance(entry.body, Escalated)
    tried = replace(entry, body=replace(entry.body, tried="the shop, twice"))
    assert event_line(tried).endswith("a person Tried: the shop, twice")
