"""Reference actions: played in order, each once, by a model without a memory."""

from __future__ import annotations

import hashlib
import html
import json
from typing import Any

import pytest

from tests.worlds.brains import Call, ReferenceActions, marker, reference_actions
from tests.worlds.message_answers import message_body
from tests.worlds.message_rules import validate_request
from tests.worlds.retail_shop import described
from tests.worlds.retail_store import DATA
from tests.worlds.retail_tools import TOOLS, call

LISTED = [described(tool) for tool in TOOLS.values()]
DECLARED = [{"name": t.name, "input_schema": t.input_schema} for t in LISTED]
REFUSED = {"content": "Not run: a person took over.", "is_error": True}


def action(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def task(*actions: dict[str, Any], task_id: str = "7") -> dict[str, Any]:
    criteria = {"actions": list(actions), "communicate_info": ["42.00"]}
    return {"id": task_id, "evaluation_criteria": criteria}


SUM = action("calculate", expression="1 + 1")
ORDER = action("get_order_details", order_id="#W1")
ITEM = action("get_item_details", item_id="1")


def opening(words: str) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": words}]}
    fields = {"model": "m", "max_tokens": 9, "tools": DECLARED}
    return {**fields, "messages": [message]}


def turn(
    body: dict[str, Any], brain: ReferenceActions, *results: dict[str, Any]
) -> Any:
    """Asks the brain and appends its answer and the results of its calls."""
    assert validate_request(body) == []
    content = message_body(body, brain(body))["content"]
    body["messages"].append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    given = list(results) or [{"content": "ok"}] * len(uses)
    answers = [
        {"type": "tool_result", "tool_use_id": use["id"], **result}
        for use, result in zip(uses, given, strict=True)
    ]
    if answers:
        body["messages"].append({"role": "user", "content": answers})
    return [use["name"] for use in uses] or content[0]["text"]


def test_actions_are_played_in_order_and_then_it_closes() -> None:
    brain = ReferenceActions([task(SUM, ORDER, SUM)])
    body = opening(f"Hello {marker('7')}")
    played = [turn(body, brain) for _ in range(4)]
    assert played[:3] == [["calculate"], ["get_order_details"], ["calculate"]]
    assert played[3].endswith("42.00")


def test_a_call_that_was_not_run_is_asked_for_again_but_not_for_ever() -> None:
    brain = ReferenceActions([task(ORDER, SUM)])
    body = opening(marker("7"))
    first = turn(body, brain, REFUSED)
    again = turn(body, brain, {"content": "Error: Order not found", "is_error": True})
    after = turn(body, brain, REFUSED), turn(body, brain, REFUSED)
    last = turn(body, brain, REFUSED), turn(body, brain)
    assert first == again == ["get_order_details"]
    assert after == (["calculate"], ["calculate"])
    assert last[0] == ["calculate"]
    assert isinstance(last[1], str)


def test_several_calls_in_one_turn_keep_their_places() -> None:
    brain = ReferenceActions([task(SUM, ORDER, ITEM)], per_turn=2)
    body = opening(marker("7"))
    first = turn(body, brain, REFUSED, {"content": "ok"})
    second = turn(body, brain)
    assert first == ["calculate", "get_order_details"]
    assert second == ["calculate", "get_item_details"]
    assert isinstance(turn(body, brain), str)


def test_messages_in_between_do_not_matter() -> None:
    brain = ReferenceActions([task(SUM, ORDER)])
    body = opening(marker("7"))
    turn(body, brain)
    body["messages"] += [
        {"role": "system", "content": "A person answered: done [task 8]"},
        {"role": "assistant", "content": "I am a person."},
        {"role": "user", "content": "And now?"},
    ]
    assert turn(body, brain) == ["get_order_details"]


@pytest.mark.parametrize(
    "words",
    [
        "Re: help [Task 7] please",
        f"<buyer>{html.escape('<b>')} [task 7]</buyer>",
        "&#91;task 7&#93;",
        json.dumps({"text": "x\n[task\n7]"}),
        r"\[task 7\]",
    ],
)
def test_the_marker_is_found_however_the_text_is_wrapped(words: str) -> None:
    brain = ReferenceActions([task(SUM)])
    assert brain(opening(words)).calls == [
        Call(name="calculate", input=SUM["arguments"])
    ]


def test_a_ticket_without_a_known_task_is_an_error_of_the_test() -> None:
    brain = ReferenceActions([task(SUM)])
    with pytest.raises(LookupError, match="no task marker"):
        brain(opening("Hello"))
    with pytest.raises(LookupError, match="no task 99"):
        brain(opening(marker("99")))


def test_a_tool_under_its_servers_name_is_called_by_that_name() -> None:
    brain = ReferenceActions([task(SUM)])
    body = opening(marker("7"))
    body["tools"] = [{**DECLARED[0], "name": "shop__calculate"}]
    assert turn(body, brain) == ["shop__calculate"]
    assert isinstance(turn(body, brain), str)


@pytest.mark.skipif(
    not DATA.exists(), reason="the retail data set is not beside the repository"
)
@pytest.mark.parametrize("per_turn", [1, 3])
def test_all_retail_tasks_reach_their_reference_database(per_turn: int) -> None:
    brain = reference_actions(DATA / "tasks.json", per_turn=per_turn)
    expected = json.loads((DATA / "expected_changes.json").read_bytes())
    shelves = (DATA / "db.json").read_bytes()
    wrong = []
    for known in brain.tasks:
        db = json.loads(shelves)
        body = opening(f"Hello {marker(known['id'])}")
        while calls := brain(body).calls:
            outcomes = [call(db, c.name, c.input) for c in calls]
            results = [{"content": o.text, "is_error": o.is_error} for o in outcomes]
            turn(body, brain, *results)
        state = json.dumps(db, sort_keys=True).encode()
        digest = hashlib.sha256(state).hexdigest()
        if digest != expected[known["id"]]["final_db_sha256"]:
            wrong.append(known["id"])
    assert wrong == []
