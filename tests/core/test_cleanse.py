import time
import unicodedata

import pytest

from core.cleanse import changed, cleanse, one_line
from tests.zoo import HOSTILE, MILD

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def dangerous(text: str) -> list[str]:
    return [
        hex(ord(c))
        for c in text
        if (
            c != "\n"
            and (unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
        )
        or c in BIDI
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_rule_12_nothing_that_a_terminal_obeys_is_left(name: str) -> None:
    assert dangerous(cleanse(HOSTILE[name])) == []
    assert dangerous(one_line(HOSTILE[name])) == []
    assert "\n" not in one_line(HOSTILE[name])


@pytest.mark.parametrize("name", MILD)
def test_what_people_write_in_any_script_stays_as_it_is(name: str) -> None:
    text = unicodedata.normalize("NFC", MILD[name])
    assert cleanse(MILD[name]) == text
    assert not changed(MILD[name])


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("pay\u200bpal", "pay\\u200bpal"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("a\tb", "a    b"),
        ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
        ("real\rfake", "real␍fake"),
        ("a\u00a0b", "a b"),
        ("a\u200db", "a\\u200db"),
    ],
)
def test_a_hidden_character_has_a_visible_stand_in(raw: str, shown: str) -> None:
    assert cleanse(raw) == shown


def test_changed_tells_hidden_characters_from_harmless_ones() -> None:
    harmless = {"markup", "tabs", "crlf", "separators"}
    told = {name for name, text in HOSTILE.items() if changed(text)}
    assert told == set(HOSTILE) - harmless


def test_marks_piled_on_one_letter_are_cut() -> None:
    assert cleanse("x" + "\u0315" * 120 + "y") == (
        "x" + "\u0315" * 4 + "⟨116 more marks⟩y"
    )


def test_length_and_lines_are_capped_and_the_rest_is_counted() -> None:
    assert cleanse("a" * 2_500) == "a" * 2000 + "\n… 500 more characters"
    shown = cleanse("x\n" * 300, lines=10, limit=1000)
    assert shown.split("\n")[:10] == ["x"] * 10
    assert shown.split("\n")[10].endswith("more characters")
    assert one_line("b" * 300, 20) == "b" * 20 + "…"
    assert one_line("first\nsecond\n") == "first⏎second"


def test_a_million_line_ends_or_words_cost_nothing() -> None:
    begun = time.process_time()
    for text in ("\n" * 1_000_000, "word " * 200_000, "\u202e" * 1_000_000):
        cleanse(text)
        one_line(text)
    assert time.process_time() - begun < 0.5
