"""The journal as the model is to be told it: piece by piece, in its order.

A piece is what the buyer said, a block of the agent's own answer, what a tool
returned, or a fact: what staff and the system say. Where an old part of the journal
was folded, its summary stands first, and what is always told in full after it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.facts import fact_of, retold, set_off
from core.history import History
from core.journal import Compacted, Entry, Message, Thinking, ToolCalled, ToolReturned
from core.ticket import ActorKind, Json, JsonObject, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The buyer's words, as text blocks."""

    seq: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A block of the agent's own answer."""

    block: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What one of the agent's calls returned."""

    call: str
    content: Json
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What staff or the system say."""

    text: str


Piece: TypeAlias = Heard | Own | Returned | Fact


def pieces_of(history: History, model: str) -> list[Piece]:
    """The journal, from its last summary on, as what was said, done and known."""
    names = _CallNames()
    pieces: list[Piece] = []
    folded = last_fold(history.journal)
    start = folded.upto if folded is not None else 0
    if folded is not None:
        pieces.append(Fact(text=_SUMMARY + set_off(folded.text)))
        kept = frozenset(folded.kept)
        told = [retold(e) for e in history.journal if e.seq in kept]
        pieces += [Fact(text=text) for text in told if text is not None]
    first = folded is None
    same_model = {str(r.id) for r in history.runs if r.model == model}
    for entry in history.journal:
        if entry.seq <= start:
            continue
        for piece in _piece(entry, names, same_model):
            if first and isinstance(piece, Heard):
                piece = replace(piece, texts=(_heading(history.ticket), *piece.texts))
                first = False
            pieces.append(piece)
    return pieces


def _heading(ticket: Ticket) -> str:
    """How the buyer's first message is headed: both lines are claims."""
    claim = f"\nFrom: {ticket.claim} (claimed, not verified)" if ticket.claim else ""
    return f"Subject: {ticket.subject}{claim}"


class _CallNames:
    """Tool ids as sent: unique in the request, and in the API's alphabet."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}
        self._used: set[str] = set()
        self.of_people: set[str] = set()

    def call(self, call: str, seq: int) -> str:
        """The name for a new call of this id."""
        name = _named(call, "call")
        while name in self._used:
            name = f"{name}_{seq}"
        self._used.add(name)
        self._sent[call] = name
        return name

    def answered(self, call: str) -> str | None:
        """The name of the call that a result answers; a second result has none."""
        return self._sent.pop(call, None)


def _piece(entry: Entry, names: _CallNames, same_model: set[str]) -> Iterable[Piece]:
    by_agent = entry.actor.kind is ActorKind.AGENT
    match entry.body:
        case Message(direction="in") as body:
            return [Heard(seq=entry.seq, texts=_words(body))]
        case Message(text=text) if by_agent:
            return [Own(block={"type": "text", "text": text.rstrip()})]
        case ToolCalled() as body if by_agent:
            return [Own(block=_tool_use(body, names.call(body.id, entry.seq)))]
        case ToolCalled(id=call):
            names.of_people.add(call)
        case ToolReturned(id=call, content=content, is_error=is_error):
            name = names.answered(call)
            if name is not None:
                return [Returned(call=name, content=content, is_error=is_error)]
            if call not in names.of_people:
                return []
        case Thinking(block=block):
            kept = by_agent and _is_whole(block, entry.actor.name in same_model)
            return [Own(block=block)] if kept else []
        case _:
            pass
    fact = fact_of(entry)
    return [Fact(text=fact)] if fact is not None else []


def _words(body: Message) -> tuple[str, ...]:
    texts = [body.text] if body.text.strip() else []
    texts += [
        f"[attachment: {a.get('name') or 'without a name'}, {a.get('type') or 'file'}, "
        f"{a.get('size')} bytes; not opened]"
        for a in body.attachments
    ]
    return tuple(texts) or ("[a message without text]",)


def _tool_use(body: ToolCalled, name: str) -> JsonObject:
    given = body.input
    arguments = given if isinstance(given, Mapping) else {"value": given}
    tool = _named(body.name, "unnamed")
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def _named(name: str, unnamed: str) -> str:
    """A name of the model's in the API's alphabet: it may ask for what is none."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:128] or unnamed


_SIGNED = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data",)}


def _is_whole(block: JsonObject, by_same_model: bool) -> bool:  # noqa: FBT001 # who thought it
    """Whether the API takes a block back: another model's thinking it refuses."""
    kind = block.get("type")
    if kind == "text":
        return True
    fields = _SIGNED.get(kind) if isinstance(kind, str) else None
    whole = fields is not None and all(isinstance(block.get(f), str) for f in fields)
    return whole and by_same_model


_SUMMARY = (
    "What came before on this ticket, in a summary that the model wrote itself; what "
    "colleagues said and did, who the buyer is and what was decided follows it in "
    "full:\n"
)


def last_fold(journal: Iterable[Entry]) -> Compacted | None:
    """The summary that stands for most of a journal, or None."""
    folds = [e.body for e in journal if isinstance(e.body, Compacted)]
    return max(folds, key=lambda fold: fold.upto, default=None)
