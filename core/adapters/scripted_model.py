"""A model without a network: it answers a request by rules, for the offline demo.

It stands where the real model stands and sees what that sees: the request and nothing
else. So it shows what Handoff is for: a colleague's words are in its next answer only
because they are in the request. The same request always gets the same answer, tool ids
included. Reading (`scripted_reader`), understanding (`scripted_words`,
`scripted_case`), deciding (`scripted_rules`, `scripted_orders`, `scripted_steps`) and
wording (`scripted_letters`) are files of their own.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.adapters.scripted_case import Case
from core.adapters.scripted_reader import read
from core.adapters.scripted_rules import next_step
from core.adapters.scripted_steps import Say, Step, Use
from core.ticket import JsonObject
from core.turn import ModelResponse, Request, Usage

MODEL_ID = "handoff-scripted-1"
_CHARS_PER_TOKEN = 4


def answer(body: JsonObject) -> tuple[tuple[JsonObject, ...], str]:
    """Give the content blocks and the stop reason for a Messages API body."""
    steps = next_step(Case(reading=read(body)))
    uses = any(isinstance(step, Use) for step in steps)
    seed = _digest(body)
    blocks = tuple(_block(step, f"toolu_{seed}{n}") for n, step in enumerate(steps))
    # what is said beside a tool call reaches nobody: leave it out
    if uses:
        return tuple(b for b in blocks if b["type"] == "tool_use"), "tool_use"
    return blocks, "end_turn"


def _block(step: Step, call: str) -> JsonObject:
    match step:
        case Say(text=text):
            return {"type": "text", "text": text}
        case Use(name=name, input=given):
            return {"type": "tool_use", "id": call, "name": name, "input": given}


def _digest(body: JsonObject) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedModel:
    """A `Model` that answers by rules.

    Attributes:
        delay: seconds that an answer takes, so that one can watch it being made.
    """

    delay: float = 0.0

    async def respond(self, request: Request) -> ModelResponse:
        """Give the answer to a request; the same one to the same request."""
        body = request.body()
        await asyncio.sleep(self.delay)
        content, stop = answer(body)
        return ModelResponse(
            id=f"msg_{_digest(body)}",
            model=MODEL_ID,
            content=content,
            stop_reason=stop,
            usage=_usage(request, content),
            request_id=None,
        )


def _usage(request: Request, content: Sequence[JsonObject]) -> Usage:
    """An estimate such as a provider with a prompt cache would count."""
    fixed = len(request.system) + len(json.dumps(list(request.tools)))
    first = len(request.messages) <= 1
    spoken = len(json.dumps(list(request.messages)))
    return Usage(
        in_tokens=spoken // _CHARS_PER_TOKEN,
        out_tokens=len(json.dumps(list(content))) // _CHARS_PER_TOKEN,
        cache_read_tokens=0 if first else fixed // _CHARS_PER_TOKEN,
        cache_write_tokens=fixed // _CHARS_PER_TOKEN if first else 0,
    )
