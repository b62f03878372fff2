"""What supervisors decide by the command line (rule 6)."""

import json
from collections.abc import Callable

from tests.cli.conftest import TWICE, Handoff, message


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


def test_f21_an_override_of_a_part_of_a_cent_or_with_a_comma_is_refused_in_a_line(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    _, decision = proposed()
    [known] = at_sundry("decisions", "--json").json
    said = []
    for amount in ("84.001", "42,50"):
        given = json.dumps(known["input"] | {"amount": amount})
        said.append(at_sundry("decide", decision, "--override", given))
    [still] = at_sundry("decisions", "--json").json

    assert [one.code for one in said] == [1, 1]
    assert "84.001 has 3 decimals, EUR has 2 at most" in said[0].err
    assert "write 42.50" in said[1].err
    assert still["state"] == "pending"


def test_f16_who_is_no_supervisor_decides_nothing(
    at_sundry: Handoff, proposed: Callable[..., tuple[str, str]]
) -> None:
    _, decision = proposed()
    at_sundry("operator", "add", "Mira")
    refused = at_sundry("decide", decision, "--approve", "--as", "Mira")

    assert refused.code == 1
    assert "not a supervisor" in refused.err
    assert at_sundry("decisions", "--json").json[0]["state"] == "pending"
