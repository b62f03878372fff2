"""What is to be made of a model's answer: pure, before anything is stored."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from core.history import History
from core.journal import Body, Thinking, ToolCalled
from core.ticket import JsonObject
from core.turn import ModelResponse, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer is for the buyer.

    Attributes:
        text: What is sent.
        entries: What else the journal keeps of it.
        promises_person: Whether it promises that a person will go on, which only the
            escalation tool can keep.
    """

    text: str
    entries: tuple[Body, ...]
    promises_person: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The answer asks for tools; its entries hold the calls, in order."""

    entries: tuple[Body, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """The agent has nothing to say, and nobody waits for an answer."""

    entries: tuple[Body, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """The answer can't be carried out: people look (rule 15).

    Attributes:
        stop: The run's stop reason.
        why: One line for people.
    """

    stop: Stop
    why: str


Plan: TypeAlias = Reply | Calls | Silence | Unusable

_CUT_OFF = "max_tokens"
_CUT = {
    _CUT_OFF: "the model's answer was cut off at its limit",
    "model_context_window_exceeded": "the conversation no longer fits the model",
    "pause_turn": "the model paused in the middle of its answer",
}


def plan(response: ModelResponse, history: History) -> Plan:
    """What a response comes to on this ticket.

    No tool runs from an answer that was cut off or refused.
    """
    if response.stop_reason == "refusal":
        return Unusable(stop=Stop.REFUSED, why="the model refused to go on")
    cut = _CUT.get(response.stop_reason or _CUT_OFF)
    if cut is not None:
        return Unusable(stop=Stop.ERROR, why=cut)
    if any(b.get("type") == "tool_use" for b in response.content):
        return _calls(response, history)
    text = "\n\n".join(_texts(response.content))
    thoughts = tuple(
        Thinking(block=b) for b in response.content if b.get("type") != "text"
    )
    if text:
        promises = not history.standing.pending and promises_person(text)
        return Reply(text=text, entries=thoughts, promises_person=promises)
    if history.standing.unanswered:
        return Unusable(stop=Stop.ERROR, why="the model gave an empty answer")
    return Silence(entries=thoughts)


_PERSON = (
    r"(?:a |an |one of |our |my |the )?(?:human |support |senior )?"
    r"(?:colleagues?|humans?|specialists?|supervisors?|managers?|team(?: members?)?"
    r"|agents?|representatives?|persons?)"
)
_PROMISE = re.compile(
    rf"\b(?:i(?:'ll| will|'m going to| am going to)|let me)\s+(?:\w+\s+){{0,3}}?"
    rf"(?:get|ask|transfer|forward|hand|pass|escalate|connect|involve|put)\b"
    rf"[^.?!\n]{{0,40}}?\b{_PERSON}\b"
    rf"|\b{_PERSON}\s+(?:will|is going to)\s+(?:\w+\s+){{0,2}}?"
    rf"(?:contact|get back|reach out|call|write|follow up|take (?:this |it )?over)",
    re.IGNORECASE,
)


def promises_person(text: str) -> bool:
    """Whether a reply promises that a person will go on with the ticket."""
    return (
        _PROMISE.search(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
        is not None
    )


def _calls(response: ModelResponse, history: History) -> Calls:
    taken = {e.body.id for e in history.journal if isinstance(e.body, ToolCalled)}
    entries: list[Body] = []
    for block in response.content:
        if block.get("type") != "tool_use":
            entries.append(Thinking(block=block))
            continue
        call = _fresh(str(block.get("id") or "call"), taken)
        taken.add(call)
        name = str(block.get("name") or "")
        entries.append(ToolCalled(id=call, name=name, input=block.get("input")))
    return Calls(entries=tuple(entries))


def _fresh(call: str, taken: set[str]) -> str:
    """The id itself, or a numbered one where the ticket has a call of this id."""
    if call not in taken:
        return call
    n = 2
    while f"{call}_{n}" in taken:
        n += 1
    return f"{call}_{n}"


def _texts(content: Iterable[JsonObject]) -> list[str]:
    texts = [b.get("text") for b in content if b.get("type") == "text"]
    return [t.strip() for t in texts if isinstance(t, str) and t.strip()]
