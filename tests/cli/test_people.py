"""Colleagues by the command line: offers, who was disabled, logins of PostgreSQL."""

import psycopg
import pytest

from tests.cli.conftest import Handoff, opened


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
