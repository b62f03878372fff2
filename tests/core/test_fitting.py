"""What is wrong with a call's arguments is told without the words of JSON Schema."""

import pytest

from core.fitting import invalid_arguments, types_of
from core.ticket import Json, JsonObject
from core.tool import Approve, Consequence, ToolPolicy, ToolSpec

FIELDS: JsonObject = {
    "order_id": {"type": "string", "pattern": "^SU-"},
    "said": {"type": "string", "minLength": 1},
    "pieces": {"type": "integer", "minimum": 1, "maximum": 9},
    "why": {"enum": ["damaged", "late"]},
    "gift": {"type": "boolean"},
    "weight": {"type": ["number", "null"], "exclusiveMinimum": 0},
    "note": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
    "to": {"type": "object", "required": ["city"], "additionalProperties": False},
    "lines": {"type": "array", "minItems": 1, "items": {"type": "string"}},
}


def told(arguments: Json, *required: str) -> str | None:
    """What is wrong with arguments, without the tool's name."""
    schema: JsonObject = {
        "properties": FIELDS,
        "required": list(required),
        "additionalProperties": False,
    }
    spec = ToolSpec(
        name="send",
        description="",
        input_schema=schema,
        policy=ToolPolicy(consequence=Consequence.NONE, approve=Approve.NEVER),
    )
    said = invalid_arguments(spec, arguments)
    return said and said.removeprefix("send: ")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"order_id": 1}, "order_id has to be text"),
        ({"said": ""}, "said is empty"),
        (
            {"order_id": "1"},
            "order_id is not written as it has to be (pattern ^SU-)",
        ),
        ({"pieces": "1"}, "pieces has to be a whole number"),
        ({"pieces": 0}, "pieces has to be at least 1"),
        ({"pieces": 10}, "pieces has to be at most 9"),
        ({"why": "lost"}, "why has to be one of damaged, late"),
        ({"gift": "yes"}, "gift has to be true or false"),
        ({"weight": "1"}, "weight has to be a number or nothing"),
        ({"weight": 0}, "weight has to be more than 0"),
        ({"note": "too long"}, "note has to have at most 5 characters"),
        ({"to": {}}, "to.city is missing"),
        ({"lines": []}, "lines has to have at least 1 entries"),
        ({"lines": ["a", 2]}, "lines.1 has to be text"),
        ({"colour": "red"}, "takes no colour"),
        ({"pieces": 3, "why": "late"}, None),
    ],
)
def test_f21_each_fault_is_named_by_its_field_and_what_would_be_right(
    given: Json, words: str | None
) -> None:
    assert told(given) == words


def test_f21_all_that_is_missing_is_named_at_once() -> None:
    assert told({}, "order_id") == "order_id is missing"
    assert told({}, "order_id", "why") == "order_id, why are missing"


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, ("string",)),
        ({"type": ["string", "null"]}, ("string",)),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, ("number",)),
        ({}, ()),
        ({"type": 5, "anyOf": "x"}, ()),
    ],
)
def test_what_may_be_absent_has_one_type(
    schema: JsonObject, types: tuple[str, ...]
) -> None:
    assert types_of(schema) == types
