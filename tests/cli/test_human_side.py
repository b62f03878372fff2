"""The human side by the command line: the same rules as everywhere else."""

import json
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Handoff, Said, message, opened
from tests.cli.test_agent import BENT


@pytest.fixture
def at_sundry(handoff: Handoff, sundry: Path) -> Handoff:
    """Runs a command on the demo's shop."""

    def run(*arguments: str, stdin: str = "") -> Said:
        return handoff("--config", str(sundry), *arguments, stdin=stdin)

    return run


def held(handoff: Handoff, **changed: str) -> str:
    """A ticket that is held, whose buyer is verified."""
    ticket = opened(handoff, **changed)
    handoff("take", ticket)
    said = handoff(
        *("identity", ticket, "--customer", "C-1", "--evidence", "called back")
    )
    assert said.code == 0
    return ticket


HOLDER = {
    "reply": ("reply", "{t}", "Hello."),
    "identity": ("identity", "{t}", "--customer", "C-1", "--evidence", "phone"),
    "revoke": ("identity", "{t}", "--revoke"),
    "state": ("state", "{t}", '{"order": "O-7"}'),
    "withheld": ("withheld", "{t}", "--discard", "--seq", "1"),
    "unsend": ("unsend", "{t}"),
    "act": ("act", "{t}", "track_parcel", '{"order_id": "SU-48218"}'),
    "release": ("release", "{t}", "--to", "queue"),
    "claim": ("claim", "{t}"),
    "snooze": ("snooze", "{t}", "3h"),
    "triage": ("triage", "{t}", "--category", "refund", "--priority", "high"),
}
ANYBODY = {
    "note": ("note", "{t}", "Look at this."),
    "whisper": ("whisper", "{t}", "Be kind."),
    "pause": ("pause", "{t}"),
    "show": ("show", "{t}"),
    "runs": ("runs", "{t}"),
}


def test_f93_what_needs_the_lock_is_refused_to_a_colleague_and_the_rest_is_not(
    at_sundry: Handoff,
) -> None:
    at_sundry("operator", "add", "Mira")
    ticket = held(at_sundry)

    def says(command: tuple[str, ...]) -> Said:
        return at_sundry(*(p.replace("{t}", ticket) for p in command), "--as", "Mira")

    refused = {name: says(command) for name, command in HOLDER.items()}
    allowed = {name: says(command) for name, command in ANYBODY.items()}
    holder = at_sundry("show", ticket, "--json").json["lock"]["holder"]["name"]

    assert {name: s.code for name, s in refused.items()} == dict.fromkeys(HOLDER, 1)
    assert all(f"held by {holder}" in s.err for s in refused.values())
    assert {name: s.code for name, s in allowed.items()} == dict.fromkeys(ANYBODY, 0)
    assert at_sundry("outbox", "--json").json == []


def test_people_set_right_what_the_agent_goes_on_with(both: Handoff) -> None:
    ticket = opened(both)
    claimed = both("claim", ticket, "--json")
    both("triage", ticket, "--category", "refund", "--priority", "high")
    both("take", ticket)
    both("identity", ticket, "--customer", "C-1", "--name", "Dana", "--evidence", "x")
    both("state", ticket, '{"order": "O-7", "odd": 1}')
    both("state", ticket, '{"odd": null}')
    chart = both("show", ticket, "--json").json
    rows = both("tickets", "--customer", "C-1", "--view", "mine", "--json").json
    both("identity", ticket, "--revoke")
    dropped = both("claim", ticket, "--drop")
    plain = both("show", ticket).out

    assert claimed.json == {"ticket": ticket, "seq": 2}
    assert chart["triage"] == {"category": "refund", "priority": "high"}
    assert chart["identity"]["customer"] == "C-1"
    assert chart["identity"]["by"]["name"] == chart["owner"]
    assert chart["task_state"] == {"order": "O-7"}
    assert [row["ticket"] for row in rows] == [ticket]
    assert dropped.code == 0
    assert "UNVERIFIED" in plain
    assert both("show", ticket, "--json").json["owner"] is None


