"""Calls, results, thoughts and summaries as the API takes them (rules 10 and 12)."""

import json
from dataclasses import replace

from core.context import Voice, build_request, tool_definitions
from core.journal import Compacted, Thinking, ToolCalled, ToolReturned
from core.limits import Limits
from tests.core.as_told import BOTH, block_texts, problems, result_of, told
from tests.core.building import (
    AGENT,
    ANA,
    MODEL,
    PROMPT,
    REFUND,
    given_back,
    history,
    replied,
    request,
    run_of,
    said,
    taken,
)
from tests.worlds.message_shapes import signature_of


@BOTH
def test_f75_every_call_has_a_truthful_result(voice: Voice) -> None:
    chart = history(
        said("refund please"),
        (AGENT, ToolCalled(id="t1", name="get_order", input={})),
        (AGENT, ToolCalled(id="t2", name="refund_order", input={})),
        (AGENT, ToolCalled(id="t3", name="get_order", input={})),
        (AGENT, ToolReturned(id="t1", content="shipped")),
        taken(),
        given_back(),
    )
    body = request(chart, voice).body()
    results = result_of(body)
    assert results["t1"]["content"] == "shipped"
    assert results["t2"]["is_error"] is True
    assert results["t3"]["is_error"] is True
    assert "Do not assume that it was done" in str(results["t2"]["content"])
    assert problems(body) == []


@BOTH
def test_f75_a_result_that_comes_late_does_not_change_what_was_sent(
    voice: Voice,
) -> None:
    lines = [
        said("refund please"),
        (AGENT, ToolCalled(id="t1", name="refund_order", input={})),
        (AGENT, ToolReturned(id="t1", content="waits", is_error=True)),
        replied("I asked for it.", 3),
    ]
    before = request(history(*lines), voice).messages
    late = (AGENT, ToolReturned(id="t1", content="done"))
    after = request(history(*lines, late, said("well?")), voice)
    assert result_of(after.body())["t1"]["content"] == "waits"
    assert after.messages[: len(before) - 1] == before[:-1]


@BOTH
def test_f78_nothing_empty_is_sent(voice: Voice) -> None:
    file = {"name": "../../x.png", "type": "image/png", "size": 3}
    chart = history(
        said("", attachments=(file,)),
        (AGENT, ToolCalled(id="t1", name="get_order", input={})),
        (AGENT, ToolReturned(id="t1", content=" ")),
        replied(" ", 1, ANA),
        said("\n"),
    )
    body = request(chart, voice).body()
    assert problems(body) == []
    users = block_texts(body, "user")
    assert "[attachment: ../../x.png, image/png, 3 bytes; not opened]" in users
    assert "[a message without text]" in users
    assert result_of(body)["t1"]["content"] == "(no output)"


def test_rule_10_thinking_goes_back_whole_or_not_at_all() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": signature_of("hm")}
    lines = [
        said("hi"),
        (AGENT, Thinking(block=thought)),
        (AGENT, ToolCalled(id="t1", name="get_order", input={})),
        (AGENT, ToolReturned(id="t1", content="ok")),
    ]
    same = request(history(*lines, runs=[run_of()])).messages[1]["content"]
    other = request(history(*lines, runs=[run_of(model="claude-opus-5")]))
    assert [b["type"] for b in same] == ["thinking", "tool_use"]  # type: ignore[union-attr, index, call-overload]
    assert [b["type"] for b in other.messages[1]["content"]] == ["tool_use"]  # type: ignore[union-attr, index, call-overload]


def test_rule_12_a_tool_server_s_words_can_t_make_a_request_unsendable() -> None:
    odd = replace(REFUND, description="half\ud800pair")
    (tool,) = tool_definitions([odd])
    body = build_request(
        history(said("hi")), PROMPT, [tool], Limits(), model=MODEL, voice=Voice.SYSTEM
    ).body()
    assert problems(body) == []


@BOTH
def test_rule_10_what_was_folded_is_never_expanded_again(voice: Voice) -> None:
    chart = history(
        said("my old story"),
        replied("an old answer", 1),
        said("more of it"),
        (AGENT, Compacted(upto=2, text="The buyer asked about O-1.")),
        said("now this"),
    )
    body = request(chart, voice).body()
    sent = json.dumps(body)
    assert "my old story" not in sent
    assert "an old answer" not in sent
    assert "The buyer asked about O-1." in "\n".join(told(body, voice))
    assert [t for t in block_texts(body, "user") if "facts" not in t] == [
        "more of it",
        "now this",
    ]
    assert problems(body) == []


@BOTH
def test_f76_a_fold_between_a_call_and_its_result_leaves_no_half_pair(
    voice: Voice,
) -> None:
    chart = history(
        said("hi"),
        (AGENT, ToolCalled(id="t1", name="get_order", input={})),
        (AGENT, Compacted(upto=2, text="s")),
        (AGENT, ToolReturned(id="t1", content="shipped")),
        said("and?"),
    )
    body = request(chart, voice).body()
    assert problems(body) == []
    assert result_of(body) == {}
