"""Commands on a store with damaged rows: what is sound is shown, what is not is named.

On each of both databases (f80).
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import BENT, TWICE, Handoff, Said, message, opened

Damage = Callable[[str], None]


@pytest.fixture
def damage(store_url: str) -> Damage:
    """Changes rows as a damaged disk would."""

    def change(statement: str) -> None:
        if store_url.startswith("sqlite"):
            path = store_url.removeprefix("sqlite:///")
            with closing(sqlite3.connect(path)) as file, file:
                file.execute(statement)
        else:
            with psycopg.connect(store_url) as server:
                server.execute(statement)

    return change


@pytest.fixture
def at_sundry(both: Handoff, sundry: Path) -> Handoff:
    def run(*arguments: str, stdin: str = "") -> Said:
        return both("--config", str(sundry), *arguments, stdin=stdin)

    return run


STANDINGS = {
    "no JSON": "'gone'",
    "JSON of another shape": "'[]'",
    "JSON's null": "'null'",
    "cut in half": "substr(standing, 1, length(standing) / 2)",
    "nothing": "''",
    "an empty object": "'{}'",
}


@pytest.mark.parametrize("stored", STANDINGS.values(), ids=STANDINGS)
def test_f80_a_ticket_with_a_damaged_row_is_listed_shown_and_taken(
    both: Handoff, damage: Damage, stored: str
) -> None:
    first = opened(both)
    second = str(both("ingest", "-", stdin=message(2)).lines[0]["ticket"])
    sound = both("show", first, "--json").json
    damage(f"UPDATE tickets SET standing = {stored} WHERE id = '{first}'")

    listed, shown = both("tickets", "--json"), both("show", first, "--json")
    doctor = both("doctor", "--json")
    for said in (listed, shown, both("overview"), both("export", first)):
        assert said.code == 0
    assert {row["ticket"] for row in listed.json} == {first, second}
    assert shown.json["status"] == sound["status"]
    assert shown.json["journal"] == sound["journal"]
    for said in (listed, shown):
        assert said.err.count("\n") == 1
        assert f"{first}: its record is damaged" in said.err
    [records] = [c for c in doctor.json if c["check"] == "records"]
    assert records == {
        "check": "records",
        "code": 1,
        "found": f"can't be read: ticket {first}",
    }

    assert both("take", first).code == 0
    again = both("tickets", "--json")
    assert (again.code, again.err) == (0, "")
    assert {row["ticket"]: row["status"] for row in again.json}[first] == "held"
    sound_again = [c for c in both("doctor", "--json").json if c["check"] == "records"]
    assert sound_again[0]["code"] == 0


def test_f80_a_damaged_decision_is_named_and_takes_no_other_along(
    at_sundry: Handoff, damage: Damage
) -> None:
    for n, text in enumerate((BENT, TWICE)):
        line = message(n, text=text, **{"from": f"buyer{n}@example.com"})
        at_sundry("ingest", "-", stdin=line)
        at_sundry("worker", "--drain")
    found = at_sundry("decisions", "--json").json
    lost, other = (d["decision"] for d in found)
    ticket = found[0]["ticket"]
    damage(f"UPDATE decisions SET document = '{{\"run\":' WHERE id = '{lost}'")

    listed, people = at_sundry("decisions", "--json"), at_sundry("decisions")
    shown = at_sundry("show", ticket)
    approved = at_sundry("decide", lost, "--approve")
    for said in (listed, people, shown, at_sundry("overview")):
        assert said.code == 0
    assert [d["decision"] for d in listed.json] == [lost, other]
    assert [d["unreadable"] for d in listed.json] == ["the record", None]
    assert listed.json[0]["input"] == found[0]["input"]
    line = f"{ticket}, {lost}: the record can't be read: it can only be rejected"
    assert listed.err == people.err == f"handoff: {line}\n"
    assert f"the record of decision {lost} can't be used" in shown.err
    assert approved.code == 1
    assert f"the record of {lost} can't be read" in approved.err
    assert at_sundry("decide", lost, "--reject", "--why", "damaged").code == 0
    assert [d["decision"] for d in at_sundry("decisions", "--json").json] == [other]
    assert at_sundry("worker", "--drain").code == 0


def test_f80_a_damaged_ledger_or_outbox_row_is_named_and_takes_no_other_along(
    at_sundry: Handoff, damage: Damage
) -> None:
    line = message(text=BENT, **{"from": "buyer@example.com"})
    ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
    at_sundry("worker", "--drain")
    [decision] = at_sundry("decisions", "--json").json
    at_sundry("decide", decision["decision"], "--approve")
    at_sundry("worker", "--drain")
    damage("UPDATE actions SET input = '{'")
    damage("UPDATE action_events SET result = '{' WHERE n = 2")
    damage("UPDATE outbox SET author_kind = 'ghost'")

    shown, outbox = at_sundry("show", ticket, "--json"), at_sundry("outbox", "--json")
    doctor = at_sundry("doctor")
    [action] = shown.json["actions"]
    assert (shown.code, outbox.code) == (0, 0)
    assert action["unreadable"] == "its record, an event"
    assert action["state"] == "done"
    assert action["input"] == decision["input"]
    assert all(r["unreadable"] == "its record" for r in outbox.json)
    assert "is damaged" in outbox.err
    assert f"{ticket}: the record of action" in shown.err
    assert "FAIL  records: can't be read: " in doctor.out
    assert f"{ticket} action {action['action']}" in doctor.out
    assert "begin a new one" not in shown.err + outbox.err + doctor.out + doctor.err


def test_f80_doctor_names_many_damaged_records_in_one_line_and_never_a_traceback(
    both: Handoff, damage: Damage
) -> None:
    for n in range(22):
        both("ingest", "-", stdin=message(n))
    damage("UPDATE journal SET body = '['")
    damage("UPDATE tickets SET standing = '['")
    doctor = both("doctor", "--json")
    [records] = [c for c in doctor.json if c["check"] == "records"]
    assert records["found"].endswith("and 24 more")
    assert both("tickets", "--json").code == 0


def test_f80_doctor_goes_on_and_says_so_where_the_lock_of_a_ticket_is_gone(
    both: Handoff, damage: Damage
) -> None:
    both("ingest", "-", stdin=message(1))
    ticket = both("tickets", "--json").json[0]["ticket"]
    damage("DELETE FROM locks")
    doctor = both("doctor")
    assert f"can't be read: lock of {ticket}, which is missing" in doctor.out
    assert "workers" in doctor.out


def test_f80_rule_02_a_ticket_whose_lock_is_gone_is_shown_and_its_agent_is_silent(
    at_sundry: Handoff, damage: Damage
) -> None:
    line = message(text=BENT, **{"from": "buyer@example.com"})
    ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
    damage("DELETE FROM locks")
    shown, chart = at_sundry("show", ticket), at_sundry("show", ticket, "--json").json
    assert "holder     who holds it can't be read: the agent is silent" in shown.out
    assert shown.err.count("\n") == 1
    assert chart["lock"]["unreadable"]
    assert chart["lock"]["holder"] == {"kind": "operator", "name": "", "run": None}
    assert chart["journal"][0]["body"]["text"] == BENT
    for command in ("export", "runs", "why", "withheld"):
        assert at_sundry(command, ticket).code == 0

    assert at_sundry("worker", "--drain").code == 0
    [row] = at_sundry("tickets", "--json").json
    assert (row["status"], row["run"]) == ("needs_human", None)
    assert f"the record of lock {ticket} can't be read" in row["why"]
    assert at_sundry("runs", ticket, "--json").json == []

    refused = at_sundry("take", ticket)
    assert refused.code == 1
    assert "held by somebody unknown since unreadable time" in refused.err
    taken = at_sundry("take", ticket, "--force", "--why", "its lock is gone")
    assert taken.code == 0
    assert at_sundry("reply", ticket, "We look into it.").code == 0
    assert not at_sundry("show", ticket, "--json").json["lock"]["unreadable"]
    told = [e["kind"] for e in at_sundry("show", ticket, "--json").json["journal"]]
    assert told.count("escalation") == 1
    checks = {c["check"]: c["code"] for c in at_sundry("doctor", "--json").json}
    assert checks["records"] == 0


def test_f80_rule_02_what_an_agent_said_stays_where_it_is_when_the_lock_is_gone(
    at_sundry: Handoff, damage: Damage
) -> None:
    line = message(text="Hello?", **{"from": "buyer@example.com"})
    at_sundry("ingest", "-", stdin=line)
    at_sundry("worker", "--drain")
    damage("UPDATE outbox SET state = 'queued', waits = 1")
    damage("DELETE FROM locks")
    assert at_sundry("worker", "--drain").code == 0
    assert {r["state"] for r in at_sundry("outbox", "--json").json} == {"withheld"}
