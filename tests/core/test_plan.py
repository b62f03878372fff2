"""What is made of a model's answer, before anything is stored."""

import pytest

from core.journal import Thinking, ToolCalled
from core.plan import Calls, Reply, Silence, Unusable, plan, promises_person
from core.ticket import Json
from core.turn import ModelResponse, Stop
from tests.core.building import AGENT, answered, history, replied, said

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
ASKED = history(said("hi"))


def text(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


def call(call_id: str = "t1", **given: Json) -> dict[str, Json]:
    return {"type": "tool_use", "id": call_id, "name": "get_order", "input": given}


def asks(*content: dict[str, Json]) -> ModelResponse:
    return answered(*content, stop="tool_use")


def test_text_alone_is_the_reply_and_thinking_is_kept_beside_it() -> None:
    planned = plan(answered(THOUGHT, text(" Hello "), text("there ")), ASKED)
    kept = (Thinking(block=THOUGHT),)
    reply = Reply(text="Hello\n\nthere", entries=kept, promises_person=False)
    assert planned == reply


def test_f53_text_beside_a_call_is_told_to_nobody() -> None:
    planned = plan(asks(text("One moment."), call(order="O-1")), ASKED)
    assert planned == Calls(
        entries=(
            Thinking(block=text("One moment.")),
            ToolCalled(id="t1", name="get_order", input={"order": "O-1"}),
        )
    )


@pytest.mark.parametrize("stop", ["max_tokens", "pause_turn", None])
def test_rule_15_no_tool_runs_from_an_answer_that_was_cut_off(stop: str | None) -> None:
    planned = plan(answered(call(), stop=stop), ASKED)
    assert isinstance(planned, Unusable)
    assert planned.stop is Stop.ERROR


@pytest.mark.parametrize("content", [(), (text("part"),), (call(),)])
def test_rule_15_a_refusal_is_people_s_whatever_it_holds(
    content: tuple[dict[str, Json], ...],
) -> None:
    planned = plan(answered(*content, stop="refusal"), ASKED)
    assert isinstance(planned, Unusable)
    assert planned.stop is Stop.REFUSED


@pytest.mark.parametrize("content", [(), (text(" "),), (THOUGHT,)])
def test_f60_an_empty_answer_to_a_waiting_buyer_is_people_s(
    content: tuple[dict[str, Json], ...],
) -> None:
    assert isinstance(plan(answered(*content), ASKED), Unusable)


def test_f65_nothing_to_say_is_fine_where_nobody_waits() -> None:
    chart = history(said("hi"), replied("hello", 1))
    assert plan(answered(THOUGHT), chart) == Silence(entries=(Thinking(block=THOUGHT),))


def test_call_ids_are_unique_on_the_ticket() -> None:
    chart = history(said("hi"), (AGENT, ToolCalled(id="t1", name="x", input={})))
    planned = plan(asks(call("t1"), call("t1"), call("t2")), chart)
    assert isinstance(planned, Calls)
    ids = [e.id for e in planned.entries if isinstance(e, ToolCalled)]
    assert ids == ["t1_2", "t1_3", "t2"]


@pytest.mark.parametrize(
    "block", [{"type": "tool_use"}, {"type": "tool_use", "id": None, "input": [1]}]
)
def test_a_malformed_call_becomes_a_call_that_policy_can_refuse(
    block: dict[str, Json],
) -> None:
    planned = plan(asks(block), ASKED)
    assert isinstance(planned, Calls)
    (called,) = planned.entries
    assert isinstance(called, ToolCalled)
    assert called.id == "call"
    assert called.name == ""


@pytest.mark.parametrize(
    "words",
    [
        "I'll get a colleague to look at it.",
        "I\N{RIGHT SINGLE QUOTATION MARK}ll ask my manager about it.",
        "Let me transfer you to a human agent.",
        "A specialist will contact you tomorrow.",
    ],
)
def test_f61_a_promise_of_a_person_is_seen(words: str) -> None:
    assert promises_person(words)
    planned = plan(answered(text(words)), ASKED)
    assert isinstance(planned, Reply)
    assert planned.promises_person


@pytest.mark.parametrize(
    "words",
    [
        "Your order was shipped yesterday.",
        "A colleague has approved your refund.",
        "You can ask your bank about it.",
    ],
)
def test_f61_what_promises_nobody_is_left_alone(words: str) -> None:
    assert not promises_person(words)
