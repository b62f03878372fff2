"""A run turn by turn, as lines: what was sent, what came back, what it did."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.measures import count
from console.widgets.spans import EMPTY, Line, cells, line, paragraph, wrap
from console.widgets.timeline_items import Item, items_of
from console.widgets.timeline_lines import lines_of
from console.widgets.timeline_values import Reader, value_lines
from console.wording import stop_words
from core.cleanse import cleanse, one_line
from core.history import History
from core.ticket import Json
from core.turn import Run, RunRecord, Turn

_LONG = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What replaying a run came to.

    Attributes:
        words: In a line.
        role: How good that is.
        turn: The first turn that differs, or 0.
        diff: Its differences, recorded against rebuilt.
    """

    words: str
    role: str
    turn: int = 0
    diff: tuple[str, ...] = ()


def replay_head(run: Run, number: int, verdict: Verdict) -> list[Line]:
    """Which run, which turn, and whether it can be rebuilt."""
    turns = max(1, len(run.turns))
    model = one_line(run.answered_by or run.model, 40)
    stop = stop_words(run.stop.value) if run.stop else "works"
    return [
        line(
            (f"{one_line(run.id, 30)} ", "strong"),
            (f"turn {number} of {turns} ", "yours"),
            (f"· {stop} · {model} · prompt ", "dim"),
            (one_line(run.prompt.version.version, 24), "dim"),
        ),
        line((verdict.words, verdict.role)),
        EMPTY,
    ]


def side_head(title: str, *, focused: bool) -> Line:
    """A side's title; the side that the keys scroll is marked."""
    return (
        line(("▸ ", "yours"), (title, "yours")) if focused else line((title, "strong"))
    )


def request_lines(
    record: RunRecord, number: int, verdict: Verdict, width: int
) -> list[Line]:
    """What was sent for a turn: what is new in it, the rest in a word."""
    if not 0 < number <= len(record.requests):
        return [line(("The request is not kept any more.", "wait"))]
    sent = record.requests[number - 1]
    before = record.requests[number - 2] if number > 1 else ()
    same = 0
    while same < min(len(sent), len(before)) and sent[same] == before[same]:
        same += 1
    lines: list[Line] = []
    if verdict.turn == number:
        lines += [line((verdict.words, "harm")), *_diff(verdict.diff, width), EMPTY]
    if same:
        lines.append(line((f"{count(same, 'message')} as in the turn before", "faint")))
    else:
        text = cleanse(record.run.system, limit=_LONG, lines=400)
        text = reflowed(text, width - 2)
        lines += [line(("system", "agent")), *paragraph(text, width, "dim", indent=2)]
    for raw in sent[same:]:
        lines += [EMPTY, *_message(raw, width)]
    return lines


def reflowed(text: str, width: int) -> str:
    """A text that is broken into lines by hand, broken for this width instead.

    Broken once more its lines would leave a word alone on every other line. A paragraph
    ends before a blank line, an item of a list or a heading.
    """
    paragraphs: list[list[str]] = []
    goes_on = False
    for part in text.split("\n"):
        begins = not part.strip() or _ITEM.match(part)
        if goes_on and not begins:
            paragraphs[-1].append(part)
        else:
            paragraphs.append([part])
        goes_on = bool(part.strip()) and not part.startswith("#")
    out: list[str] = []
    for first, *rest in paragraphs:
        if not rest or all(cells(part) <= width for part in (first, *rest)):
            out += [first, *rest]
            continue
        moved_in = len(rest[0]) - len(rest[0].lstrip())
        whole = " ".join([first.rstrip(), *(part.strip() for part in rest)])
        parts = wrap(whole[moved_in:], width - moved_in)
        out.append(whole[:moved_in] + parts[0])
        out += [" " * moved_in + part for part in parts[1:]]
    return "\n".join(out)


_ITEM = re.compile(r"\s*([-*#>|]|\d+[.)]\s)")
"""What begins a line that no line before it goes on with."""


def _diff(diff: Sequence[str], width: int) -> list[Line]:
    roles = {"+": "ok", "-": "harm", "@": "faint"}
    return [
        spans
        for part in diff[:400]
        for spans in paragraph(
            cleanse(part, limit=2000), width, roles.get(part[:1], "dim")
        )
    ]


def _message(raw: bytes, width: int) -> list[Line]:
    try:
        message = json.loads(raw)
    except ValueError:
        return paragraph(cleanse(raw.decode(errors="replace")), width, "wait")
    if not isinstance(message, Mapping):
        return _value(message, width)
    role = one_line(str(message.get("role", "?")), 20)
    look = {"user": "buyer", "assistant": "agent"}.get(role, "note")
    content = message.get("content")
    blocks = [content] if isinstance(content, str) else content
    lines: list[Line] = [line((role, look))]
    for block in blocks if isinstance(blocks, list) else [content]:
        lines += block_lines(block, width)
    return lines


def block_lines(block: Json, width: int) -> list[Line]:
    """A content block: text as text, a call by its name, the rest as it is."""
    if isinstance(block, str):
        return paragraph(cleanse(block, limit=_LONG, lines=800), width, indent=2)
    if not isinstance(block, Mapping):
        return _value(block, width)
    match block.get("type"):
        case "text":
            return block_lines(str(block.get("text", "")), width)
        case "tool_use":
            name = one_line(str(block.get("name", "?")), 40)
            given = _value(block.get("input"), width)
            return [line(("  → ", "agent"), (name, "agent")), *given]
        case "tool_result":
            failed = bool(block.get("is_error"))
            head = line(("  ← result", "harm" if failed else "ok"))
            content = block.get("content")
            parts = content if isinstance(content, list) else [content]
            return [head, *(s for part in parts for s in block_lines(part, width))]
        case _:
            return _value(block, width)


def _value(value: Json, width: int) -> list[Line]:
    return value_lines(value, Reader(me="", buyer="", zone=None, width=width))


def answer_lines(turn: Turn, width: int) -> list[Line]:
    """What came back for a turn."""
    lines: list[Line] = []
    response = turn.response
    if response is None:
        return [*lines, line(("Nothing came back: cancelled, or it crashed.", "wait"))]
    if not turn.applied:
        lines.append(line(("Not carried out: a person took over.", "wait")))
    used = response.usage
    said = f"{used.in_tokens:,} in · {used.out_tokens:,} out · {response.stop_reason}"
    lines.append(line((one_line(said, 80), "faint")))
    for block in response.content:
        lines += block_lines(block, width)
    return lines


def effect_lines(history: History, run: Run, number: int, reader: Reader) -> list[Line]:
    """What a turn did: the entries of the journal that came of it."""
    turn = run.turns[number - 1]
    later = [t.built_at for t in run.turns if t.number > number]
    until = later[0] if later else _end(history, run)
    lines: list[Line] = [EMPTY, line(("EFFECTS", "strong"))]
    for item in items_of(history, reader.zone):
        if turn.built_at < item.entry.seq <= until and _of_run(item, run):
            lines += lines_of(item, reader, opened=True)
    if len(lines) == 2:  # noqa: PLR2004 # the head alone
        lines.append(line(("none", "dim")))
    return lines


def _of_run(item: Item, run: Run) -> bool:
    by = item.entry.actor
    return by.name == run.id or by.kind.value == "system"


def _end(history: History, run: Run) -> int:
    mine = [e.seq for e in history.journal if e.actor.name == run.id]
    return max(mine, default=0)
