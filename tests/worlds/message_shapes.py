"""What the Messages API refuses in the single parts of a request.

The fields, blocks and tools one by one; `message_rules` adds what holds between
them and tells where all of it comes from.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

Json = Mapping[str, Any]
Found = Iterator[str]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOP = {
    *("model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking"),
    *("output_config", "cache_control", "diagnostics", "metadata", "service_tier"),
    *("speed", "inference_geo", "container", "stop_sequences", "stream"),
    *("user_profile_id", "workspace_id"),
}
_SAMPLING = ("temperature", "top_p", "top_k")
_TOOL = {
    *("name", "description", "input_schema", "strict", "defer_loading", "type"),
    *("cache_control", "input_examples", "eager_input_streaming", "allowed_callers"),
}
# Per role: the blocks it may hold, each with its required and optional fields.
_FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "text": ({"text"}, {"citations"}),
    "tool_use": ({"id", "name", "input"}, {"caller", "toolset_name"}),
    "tool_result": ({"tool_use_id"}, {"content", "is_error", "toolset_name"}),
    "thinking": ({"thinking", "signature"}, set()),
    "redacted_thinking": ({"data"}, set()),
    "image": ({"source"}, set()),
    "document": ({"source"}, {"title", "context", "citations"}),
    "search_result": ({"source", "title", "content"}, {"citations"}),
}
_BLOCKS = {
    "user": {"text", "image", "document", "search_result", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
    "system": {"text"},
    "result": {"text", "image", "document", "search_result"},
}
MOST_BREAKPOINTS = 4


def signature_of(thinking: str) -> str:
    """The signature under which our model hands out this thinking."""
    digest = hashlib.sha256(b"worlds:" + thinking.encode()).digest()
    return "wsig-" + base64.b64encode(digest).decode()


def top_level(body: Json) -> Found:
    """What is wrong with the fields of the request itself."""
    for name in _SAMPLING:
        if name in body:
            yield f"{name}: is not supported on this model"
    for name in set(body) - _TOP - set(_SAMPLING):
        yield f"{name}: Extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"].strip():
        yield "model: Field required"
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        yield "max_tokens: Field required, a whole number above 0"
    if body.get("stream"):
        yield "stream: this server does not stream"
    yield from _modes(body)
    marks = json.dumps(body).count('"cache_control":')
    if marks > MOST_BREAKPOINTS:
        yield f"cache_control: at most {MOST_BREAKPOINTS} breakpoints, not {marks}"


def _modes(body: Json) -> Found:
    allowed = {
        "thinking": {"adaptive", "between_tools"},
        "tool_choice": {"auto", "none"},
    }
    for name, kinds in allowed.items():
        given = body.get(name, {"type": next(iter(kinds))})
        kind = given.get("type") if isinstance(given, Mapping) else given
        if kind not in kinds:
            yield f"{name}: {kind} is not supported on this model"
    if "tool_choice" in body and not body.get("tools"):
        yield "tool_choice: may only be specified while providing tools"
    metadata = body.get("metadata", {})
    if not isinstance(metadata, Mapping) or set(metadata) - {"user_id"}:
        yield "metadata: only user_id is permitted"


def system_shape(body: Json) -> Found:
    """What is wrong with the system prompt."""
    system = body.get("system")
    if isinstance(system, str):
        if not system.strip():
            yield "system: must not be empty or only whitespace"
    elif system is not None:
        yield from _blocks(system, "system", "system")


def tools_shape(body: Json) -> Found:
    """What is wrong with the declared tools."""
    tools = body.get("tools", [])
    if not isinstance(tools, list) or not all(isinstance(t, Mapping) for t in tools):
        yield "tools: must be a list of objects"
        return
    names = Counter(tool.get("name") for tool in tools)
    for name, count in names.items():
        if count > 1:
            yield f"tools: Tool names must be unique: {name}"
    for at, tool in enumerate(tools):
        yield from _tool(tool, f"tools.{at}")


def _tool(tool: Json, at: str) -> Found:
    for extra in set(tool) - _TOOL:
        yield f"{at}.{extra}: Extra inputs are not permitted"
    name = tool.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"{at}.name: must match {_NAME.pattern}"
    if not isinstance(tool.get("description", ""), str):
        yield f"{at}.description: must be a string"
    schema = tool.get("input_schema")
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        yield f"{at}.input_schema.type: must be 'object'"
        return
    for union in {"oneOf", "allOf", "anyOf"} & set(schema):
        yield f"{at}.input_schema: does not support {union} at the top level"
    fault = _schema_fault(json.dumps(schema))
    if fault is not None:
        yield f"{at}.input_schema: is no JSON schema: {fault}"


@functools.cache  # every request declares the same tools again
def _schema_fault(schema: str) -> str | None:
    try:
        jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    except jsonschema.SchemaError as error:
        return str(error.message)
    return None


def message_shape(message: object, at: str) -> Found:
    """What is wrong with one message, whatever stands around it."""
    if not isinstance(message, Mapping):
        yield f"{at}: must be an object"
        return
    for name in set(message) - {"role", "content"}:
        yield f"{at}.{name}: Extra inputs are not permitted"
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or role not in {"user", "assistant", "system"}:
        yield f"{at}.role: must be user, assistant or system"
    elif isinstance(content, str):
        if not content.strip():
            yield f"{at}: text content must contain non-whitespace text"
    elif not content:
        yield f"{at}.content: must have non-empty content"
    else:
        yield from _blocks(content, role, f"{at}.content")


def _blocks(blocks: object, role: str, at: str) -> Found:
    if not isinstance(blocks, list):
        yield f"{at}: must be a string or a list of blocks"
        return
    for index, block in enumerate(blocks):
        place = f"{at}.{index}"
        kind = str(block.get("type")) if isinstance(block, Mapping) else "none"
        if kind not in _BLOCKS[role]:
            yield f"{place}: a block of type {kind} is not allowed here"
            continue
        required, optional = _FIELDS[kind]
        for name in required - set(block):
            yield f"{place}.{name}: Field required"
        for name in set(block) - required - optional - {"type", "cache_control"}:
            yield f"{place}.{name}: Extra inputs are not permitted"
        if required <= set(block):
            yield from _block(block, kind, role, place)


def _block(block: Json, kind: str, role: str, at: str) -> Found:
    match kind:
        case "text":
            if not isinstance(block["text"], str) or not block["text"].strip():
                yield f"{at}: text content blocks must contain non-whitespace text"
            if role == "user" and block.get("citations"):
                yield f"{at}.citations: are not permitted in user messages"
        case "tool_use":
            yield from _tool_use(block, at)
        case "tool_result":
            yield from _tool_result(block, at)
        case "thinking":
            signature = str(block["signature"])
            ours = signature.startswith("wsig-")
            if ours and signature != signature_of(str(block["thinking"])):
                yield f"{at}: thinking blocks cannot be modified"
        case _:
            pass


def _tool_result(block: Json, at: str) -> Found:
    content = block.get("content", "")
    if not isinstance(block["tool_use_id"], str):
        yield f"{at}.tool_use_id: must be a string"
    if not isinstance(block.get("is_error", False), bool):
        yield f"{at}.is_error: must be true or false"
    if not isinstance(content, str):
        yield from _blocks(content, "result", f"{at}.content")


def _tool_use(block: Json, at: str) -> Found:
    if not isinstance(block["id"], str) or not _ID.fullmatch(block["id"]):
        yield f"{at}.id: must match {_ID.pattern}"
    if not isinstance(block["name"], str) or not _NAME.fullmatch(block["name"]):
        yield f"{at}.name: must match {_NAME.pattern}"
    if not isinstance(block["input"], Mapping):
        yield f"{at}.input: must be an object"


def texts_are_unicode(body: Json) -> Found:
    """What JSON or UTF-8 could not carry."""
    try:
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        yield "body: holds a lone surrogate, which is no JSON text"
    except ValueError:
        yield "body: holds a number that JSON does not have"
