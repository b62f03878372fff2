"""Replies in a file."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.adapters.jsonl_channel import JsonlChannel
from core.errors import DeliveryFailed
from core.history import Reply
from core.ticket import RunId, TicketId, agent

REPLY = Reply(
    message_id="<M-1@handoff>",
    ticket=TicketId("T-1"),
    seq=4,
    author=agent(RunId("R-1")),
    channel="mail",
    to="dana@example.com",
    subject="Re: lamp",
    text="Grüße,\nzwei Zeilen \x1b]52;c;QUJD\x07 \ud800",
    covers=3,
    state="sending",
    created_at=datetime(2026, 11, 30, 12, tzinfo=UTC),
    in_reply_to="<1@example.com>",
)


async def test_a_reply_is_one_line_with_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "not yet there" / "replies.jsonl"
    await JsonlChannel(path).deliver(REPLY)

    [line] = path.read_text().splitlines()
    assert json.loads(line) == {
        "message_id": "<M-1@handoff>",
        "ticket": "T-1",
        "to": "dana@example.com",
        "subject": "Re: lamp",
        "text": REPLY.text,
        "in_reply_to": "<1@example.com>",
        "author": {"kind": "agent", "name": "R-1"},
        "at": "2026-11-30T12:00:00Z",
    }


async def test_a_delivered_reply_is_found_and_no_other(tmp_path: Path) -> None:
    channel = JsonlChannel(tmp_path / "replies.jsonl")
    before = await channel.find(REPLY.message_id)
    await channel.deliver(REPLY)

    assert not before
    assert await channel.find(REPLY.message_id)
    assert not await channel.find("<M-1")


async def test_a_line_torn_by_a_crash_is_not_delivered_and_harms_no_later_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "replies.jsonl"
    channel = JsonlChannel(path)
    await channel.deliver(REPLY)
    whole = path.read_bytes()
    path.write_bytes(whole + whole.replace(b"M-1", b"M-2")[:-20])
    torn = await channel.find("<M-2@handoff>")
    await channel.deliver(replace(REPLY, message_id="<M-3@handoff>"))

    assert not torn
    assert await channel.find("<M-1@handoff>")
    assert await channel.find("<M-3@handoff>")


async def test_replies_of_several_workers_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    long = replace(REPLY, text="x" * 100_000)
    replies = [replace(long, message_id=f"<M-{n}@handoff>") for n in range(12)]
    await asyncio.gather(*(JsonlChannel(path).deliver(r) for r in replies))

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["message_id"] for line in lines} == {r.message_id for r in replies}


async def test_a_place_that_cannot_be_written_is_one_line_and_may_be_tried_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "replies.jsonl", Path("/dev/full")):
        with pytest.raises(DeliveryFailed) as failed:
            await JsonlChannel(path).deliver(REPLY)
        assert not failed.value.permanent
        assert str(failed.value).startswith(f"replies file {path}: ")
        assert "\n" not in str(failed.value)
