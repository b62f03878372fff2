"""The journal as the model is to be told it: piece by piece, in its order.

A piece is what the buyer said, a block of the agent's own answer, what a tool
returned, or a fact: what staff and the system say. Where an old part of the journal
was folded, its summary stands first, and what is always told in full after it.

What is left out (`quarantine`) has a piece in its place that says so: what a call of
the agent's came to is told all the same, as a fact. Every piece names its entry, so
that a place in a request can be traced back to what it holds.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.facts import fact_of, fact_without, retold, returned_without, set_off
from core.history import History
from core.journal import (
    Compacted,
    Entry,
    Message,
    Quarantined,
    Thinking,
    ToolCalled,
    ToolReturned,
)
from core.quarantine import left_out
from core.ticket import ActorKind, Json, JsonObject, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The buyer's words, as text blocks."""

    seq: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A block of the agent's own answer."""

    seq: int
    block: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What one of the agent's calls returned."""

    seq: int
    call: str
    content: Json
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What staff or the system say.

    Attributes:
        in_answer: Whether it stands for a part of the agent's own answer, and so does
            not part what comes before from what comes after.
    """

    seq: int
    text: str
    in_answer: bool = False


Piece: TypeAlias = Heard | Own | Returned | Fact


def pieces_of(history: History, model: str) -> list[Piece]:
    """The journal, from its last summary on, as what was said, done and known."""
    same_model = {str(r.id) for r in history.runs if r.model == model}
    reader = _Reader(left_out(history.journal), same_model)
    pieces: list[Piece] = []
    folded = last_fold(history.journal)
    start = 0
    if folded is not None:
        start, kept = folded.upto, frozenset(folded.kept)
        at = next(e.seq for e in history.journal if e.body is folded)
        pieces.append(Fact(seq=at, text=_SUMMARY + set_off(folded.text)))
        pieces += reader.retold(e for e in history.journal if e.seq in kept)
    first = folded is None
    for entry in history.journal:
        if entry.seq <= start:
            continue
        for piece in reader.pieces(entry):
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
        self._known: set[str] = set()
        self._left_out: set[str] = set()
        self._some_lost = False
        self.of_people: set[str] = set()

    def call(self, call: str, seq: int) -> str:
        """The name for a new call of this id."""
        name = _named(call, "call")
        while name in self._used:
            name = f"{name}_{seq}"
        self._used.add(name)
        self._known.add(call)
        self._sent[call] = name
        return name

    def only_open(self) -> str:
        """The call that a result without a name must be of; "" where that is open."""
        return next(iter(self._sent)) if len(self._sent) == 1 else ""

    def leave_out(self, call: str | None) -> None:
        """Notes that a call is not told; None: one whose id can't be read."""
        if call is None:
            self._some_lost = True
        else:
            self._left_out.add(call)

    def is_left_out(self, call: str) -> bool:
        """Whether a result belongs to a call that is not told."""
        return call in self._left_out or (self._some_lost and call not in self._known)

    def answered(self, call: str) -> str | None:
        """The name of the call that a result answers; a second result has none."""
        return self._sent.pop(call, None)


class _Reader:
    """Tells one entry after the other.

    Args:
        out: What is left out, by seq.
        same_model: The runs of the model that is asked.
    """

    def __init__(self, out: Mapping[int, Quarantined], same_model: set[str]) -> None:
        self._out = out
        self._same_model = same_model
        self._names = _CallNames()

    def retold(self, entries: Iterable[Entry]) -> Iterable[Fact]:
        """What is told in full beside a summary."""
        for entry in entries:
            out = self._out.get(entry.seq)
            text = retold(entry) if out is None else fact_without(entry, out)
            if text is not None:
                yield Fact(seq=entry.seq, text=text)

    def pieces(self, entry: Entry) -> Iterable[Piece]:
        """What the model is told of an entry."""
        out = self._out.get(entry.seq)
        if out is not None:
            return self._instead(entry, out)
        by_agent = entry.actor.kind is ActorKind.AGENT
        seq, names = entry.seq, self._names
        match entry.body:
            case Message(direction="in") as body:
                return [Heard(seq=seq, texts=_words(body))]
            case Message(text=text) if by_agent:
                return [Own(seq=seq, block={"type": "text", "text": text.rstrip()})]
            case ToolCalled() as body if by_agent:
                return [Own(seq=seq, block=_tool_use(body, names.call(body.id, seq)))]
            case ToolCalled(id=call):
                names.of_people.add(call)
            case ToolReturned() as body:
                return self._returned(entry, body)
            case Thinking(block=block):
                same = entry.actor.name in self._same_model
                kept = by_agent and _is_whole(block, same)
                return [Own(seq=seq, block=block)] if kept else []
            case _:
                pass
        return _fact(seq, fact_of(entry))

    def _returned(self, entry: Entry, body: ToolReturned) -> Iterable[Piece]:
        name = self._names.answered(body.id)
        if name is not None:
            content, is_error = body.content, body.is_error
            return [
                Returned(seq=entry.seq, call=name, content=content, is_error=is_error)
            ]
        if body.id in self._names.of_people:
            return _fact(entry.seq, fact_of(entry))
        if self._names.is_left_out(body.id):
            return _fact(entry.seq, returned_without(entry, body))
        return []

    def _instead(self, entry: Entry, out: Quarantined) -> Iterable[Piece]:
        """What is told where an entry is left out."""
        seq, fact = entry.seq, fact_without(entry, out)
        by_agent = entry.actor.kind is ActorKind.AGENT
        in_answer = by_agent and out.was in {"message", "tool_call", "thinking"}
        told = [Fact(seq=seq, text=fact, in_answer=in_answer)] if fact else []
        match entry.body:
            case Message(direction="in"):
                return [Heard(seq=seq, texts=(_LEFT_OUT,)), *told]
            case Quarantined(was="message") if entry.actor.kind is ActorKind.BUYER:
                return [Heard(seq=seq, texts=(_LEFT_OUT,)), *told]
            case ToolCalled(id=call):
                self._names.leave_out(call)
                return told
            case Quarantined(was="tool_call"):
                self._names.leave_out(None)
                return told
            case ToolReturned(id=call, is_error=is_error):
                name = self._names.answered(call)
                return (
                    _result_lost(seq, name, _RESULT_LEFT_OUT, is_error=is_error) or told
                )
            case Quarantined(was="tool_result") if by_agent:
                name = self._names.answered(self._names.only_open())
                return _result_lost(seq, name, RESULT_LOST, is_error=True) or told
            case Thinking():
                return []
            case _:
                return told


def _fact(seq: int, text: str | None) -> list[Piece]:
    return [] if text is None else [Fact(seq=seq, text=text)]


def _result_lost(
    seq: int,
    name: str | None,
    content: str,
    *,
    is_error: bool,
) -> list[Piece]:
    if name is None:
        return []
    return [Returned(seq=seq, call=name, content=content, is_error=is_error)]


_LEFT_OUT = "[a message that can't be shown here]"
_RESULT_LEFT_OUT = "The call returned, but what it returned can't be shown here."
RESULT_LOST = (
    "It is not known what this call returned: the record of its result can't be read. "
    "Do not assume that it was done, nor that it was not."
)


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


def last_fold(journal: Sequence[Entry]) -> Compacted | None:
    """The summary that stands for most of a journal, or None."""
    out = left_out(journal)
    folds = (e.body for e in journal if e.seq not in out)
    found = [body for body in folds if isinstance(body, Compacted)]
    return max(found, key=lambda fold: fold.upto, default=None)
