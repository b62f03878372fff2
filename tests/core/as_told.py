"""What a request tells, and in whose voice: how tests of requests look at them."""

from typing import Any

import pytest

from core.context import Voice
from core.ticket import RunId
from tests.core.building import run_of
from tests.worlds.message_rules import validate_request

BOTH = pytest.mark.parametrize("voice", list(Voice))
RUNS = (run_of(), run_of(RunId("R-2")), run_of(RunId("R-3"), model="claude-opus-5"))


def problems(body: dict[str, Any]) -> list[str]:
    return validate_request(body, undeclared_tools=True)


def block_texts(body: dict[str, Any], role: str) -> list[str]:
    return [
        block["text"]
        for message in body["messages"]
        if message["role"] == role
        for block in message["content"]
        if block["type"] == "text"
    ]


def told(body: dict[str, Any], voice: Voice) -> list[str]:
    """What a request tells in Handoff's own voice."""
    if voice is Voice.SYSTEM:
        return block_texts(body, "system")
    own = [t for t in block_texts(body, "user") if t.startswith("<handoff:facts>")]
    assert all(t.count("<handoff:facts>") == 1 for t in own)
    assert all(t.endswith("\n</handoff:facts>") for t in own)
    return own


def result_of(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    blocks = [b for m in body["messages"] for b in m["content"]]
    return {b["tool_use_id"]: b for b in blocks if b["type"] == "tool_result"}
