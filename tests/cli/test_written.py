"""`handoff canned`: the team's replies and macros from the command line."""

from pathlib import Path

from tests.cli.conftest import Handoff, opened

MACRO = """---
note: asked the carrier
state: {"waits_for": "carrier"}
release: queue
---
Dear {name}, we asked."""


def test_replies_are_kept_listed_searched_and_removed(both: Handoff) -> None:
    assert both("canned", "add", "hello", "-", stdin="Hello {name}").code == 0
    said = both("canned", "add", "carrier", "-", "--json", stdin=MACRO).json
    assert (said["kind"], said["release"], said["from"]) == ("macro", "queue", "store")
    listed = both("canned", "list", "--json").json
    assert [(c["name"], c["kind"]) for c in listed] == [
        ("carrier", "macro"),
        ("hello", "reply"),
    ]
    assert [
        c["name"] for c in both("canned", "list", "--search", "ASKED", "--json").json
    ]
    assert both("canned", "add", "nul", "-", stdin=b"a\0b").code == 0
    assert both("canned", "remove", "nul").code == 0
    assert both("canned", "remove", "hello").code == 0
    gone = both("canned", "remove", "hello")
    assert gone.code == 2
    assert "the team has written nothing named hello; see `handoff" in gone.err
    near = both("canned", "remove", "Carrier")
    assert "; is it carrier?" in near.err
    assert "carrier" in both("canned", "list").out


def test_a_bad_text_or_name_is_one_line_and_nothing_is_stored(handoff: Handoff) -> None:
    for name, text, words in (
        ("odd", "---\nsend: x\n---\n", "odd: line 2: unknown key 'send'"),
        ("odd", b"\xff", "expected UTF-8 text"),
        (" odd", "x", "can't be a name"),
    ):
        said = handoff("canned", "add", name, "-", stdin=text)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert words in said.err
    assert handoff("canned", "list", "--json").json == []


def test_a_macro_is_tried_filled_and_used_by_the_holder(handoff: Handoff) -> None:
    ticket = opened(handoff)
    handoff("canned", "add", "carrier", "-", stdin=MACRO)
    gap = handoff("canned", "use", "carrier", ticket)
    assert (gap.code, "the chart does not say name: --set 'name=…'" in gap.err) == (
        1,
        True,
    )
    name = ("--set", "name=Dana")
    dry = handoff("canned", "use", "carrier", ticket, *name, "--dry-run")
    assert "reply to the buyer:\n  Dear Dana, we asked." in dry.out
    assert "give back:\n  to the queue, for people" in dry.out
    refused = handoff("canned", "use", "carrier", ticket, *name)
    assert (refused.code, "nobody holds the ticket" in refused.err) == (1, True)

    handoff("take", ticket)
    done = handoff("canned", "use", "carrier", ticket, *name, "--json").json
    assert done["done"] == ["reply", "state", "note", "release"]
    chart = handoff("show", ticket, "--json").json
    assert chart["task_state"] == {"waits_for": "carrier"}
    assert [r["text"] for r in chart["outbox"]] == ["Dear Dana, we asked."]
    assert chart["lock"]["holder"] is None


def test_files_beside_the_configuration_go_before_the_team_s(
    handoff: Handoff, sundry: Path
) -> None:
    replies = sundry.parent / "replies"
    replies.mkdir()
    (replies / "hello.md").write_text("Hi {operator}", encoding="utf-8")
    (replies / "odd.md").write_text("---\nx: 1\n---\n", encoding="utf-8")
    handoff("canned", "add", "hello", "-", stdin="Hello")
    listed = handoff("canned", "list", "--config", str(sundry), "--json").json
    assert [(c["name"], c["from"], c["kind"]) for c in listed] == [
        ("hello", "file", "reply"),
        ("odd", "file", None),
    ]
    assert "unknown key 'x'" in listed[1]["problem"]
    ticket = opened(handoff)
    odd = handoff("canned", "use", "odd", ticket, "--config", str(sundry))
    assert (odd.code, odd.err.count("\n")) == (2, 1)


def test_a_macro_that_gives_the_ticket_to_nobody_is_told_whom_it_means(
    handoff: Handoff,
) -> None:
    handoff("operator", "add", "Sam")
    ticket = opened(handoff)
    handoff("take", ticket)
    for given, meant in (("sam", "Sam"), ("Queue", "queue"), ("resolve", "resolved")):
        macro = f"---\nrelease: {given}\n---\nHello"
        added = handoff("canned", "add", "bye", "-", stdin=macro)
        tried = handoff("canned", "use", "bye", ticket, "--dry-run")
        used = handoff("canned", "use", "bye", ticket)
        assert (added.code, tried.code, used.code) == (0, 0, 1)
        for said in (added, tried, used):
            assert f"no active operator named {given}; is it {meant}?" in said.err
    assert handoff("outbox", "--json").json == []
    handoff("canned", "add", "bye", "-", stdin="---\nrelease: Sam\n---\nHello")
    assert handoff("canned", "use", "bye", ticket).code == 0