def test_a_holder_who_snoozes_a_ticket_is_told_that_it_is_no_longer_theirs(
    handoff: Handoff,
) -> None:
    ticket = opened(handoff)
    handoff("take", ticket)
    slept = handoff("snooze", ticket, "3h")
    assert "you no longer hold it" in slept.out
    assert handoff("show", ticket, "--json").json["lock"]["holder"] is None


@pytest.mark.parametrize("time", ["3h", "2d", "30m", "2100-01-01T09:00:00Z"])
def test_f138_a_ticket_sleeps_until_a_time(handoff: Handoff, time: str) -> None:
    ticket = opened(handoff)
    slept = handoff("snooze", ticket, time)
    listed = handoff("tickets", "--view", "waiting").out
    plain = handoff("show", ticket).out
    chart = handoff("show", ticket, "--json").json
    views = {
        view: [r["ticket"] for r in handoff("tickets", "--view", view, "--json").json]
        for view in ("human", "agent", "waiting")
    }
    handoff("ingest", "-", stdin=message(2, ticket=ticket))
    woken = handoff("show", ticket, "--json").json
    handoff("take", ticket)
    handoff("release", ticket)
    told = handoff("show", ticket, "--json").json["journal"][-1]["body"]

    assert slept.code == 0
    assert f"{ticket} sleeps until 2" in slept.out
    assert "hold" not in slept.out
    assert "asleep until 2" in listed
    until = chart["snoozed_until"]
    assert chart["journal"][-1]["body"] == {"until": until}
    assert until.endswith("Z")
    assert f"asleep     until {until[:19]}" in plain
    assert chart["journal"][0]["body"]["sent_at"].endswith("Z")
    assert told["since"].endswith("Z")
    assert told["until"].endswith("Z")
    assert "+00:00" not in plain + json.dumps(chart)
    assert chart["status"] == "waiting_buyer"
    assert chart["snoozed_until"] > chart["updated_at"]
    assert views == {"human": [], "agent": [], "waiting": [ticket]}
    assert woken["snoozed_until"] is None
    assert woken["status"] == "queued"


@pytest.mark.parametrize(
    "arguments",
    [
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
    ],
)
def test_wrong_use_is_one_line_and_code_2(
    handoff: Handoff, arguments: tuple[str, ...]
) -> None:
    said = handoff(*arguments)

    assert said.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1


def test_the_switch_stops_the_agent_everywhere_until_it_is_let_go_on(
    at_sundry: Handoff,
) -> None:
    at_sundry("operator", "add", "Mira")
    ticket = opened(at_sundry)
    no = at_sundry("pause", "--as", "Mira")
    stopped = at_sundry("pause", "--why", "odd answers", "--json")
    worked = at_sundry("worker", "--drain", "--json")
    chart = at_sundry("show", ticket, "--json").json
    at_sundry("take", ticket)
    given = at_sundry("release", ticket)
    again = at_sundry("pause")
    at_sundry("resume")
    after = at_sundry("worker", "--drain", "--json")

    assert no.code == again.code == 1
    assert stopped.json == {"ticket": None, "paused": True}
    assert worked.json == {"runs": {}}
    assert chart["stopped"].endswith(": odd answers")
    assert chart["runs"] == []
    assert "the agent is stopped" in given.err
    assert after.json["runs"] != {}


def test_rule_05_a_person_uses_a_tool_under_the_agent_s_policy(
    at_sundry: Handoff,
) -> None:
    at_sundry("operator", "add", "Sam", "--role", "supervisor")
    ticket = held(at_sundry)
    read = at_sundry(
        "act", ticket, "track_parcel", '{"order_id": "SU-48218"}', "--json"
    )
    wrong = at_sundry("act", ticket, "refund_order", '{"amount": "-5"}')
    small = {"order_id": "SU-48218", "amount": "5.00", "currency": "EUR", "reason": "x"}
    used = at_sundry("act", ticket, "refund_order", json.dumps(small), "--json")
    large = small | {"amount": "60.00"}
    asked = at_sundry("act", ticket, "refund_order", json.dumps(large), "--json")
    decision = asked.json["decision"]["decision"]
    own = at_sundry("decide", decision, "--approve")
    early = at_sundry("act", "--decision", decision)
    approved = at_sundry("decide", decision, "--approve", "--as", "Sam", "--json")
    done = at_sundry("act", "--decision", decision, "--json")
    twice = at_sundry("act", "--decision", decision)
    chart = at_sundry("show", ticket, "--json").json

    assert read.json["outcome"] == "used"
    assert read.json["result"]["is_error"] is False
    assert wrong.code == 1
    assert used.json["outcome"] == "used"
    assert asked.json["outcome"] == "proposed"
    assert len(asked.json["decision"]["policy"]) == 64
    assert own.code == 1
    assert "own proposal" in own.err
    assert early.code == 1
    assert approved.code == 0
    assert done.json["outcome"] == "used"
    assert twice.code == 1
    assert "is executed" in twice.err
    assert [a["state"] for a in chart["actions"]] == ["done", "done"]
    assert {a["by"]["kind"] for a in chart["actions"]} == {"operator"}


