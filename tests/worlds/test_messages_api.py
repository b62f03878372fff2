"""The model's server as the SDK sees it: answers, faults, records, checks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from tests.worlds.brains import Call, Reply, Script, answers, text_of
from tests.worlds.faults import (
    Closed,
    Cut,
    Delay,
    Fault,
    Garbage,
    Gate,
    Hang,
    Html,
    Status,
)
from tests.worlds.messages_api import API_KEY, MessagesApi, read_log

TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[MessagesApi]:
    with MessagesApi(answers("Hello."), log=tmp_path / "model.jsonl") as server:
        yield server


def client_of(api: MessagesApi, **options: Any) -> anthropic.AsyncAnthropic:
    choices = {"max_retries": 0, "timeout": 20.0, "api_key": API_KEY, **options}
    return anthropic.AsyncAnthropic(base_url=api.url, **choices)


async def ask(
    api: MessagesApi, *messages: Any, **options: Any
) -> anthropic.types.Message:
    async with client_of(api, **options) as client:
        return await client.messages.create(
            model="claude-sonnet-5-5",
            max_tokens=100,
            messages=list(messages) or [{"role": "user", "content": "Hi"}],
            tools=[TOOL],  # type: ignore[list-item]
        )


async def test_an_answer_has_all_that_the_real_one_has(api: MessagesApi) -> None:
    message = await ask(api)
    assert message.to_dict()["content"] == [{"type": "text", "text": "Hello."}]
    assert message.stop_reason == "end_turn"
    assert message.model == "claude-sonnet-5-5"
    assert message.usage.input_tokens > 0
    assert message.usage.cache_read_input_tokens == 0
    assert message._request_id == api.requests[0].request_id
    assert api.requests[0].body["messages"] == [{"role": "user", "content": "Hi"}]
    assert api.violations() == []


async def test_thinking_text_and_calls_come_back_as_they_were_sent(
    api: MessagesApi,
) -> None:
    calls = [Call(name="look", input={"at": "é"}), Call(name="look")]
    api.brain = Script(
        [Reply(thinking="hm", text="Wait", calls=calls), Reply(text="Done")]
    )
    question = {"role": "user", "content": "Hi"}
    first = await ask(api, question)
    blocks = [block.to_dict(mode="json") for block in first.content]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "seen"}
        for block in blocks
        if block["type"] == "tool_use"
    ]
    asked = {"role": "assistant", "content": blocks}
    second = await ask(api, question, asked, {"role": "user", "content": results})
    assert [block["type"] for block in blocks] == [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    assert first.stop_reason == "tool_use"
    assert second.to_dict()["content"] == [{"type": "text", "text": "Done"}]
    assert api.violations() == []


async def test_a_request_that_breaks_a_rule_is_refused_by_name(
    api: MessagesApi,
) -> None:
    said = {"role": "assistant", "content": "Dear"}
    with pytest.raises(anthropic.BadRequestError, match="must not end with an"):
        await ask(api, {"role": "user", "content": "Hi"}, said)
    assert len(api.violations()) == 1


async def test_a_brain_that_fails_is_a_refusal_and_a_violation(
    api: MessagesApi,
) -> None:
    api.brain = Script([])
    with pytest.raises(anthropic.BadRequestError, match="IndexError"):
        await ask(api)
    assert len(api.violations()) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Status(code=400), anthropic.BadRequestError),
        (Status(code=401), anthropic.AuthenticationError),
        (Status(code=429, retry_after=7), anthropic.RateLimitError),
        (Status(code=500), anthropic.InternalServerError),
        (Status(code=529), anthropic.OverloadedError),
        (Html(), anthropic.InternalServerError),
        (Garbage(), ValueError),
        (Closed(), anthropic.APIConnectionError),
        (Cut(), anthropic.APIConnectionError),
        (Hang(seconds=0.1), anthropic.APIConnectionError),
    ],
)
async def test_the_next_request_meets_the_fault_and_the_one_after_does_not(
    api: MessagesApi, fault: Fault, error: type[Exception]
) -> None:
    api.fail_next(fault)
    with pytest.raises(error) as raised:
        await ask(api)
    message = await ask(api)
    assert message.stop_reason == "end_turn"
    assert [r.fault for r in api.requests] == [type(fault).__name__, None]
    if isinstance(raised.value, anthropic.RateLimitError):
        assert raised.value.response.headers["retry-after"] == "7"


async def test_a_delayed_answer_comes_and_a_silent_server_times_out(
    api: MessagesApi,
) -> None:
    api.fail_next(Delay(seconds=0.05), Hang())
    late = await ask(api)
    with pytest.raises(anthropic.APITimeoutError):
        await ask(api, timeout=0.2)
    assert late.stop_reason == "end_turn"


async def test_a_gate_holds_a_request_until_the_test_lets_it_go(
    api: MessagesApi,
) -> None:
    gate = Gate()
    api.fail_next(gate)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask(api))
        assert await asyncio.to_thread(gate.arrived.wait, 10)
        assert not asking.done()
        gate.open()
    assert asking.result().stop_reason == "end_turn"


async def test_a_client_that_hangs_up_is_seen_at_the_gate(api: MessagesApi) -> None:
    gate = Gate()
    api.fail_next(gate)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask(api))
        assert await asyncio.to_thread(gate.arrived.wait, 10)
        asking.cancel()
    assert await asyncio.to_thread(gate.left.wait, 10)
    assert api.requests[0].status == 0


async def test_the_log_on_disk_holds_bodies_and_no_keys(
    api: MessagesApi, tmp_path: Path
) -> None:
    await ask(api)
    log = tmp_path / "model.jsonl"
    lines = read_log(log)
    assert [line["status"] for line in lines] == [200]
    assert text_of(lines[0]["body"]) == "Hi"
    assert lines[0]["response"]["id"].startswith("msg_")
    assert API_KEY not in log.read_text(encoding="utf-8")


async def test_a_request_without_a_key_is_not_let_in(api: MessagesApi) -> None:
    with pytest.raises(anthropic.AuthenticationError):
        await ask(api, default_headers={"Authorization": "Basic x"})
    assert api.requests[0].status == 401


async def test_a_stopped_server_refuses_connections() -> None:
    with MessagesApi(answers("x")) as api:
        await ask(api)
    with pytest.raises(anthropic.APIConnectionError):
        await ask(api)


async def test_a_model_can_be_looked_up_and_tokens_counted(api: MessagesApi) -> None:
    async with client_of(api) as client:
        model = await client.models.retrieve("claude-sonnet-5-5")
        tokens = await client.messages.count_tokens(
            model="claude-sonnet-5-5", messages=[{"role": "user", "content": "Hi"}]
        )
    assert model.id == "claude-sonnet-5-5"
    assert tokens.input_tokens > 0
    assert api.bodies() == []
