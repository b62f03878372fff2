"""Requests as they were recorded, and answers in the API's own shapes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.worlds.brains import Reply
from tests.worlds.message_shapes import signature_of

_VERSIONS = {"2023-06-01", "2026-10-21"}
_LARGEST = 32 * 1024 * 1024
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass(slots=True, kw_only=True)
class Recorded:
    """One request as it came; what became of it is filled in when it is answered.

    Attributes:
        status: The answer's status, 0 while there is none and where none was sent.
        violations: The rules that the request breaks.
        response: The answer's decoded body, where it was JSON.
    """

    number: int
    path: str
    request_id: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any
    fault: str | None = None
    status: int = 0
    violations: list[str] = field(default_factory=list)
    response: Any = None


def refused_headers(recorded: Recorded) -> int | None:
    """The status with which the request's headers or size are refused, if so."""
    headers = {name.lower(): value for name, value in recorded.headers.items()}
    bearer = headers.get("authorization", "").startswith("Bearer ")
    if not (headers.get("x-api-key") or bearer):
        return 401
    if len(recorded.raw) > _LARGEST:
        return 413
    json_sent = headers.get("content-type", "").startswith("application/json")
    version_known = headers.get("anthropic-version") in _VERSIONS
    return None if json_sent and version_known else 400


def error_body(recorded: Recorded, status: int, message: str) -> dict[str, Any]:
    """An error in the API's shape."""
    kind = _KINDS.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": recorded.request_id,
    }


def message_body(body: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """A whole message as the API returns it; ids are new each time, as there."""
    content = list(reply.blocks) if reply.blocks is not None else _content(reply)
    stop = reply.stop or ("tool_use" if reply.calls else "end_turn")
    sent = len(json.dumps(body)) // 4
    cached = sent // 2 if "cache_control" in json.dumps(body) else 0
    usage = {
        "input_tokens": sent - cached,
        "output_tokens": len(json.dumps(content)) // 4,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "cache_creation": {
            "ephemeral_5m_input_tokens": 0,
            "ephemeral_1h_input_tokens": 0,
        },
        "service_tier": "standard",
    }
    return {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": reply.model or body["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**usage, **reply.usage},
    }


def _content(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.thinking is not None:
        signature = signature_of(reply.thinking)
        thinking = {"type": "thinking", "thinking": reply.thinking}
        blocks.append({**thinking, "signature": signature})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    for call in reply.calls:
        call_id = f"toolu_{secrets.token_hex(12)}"
        use = {"type": "tool_use", "id": call_id, "name": call.name}
        blocks.append({**use, "input": dict(call.input)})
    return blocks
