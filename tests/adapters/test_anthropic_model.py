"""The adapter to the Messages API, against a real HTTP server."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from core.adapters.anthropic_model import AnthropicModel, read_response
from core.errors import ModelFailed
from core.ticket import Json
from core.turn import Request, Usage
from tests.worlds import faults
from tests.worlds.brains import Reply
from tests.worlds.messages_api import API_KEY, MessagesApi

SECRET = "sk-ant-secret"
WORDS = "my card is 4111 1111 1111 1111"


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    def brain(body: object) -> Reply:
        return Reply(text="Hello.")

    with MessagesApi(brain) as server:
        yield server


@asynccontextmanager
async def model(url: str, key: str | None = API_KEY) -> AsyncIterator[AnthropicModel]:
    adapter = AnthropicModel(api_key=key, base_url=url, timeout=10)
    try:
        yield adapter
    finally:
        await adapter.close()


def request(text: str = WORDS) -> Request:
    return Request(
        model="claude-sonnet-5-5",
        max_tokens=100,
        system="You help.",
        tools=(),
        messages=({"role": "user", "content": [{"type": "text", "text": text}]},),
    )


async def test_what_is_sent_is_exactly_the_body_of_the_request(
    api: MessagesApi,
) -> None:
    async with model(api.url) as adapter:
        answer = await adapter.respond(request("häßlich 中 \u202e"))

    assert api.bodies() == [request("häßlich 中 \u202e").body()]
    assert api.violations() == []
    assert answer.content == ({"type": "text", "text": "Hello."},)
    assert answer.stop_reason == "end_turn"
    assert answer.request_id == api.requests[0].request_id
    assert answer.usage.out_tokens > 0


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (faults.Status(code=401), "refused_key"),
        (faults.Status(code=403), "refused_key"),
        (faults.Status(code=429), "rate_limited"),
        (faults.Status(code=500), "overloaded"),
        (faults.Status(code=529), "overloaded"),
        (faults.Html(code=502), "overloaded"),
        (faults.Html(code=504), "overloaded"),
        (faults.Status(code=413), "overflow"),
        (
            faults.Status(code=400, message="prompt is too long: 2 tokens > 1 maximum"),
            "overflow",
        ),
        (faults.Status(code=400, message=f"messages.0: {WORDS}"), "bad_request"),
        (
            faults.Status(code=400, message='messages: Unexpected role "system".'),
            "no_system_role",
        ),
        (
            faults.Status(code=400, message="role 'system' is not supported on this"),
            "no_system_role",
        ),
        (faults.Status(code=404), "bad_request"),
        (faults.Garbage(), "garbage"),
        (faults.Closed(), "unreachable"),
        (faults.Cut(), "unreachable"),
    ],
)
async def test_a_failure_says_its_kind_in_one_line_without_secret_or_words(
    api: MessagesApi, fault: faults.Fault, kind: str
) -> None:
    api.fail_next(fault)
    async with model(api.url, SECRET) as adapter:
        with pytest.raises(ModelFailed) as failed:
            await adapter.respond(request())

    assert failed.value.kind == kind
    assert len(api.requests) == 1  # whether to try again is not the library's decision
    line = str(failed.value)
    assert "\n" not in line
    assert SECRET not in line
    assert "4111" not in line


async def test_the_wait_that_the_provider_asks_for_is_told_and_not_slept(
    api: MessagesApi,
) -> None:
    api.fail_next(faults.Status(code=429, retry_after=3600))
    async with model(api.url) as adapter:
        with pytest.raises(ModelFailed) as failed:
            await adapter.respond(request())

    assert failed.value.retry_after == 3600


async def test_a_bad_request_names_the_place_that_was_complained_of(
    api: MessagesApi,
) -> None:
    api.fail_next(faults.Status(code=400, message=f"messages.0.content: {WORDS}"))
    async with model(api.url) as adapter:
        with pytest.raises(ModelFailed, match=r"about messages\.0\.content"):
            await adapter.respond(request())


async def test_a_refused_connection_is_unreachable() -> None:
    async with model("http://127.0.0.1:9") as adapter:
        with pytest.raises(ModelFailed) as failed:
            await adapter.respond(request())

    assert failed.value.kind == "unreachable"


async def test_no_key_at_all_is_a_refused_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    async with model("http://127.0.0.1:9", None) as adapter:
        with pytest.raises(ModelFailed) as failed:
            await adapter.respond(request())

    assert failed.value.kind == "refused_key"


def body(**changed: Json) -> bytes:
    whole: dict[str, Json] = {
        "type": "message",
        "id": "msg_1",
        "model": "claude-sonnet-5-5-20261101",
        "role": "assistant",
        "content": [],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    return json.dumps(whole | changed).encode()


def test_blocks_and_fields_that_nobody_knows_yet_are_kept_as_they_came() -> None:
    blocks: list[Json] = [
        {"type": "thinking", "thinking": "", "signature": "c2ln", "later": [1, 2.0]},
        {"type": "hologram", "beam": {"b": 1, "a": None}},
        {"type": "tool_use", "id": "t", "name": "n", "input": {"amount": 1.10}},
    ]
    usage: dict[str, Json] = {
        "input_tokens": 3,
        "output_tokens": 5,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": None,
        "server_tool_use": None,
    }

    answer = read_response(body(content=blocks, usage=usage), "req_1")

    assert json.dumps(answer.content) == json.dumps(blocks)
    assert answer.model == "claude-sonnet-5-5-20261101"
    assert answer.usage == Usage(in_tokens=3, out_tokens=5, cache_read_tokens=7)


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"[]",
        b'{"type": "error"}',
        body(stop_reason=None),
        body(content=None),
        body(content=[{"type": "text"}]),
        body(content=[{"type": "tool_use", "id": "t", "name": 3, "input": {}}]),
        body(id=None),
        body(model=""),
        body(usage=None),
        body().replace(b"3,", b"NaN,"),
        body()[:-10],
    ],
)
def test_rule_15_what_is_no_whole_message_is_garbage(broken: bytes) -> None:
    with pytest.raises(ModelFailed) as failed:
        read_response(broken, None)

    assert failed.value.kind == "garbage"
