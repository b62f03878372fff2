"""The demo's buyers: who writes when, and that nothing is sent twice."""

import itertools
import json
from datetime import UTC, datetime

from console.demo.shop_data import ORDERS
from console.demo.story import Story

START = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
STORY = Story(start=START)
ALL = {tale.key: 99 for tale in STORY.tales}


def keys(lines: list[dict[str, object]]) -> list[str | None]:
    return [STORY.key_of(str(line["external_id"])) for line in lines]


def test_the_first_screen_is_full_at_once() -> None:
    first = STORY.due(0, {})
    assert len(set(keys(first))) >= 18
    assert all(line["text"] for line in first)


def test_the_desk_stays_alive_for_ten_minutes() -> None:
    assert len(STORY.tales) >= 28
    counts = [len(STORY.due(second, ALL)) for second in range(0, 601, 60)]
    assert all(later > earlier for earlier, later in itertools.pairwise(counts))
    assert counts[-1] == sum(len(tale.said) for tale in STORY.tales)
    assert STORY.length() <= 600


def test_a_restart_gives_the_same_lines_and_what_was_sent_can_be_left_out() -> None:
    before = STORY.due(300, ALL)
    again = Story(start=START).due(300, ALL)
    ids = {str(line["external_id"]) for line in before}
    assert before == again
    assert len(ids) == len(before)
    assert STORY.due(300, ALL, sent=ids) == []


def test_another_round_writes_under_ids_of_its_own() -> None:
    first = {line["external_id"] for line in STORY.due(900, ALL)}
    second = Story(start=START, round=1).due(900, ALL)
    assert first.isdisjoint(line["external_id"] for line in second)
    assert STORY.key_of(str(second[0]["external_id"])) is None


def test_a_follow_up_waits_for_its_answer_and_never_overtakes() -> None:
    silent = keys(STORY.due(900, {}))
    once = keys(STORY.due(900, {"lamp-late": 1}))
    twice = keys(STORY.due(900, {"lamp-late": 2}))
    assert silent.count("lamp-late") == 1
    assert once.count("lamp-late") == 2
    assert twice.count("lamp-late") == 3
    assert keys(STORY.due(10, {"lamp-late": 9})).count("lamp-late") == 1


def test_some_write_on_whether_they_were_answered_or_not() -> None:
    burst = [k for k in keys(STORY.due(15, {})) if k == "mirror-burst"]
    assert len(burst) == 4
    later = [str(line["text"]) for line in STORY.due(60, {})]
    assert any(text.startswith("Actually, it started last Tuesday") for text in later)


def test_lines_have_the_shape_that_ingest_takes() -> None:
    lines = STORY.due(900, ALL)
    seen: set[object] = set()
    for line in lines:
        assert {"external_id", "channel", "from", "subject", "text", "sent_at"} <= set(
            line
        )
        assert datetime.fromisoformat(str(line["sent_at"])).tzinfo is not None
        assert set(line.get("references", [])) <= seen  # type: ignore[call-overload] # a list
        seen.add(line["external_id"])
        assert json.loads(json.dumps(line)) == line


def test_rule_12_hostile_and_foreign_text_is_among_them() -> None:
    text = "".join(f"{line['subject']}{line['text']}" for line in STORY.due(900, ALL))
    for wanted in (
        "\x1b]52;",
        "\x9b",
        "\u202e",
        "\u200b",
        "[/]",
        "<handoff:",
        "注文",
        "مرحبا",
    ):
        assert wanted in text


def test_two_people_share_one_mailbox_on_two_tickets() -> None:
    shared = {
        tale.key: tale.sender for tale in STORY.tales if tale.key in {"knife", "apron"}
    }
    assert len(shared) == 2
    assert len(set(shared.values())) == 1


def test_the_orders_that_buyers_name_exist_in_the_shop() -> None:
    known = {order.id for order in ORDERS}
    text = " ".join(f"{line['subject']} {line['text']}" for line in STORY.due(900, ALL))
    named = {word.strip(".,:()?!") for word in text.split() if word.startswith("SU-")}
    assert named <= known
    assert len(named) > 20
