"""Replies by the command line: held off, taken back, withheld, not delivered."""

import asyncio
from pathlib import Path

from core.decision import Operator, Role
from core.flows.drafts import save_draft
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.cli.conftest import Handoff, message, opened


def test_where_no_reply_is_withheld_the_command_says_so(handoff: Handoff) -> None:
    none = handoff("withheld", opened(handoff), "--send")
    assert none.code == 1
    assert "no reply is withheld" in none.err


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


def test_f55_whoever_resolves_over_a_withheld_reply_is_told_and_so_is_the_house(
    at_sundry: Handoff,
) -> None:
    line = message(text="Hello?", channel="pigeon", **{"from": "buyer@example.com"})
    ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
    at_sundry("worker", "--drain")
    at_sundry("take", ticket)
    while_held = at_sundry("overview", "--json").json["undelivered"]
    given = at_sundry("release", ticket, "--to", "resolved")
    after = at_sundry("overview")

    assert while_held == []
    assert given.code == 0
    assert "1 withheld reply is not decided: it stays unsent" in given.err
    assert f"undelivered  1 reply: {ticket} (withheld)" in after.out


def test_unsent_text_is_shown_and_discarded_or_given_up_with_the_ticket(
    handoff: Handoff, sqlite_url: str
) -> None:
    ticket = opened(handoff)
    handoff("take", ticket)
    holder = handoff("show", ticket, "--json").json["lock"]["holder"]["name"]

    def write_at_desk(text: str) -> None:
        async def write() -> None:
            store = SqlStore.open(sqlite_url)
            me = Operator(name=holder, role=Role.SUPERVISOR)
            await save_draft(store, TicketId(ticket), me, "reply", text)
            await store.close()

        asyncio.run(write())

    nothing = handoff("draft", ticket)
    write_at_desk("Dear Ann")
    kept = handoff("draft", ticket)
    refused = handoff("release", ticket)
    gone = handoff("draft", ticket, "--discard", "--json")
    after = handoff("draft", ticket, "--json")
    write_at_desk("Dear Bea")
    given = handoff("release", ticket, "--discard-draft")

    assert nothing.out == "Nothing unsent is written here\n"
    assert kept.out == "Unsent reply:\nDear Ann\n"
    assert (refused.code, "unsent draft" in refused.err) == (1, True)
    assert [d["text"] for d in gone.json] == ["Dear Ann"]
    assert after.json == []
    assert given.code == 0
    assert handoff("show", ticket, "--json").json["drafts"] == []


def test_who_has_let_a_ticket_go_takes_the_reply_back_and_the_ticket(
    handoff: Handoff, tmp_path: Path
) -> None:
    file = tmp_path / "handoff.toml"
    mail = '[channels.mail]\nkind = "jsonl"\npath = "replies.jsonl"\n'
    file.write_text('[delivery]\nhold_off_human = "1h"\n' + mail)
    ticket = opened(handoff)
    handoff("take", ticket)
    handoff("reply", ticket, "Too quick.", "--config", str(file))
    handoff("release", ticket, "--resolve")
    back = handoff("unsend", ticket)

    assert "Taken back, not sent, and the ticket is yours again" in back.out
    assert handoff("show", ticket, "--json").json["status"] == "held"
