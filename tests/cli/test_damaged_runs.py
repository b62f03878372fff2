"""Damaged records of runs, on SQLite: what is lost is named, the rest shown (f80)."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import BENT, DAMAGED, Handoff, message


def test_f80_a_ticket_with_a_damaged_entry_stays_readable_and_says_which(
    at_sundry: Handoff, tmp_path: Path
) -> None:
    line = message(text=DAMAGED, **{"from": "sanna.koskela@example.com"})
    ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
    at_sundry("worker", "--drain")
    with closing(sqlite3.connect(tmp_path / "store.db")) as file, file:
        file.execute("UPDATE journal SET body = '{' WHERE kind = 'tool_result'")
        file.execute("UPDATE turns SET response = '' WHERE number = 1")
        file.execute("UPDATE bodies SET content = x'7b'")
    chart = at_sundry("show", ticket, "--json").json
    lost = [e for e in chart["journal"] if e["kind"] == "quarantine"]
    [run] = at_sundry("runs", ticket, "--json").json
    replayed = at_sundry("replay", "--all")

    assert {e["body"]["was"] for e in lost} == {"tool_result"}
    seq = lost[0]["seq"]
    assert f"entry #{seq} (tool_result) can't be used" in at_sundry("show", ticket).out
    record = at_sundry("run", run["run_id"], "--json").json
    assert "the answer of turn 1" in run["unreadable"]
    assert "what it sent" in record["unreadable"]
    assert record["messages"][0] == {"unreadable": "its stored form is damaged"}
    assert replayed.code == 1
    assert "not readable: a part of its record: the answer of turn 1" in replayed.out
    for command in (("run", run["run_id"]), ("runs", ticket), ("tickets",)):
        assert at_sundry(*command).code == 0
        assert at_sundry(*command, "--json").code == 0


def test_f80_a_time_that_can_t_be_read_is_shown_as_such_and_told(
    at_sundry: Handoff, sqlite_url: str
) -> None:
    line = message(text=BENT, **{"from": "buyer@example.com"})
    ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
    at_sundry("worker", "--drain")
    [sound] = at_sundry("runs", ticket, "--json").json
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as file, file:
        file.execute("UPDATE runs SET started_at = 'x'")
        file.execute("UPDATE turns SET requested_at = 'x' WHERE number = 1")
        file.execute("UPDATE tickets SET created_at = 'x'")
        file.execute("UPDATE decisions SET proposed_at = 'x'")
        file.execute("UPDATE action_events SET at = 'x'")

    run = sound["run_id"]
    for command in (("runs", ticket), ("run", run), ("show", ticket)):
        plain, as_json = at_sundry(*command), at_sundry(*command, "--json")
        assert plain.code == as_json.code == 0
        for said in (plain, as_json):
            assert f"the record of run {run} can't be used: when it ran" in said.err
            assert "when turn 1 was asked" in said.err
            assert "1970" not in said.out + said.err
        assert f"{run} unreadable time message" in plain.out
    [lost] = at_sundry("runs", ticket, "--json").json
    assert lost["started_at"] is None
    for command in ("tickets", "overview", "decisions", "doctor", "outbox"):
        for said in (at_sundry(command), at_sundry(command, "--json")):
            assert "1970" not in said.out + said.err
    [lease] = [c for c in at_sundry("doctor", "--json").json if c["check"] == "lease"]
    assert lease["code"] == 0
    for form in ("json", "md", "html"):
        assert "1970" not in at_sundry("export", ticket, "--format", form).out
