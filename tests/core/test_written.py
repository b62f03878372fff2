"""What is written already is read, filled in, and never sent with a gap."""

import pytest

from core.written import Unreadable, Written, filled, gaps, gaps_left, read

MACRO = """---
# what to do when the carrier is slow
note: asked the carrier
note_for_agent: "ask {name} again\\non Thursday"
state: {"waits_for": "carrier of {order}", "tries": 2, "parts": ["{order}"]}
release: carry-on
---
Dear {name}, we asked about {order}.
"""


def test_a_text_without_front_matter_is_a_reply() -> None:
    said = read("hello", "Hello {name}\n\n--- not at the top ---\n")
    assert said == Written(name="hello", reply="Hello {name}\n\n--- not at the top ---")
    assert not said.is_macro


def test_a_macro_is_filled_in_everywhere_and_values_are_never_looked_at_again() -> None:
    said = read("carrier", MACRO)
    assert isinstance(said, Written)
    assert said.is_macro
    assert gaps(said, {"name": " "}) == ("name", "order")
    ready = filled(said, {"name": "{order}", "order": "SU-1"})
    assert ready == Written(
        name="carrier",
        reply="Dear {order}, we asked about SU-1.",
        note="asked the carrier",
        note_for_agent="ask {order} again\non Thursday",
        state={"waits_for": "carrier of SU-1", "tries": 2, "parts": ["SU-1"]},
        release="carry-on",
    )


def test_only_names_of_written_replies_count_as_gaps_in_what_is_sent() -> None:
    text = "{name} sees {name} and {x} { and {order}"
    assert gaps_left(text, frozenset({"name", "order"})) == ("name", "order")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("---\n---\n", "it is empty"),
        ("---\nnote: x\n", "line 1: the front matter has no end, a ---"),
        ("---\nnotes: x\n---\n", "line 2: unknown key 'notes', expected one of: note,"),
        ("---\nno colon\n---\n", "line 2: unknown key 'no colon'"),
        ("---\nnote: a\n\nnote: b\n---\n", "line 4: note is there twice"),
        ("---\nnote:\n---\n", "line 2: note: is missing"),
        ('---\nnote: "a\n---\n', "line 2: note: expected text"),
        ("---\nstate: [1]\n---\n", "line 2: state: expected an object"),
        ("---\nstate: {}\n---\n", "line 2: state: expected an object"),
        ("---\nstate: {x}\n---\n", 'line 2: state: expected {"key": "value"}'),
        ("---\nstate: " + "[" * 9999 + "\n---\n", "line 2: state: expected"),
        ("x" * 20_001, "it is too long: 20,001 characters, at most 20,000"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(text: str, why: str) -> None:
    said = read("odd", text)
    assert isinstance(said, Unreadable)
    assert said.why.startswith(why)
    assert "\n" not in said.why


def test_a_paragraphs_lines_are_one_line_to_the_buyer() -> None:
    text = (
        "Hello {name},\n\nBanks take days to show it. If\nit is not there,\r\n"
        "answer here.\n\nKind regards,  \nMira\\\nSundry"
    )
    said = read("hello", text)
    assert isinstance(said, Written)
    assert said.reply == (
        "Hello {name},\n\nBanks take days to show it. If it is not there, "
        "answer here.\n\nKind regards,\nMira\nSundry"
    )


def test_lists_quotes_code_and_indented_lines_stay_as_they_are() -> None:
    text = (
        "Please send:\n- the number\n- the date\n\n1. first\n2) second\n\n"
        "> you wrote\n> this\n\n```\na\nb\n```\n    c\n    d\nend \\"
    )
    said = read("list", text)
    assert isinstance(said, Written)
    assert said.reply == text
