"""Content blocks as the Messages API takes them, whatever was stored (rule 9).

Results become `tool_result` blocks, images of tool servers the API's images, and
nothing that was written by others can hold a mark of ours.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence

from core.pieces import Returned
from core.ticket import Json, JsonObject

_NO_RESULT = "No result is recorded for this call. Do not assume that it was done."


def has_words(block: JsonObject) -> bool:
    """Whether a block holds text that is more than white space."""
    text = block.get("text")
    return isinstance(text, str) and bool(text.strip())


def result_block(use: JsonObject, found: Returned | None) -> JsonObject:
    """The `tool_result` that answers a `tool_use`, truthful where there is none."""
    if found is None:
        content: Json = _NO_RESULT
        return {**_result_head(use), "content": content, "is_error": True}
    block = {**_result_head(use), "content": _result_content(found.content)}
    return {**block, "is_error": True} if found.is_error else block


def _result_head(use: JsonObject) -> dict[str, Json]:
    return {"type": "tool_result", "tool_use_id": use.get("id")}


def _result_content(content: Json) -> Json:
    if isinstance(content, str):
        return content if content.strip() else "(no output)"
    if isinstance(content, Sequence) and content:
        return [_result_block(b) for b in content]
    return json.dumps(content, ensure_ascii=False)


def _result_block(block: Json) -> JsonObject:
    if isinstance(block, Mapping) and block.get("type") == "text" and has_words(block):
        return text_block(str(block.get("text")))
    if isinstance(block, Mapping) and block.get("type") == "image":
        image = _image(block)
        if image is not None:
            return image
    return text_block(json.dumps(block, ensure_ascii=False))


_IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}


def _image(block: JsonObject) -> dict[str, Json] | None:
    """An image in the API's form, from that form or from a tool server's, or None."""
    source = block.get("source")
    if not isinstance(source, Mapping):
        kind = block.get("mimeType") or block.get("mime_type")
        source = {"type": "base64", "media_type": kind, "data": block.get("data")}
    if source.get("type") == "base64":
        whole = source.get("media_type") in _IMAGES and bool(source.get("data"))
    else:
        whole = source.get("type") == "url" and isinstance(source.get("url"), str)
    return {"type": "image", "source": source} if whole else None


_MARK = re.compile(r"<(?=\s*/?\s*handoff)", re.IGNORECASE)


def without_marks(value: JsonObject) -> JsonObject:
    """A result whose texts can't hold a mark: a shop's data may hold buyer text."""
    return {k: _unmarked(v) for k, v in value.items()}


def _unmarked(value: Json) -> Json:
    if isinstance(value, str):
        return _MARK.sub("&lt;", value)
    if isinstance(value, Mapping):
        return without_marks(value)
    if isinstance(value, Sequence):
        return [_unmarked(v) for v in value]
    return value


def text_block(text: str) -> JsonObject:
    """A text block."""
    return {"type": "text", "text": text}


def sendable(message: JsonObject) -> JsonObject:
    """A message that UTF-8 and the API can carry."""
    cleaned = _sendable_json(message)
    return cleaned if isinstance(cleaned, Mapping) else message


def _sendable_json(value: Json) -> Json:
    if isinstance(value, str):
        return sendable_text(value)
    if isinstance(value, Mapping):
        return {sendable_text(k): _sendable_json(v) for k, v in value.items()}
    if isinstance(value, Sequence):
        return [_sendable_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def sendable_text(text: str) -> str:
    """Text that UTF-8 can carry: lone surrogates become replacement characters."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)