def test_rule_06_an_approval_is_taken_back_before_it_is_executed(
    at_sundry: Handoff,
) -> None:
    line = message(text=BENT, **{"from": "buyer@example.com"})
    ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
    at_sundry("worker", "--drain")
    [proposed] = at_sundry("decisions", "--json").json
    name = proposed["decision"]
    at_sundry("decide", name, "--approve")
    back = at_sundry("decide", name, "--reject", "--why", "wrong order", "--json")
    at_sundry("worker", "--drain")
    chart = at_sundry("show", ticket, "--json").json

    assert len(proposed["policy"]) == 64
    assert proposed["evidence"] != []
    assert back.json["state"] == "rejected"
    assert chart["actions"] == []
    assert chart["decisions"][0]["state"] == "rejected"


def test_where_no_reply_is_withheld_the_command_says_so(handoff: Handoff) -> None:
    none = handoff("withheld", opened(handoff), "--send")
    assert none.code == 1
    assert "no reply is withheld" in none.err


def test_what_a_tool_answers_with_an_error_is_not_done(at_sundry: Handoff) -> None:
    ticket = held(at_sundry)
    given = {"order_id": "SU-48218", "amount": "5.00", "currency": "GBP", "reason": "x"}
    said = at_sundry("act", ticket, "refund_order", json.dumps(given), "--json")
    assert said.code == 1
    assert said.json["result"]["is_error"] is True
    assert "the tool answered with an error" in said.err


def test_by_force_without_a_reason_is_done_and_said(handoff: Handoff) -> None:
    handoff("operator", "add", "Mira")
    ticket = opened(handoff)
    handoff("take", ticket, "--as", "Mira")
    taken = handoff("take", ticket, "--force")
    assert taken.code == 0
    assert "without a reason" in taken.err
    assert " ends the hold of Mira" in handoff("show", ticket).out


def test_a_reply_that_nobody_delivers_is_told_so_at_once(
    both: Handoff, at_sundry: Handoff
) -> None:
    odd = opened(both, channel="pigeon")
    both("take", odd)
    said = both("reply", odd, "Hello.", "--json")
    shown = both("outbox").out
    assert said.code == 0
    assert "no channel 'pigeon' is configured" in said.err
    assert said.json["stays"] == "no channel 'pigeon' is configured"
    assert "stored: no channel" in shown
    assert "no_channel" not in shown + both("show", odd).out
    assert [r["state"] for r in both("outbox", "--json").json] == ["no_channel"]

    ticket = opened(at_sundry, external_id="<s@example.com>")
    at_sundry("take", ticket)
    early = at_sundry("reply", ticket, "Hello.")
    assert "no worker is running" in early.err
    assert "on its way" not in early.out


def test_f108_a_reply_is_held_off_and_taken_back(
    handoff: Handoff, tmp_path: Path
) -> None:
    file = tmp_path / "handoff.toml"
    mail = '[channels.mail]\nkind = "jsonl"\npath = "replies.jsonl"\n'
    file.write_text('[delivery]\nhold_off_human = "1h"\n' + mail)
    ticket = opened(handoff)
    handoff("take", ticket)
    handoff("reply", ticket, "Too quick.", "--config", str(file))
    [waits] = handoff("outbox", "--json").json
    plain = handoff("outbox").out
    back = handoff("unsend", ticket, "--json")
    again = handoff("unsend", ticket)
    [gone] = handoff("outbox", "--json").json
    waiting = handoff("tickets", "--json").json[0]["waiting_since"]

    assert waits["not_before"] > waits["created_at"]
    assert "not before" in plain
    assert back.json["text"] == "Too quick."
    assert again.code == 1
    assert gone["state"] == "discarded"
    assert waiting is not None


