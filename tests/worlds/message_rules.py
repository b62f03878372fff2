"""What the Messages API refuses, written down so that every test is checked by it.

Taken from the public reference, the SDK's types and the API's own error texts in
public bug reports (among them: a system message follows a user message and
precedes an assistant's or ends the array; the first goes into `system`; results
come first in the message right after their calls). Neighbours of one role are
merged by the API, so they are merged here before pairs are looked at. It is
stricter than the API in three points, each a sign of a mistake on our side: fields
that nobody documents, a call of a tool that the request does not declare, and a
whitespace-only system prompt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tests.worlds.message_shapes import (
    Found,
    Json,
    message_shape,
    system_shape,
    texts_are_unicode,
    tools_shape,
    top_level,
)

MOST_MESSAGES = 100_000


def validate_request(body: object, *, undeclared_tools: bool = False) -> list[str]:
    """Every rule that `body` breaks, each with its place; empty where it is fine.

    Args:
        body: The decoded request.
        undeclared_tools: Whether the history may hold calls of tools that `tools`
            no longer declares; the API itself does not mind.
    """
    if not isinstance(body, Mapping):
        return ["body: must be an object"]
    found = [
        *top_level(body),
        *system_shape(body),
        *tools_shape(body),
        *texts_are_unicode(body),
    ]
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*found, "messages: at least one message is required"]
    shapes = [
        v for i, m in enumerate(messages) for v in message_shape(m, f"messages.{i}")
    ]
    found += shapes
    if not shapes:  # the order of things can only be judged where things are whole
        found += _order_of_roles(messages)
        found += _pairs(messages)
        if not undeclared_tools:
            found += _calls_are_declared(body, messages)
    return found


def _order_of_roles(messages: list[Json]) -> Found:
    roles = [message["role"] for message in messages]
    if len(messages) > MOST_MESSAGES:
        yield f"messages: at most {MOST_MESSAGES}"
    if roles[0] == "system":
        yield "messages.0: use the top-level 'system' parameter"
    elif roles[0] != "user":
        yield "messages.0: the first message must have the role user"
    if roles[-1] == "assistant":
        yield "messages: the conversation must not end with an assistant message"
        last = _content(messages[-1])[-1]
        if last["type"] == "text" and last["text"] != last["text"].rstrip():
            yield "messages: final assistant content cannot end with whitespace"
    for at in range(1, len(roles)):
        if roles[at] == "system":
            yield from _system_place(roles, at)


def _system_place(roles: list[str], at: int) -> Found:
    if roles[at - 1] != "user":
        yield f"messages.{at}: role 'system' must follow a user message"
    if roles[at + 1 : at + 2] not in ([], ["assistant"]):
        yield (
            f"messages.{at}: role 'system' must precede an 'assistant' message"
            " or end the array"
        )


def _content(message: Json) -> list[Json]:
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content)


def merged(messages: list[Json]) -> list[tuple[int, str, list[Json]]]:
    """Neighbours of one role as one: (index of the first, role, blocks)."""
    joined: list[tuple[int, str, list[Json]]] = []
    for at, message in enumerate(messages):
        if joined and joined[-1][1] == message["role"]:
            joined[-1][2].extend(_content(message))
        else:
            joined.append((at, message["role"], _content(message)))
    return joined


def _pairs(messages: list[Json]) -> Found:
    turns = merged(messages)
    seen: set[str] = set()
    asked: list[str] = []
    for at, _, blocks in turns:
        answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        yield from _answers(at, asked, answered)
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            yield f"messages.{at}: tool_result blocks must come first"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for call_id in asked:
            if call_id in seen:
                yield f"messages.{at}: tool_use ids must be unique: {call_id}"
            seen.add(call_id)
    yield from _answers(len(messages), asked, [])


def _answers(at: int, asked: list[str], answered: list[str]) -> Found:
    for call_id in asked:
        if call_id not in answered:
            yield f"messages.{at}: no tool_result right after the tool_use {call_id}"
    for call_id, count in Counter(answered).items():
        if call_id not in asked:
            yield f"messages.{at}: tool_result without a tool_use before: {call_id}"
        if count > 1:
            yield f"messages.{at}: more than one tool_result for {call_id}"


def _calls_are_declared(body: Json, messages: list[Json]) -> Found:
    declared = {tool.get("name") for tool in body.get("tools", [])}
    for at, _, blocks in merged(messages):
        for block in blocks:
            if block["type"] == "tool_use" and block["name"] not in declared:
                yield f"messages.{at}: the tool {block['name']} is not declared"
