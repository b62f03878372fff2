"""What must be true of a story's records, however often its workers were cut."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from core.flows import replay
from core.history import History, open_calls
from core.journal import Message
from core.ports import Store
from core.standing import Standing, fold
from core.ticket import ActorKind
from tests.faults import shop
from tests.faults.story import TICKET, Story

_IDS = re.compile(r"\b(?:[DARW]-[0-9A-Z]{10}|toolu_[0-9a-f]+|hk_[0-9a-f]{40})\b")
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00| UTC)?"
)
_SEQS = re.compile(r"#\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a story has left behind.

    Attributes:
        requests: The requests to the model, normalised, in order.
        broken: Rules of the Messages API that they broke.
    """

    folder: Path
    requests: Sequence[str]
    broken: Sequence[str]


def normalised(requests: Iterable[dict[str, Any]], *, once: bool = False) -> list[str]:
    """Requests without ids, times and seqs; one sent again counts once.

    Args:
        requests: Their bodies, in order.
        once: Whether one that comes again after others counts once, too.
    """
    plain: list[str] = []
    for body in requests:
        text = json.dumps(body, ensure_ascii=False, sort_keys=True)
        names: dict[str, str] = {}

        def named(found: re.Match[str], names: dict[str, str] = names) -> str:
            return names.setdefault(found[0], f"id-{len(names) + 1}")

        text = _SEQS.sub("#n", _TIMES.sub("(time)", _IDS.sub(named, text)))
        if text not in (plain if once else plain[-1:]):
            plain.append(text)
    return plain


async def violations(
    story: Story, store: Store, ended: Ended, undisturbed: Sequence[str] | None
) -> list[str]:
    """Every rule that the records break, in words; empty where all is well.

    Args:
        story: What should have happened.
        store: Where it is kept.
        ended: What else it left.
        undisturbed: The requests of a run that nobody cut, normalised; None where
            there is none to compare with.
    """
    history = await store.read(lambda tx: tx.history(TICKET))
    doubtful = any(s.state.value == "in_doubt" for s in history.actions)
    found = [
        *_answers(story, history, doubtful=doubtful),
        *_effects(story, history, ended.folder, doubtful=doubtful),
        *_records(history),
        *(f"invalid request: {b}" for b in ended.broken),
    ]
    if not doubtful:
        found += _deliveries(story, history, ended.folder)
        if undisturbed is not None and ended.requests != undisturbed:
            found.append(_first_difference(undisturbed, ended.requests))
    for run in history.runs:
        outcome = await replay.replay(store, run.id)
        if not isinstance(outcome, replay.Same):
            found.append(f"{run.id} does not replay: {outcome}")
    return found


def _answers(story: Story, history: History, *, doubtful: bool) -> list[str]:
    standing, found = history.standing, []
    inward = [
        e for e in history.journal
        if isinstance(e.body, Message) and e.body.direction == "in"
    ]  # fmt: skip
    texts = Counter(e.body.text for e in inward if isinstance(e.body, Message))
    if texts != Counter(story.said):
        found.append(f"messages lost or doubled (rules 3, 4): {texts}")
    people = standing.with_people is not None
    if people != (story.people or doubtful):
        found.append(f"with people: {standing.with_people!r}")
    if standing.unanswered and not doubtful:
        found.append(f"unanswered (rule 3): {standing.unanswered}")
    if standing.due and not people:
        found.append("still due")
    if open_calls(history.journal):
        found.append(f"tool results lost: {open_calls(history.journal)}")
    if history.lock.holder is not None:
        found.append(f"still held by {history.lock.holder}")
    return found


def _deliveries(story: Story, history: History, folder: Path) -> list[str]:
    replies = folder / "replies.jsonl"
    lines = replies.read_text().splitlines() if replies.exists() else []
    sent = [json.loads(line) for line in lines]
    found = []
    if [s["text"] for s in sent] != list(story.replies):
        found.append(f"told the buyer (rule 8): {[s['text'] for s in sent]}")
    if len({s["message_id"] for s in sent}) != len(sent):
        found.append("a reply was delivered twice")
    said = [
        e for e in history.journal
        if isinstance(e.body, Message) and e.actor.kind is ActorKind.AGENT
    ]  # fmt: skip
    if len(said) != len(story.replies):
        found.append(f"{len(said)} replies in the journal")
    states = [r.state for r in history.outbox]
    if states != ["delivered"] * len(story.replies):
        found.append(f"the outbox: {states}")
    return found


def _effects(
    story: Story, history: History, folder: Path, *, doubtful: bool
) -> list[str]:
    made = shop.effects(folder / "books.jsonl")
    found = []
    wanted = [(tool, dict(given)) for tool, given in story.effects]
    happened = [(m["tool"], m["arguments"]) for m in made]
    if happened != wanted and not (doubtful and happened in ([], wanted)):
        found.append(f"effects (rules 5, 6): {happened}")
    for decision in history.decisions:
        rows = [a for a in history.actions if a.decision == decision.id]
        executed = decision.state.value == "executed"
        if len(rows) != executed:
            found.append(f"{decision.id} is {decision.state.value}: {len(rows)} rows")
        if any(a.input != decision.final_input for a in rows):
            found.append(f"{decision.id} was executed with other arguments (rule 6)")
    open_rows = [a.id for a in history.actions if a.open]
    if open_rows and not doubtful:
        found.append(f"actions left open: {open_rows}")
    return found


def _records(history: History) -> list[str]:
    found = []
    if reduce(fold, history.journal, Standing()) != history.standing:
        found.append("the standing is not what the journal comes to")
    if [e.seq for e in history.journal] != list(range(1, len(history.journal) + 1)):
        found.append("the journal has gaps")
    stops = [r.stop for r in history.runs]
    if None in stops:
        found.append("a run has no end")
    return found


def _first_difference(wanted: Sequence[str], made: Sequence[str]) -> str:
    for n, (one, other) in enumerate(zip(wanted, made, strict=False), 1):
        if one != other:
            at = next(
                (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
                min(len(one), len(other)),
            )
            where = slice(max(at - 80, 0), at + 120)
            return f"request {n} (rule 8): {one[where]!r} became {other[where]!r}"
    return f"requests (rule 8): {len(wanted)} became {len(made)}"
