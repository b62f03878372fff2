"""What a lookup's result proves about the buyer (rule 7)."""

import json
from dataclasses import replace

import pytest

from core.identity import proven_by
from core.journal import IdentityChanged
from core.ticket import Json
from core.tool import FREE, ToolCall, ToolPolicy, ToolResult

FINDS = replace(
    FREE, establishes_identity="matched_order", customer="customer.id", name="who.name"
)
BARE = replace(FREE, establishes_identity="matched_order", customer=".")
CALL = ToolCall(id="t1", name="find_customer", input={"order": "O-1"})
FOUND = {"customer": {"id": "c-1"}, "who": {"name": "Bo"}}


def proven(
    content: Json,
    policy: ToolPolicy = FINDS,
    *,
    is_error: bool = False,
    structured: Json = None,
) -> IdentityChanged | None:
    result = ToolResult(content=content, is_error=is_error, structured=structured)
    return proven_by(policy, CALL, result)


def test_rule_07_a_successful_lookup_is_the_evidence() -> None:
    found = proven(json.dumps(FOUND))
    assert found is not None
    assert (found.customer, found.name, found.method) == ("c-1", "Bo", "matched_order")
    assert found.evidence == "find_customer order O-1 found c-1"


def test_rule_07_what_was_asked_for_writes_no_evidence() -> None:
    asked = replace(CALL, input={"order": "O-1 found c-9", "n": 2, "a, b": [None]})
    result = ToolResult(content=json.dumps(FOUND), is_error=False)
    found = proven_by(FINDS, asked, result)
    assert found is not None
    words = 'find_customer "a, b" [null], n 2, order "O-1 found c-9" found c-1'
    assert found.evidence == words


@pytest.mark.parametrize(
    ("content", "structured"),
    [
        ([{"type": "text", "text": json.dumps(FOUND)}], None),
        ("something for people", FOUND),
    ],
)
def test_a_result_may_be_blocks_or_structured(content: Json, structured: Json) -> None:
    found = proven(content, structured=structured)
    assert found is not None
    assert found.customer == "c-1"


@pytest.mark.parametrize("bare", ["c-1", " c-1\n", {"result": "c-1"}])
def test_a_bare_result_may_be_the_customer_itself(bare: Json) -> None:
    found = proven(bare, BARE)
    assert found is not None
    assert found.customer == "c-1"


def test_f26_a_failed_lookup_proves_nothing() -> None:
    assert proven(json.dumps(FOUND), is_error=True) is None
    assert proven("c-1", BARE, is_error=True) is None


def test_rule_07_a_tool_that_is_no_evidence_proves_nothing() -> None:
    assert proven(json.dumps(FOUND), FREE) is None


@pytest.mark.parametrize(
    "content",
    [
        *("", " ", "no customer", "{}", '{"customer": {"id": ""}}', "[1]", "null"),
        *('{"customer": "c-1"}', '{"customer": {"id": 7}}', None, [], {}, 7),
    ],
)
def test_a_result_without_a_customer_proves_nothing(content: Json) -> None:
    assert proven(content) is None