def test_f71_what_a_disabled_operator_holds_goes_back_to_the_queue(
    handoff: Handoff,
) -> None:
    handoff("operator", "add", "Mira")
    ticket = opened(handoff)
    handoff("take", ticket, "--as", "Mira")
    disabled = handoff("operator", "disable", "Mira", "--json")
    chart = handoff("show", ticket, "--json").json
    handoff("take", ticket)
    passed = handoff("release", ticket, "--to", "Mira")

    assert disabled.json["disabled"] is True
    assert chart["lock"]["holder"] is None
    assert chart["status"] == "needs_human"
    end = chart["journal"][-1]
    assert end["actor"] == {"kind": "system", "name": "people"}
    assert end["body"]["why"] == "Mira was disabled"
    assert passed.code == 1


def test_a_colleague_accepts_what_is_offered_or_declines_it(at_sundry: Handoff) -> None:
    handoff = at_sundry
    for name in ("Mira", "Ben"):
        handoff("operator", "add", name)
    ticket = opened(handoff)
    handoff("take", ticket)
    said = handoff("release", ticket, "--to", "Mira", "--note", "she knows him")
    views = {
        view: handoff("tickets", "--view", view, "--json", "--as", "Mira").json
        for view in ("mine", "human", "agent")
    }
    worked = handoff("worker", "--drain", "--json").json
    plain = handoff("show", ticket).out
    not_hers = handoff("decline", ticket, "--as", "Ben")
    declined = handoff("decline", ticket, "--why", "not mine", "--as", "Mira", "--json")
    again = handoff("decline", ticket, "--as", "Mira")
    after = handoff("show", ticket, "--json").json
    handoff("take", ticket)
    handoff("release", ticket, "--to", "Mira")
    taken = handoff("take", ticket, "--as", "Mira", "--json")
    journal = handoff("show", ticket, "--json").json["journal"]

    assert "offered to Mira" in said.out
    assert [row["offered_to"] for row in views["mine"]] == ["Mira"]
    assert [row["status"] for row in views["human"]] == ["needs_human"]
    assert views["agent"] == []
    assert worked == {"runs": {}}
    assert "offered    to Mira" in plain
    assert not_hers.code == again.code == 1
    assert "offered to Mira" in not_hers.err
    assert declined.code == 0
    assert after["offered_to"] is None
    assert after["why"] == "Mira declined it"
    assert taken.json["holder"]["name"] == "Mira"
    changes = [e["body"]["change"] for e in journal if e["kind"] == "lock"]
    assert changes == [
        *("acquired", "released", "offered", "declined"),
        *("acquired", "released", "offered", "acquired"),
    ]


