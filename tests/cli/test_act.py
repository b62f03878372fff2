"""People use tools by the command line, under the agent's rules (rules 5 and 6)."""

import json
from pathlib import Path

from tests.cli.conftest import BENT, Handoff, Said, held, message


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


def test_what_a_tool_answers_with_an_error_is_not_done(at_sundry: Handoff) -> None:
    ticket = held(at_sundry)
    given = {"order_id": "SU-48218", "amount": "5.00", "currency": "GBP", "reason": "x"}
    said = at_sundry("act", ticket, "refund_order", json.dumps(given), "--json")
    assert said.code == 1
    assert said.json["result"]["is_error"] is True
    assert "the tool answered with an error" in said.err


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
