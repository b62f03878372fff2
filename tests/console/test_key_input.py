"""Whatever bytes a terminal sends: the console stays, and a paste is in its order."""

import asyncio

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key

from console.screens.key_input import KeyDecoder
from tests.console.counter import Counter
from tests.console.terminal import playing

SENT = (
    b"ab\x1b[200~one\x1b[31mtwo\x1b[0m\r\n"
    b"three \x1b x\xfc \xe2\x82\xac\x1b[201~cd\x1b[A\x1b"
)
READ = "ab\x1b[200~onetwo\r\nthree  x\ufffd €\x1b[201~cd\x1b[A\x1b"


@pytest.mark.parametrize("size", [*range(1, 12), len(SENT)])
def test_a_paste_loses_its_escapes_and_nothing_else_wherever_it_is_cut(
    size: int,
) -> None:
    decoder = KeyDecoder()
    pieces = [SENT[at : at + size] for at in range(0, len(SENT), size)]
    assert "".join(decoder.decode(piece) for piece in pieces) == READ


def test_a_lone_escape_is_a_key_at_once_and_an_unfinished_paste_is_not_lost() -> None:
    decoder = KeyDecoder()
    assert decoder.decode(b"\x1b") == "\x1b"
    assert decoder.decode(b"[200~half\x1b[3") == "[200~half"
    assert decoder.decode(b"", final=True) == "[3"


def keys_of(*reads: bytes) -> list[str]:
    """The keys that the library takes what is read for."""
    decoder, parser = KeyDecoder(), XTermParser()
    found = [parser.feed(decoder.decode(read)) for read in reads]
    return [event.key for some in found for event in some if isinstance(event, Key)]


@pytest.mark.parametrize("key", ["2", "j", "R"])
def test_a_key_right_after_escape_is_a_key_of_its_own(key: str) -> None:
    assert keys_of(b"\x1b", key.encode()) == ["escape", key]
    assert keys_of(b"a\x1b", b"\x1b", key.encode()) == ["a", "escape", "escape", key]


def test_a_code_that_was_cut_after_its_escape_is_still_one() -> None:
    assert keys_of(b"\x1b", b"[A", b"\x1b", b"OP", b"\x1b[", b"B") == [
        "up",
        "f1",
        "down",
    ]


async def test_bytes_that_are_no_text_and_a_coloured_paste_leave_the_desk_up(
    counter: Counter, sqlite_url: str
) -> None:
    await counter.writes("First text", subject="Lamp")

    def look() -> None:
        with playing(sqlite_url) as shown:
            shown.looks("First text")
            shown.keys("n")
            shown.shows("only colleagues see this")
            shown.sends(b"Gr\xfc\xdfe \x9b ")
            shown.shows("Gr\ufffd\ufffde")
            shown.sends(b"\x1b[200~one\x1b[31mtwo\x1b[0m\rthree\x1b[201~ four")
            shown.shows("onetwo")
            shown.shows("three four")

    await asyncio.to_thread(look)
