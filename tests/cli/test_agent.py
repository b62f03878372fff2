"""The agent by the command line: worker, decisions, runs, replay, doctor, demo.

The shop is the demo's, a real tool server; the model is the demo's own or a real HTTP
server.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from console.commands import records
from tests.cli.conftest import ROOT, Handoff, Said, message
from tests.worlds import faults
from tests.worlds.brains import answers
from tests.worlds.messages_api import MessagesApi

DAMAGED = (
    "SU-48208: the vase is in a hundred pieces, the box was fine. A refund will do. "
    "Postcode 00100."
)
BENT = (
    "Hello, the tip of the knife from SU-48218 was bent, it arrived damaged. Postcode "
    "80331. I would like my money back. Viktor Hansl"
)
TWICE = (
    "Hello, my card shows 556.00 EUR twice for order SU-48204 (four chairs). I ordered "
    "once. Please refund the second charge. Postcode 20253."
)


@pytest.fixture
def at_sundry(handoff: Handoff, sundry: Path) -> Handoff:
    def run(*arguments: str, stdin: str = "") -> Said:
        return handoff("--config", str(sundry), *arguments, stdin=stdin)

    return run


@pytest.fixture
def proposed(at_sundry: Handoff) -> Callable[..., tuple[str, str]]:
    """A ticket on which the agent proposed something, and the decision."""

    def propose(text: str = BENT) -> tuple[str, str]:
        line = message(text=text, **{"from": "buyer@example.com"})
        ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
        assert at_sundry("worker", "--drain").code == 0
        [decision] = at_sundry("decisions", "--json").json
        assert decision["ticket"] == ticket
        return ticket, decision["decision"]

    return propose


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


def test_rule_06_an_approved_decision_is_executed_once_and_stands(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    ticket, decision = proposed()
    approved = at_sundry("decide", decision, "--approve", "--json")
    again = at_sundry("decide", decision, "--approve")
    at_sundry("worker", "--drain")
    late = at_sundry("decide", decision, "--reject", "--why", "no")
    chart = at_sundry("show", ticket, "--json").json

    assert approved.json["state"] == "approved"
    assert again.code == 1
    assert "already approved" in again.err
    assert late.code == 1
    assert "already executed by the agent's run R-" in late.err
    assert ", approved by " in late.err
    assert [a["state"] for a in chart["actions"]] == ["done"]
    assert chart["decisions"][0]["state"] == "executed"
    assert at_sundry("decisions", "--json").json == []


def test_an_amount_over_the_limit_needs_two_different_people(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    at_sundry("operator", "add", "Sam", "--role", "supervisor")
    _, decision = proposed(TWICE)
    first = at_sundry("decide", decision, "--approve", "--json")
    twice = at_sundry("decide", decision, "--approve")
    second = at_sundry("decide", decision, "--approve", "--as", "Sam", "--json")
    me = first.json["first"]
    assert f"{decision} approved by {me} and Sam: " in at_sundry("decisions").out
    assert "1 not carried out yet: " in at_sundry("overview").out
    assert f"approved by {me} and Sam" in at_sundry("decide", decision, "--approve").err
    at_sundry("worker", "--drain")
    done = at_sundry("decisions", "--all").out
    assert f"{decision} executed, approved by {me} and Sam: " in done

    assert first.json["state"] == "pending"
    assert "second supervisor" in first.err
    assert twice.code == 1
    assert second.json["state"] == "approved"


def test_a_rejection_needs_a_reason_and_does_nothing_else(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    ticket, decision = proposed()
    rejected = at_sundry("decide", decision, "--reject", "--why", "paid once only")
    at_sundry("worker", "--drain")
    chart = at_sundry("show", ticket, "--json").json

    assert rejected.code == 0
    assert chart["decisions"][0]["state"] == "rejected"
    assert chart["decisions"][0]["why"] == "paid once only"
    assert chart["actions"] == []


def test_rule_06_a_decision_older_than_the_buyers_words_asks_to_look_at_them(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    ticket, decision = proposed()
    line = message(2, text="Wait!", ticket=ticket, **{"from": "buyer@example.com"})
    seq = at_sundry("ingest", "-", stdin=line).lines[0]["seq"]
    stale = at_sundry("decide", decision, "--approve")
    seen = at_sundry("decide", decision, "--approve", "--seen", str(seq))

    assert stale.code == 1
    assert f"#{seq}" in stale.err
    assert seen.code == 0


def test_an_override_is_judged_by_the_tools_own_schema(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    _, decision = proposed()
    [known] = at_sundry("decisions", "--json").json
    wrong = at_sundry("decide", decision, "--override", '{"amount": "-5"}')
    assert "--override takes all arguments, as JSON; left out: order_id" in wrong.err
    given = known["input"] | {"amount": "10.00"}
    right = at_sundry("decide", decision, "--override", json.dumps(given), "--json")

    assert wrong.code == 1
    assert right.code == 0
    assert right.json["state"] == "overridden"
    assert right.json["final_input"]["amount"] == "10.00"


def test_f16_who_is_no_supervisor_decides_nothing(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    _, decision = proposed()
    at_sundry("operator", "add", "Mira")
    refused = at_sundry("decide", decision, "--approve", "--as", "Mira")

    assert refused.code == 1
    assert "not a supervisor" in refused.err
    assert at_sundry("decisions", "--json").json[0]["state"] == "pending"


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


def test_the_doctor_names_everything_and_ends_with_the_worst_code(
    at_sundry: Handoff, handoff: Handoff, tmp_path: Path
) -> None:
    well = at_sundry("doctor", "--json")
    (tmp_path / "bad.toml").write_text(
        "[[tool_servers]]\nname = 'gone'\ncommand = ['no-such-program']\n"
    )
    ill = handoff("doctor", "--config", str(tmp_path / "bad.toml"))
    away = at_sundry("doctor", "--store", "postgresql://nobody@127.0.0.1:9/x")

    assert well.code == 0
    assert {c["check"] for c in well.json} == {
        "store",
        "clocks",
        "lease",
        "in doubt",
        "records",
        "workers",
        "model",
        "tools of shop",
        "channels",
    }
    assert ill.code == 3
    assert "FAIL  model: claude-sonnet-5-5: there is no usable key" in ill.out
    assert "FAIL  tools of gone: tool server gone can't be started" in ill.out
    assert away.code == 3
    assert "FAIL  store:" in away.out


def test_rule_11_the_doctor_fails_where_the_lease_is_hardly_longer_than_runs(
    at_sundry: Handoff, sundry: Path
) -> None:
    at_sundry("ingest", "-", stdin=message(text=DAMAGED))
    at_sundry("worker", "--drain")
    text = sundry.read_bytes().decode().replace('lease = "120s"', 'lease = "1ms"')
    sundry.write_bytes(text.encode())
    said = at_sundry("doctor")

    assert said.code == 1
    assert "FAIL  lease:" in said.out


def test_the_demo_shows_the_whole_product_and_can_be_resumed(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "console.cli", "demo", "--headless"]

    def demo(seconds: int) -> list[dict[str, object]]:
        done = subprocess.run(
            [*command, str(seconds), "--json"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        return [json.loads(line) for line in done.stdout.splitlines()]

    first, wanted = demo(8), {"message", "run", "tool_call", "summary"}
    for _ in range(4):
        if wanted <= {event["event"] for event in first}:
            break
        first += demo(8)  # on a busy machine all takes longer
    second = demo(2)
    folder = tmp_path / "data" / "handoff" / "demo"

    assert wanted <= {event["event"] for event in first}
    assert first[-1]["event"] == second[-1]["event"] == "summary"
    tickets = second[-1]["tickets"]
    assert isinstance(tickets, int)
    assert 20 <= tickets < 40
    assert "Traceback" not in (folder / "worker.log").read_text()


def test_the_demo_stays_out_of_a_store_with_tickets_of_others(
    handoff: Handoff,
) -> None:
    handoff("ingest", "-", stdin=message())
    said = handoff("demo", "--headless", "1")
    fresh = handoff("demo", "--headless", "1", "--fresh")

    assert said.code == 1
    assert "not the demo's" in said.err
    assert fresh.code == 2
    assert len(handoff("tickets", "--json").json) == 1


def test_one_demo_at_a_time_runs_on_a_store(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "console.cli", "demo", "--headless"]
    env = os.environ | {"XDG_DATA_HOME": str(data)}
    first = subprocess.Popen(
        [*command, "60"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    try:
        told = [first.stdout.readline() for _ in range(20)]
        store = data / "handoff" / "demo" / "handoff.db"
        others = [
            subprocess.run(
                [*command, "1", *more],
                cwd=ROOT,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            for more in (("--fresh",), (), ("--store", f"sqlite:///{store}"))
        ]
        assert store.exists()
    finally:
        first.kill()
        first.communicate()

    # each event is one line, however long its text
    assert all(line.startswith("T-") and len(line) < 200 for line in told)
    for other in others:
        assert other.returncode == 1
        assert other.stdout == ""
        assert other.stderr == (
            "handoff: a demo runs on this store already "
            f"(process {first.pid}); leave it first\n"
        )


def test_a_killed_demo_leaves_no_worker_behind(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "console.cli", "demo", "--headless", "60", "--json"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if json.loads(line)["event"] == "run":
            break
    workers = _children(demo.pid)
    demo.send_signal(signal.SIGKILL)
    demo.wait()
    demo.stdout.close()
    log = tmp_path / "data" / "handoff" / "demo" / "worker.log"

    assert workers
    for _ in range(400):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            break
        log.read_bytes()
        _pause()
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    if not path.exists():
        pytest.skip("children can't be listed here")
    return [int(child) for child in path.read_bytes().split()]


def _pause() -> None:
    subprocess.run(["sleep", "0.05"], check=True)


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
