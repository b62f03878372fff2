"""The validator: what a sound request looks like, and each way to break one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.worlds.message_rules import validate_request
from tests.worlds.message_shapes import signature_of

TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}


def use(call_id: str = "toolu_1", name: str = "look") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def result(call_id: str = "toolu_1", text: str = "seen") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def system(words: str) -> dict[str, Any]:
    return {"role": "system", "content": words}


def request(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    sound = {"model": "claude-sonnet-5-5", "max_tokens": 1024, "tools": [TOOL]}
    return {**sound, "messages": list(messages), **fields}


HELLO = user(text("Hello"))
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": signature_of("hm")}


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO],
        [{"role": "user", "content": "Hello"}],
        [HELLO, HELLO],
        [HELLO, said(text("Hi")), HELLO],
        [HELLO, said(THOUGHT, text("See"), use()), user(result())],
        [HELLO, said(use("a"), use("b")), user(result("b")), user(result("a"))],
        [HELLO, said(use()), user(result(), text("and more"))],
        [HELLO, said(use()), user(result()), system("A person took over.")],
        [HELLO, system("Be brief."), said(text("Yes")), HELLO],
        [HELLO, said(use()), user(result(text=""))],
    ],
)
def test_a_sound_request_breaks_no_rule(messages: list[dict[str, Any]]) -> None:
    assert validate_request(request(*messages)) == []


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([], "at least one message"),
        ([said(text("Hi")), HELLO], "first message must have the role user"),
        ([system("Hi"), HELLO], "use the top-level 'system' parameter"),
        ([HELLO, said(text("Hi"))], "must not end with an assistant message"),
        ([HELLO, said(text("Hi "))], "cannot end with whitespace"),
        ([HELLO, said(use()), HELLO], "no tool_result right after"),
        ([HELLO, said(use())], "no tool_result right after"),
        ([HELLO, said(use("a"), use("b")), user(result("a"))], "tool_use b"),
        ([HELLO, said(use()), user(result(), result())], "more than one tool_result"),
        ([user(result())], "without a tool_use before"),
        ([HELLO, said(use()), user(text("x"), result())], "must come first"),
        (
            [HELLO, said(use()), user(result()), said(use()), user(result())],
            "ids must be unique",
        ),
        (
            [HELLO, said(use()), HELLO, said(text("x")), user(result())],
            "without a tool_use before",
        ),
        ([HELLO, said(use()), system("x"), user(result())], "must follow a user"),
        ([HELLO, system("a"), HELLO], "must precede an 'assistant'"),
        ([HELLO, system("a"), system("b")], "must follow a user message"),
        ([user(text(" \n"))], "non-whitespace"),
        ([{"role": "user", "content": ""}], "non-whitespace"),
        ([{"role": "user", "content": []}], "non-empty content"),
        ([HELLO, said(), HELLO], "non-empty content"),
        ([HELLO, {"role": "system", "content": [use()]}], "not allowed here"),
        ([user(use())], "not allowed here"),
        ([HELLO, said(result()), HELLO], "not allowed here"),
        ([{"role": "tool", "content": "x"}], "role: must be"),
        ([{**HELLO, "name": "Amina"}], "name: Extra inputs"),
        ([user({"type": "text", "text": "x", "seq": 3})], "seq: Extra inputs"),
        ([HELLO, said(use(name="gone")), user(result())], "gone is not declared"),
        ([HELLO, said(use("a b")), user(result("a b"))], "id: must match"),
        ([HELLO, said({**use(), "input": "{}"}), user(result())], "must be an object"),
        (
            [HELLO, said({**THOUGHT, "thinking": "other"}, text("x")), HELLO],
            "cannot be modified",
        ),
        ([user(text("\ud83d"))], "lone surrogate"),
    ],
)
def test_a_broken_conversation_is_told_by_its_rule(
    messages: list[dict[str, Any]], rule: str
) -> None:
    found = validate_request(request(*messages))
    assert any(rule in violation for violation in found), found


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"temperature": 0}, "temperature: is not supported"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"model": ""}, "model: Field required"),
        ({"ticket": "T1"}, "ticket: Extra inputs"),
        ({"system": "  "}, "system: must not be empty"),
        ({"system": [text("")]}, "system.0: text content"),
        ({"tools": [TOOL, TOOL]}, "Tool names must be unique"),
        ({"tools": [{**TOOL, "name": "a b"}]}, "name: must match"),
        ({"tools": [{**TOOL, "annotations": {}}]}, "annotations: Extra inputs"),
        ({"tools": [{"name": "look", "input_schema": {}}]}, "must be 'object'"),
        (
            {"tools": [{**TOOL, "input_schema": {"type": "object", "required": "a"}}]},
            "is no JSON schema",
        ),
        ({"tool_choice": {"type": "any"}}, "any is not supported"),
        ({"thinking": {"type": "disabled"}}, "disabled is not supported"),
        ({"metadata": {"ticket": "T1"}}, "only user_id"),
        ({"stream": True}, "does not stream"),
    ],
)
def test_a_broken_field_is_told_by_its_rule(fields: dict[str, Any], rule: str) -> None:
    found = validate_request(request(HELLO, **fields))
    assert any(rule in violation for violation in found), found


def test_more_than_four_cache_breakpoints_are_too_many() -> None:
    mark = {**text("x"), "cache_control": {"type": "ephemeral"}}
    four = request(user(mark, mark, mark, mark))
    five = copy.deepcopy(four)
    five["system"] = [mark]
    assert validate_request(four) == []
    assert "cache_control: at most 4 breakpoints, not 5" in validate_request(five)


def test_calls_of_removed_tools_may_be_let_through() -> None:
    history = request(HELLO, said(use(name="gone")), user(result()))
    assert validate_request(history, undeclared_tools=True) == []


@pytest.mark.parametrize("body", [None, [], "x", {"messages": [3], "tools": [3]}])
def test_nonsense_is_refused_and_never_raises(body: object) -> None:
    assert validate_request(body)
