"""Whether a call's arguments fit its tool's JSON Schema, in words for a person.

The same line tells the model why its call was refused: both need the name of what
is wrong and what would be right, and neither the vocabulary of the schema.
"""

import json
from collections.abc import Mapping

import jsonschema

from core.ticket import Json, JsonObject
from core.tool import ToolSpec

_KINDS = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}

_MOST = 12
"""Choices that are named; of more it says that there are."""

_LIMITS = {
    "minimum": "has to be at least {}",
    "exclusiveMinimum": "has to be more than {}",
    "maximum": "has to be at most {}",
    "exclusiveMaximum": "has to be less than {}",
    "minLength": "has to have at least {} characters",
    "maxLength": "has to have at most {} characters",
    "minItems": "has to have at least {} entries",
    "maxItems": "has to have at most {} entries",
    "const": "has to be {}",
    "pattern": "is not written as it has to be (pattern {})",
}


def invalid_arguments(spec: ToolSpec, arguments: Json) -> str | None:
    """Why the arguments don't fit the tool's schema, in one line, or None."""
    if not isinstance(arguments, Mapping):
        return f"{spec.name} takes an object of arguments"
    try:
        jsonschema.validate(dict(arguments), dict(spec.input_schema))
    except jsonschema.ValidationError as wrong:
        return f"{spec.name}: {_in_words(wrong)}"
    except jsonschema.SchemaError:
        return f"{spec.name}: its server gave a schema that is none"
    return None


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types that a value may have by its schema, "null" left out.

    One that may also be absent is often written as a choice of it and null.
    """
    named = schema.get("type")
    if isinstance(named, str):
        found: list[Json] = [named]
    elif isinstance(named, list):
        found = list(named)
    else:
        either = schema.get("anyOf")
        parts = either if isinstance(either, list) else []
        found = [part.get("type") for part in parts if isinstance(part, Mapping)]
    return tuple(t for t in found if isinstance(t, str) and t != "null")


def kind_words(types: tuple[str, ...]) -> str:
    """What may be written where these JSON types are taken, or ""."""
    return " or ".join(_KINDS.get(name, name) for name in types)


def choice_words(choices: list[Json]) -> str:
    """What may be chosen from, in words."""
    more = "" if len(choices) <= _MOST else f" and {len(choices) - _MOST} more"
    return "one of " + ", ".join(map(_shown, choices[:_MOST])) + more


def _in_words(wrong: jsonschema.ValidationError) -> str:
    path = [str(part) for part in wrong.absolute_path]
    where = ".".join(path)
    wants: object = wrong.validator_value
    given: object = wrong.instance
    match wrong.validator, wants:
        case "required", list(names) if isinstance(given, Mapping):
            return _missing([".".join([*path, n]) for n in names if n not in given])
        case "additionalProperties", False if isinstance(wrong.schema, Mapping):
            in_it = f" in {where}" if where else ""
            return f"takes no {_unknown(given, wrong.schema)}{in_it}"
        case "type", str(name):
            said = f"has to be {kind_words((name,))}"
        case "type", list(names):
            said = f"has to be {kind_words(tuple(names))}"
        case "enum", list(choices):
            said = f"has to be {choice_words(choices)}"
        case "minLength", 1:
            said = "is empty"
        case str(name), _ if name in _LIMITS:
            said = _LIMITS[name].format(_shown(wants))
        case _:
            return f"{where}: {wrong.message}" if where else wrong.message
    return f"{where} {said}".strip()


def _missing(names: list[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing"


def _unknown(given: object, schema: Mapping[str, object]) -> str:
    known = schema.get("properties")
    named = known if isinstance(known, Mapping) else {}
    names = given if isinstance(given, Mapping) else ()
    return ", ".join(str(name) for name in names if name not in named)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
