"""The model's request is valid whatever is stored, and stable (rules 8 and 9)."""

import json
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from core.context import Voice, build_request, canonical_message, entries_at, voice_for
from core.flows.intake import _imported
from core.journal import (
    Body,
    Compacted,
    Note,
    Quarantined,
    ToolCalled,
    ToolReturned,
    kind_of,
)
from core.limits import Limits
from core.ticket import Actor, system
from tests.core.any_journal import journals
from tests.core.as_told import BOTH, RUNS, problems, told
from tests.core.building import (
    AGENT,
    ANA,
    MODEL,
    PROMPT,
    history,
    replied,
    request,
    said,
)

RECORDED = Path(__file__).parents[3] / "shared" / "data" / "conversations"


def unreadable(seq: int, body: Body) -> Quarantined:
    """What is read where the row of such an entry is damaged."""
    return Quarantined(reason="damaged", was=kind_of(body), entry=seq)


@BOTH
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=journals)
def test_rule_09_whatever_a_journal_holds_the_request_is_valid(
    voice: Voice, lines: list[tuple[Actor, Body]]
) -> None:
    body = request(history(*lines, runs=RUNS), voice).body()
    assert problems(body) == []


@BOTH
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lines=journals,
    damaged=st.sets(st.integers(1, 14)),
    left_out=st.sets(st.integers(1, 14)),
)
def test_f80_whatever_is_quarantined_the_request_is_valid_and_every_place_has_entries(
    voice: Voice,
    lines: list[tuple[Actor, Body]],
    damaged: set[int],
    left_out: set[int],
) -> None:
    kept = [
        (by, unreadable(n, body) if n in damaged else body)
        for n, (by, body) in enumerate(lines, 1)
    ]
    marks = [
        (system("agent"), Quarantined(reason="r", was="note", entry=n))
        for n in sorted(left_out)
        if n <= len(lines)
    ]
    chart = history(*kept, *marks, runs=RUNS)
    body = request(chart, voice).body()
    assert problems(body) == []
    for at, message in enumerate(body["messages"]):
        for block, shown in enumerate(message["content"]):
            made_of = entries_at(chart, MODEL, voice, at, block)
            assert set(made_of) <= {e.seq for e in chart.journal}
            text = shown.get("text", "")
            assert made_of or text.startswith(("[The conversation", "[No new message"))


@BOTH
def test_f80_the_request_says_where_an_entry_can_t_be_read_and_keeps_the_rest(
    voice: Voice,
) -> None:
    chart = history(
        said("where is it?"),
        (AGENT, ToolCalled(id="t1", name="get_order", input={})),
        (AGENT, unreadable(3, ToolCalled(id="t2", name="find", input={}))),
        (AGENT, ToolReturned(id="t1", content="shipped")),
        (AGENT, ToolReturned(id="t2", content="c-1")),
        (ANA, unreadable(6, Note(text="x"))),
    )
    body = request(chart, voice).body()
    assert problems(body) == []
    facts = "\n".join(told(body, voice))
    assert "[#3, 2026-11-30 09:03 UTC] A tool call stands here that can't be" in facts
    assert "The call that is left out returned:\n> c-1" in facts
    assert "[#6, 2026-11-30 09:06 UTC] A note stands here that can't be read." in facts
    [result] = [b for m in body["messages"] for b in m["content"] if "tool_use_id" in b]
    assert result["content"] == "shipped"


def test_f80_what_is_sent_changes_only_from_the_entry_on_that_says_so() -> None:
    lines = (
        said("where is it?"),
        (AGENT, ToolCalled(id="t1", name="get_order", input={"x": 1})),
        (AGENT, ToolReturned(id="t1", content="shipped")),
    )
    mark = (system("agent"), Quarantined(reason="r", was="tool_call", entry=2))
    before, after = history(*lines), history(*lines, mark)
    assert request(after.as_of(3)).messages == request(before).messages
    assert "A call of yours to get_order is left out here" in str(request(after))
    assert "The call that is left out returned:\\n> shipped" in str(request(after))
    assert "tool_use" not in str(request(after))


@BOTH
@settings(max_examples=60, deadline=None)
@given(lines=journals)
def test_rule_09_the_same_records_give_the_same_bytes(
    voice: Voice, lines: list[tuple[Actor, Body]]
) -> None:
    first = request(history(*lines, runs=RUNS), voice)
    again = request(history(*lines, runs=RUNS), voice)
    as_bytes = [canonical_message(m) for m in first.messages]
    assert as_bytes == [canonical_message(m) for m in again.messages]
    assert [json.loads(b) for b in as_bytes] == list(first.messages)


@BOTH
@settings(max_examples=80, deadline=None)
@given(before=journals, after=journals)
def test_rule_08_what_follows_an_answer_leaves_the_earlier_messages_alone(
    voice: Voice,
    before: list[tuple[Actor, Body]],
    after: list[tuple[Actor, Body]],
) -> None:
    before, after = (
        [line for line in lines if not isinstance(line[1], Compacted | Quarantined)]
        for lines in (before, after)
    )
    start = [*before, said("and?")]
    asked = request(history(*start, runs=RUNS), voice).messages
    lines = [*start, replied("so it is", 0), *after, said("thanks")]
    later = request(history(*lines, runs=RUNS), voice).messages
    assert later[: len(asked)] == asked


@pytest.mark.parametrize(
    ("model", "voice"),
    [
        ("claude-3-5-haiku-20241022", Voice.MARKED),
        ("claude-opus-4-1", Voice.MARKED),
        ("claude-sonnet-4-5", Voice.MARKED),
        ("claude-opus-4-8", Voice.SYSTEM),
        ("claude-sonnet-5-5", Voice.SYSTEM),
        ("claude-fable-5-1", Voice.SYSTEM),
        ("something-else", Voice.SYSTEM),
    ],
)
def test_the_voice_is_the_one_that_the_model_takes(model: str, voice: Voice) -> None:
    assert voice_for(model) is voice


def recorded() -> list[Path]:
    return sorted(RECORDED.glob("*.jsonl"))


@pytest.mark.skipif(not recorded(), reason="there are no recorded conversations here")
@BOTH
@pytest.mark.parametrize("file", recorded(), ids=lambda p: p.stem)
def test_rule_09_recorded_conversations_cut_anywhere_give_valid_requests(
    file: Path, voice: Voice
) -> None:
    broken = []
    for line in file.read_text(encoding="utf-8").splitlines():
        conversation = json.loads(line)
        for cut in range(1, len(conversation["messages"]) + 1):
            lines = [
                entry
                for n, message in enumerate(conversation["messages"][:cut], 1)
                for entry in _imported(n, message)
            ]
            chart = history(*lines, runs=RUNS)
            asked = build_request(chart, PROMPT, (), Limits(), model=MODEL, voice=voice)
            found = problems(asked.body())
            if found:
                broken.append((conversation.get("id"), cut, found))
    assert broken == []
