"""What a holder may do by the command line and what anybody may (f93)."""

import json

import pytest

from tests.cli.conftest import Handoff, Said, held, message, opened

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


@pytest.mark.parametrize("time", ["3h", "2d", "tomorrow", "2100-01-01T09:00:00Z"])
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


def test_by_force_without_a_reason_is_done_and_said(handoff: Handoff) -> None:
    handoff("operator", "add", "Mira")
    ticket = opened(handoff)
    handoff("take", ticket, "--as", "Mira")
    taken = handoff("take", ticket, "--force")
    assert taken.code == 0
    assert "without a reason" in taken.err
    assert " ends the hold of Mira" in handoff("show", ticket).out
