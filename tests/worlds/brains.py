"""Models for tests: each decides from the request alone, so it survives restarts.

A brain is any function from the decoded request to a `Reply`. `ReferenceActions`
plays a task's recorded tool calls in order and finds its place again from the calls
that the request shows, whoever sent it and whatever else it holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call that the model asks for."""

    name: str
    input: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model says: thinking, text and calls, in this order.

    Attributes:
        stop: The stop reason; where None, `tool_use` with calls, else `end_turn`.
        usage: Usage fields that replace the estimated ones.
        blocks: Content blocks as they are, instead of thinking, text and calls.
        model: The model that answers; where None, the one asked for.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    thinking: str | None = None
    stop: str | None = None
    usage: Json = field(default_factory=dict)
    blocks: Sequence[Json] | None = None
    model: str | None = None


Brain = Callable[[dict[str, Any]], Reply]


def content_of(message: Json) -> list[Json]:
    """A message's blocks, a bare string as one text block."""
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content)


def strings_in(value: object) -> Iterator[str]:
    """Every string anywhere in `value`, in order."""
    match value:
        case str():
            yield value
        case Mapping():
            for part in value.values():
                yield from strings_in(part)
        case list() | tuple():
            for part in value:
                yield from strings_in(part)
        case _:
            pass


def text_of(body: Json, role: str | None = None) -> str:
    """All text of the messages, of one role or of all, a line each."""
    chosen = (m for m in body["messages"] if role in {None, m["role"]})
    return "\n".join(text for m in chosen for text in strings_in(m["content"]))


def calls_in(body: Json) -> list[tuple[Json, Json | None]]:
    """Every tool_use with its tool_result, in order; None where it has none."""
    blocks = [block for m in body["messages"] for block in content_of(m)]
    results = {b["tool_use_id"]: b for b in blocks if b["type"] == "tool_result"}
    uses = [block for block in blocks if block["type"] == "tool_use"]
    return [(use, results.get(use["id"])) for use in uses]


@dataclass(frozen=True, slots=True)
class Script:
    """The n-th reply where n assistant messages are there; then the last again."""

    replies: Sequence[Reply]

    def __call__(self, body: dict[str, Any]) -> Reply:
        said = sum(m["role"] == "assistant" for m in body["messages"])
        reply: Reply = self.replies[min(said, len(self.replies) - 1)]
        return reply


def answers(*texts: str) -> Script:
    """A script of plain answers."""
    return Script([Reply(text=text) for text in texts])


# However the words were wrapped or escaped on their way: JSON, HTML, Markdown.
_GAP = r"(?:\s|\\n|&nbsp;)+"
_MARKER = re.compile(
    rf"(?:\[|&#91;|&#x5b;|\\u005b)task{_GAP}([\w.-]+?)\\?(?:\]|&#93;|&#x5d;|\\u005d)",
    re.IGNORECASE,
)
NOT_RUN = re.compile(r"\bnot run\b", re.IGNORECASE)


def marker(task_id: str) -> str:
    """What a ticket's first message holds so that its task is known."""
    return f"[task {task_id}]"


@dataclass(frozen=True, slots=True)
class ReferenceActions:
    """Plays the reference actions of the task that the ticket's marker names.

    A call counts as played when a tool_use with its name and arguments is in the
    request, unless its result says that it was "not run": such a call is asked for
    again, up to `tries` times, then passed over. Actions that occur twice in a task
    are played twice.

    Attributes:
        tasks: Tasks as in tasks.json.
        per_turn: How many calls one turn may ask for.
        tries: How often a call that was not run is asked for.
        closing: What is said when all is played.
    """

    tasks: Sequence[Json]
    per_turn: int = 1
    tries: int = 3
    closing: str = "All of this is done now. Is there anything else?"

    def __call__(self, body: dict[str, Any]) -> Reply:
        task = self.task_of(body)
        names = [tool["name"] for tool in body.get("tools", [])]
        wanted = [
            Call(name=_declared(a["name"], names), input=a["arguments"])
            for a in task["evaluation_criteria"]["actions"] or []
        ]
        left = self._left(wanted, calls_in(body))
        if left:
            return Reply(calls=left[: self.per_turn])
        told = task["evaluation_criteria"].get("communicate_info") or []
        return Reply(text=" ".join([self.closing, *map(str, told)]))

    def task_of(self, body: Json) -> Json:
        """The task named by the first marker, the first user message's before all.

        Raises:
            LookupError: There is no marker, or no such task.
        """
        first = next(m for m in body["messages"] if m["role"] == "user")
        for place in (first, body["messages"]):
            found = _MARKER.search("\n".join(strings_in(place)))
            if found is not None:
                for task in self.tasks:
                    if str(task["id"]) == found[1]:
                        return task
                raise LookupError(f"no task {found[1]}")
        raise LookupError("the request holds no task marker")

    def _left(
        self, wanted: list[Call], played: list[tuple[Json, Json | None]]
    ) -> list[Call]:
        left = list(wanted)
        refused: list[Call] = []
        for use, result in played:
            arguments = {k: v for k, v in use["input"].items() if _is_argument(k)}
            call = Call(name=use["name"], input=arguments)
            if call not in left:
                continue
            if _was_run(result):
                left.remove(call)
                continue
            refused.append(call)
            if refused.count(call) >= self.tries:
                left.remove(call)
        return left


def _is_argument(name: str) -> bool:
    return name != "idempotency_key"


def _was_run(result: Json | None) -> bool:
    if result is None or not result.get("is_error"):
        return True
    return not NOT_RUN.search("\n".join(strings_in(result.get("content", ""))))


def _declared(name: str, names: Sequence[str]) -> str:
    """The declared name of a tool, which may carry its server's name in front."""
    if name in names:
        return name
    endings = (f"__{name}", f".{name}", f"-{name}", f"_{name}")
    return next((known for known in names if known.endswith(endings)), name)


def reference_actions(tasks: Path, *, per_turn: int = 1) -> ReferenceActions:
    """The brain for the tasks in a file."""
    return ReferenceActions(json.loads(tasks.read_bytes()), per_turn=per_turn)
