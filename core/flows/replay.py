"""A run replayed offline: every request rebuilt and compared byte for byte (rule 9)."""

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.compaction import fold_request
from core.context import BUILDER, Voice, build_request, canonical_message
from core.history import History
from core.journal import Body, Message, Quarantined, Thinking, ToolCalled
from core.limits import Limits
from core.plan import Calls, Reply, Silence, Unusable, plan
from core.ports import Store, Transaction
from core.quarantine import is_unreadable, named
from core.ticket import RunId
from core.turn import Run, RunRecord, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """Every request is rebuilt and every step follows.

    Attributes:
        turns: How many were compared.
    """

    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Differs:
    """Something is not what the records come to.

    Attributes:
        turn: The first such turn, from 1.
        what: `request` or `steps`.
        diff: Lines of a unified diff, recorded against rebuilt.
    """

    turn: int
    what: str
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltByOther:
    """The run's requests were built by another version; it can't be compared."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownRun:
    """There is no such run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A record that the comparison needs can't be read.

    Attributes:
        what: Which, in words.
    """

    what: str


Replayed: TypeAlias = Same | Differs | BuiltByOther | Unreadable | UnknownRun


async def replay(store: Store, run: RunId) -> Replayed:
    """Rebuilds every request of a run from the records and compares; no effect runs.

    Raises:
        StoreUnreachable: The records can't be read.
    """
    found = await store.read(lambda tx: _read(tx, run))
    return UnknownRun() if found is None else compare(*found)


def _read(tx: Transaction, run: RunId) -> tuple[RunRecord, History] | None:
    record = tx.run_record(run)
    return None if record is None else (record, tx.history(record.run.ticket))


def compare(record: RunRecord, history: History) -> Replayed:
    """The replay itself, pure: the same for one run and for a whole store."""
    run = record.run
    if run.builder != BUILDER:
        return BuiltByOther(version=run.builder)
    if run.unreadable is not None:
        return Unreadable(what=f"a part of its record: {run.unreadable}")
    for turn in run.turns:
        differs = _request(record, history, turn) or _steps(run, history, turn)
        if differs is not None:
            return _unreadable(history) or differs
    return Same(turns=len(run.turns))


def _unreadable(history: History) -> Unreadable | None:
    """The entries that can't be read, where there are any: nothing is told of them."""
    lost = [e.body for e in history.journal if is_unreadable(e)]
    found = [body for body in lost if isinstance(body, Quarantined)]
    return Unreadable(what=named(found)) if found else None


def _request(record: RunRecord, history: History, turn: Turn) -> Differs | None:
    run, known = record.run, history.as_of(turn.built_at)
    limits = replace(Limits(), max_output_tokens=run.max_tokens)
    if turn.folds is not None:
        rebuilt = fold_request(known, turn.folds, limits, model=run.model)
        head = b""
    else:
        voice = Voice(run.staff_voice)
        rebuilt = build_request(
            known, run.prompt, run.tools, limits, model=run.model, voice=voice
        )
        head = rebuilt.system.encode()
    made = [head, *(canonical_message(m) for m in rebuilt.messages)]
    system = run.system.encode() if turn.folds is None else b""
    sent = [system, *record.requests[turn.number - 1]]
    return None if made == sent else _difference(turn.number, "request", sent, made)


def _steps(run: Run, history: History, turn: Turn) -> Differs | None:
    """Whether the journal holds what the turn's response comes to."""
    if turn.response is None or not turn.applied or turn.folds is not None:
        return None
    planned = plan(turn.response, history.as_of(turn.built_at))
    if isinstance(planned, Unusable):
        return None
    until = _next_turn(run, turn)
    mine = [
        e.body
        for e in history.journal
        if turn.built_at < e.seq <= until and e.actor.name == run.id
    ]
    made = [_step(b) for b in _bodies(planned)]
    stored = [_step(b) for b in mine if _is_step(b)][: len(made)]
    return None if made == stored else _difference(turn.number, "steps", stored, made)


def _next_turn(run: Run, turn: Turn) -> int:
    later = [t.built_at for t in run.turns if t.number > turn.number]
    return later[0] if later else 2**62


def _bodies(planned: Reply | Calls | Silence) -> Sequence[Body]:
    match planned:
        case Reply(text=text, entries=entries):
            said = Message(direction="out", text=text, channel="")
            return (*entries, said)
        case Calls(entries=entries) | Silence(entries=entries):
            return entries


def _is_step(body: Body) -> bool:
    return isinstance(body, Message | ToolCalled | Thinking)


def _step(body: Body) -> bytes:
    match body:
        case Message(text=text):
            return canonical_message({"reply": text})
        case ToolCalled(id=call, name=name, input=given):
            return canonical_message({"call": call, "name": name, "input": given})
        case Thinking(block=block):
            return canonical_message({"block": block})
        case _:
            return b""


def _difference(
    turn: int, what: str, stored: Iterable[bytes], made: Iterable[bytes]
) -> Differs:
    diff = difflib.unified_diff(
        _lines(stored), _lines(made), "recorded", "rebuilt", lineterm="", n=1
    )
    return Differs(turn=turn, what=what, diff=tuple(diff))


def _lines(parts: Iterable[bytes]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        try:
            text = json.dumps(json.loads(part), ensure_ascii=False, indent=1)
        except ValueError:
            text = part.decode(errors="replace")
        lines += text.splitlines()
    return lines
