"""Wrong use and what is not known: one line and code 2, for every command."""

from pathlib import Path

import pytest

from tests.cli.conftest import Handoff, opened


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("tickets", "--no-such-option"),
        ("tickets", "--view", "nonsense"),
        ("show",),
        ("show", "T-NONE"),
        ("run", "R-NONE"),
        ("replay", "R-NONE"),
        ("replay",),
        ("replay", "R-1", "--all"),
        ("decide", "D-NONE", "--approve"),
        ("decide", "D-1"),
        ("decide", "D-1", "--approve", "--reject"),
        ("decide", "D-1", "--reject"),
        ("decide", "D-1", "--override", "{broken"),
        ("release", "T-1", "--to", "queue", "--resolve"),
        ("release", "T-1", "--force"),
        ("ingest", "no-such-file"),
        ("operator", "role", "Nobody", "agent"),
        ("operator", "add", "queue"),
        ("tickets", "--as", "Nobody"),
        ("outbox", "--as", "Nobody"),
        ("show", "T-1", "--as", "Nobody"),
        ("release", "T-1", "--to", "Nobody"),
        ("tickets", "--search", "\udcff"),
        ("tickets", "--store", "sqlite:///mistyped/x.db"),
        ("decide", "D-1", "--override", '{"amount": NaN}'),
        ("tickets", "--config", "none.toml"),
        ("worker", "--concurrency", "0"),
        ("demo", "--live", "--headless", "1"),
        ("demo", "--headless", "0"),
        ("demo", "--headless", "1", "--as", "Nobody"),
        ("demo",),
        ("worker", "--drain", "--as", "Nobody"),
        ("migrate", "--as", "Nobody"),
        ("export", "T-1", "--format", "html", "--json"),
        ("export", "T-1", "--json", "--format", "md"),
        ("--json",),
        ("take", "T-1", "--why", "mine"),
        ("release", "T-1", "--carry-on", "--to", "queue"),
        ("release", "T-1", "--carry-on", "--resolve"),
        ("withheld", "T-1", "--seq", "3"),
        ("identity", "T-1", "--revoke", "--name", "Dana"),
        ("act", "T-1"),
        ("act", "T-1", "find_order", "{}", "--decision", "D-1"),
        ("replay", "--all", "--with-model", "m"),
        ("snooze", "T-1", "soon"),
        ("snooze", "T-1", "2026-12-24T09:00:00"),
        ("triage", "T-1", "--category", "refund"),
        ("triage", "T-1", "--category", "odd", "--priority", "high"),
        ("identity", "T-1"),
        ("identity", "T-1", "--customer", "C-1"),
        ("identity", "T-1", "--customer", "C-1", "--revoke"),
        ("state", "T-1", "[1]"),
        ("state", "T-1", "{"),
        ("act",),
        ("act", "T-1", "refund_order"),
        ("act", "T-1", "refund_order", "{"),
        ("act", "--decision", "D-NONE"),
        ("settle", "A-1"),
        ("settle", "A-1", "--happened"),
        ("settle", "A-NONE", "--happened", "--evidence", "seen"),
        ("claim", "T-NONE"),
        ("pause", "T-NONE"),
        (),
    ],
)
def test_wrong_use_is_one_line_and_code_2(
    handoff: Handoff, arguments: tuple[str, ...]
) -> None:
    said = handoff(*arguments)

    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("handoff: ")
    assert said.err.count("\n") == 1


