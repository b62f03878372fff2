"""The real model: the Messages API through Anthropic's SDK.

One request, one answer: the SDK's own retries are off, since it would sleep as long as
a server says inside our wait and say nothing of it; what to try again is the run's
decision. The answer is taken from the response's own JSON and not from the SDK's
models, so that blocks and fields of which this version knows nothing are kept and
sent back as they came.

An error line names status, kind and the place in the request that was complained of.
It never repeats the provider's sentence, which may quote what a buyer wrote.
"""

import json
import re
from collections.abc import Mapping
from typing import NoReturn

import anthropic
import httpx2

from core.errors import ModelFailed
from core.ticket import Json, JsonObject
from core.turn import ModelResponse, Request, Usage

_KEY = {401, 402, 403}
_LATER = {408, 409, 425}
_TOO_LARGE = 413
_RATE = 429
_BAD = 400
_SERVER = 500
_SYSTEM_ROLE = re.compile(
    r"role.{0,40}system|system.{0,20}(?:role|messages? (?:is|are) not)|"
    r"messages\.\d+\.role",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say that they take no `system` messages among the others."""

_INVALID = {400, 422}
_OVERFLOW = re.compile(r"prompt is too long|exceeds? (the )?context|context window")
_MESSAGE = re.compile(r"messages\.(\d+)(?:\.content\.(\d+))?\b")
_PLACE = re.compile(r"[a-z_]+(\.[a-z_0-9]+)*(?=:)")


class AnthropicModel:
    """A model behind the Messages API.

    Args:
        api_key: The key, or None to leave it to the SDK's usual places.
        base_url: Of the API, or None for the provider's own.
        timeout: Seconds without an answer after which it counts as unreachable.
    """

    def __init__(
        self, *, api_key: str | None, base_url: str | None, timeout: float
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._timeout = timeout
        self._client: anthropic.AsyncAnthropic | None = None

    async def respond(self, request: Request) -> ModelResponse:
        """The model's answer to exactly `request.body()`.

        Raises:
            ModelFailed: There is no usable answer; `kind` says what failed.
        """
        try:
            answer = await self._opened().post(
                "/v1/messages", cast_to=httpx2.Response, body=request.body()
            )
        except anthropic.APIStatusError as wrong:
            _refuse(wrong)
        except (anthropic.APIConnectionError, httpx2.HTTPError) as wrong:
            _unreachable(wrong)
        except (TypeError, anthropic.AnthropicError):
            _no_key()
        except UnicodeError:
            raise ModelFailed(
                "the request holds text that is not Unicode", kind="bad_request"
            ) from None
        return read_response(answer.content, answer.headers.get("request-id"))

    async def look_up(self, model: str) -> bool:
        """Whether the provider knows a model; asks without spending tokens.

        A `ModelFailed` says why it can't be asked.
        """
        try:
            await self._opened().get(f"/v1/models/{model}", cast_to=httpx2.Response)
        except anthropic.NotFoundError:
            return False
        except anthropic.APIStatusError as wrong:
            _refuse(wrong)
        except (anthropic.APIConnectionError, httpx2.HTTPError) as wrong:
            _unreachable(wrong)
        except (TypeError, anthropic.AnthropicError):
            _no_key()
        return True

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.close()

    def _opened(self) -> anthropic.AsyncAnthropic:
        # without a key it looks for one on the disk, which may fail
        if self._client is None:
            self._client = anthropic.AsyncAnthropic(
                api_key=self._api_key,
                base_url=self._base_url,
                timeout=self._timeout,
                max_retries=0,
                open_telemetry=False,
            )
        return self._client


def read_response(body: bytes, request_id: str | None) -> ModelResponse:
    """The answer that a response body holds.

    One that is cut off, not JSON or not a message is a `ModelFailed`.
    """
    try:
        found: Json = json.loads(body, parse_constant=_no_number)
    except ValueError:
        _garbage("not JSON")
    if not isinstance(found, Mapping) or found.get("type") != "message":
        _garbage("not a message")
    stop = found.get("stop_reason")
    if not isinstance(stop, str):
        _garbage("cut off")
    return ModelResponse(
        id=_text(found, "id"),
        model=_text(found, "model"),
        content=_blocks(found.get("content")),
        stop_reason=stop,
        usage=_usage(found.get("usage")),
        request_id=request_id,
    )


def _no_number(constant: str) -> NoReturn:
    raise ValueError(constant)


def _text(message: JsonObject, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value:
        _garbage(f"without {name}")
    return value


def _blocks(content: Json) -> tuple[JsonObject, ...]:
    if not isinstance(content, list):
        _garbage("without content")
    blocks = [b for b in content if isinstance(b, Mapping) and _well_formed(b)]
    if len(blocks) != len(content):
        _garbage("with a broken block")
    return tuple(blocks)


def _well_formed(block: JsonObject) -> bool:
    match block.get("type"):
        case "text":
            return isinstance(block.get("text"), str)
        case "tool_use":
            named = isinstance(block.get("name"), str)
            return named and isinstance(block.get("id"), str) and "input" in block
        case kind:
            return isinstance(kind, str)


def _usage(used: Json) -> Usage:
    if not isinstance(used, Mapping):
        _garbage("without usage")
    return Usage(
        in_tokens=_count(used, "input_tokens"),
        out_tokens=_count(used, "output_tokens"),
        cache_read_tokens=_count(used, "cache_read_input_tokens"),
        cache_write_tokens=_count(used, "cache_creation_input_tokens"),
    )


def _count(used: JsonObject, name: str) -> int:
    value = used.get(name)
    return value if isinstance(value, int) else 0


def _unreachable(wrong: Exception) -> NoReturn:
    line = f"the model can't be reached ({type(wrong).__name__})"
    raise ModelFailed(line, kind="unreachable") from None


def _no_key() -> NoReturn:
    line = "there is no usable key for the model: set ANTHROPIC_API_KEY"
    raise ModelFailed(line, kind="refused_key") from None


def _garbage(what: str) -> NoReturn:
    line = f"the model's answer is unusable: {what}"
    raise ModelFailed(line, kind="garbage") from None


def _refuse(wrong: anthropic.APIStatusError) -> NoReturn:
    status = wrong.status_code
    line = f"the model's provider answered {status}"
    if wrong.type:
        line += f" ({wrong.type})"
    kind = _kind(status, wrong)
    place = _PLACE.match(str(_said(wrong)))
    if kind == "bad_request" and place is not None:
        line += f" about {place.group()}"
    if wrong.request_id:
        line += f", request {wrong.request_id}"
    raise ModelFailed(
        line,
        kind=kind,
        retry_after=_wait(wrong.response),
        place=_refused(wrong) if kind == "bad_request" else None,
    ) from None


def _refused(wrong: anthropic.APIStatusError) -> tuple[int, int | None] | None:
    """The message, and the block in it, that a refusal is about, where it says so."""
    found = _MESSAGE.match(str(_said(wrong)))
    if found is None:
        return None
    return int(found[1]), int(found[2]) if found[2] else None


def _kind(status: int, wrong: anthropic.APIStatusError) -> str:
    if wrong.type == "overloaded_error" or status >= _SERVER or status in _LATER:
        return "overloaded"
    if status == _RATE:
        return "rate_limited"
    if status in _KEY:
        return "refused_key"
    said = str(_said(wrong))
    if status == _TOO_LARGE or (status == _BAD and _OVERFLOW.search(said)):
        return "overflow"
    if status in _INVALID and _SYSTEM_ROLE.search(said):
        return "no_system_role"
    return "bad_request"


def _said(wrong: anthropic.APIStatusError) -> object:
    body = wrong.body
    error = body.get("error") if isinstance(body, Mapping) else None
    return error.get("message") if isinstance(error, Mapping) else None


def _wait(response: httpx2.Response) -> float | None:
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