def test_rule_06_on_postgresql_a_login_does_what_its_operator_may(
    anywhere: Handoff, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by(login: str) -> Handoff:
        url = postgres_url.replace("//postgres@", f"//{login}@")
        return lambda *said, stdin="": anywhere("--store", url, *said, stdin=stdin)

    admin, eve, bot = by("postgres"), by("cli_eve"), by("cli_bot")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")  # never asked
    before = eve("tickets")
    added = admin("operator", "add", "cli_eve", "--json")
    granted = admin("operator", "grant", "cli_bot", "--json")
    ticket = opened(eve)
    taken = eve("take", ticket, "--json")
    replied = eve("reply", ticket, "Hello.")
    refused = [
        eve("pause"),
        eve("operator", "add", "cli_more"),
        eve("operator", "role", "cli_eve", "supervisor"),
        eve("take", ticket, "--force", "--why", "mine"),
    ]
    worked = bot("worker", "--drain", "--json")
    stranger = bot("take", ticket)
    gone = admin("operator", "disable", "cli_eve")
    late = eve("reply", ticket, "Me again.")

    assert before.code == 3
    assert added.json["to_run"] == granted.json["to_run"] == []
    assert taken.json["holder"]["name"] == "cli_eve"
    assert replied.code == 0
    assert [s.code for s in refused] == [1, 1, 1, 1]
    assert worked.code == 0
    assert stranger.code == 2
    assert "there is no operator named cli_bot" in stranger.err
    assert gone.code == 0
    assert late.code == 1
    assert late.err == "handoff: the operator cli_eve is disabled\n"
    assert admin("show", ticket, "--json").json["lock"]["holder"] is None


def test_a_login_without_rights_is_told_whom_to_ask(
    anywhere: Handoff, postgres_url: str
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("CREATE ROLE cli_new LOGIN")
    url = postgres_url.replace("//postgres@", "//cli_new@")
    said = [
        anywhere("--store", url, *words)
        for words in (("tickets",), ("operator", "list"), ("note", "T-1", "x"))
    ]
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("DROP ROLE cli_new")

    for told in said:
        assert told.code == 1
        assert "ask a supervisor to run: handoff operator add cli_new" in told.err
        assert told.err.count("\n") == 1


def test_what_a_login_may_not_run_is_printed_exactly_for_who_may(
    anywhere: Handoff, postgres_url: str
) -> None:
    def by(login: str) -> Handoff:
        url = postgres_url.replace("//postgres@", f"//{login}@")
        return lambda *said: anywhere("--store", url, *said)

    name = 'cli "new"'
    by("postgres")("operator", "add", "cli_boss", "--role", "supervisor")
    added = by("cli_boss")("operator", "add", name)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(added.out.encode())
        (known,) = server.execute(
            "SELECT has_table_privilege(rolname, 'journal', 'INSERT') FROM pg_roles"
            " WHERE rolname = %s",
            (name,),
        ).fetchall()
        for login in ("cli_boss", name):
            role = psycopg.sql.Identifier(login)
            server.execute(psycopg.sql.SQL("DROP OWNED BY {}").format(role))
            server.execute(psycopg.sql.SQL("DROP ROLE {}").format(role))

    assert added.code == 0
    assert added.out.splitlines()[0].startswith("CREATE ROLE")
    assert added.err.endswith("a database administrator has to run:\n")
    assert known == (True,)


def test_why_a_call_was_asked_about_is_answered_under_the_rules_of_then(
    handoff: Handoff, sundry: Path
) -> None:
    def with_limit(amount: str) -> Handoff:
        text = sundry.read_text(encoding="utf-8").replace(
            'approve_over = "50.00"', f'approve_over = "{amount}"'
        )
        file = sundry.with_name(f"{amount}.toml")
        file.write_text(text)
        return lambda *said, stdin="": handoff(
            *("--config", str(file)), *said, stdin=stdin
        )

    then, now = with_limit("50.00"), with_limit("500.00")
    ticket = held(then)
    wanted = {"order_id": "SU-48218", "currency": "EUR", "reason": "x"}

    def refund(at: Handoff, amount: str) -> Said:
        given = json.dumps(wanted | {"amount": amount})
        return at("act", ticket, "refund_order", given, "--json")

    asked = refund(then, "60.00")
    decision = asked.json["decision"]["decision"]
    now("operator", "add", "Sam", "--role", "supervisor")
    now("decide", decision, "--reject", "--why", "too much", "--as", "Sam")
    allowed = refund(now, "6.00")
    said = now("why", ticket, "--json").json
    [only] = now("why", ticket, decision, "--json").json
    [listed] = now("decisions", "--all", "--json").json
    plain = now("why", ticket).out
    versions = now("rules", "--json").json
    shown = now("rules", only["policy"][:8]).out

    assert allowed.json["outcome"] == "used"
    assert [(j["verdict"], j["rule"]["approve_over"]) for j in said] == [
        ("asked", "50.00"),
        ("allowed", "500.00"),
    ]
    assert only == said[0]
    assert listed["policy_rule"] == only["rule"]
    assert "asked" in plain
    assert "approve_over 50.00" in plain
    assert [v["policy"] for v in versions] == [said[1]["policy"], said[0]["policy"]]
    assert "refund_order: consequence money" in shown
    assert now("why", ticket, "D-NONE").code == 2
    assert now("rules", "zz").code == 2