UNKNOWN = {
    "a ticket": [
        ("show", "T-NONE"),
        ("export", "T-NONE"),
        ("take", "T-NONE"),
        ("reply", "T-NONE", "x"),
        ("note", "T-NONE", "x"),
        ("whisper", "T-NONE", "x"),
        ("claim", "T-NONE"),
        ("snooze", "T-NONE", "3h"),
        ("triage", "T-NONE", "--category", "other", "--priority", "low"),
        ("state", "T-NONE", "{}"),
        ("identity", "T-NONE", "--revoke"),
        ("withheld", "T-NONE"),
        ("withheld", "T-NONE", "--discard", "--seq", "3"),
        ("unsend", "T-NONE"),
        ("release", "T-NONE"),
        ("decline", "T-NONE"),
        ("act", "T-NONE", "find_order", "{}"),
        ("pause", "T-NONE"),
        ("resume", "T-NONE"),
        ("runs", "T-NONE"),
        ("why", "T-NONE"),
        ("canned", "use", "hello", "T-NONE"),
    ],
    "a decision": [
        ("decide", "D-NONE", "--approve"),
        ("decide", "D-NONE", "--override", "{}"),
        ("decide", "D-NONE", "--reject", "--why", "x"),
        ("act", "--decision", "D-NONE"),
    ],
    "a run": [
        ("run", "R-NONE"),
        ("replay", "R-NONE"),
    ],
    "an action": [("settle", "A-NONE", "--happened", "--evidence", "seen")],
    "a version": [("rules", "ffff")],
    "a name": [
        ("canned", "remove", "bye"),
        ("canned", "use", "bye", "T-REAL"),
        ("operator", "role", "Nobody", "agent"),
        ("operator", "disable", "Nobody"),
        ("operator", "enable", "Nobody"),
        ("release", "T-REAL", "--to", "Nobody"),
        ("why", "T-REAL", "D-NONE"),
    ],
}


@pytest.mark.parametrize("commands", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_is_one_line_and_code_2_for_every_command(
    handoff: Handoff, sundry: Path, commands: list[tuple[str, ...]]
) -> None:
    ticket = opened(handoff)
    handoff("canned", "add", "hello", "-", stdin="Hello")
    for command in commands:
        words = (ticket if word == "T-REAL" else word for word in command)
        said = handoff(*words, "--config", str(sundry))
        told = [x for x in said.err.splitlines() if "waiting for the tool" not in x]
        assert (command, said.code, said.out) == (command, 2, "")
        assert len(told) == 1


def test_doctor_says_where_who_asks_is_nobody(handoff: Handoff) -> None:
    handoff("operator", "list")
    found = {c["check"]: c for c in handoff("doctor", "--as", "Nobody", "--json").json}

    assert found["operator"]["code"] == 2
    assert "no operator named Nobody" in found["operator"]["found"]


def test_a_place_or_name_written_nearly_right_is_answered_with_the_right_one(
    handoff: Handoff,
) -> None:
    handoff("operator", "add", "Sam")
    ticket = opened(handoff)
    handoff("take", ticket)
    for given, meant in (("sam", "Sam"), ("Agent", "agent"), ("queu", "queue")):
        said = handoff("release", ticket, "--to", given)
        assert (said.code, f"is it {meant}?" in said.err) == (2, True)


def test_a_group_without_a_command_shows_its_usage(handoff: Handoff) -> None:
    said = handoff("operator")

    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("Usage: handoff operator")
    assert "\n  disable " in said.err


def test_a_usage_error_with_a_list_of_choices_is_one_plain_line(both: Handoff) -> None:
    said = both("triage", "T-1", "--priority", "high")
    assert (said.code, said.out) == (2, "")
    assert "⏎" not in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("snooze", "T-1", "-3h"), "TIME: expected a time in the future, such as 3h"),
        (("note", "T-1", "-3 degrees"), "a TEXT that begins with - goes after --"),
        (("reply", "T-1", "--oh"), "a TEXT that begins with - goes after --"),
        (("tickets", "--serach", "x"), "there is no option --serach; is it --search?"),
        (("demo", "--headless", "abc"), "--headless: expected a number above 0"),
        (("demo", "--headless", "-5"), "--headless: expected a number above 0"),
        (("worker", "--concurrency", "0"), "expected a whole number of 1 or more"),
        (("web", "--port", "99999"), "--port: expected a whole number from 0 to 65535"),
        (("decide", "D-1", "--seen", "x"), "--seen: expected a whole number"),
        (("export", "T-1", "--format", "pdf"), "--format: expected json, md or html"),
        (("triage", "T-1", "--category", "other"), "--priority is missing: low, "),
        (("operator", "role", "Bo"), "ROLE is missing: agent or supervisor"),
        (("why",), "TICKET is missing"),
        (("release", "T-1", "--to"), "--to needs a value"),
        (("decisions", "--all=1"), "--all takes no value"),
        (("runs", "T-1", "T-2"), "more than is expected: T-2"),
    ],
)
def test_wrong_use_is_told_in_our_own_words(
    anywhere: Handoff, arguments: tuple[str, ...], told: str
) -> None:
    said = anywhere(*arguments)
    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert said.err.startswith("handoff: ")
    assert "valid" not in said.err
    assert said.err.count("\n") == 1
