"""The agent by the command line: a worker runs, is asked to stop, its runs replay."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from console.commands import records
from tests.cli.conftest import DAMAGED, ROOT, Handoff, message
from tests.worlds import faults
from tests.worlds.brains import answers
from tests.worlds.messages_api import MessagesApi


def test_a_drained_worker_has_answered_and_delivered_and_its_run_replays(
    at_sundry: Handoff, sundry: Path
) -> None:
    line = message(text=DAMAGED, **{"from": "sanna.koskela@example.com"})
    ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
    worked = at_sundry("worker", "--drain", "--json")
    [run] = at_sundry("runs", ticket, "--json").json
    record = at_sundry("run", run["run_id"], "--json").json
    replayed = at_sundry("replay", run["run_id"], "--json")
    delivered = [
        json.loads(text)
        for text in (sundry.parent / "replies.jsonl").read_text().splitlines()
    ]

    assert worked.json == {"runs": {run["outcome"]["stop"]: 1}}
    assert [d["ticket"] for d in delivered] == [ticket]
    assert record["outcome"]["turns"] == len(record["turns"]) > 1
    assert record["messages"][0]["role"] == "user"
    assert record["turns"][-1]["request"] == len(record["messages"])
    assert record["outcome"]["cost_usd"] is None  # a model whose price nobody knows
    assert replayed.code == 0
    assert replayed.json["result"] == "same"
    assert at_sundry("replay", "--all").code == 0
    for command in (("show", ticket), ("runs", ticket), ("run", run["run_id"])):
        assert at_sundry(*command).out.count(run["run_id"]) >= 1


def test_a_worker_asks_the_messages_api_where_the_environment_says(
    handoff: Handoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MessagesApi(answers("It is on its way.")) as api:
        for name, value in api.environment.items():
            monkeypatch.setenv(name, value)
        ticket = handoff("ingest", "-", stdin=message()).lines[0]["ticket"]
        worked = handoff("worker", "--drain")
        [reply] = handoff("outbox", "--json").json
        violations = api.violations()

    assert worked.code == 0
    assert violations == []
    assert (reply["ticket"], reply["text"]) == (ticket, "It is on its way.")
    assert reply["state"] == "no_channel"


def test_a_take_over_is_asked_for_and_comes_at_the_runs_boundary(
    handoff: Handoff, sqlite_url: str
) -> None:
    gate = faults.Gate()
    with MessagesApi(answers("Too late.")) as api:
        api.fail_next(gate)
        ticket = handoff("ingest", "-", stdin=message()).lines[0]["ticket"]
        worker = subprocess.Popen(
            [sys.executable, "-m", "console.cli", "worker", "--store", sqlite_url],
            env=os.environ | api.environment | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
        )
        assert gate.arrived.wait(20)
        asked = handoff("take", ticket, "--json")
        taken = handoff("take", ticket, "--wait", "20", "--json")
        worker.terminate()
        worker.wait(20)
        gate.open()
    chart = handoff("show", ticket, "--json").json

    assert asked.code == 1
    assert "asked for; it is yours as soon as the agent stops: run R-" in asked.err
    assert asked.json["holder"]["kind"] == "run"
    assert asked.json["wanted_by"] == taken.json["holder"]["name"]
    assert taken.json["token"] == 2
    assert chart["runs"][0]["outcome"]["stop"] == "handed_over"
    assert chart["outbox"] == []


def test_without_a_key_a_worker_says_so_and_leaves_the_tickets_alone(
    handoff: Handoff,
) -> None:
    ticket = handoff("ingest", "-", stdin=message()).lines[0]["ticket"]
    worked = handoff("worker", "--drain")
    chart = handoff("show", ticket, "--json").json

    assert worked.code == 2
    assert "ANTHROPIC_API_KEY" in worked.err
    assert chart["status"] == "queued"
    assert chart["runs"] == []


def test_rule_15_a_refused_key_costs_one_ticket_and_stops_the_worker(
    handoff: Handoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (1, 2, 3):
        handoff("ingest", "-", stdin=message(n))
    with MessagesApi(answers("Never said.")) as api:
        for name, value in api.environment.items():
            monkeypatch.setenv(name, value)
        api.fail_next(*[faults.Status(code=401)] * 10)
        worked = handoff("worker", "--drain", "--concurrency", "1")
    tickets = handoff("tickets", "--json").json

    assert worked.code == 2
    assert "401" in worked.err
    assert "set a valid ANTHROPIC_API_KEY" in worked.err
    assert sorted(t["status"] for t in tickets) == ["needs_human", "queued", "queued"]


def test_rule_09_a_mismatch_names_its_turn_and_many_replays_show_a_bar(
    at_sundry: Handoff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = message(text=DAMAGED, **{"from": "sanna.koskela@example.com"})
    at_sundry("ingest", "-", stdin=line)
    at_sundry("worker", "--drain")
    with closing(sqlite3.connect(tmp_path / "store.db")) as file, file:
        file.execute("UPDATE journal SET text = 'All is well.' WHERE seq = 1")
    monkeypatch.setattr(records, "_SHOW_PROGRESS", 1)
    monkeypatch.setattr(records, "_is_terminal", lambda: True)
    replayed = at_sundry("replay", "--all")

    assert replayed.code == 1
    assert "differs at turn 1 (request)" in replayed.out
    assert "All is well." in replayed.out
    assert "replaying" in replayed.err
