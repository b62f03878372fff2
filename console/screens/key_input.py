"""What the terminal sends, as text: whatever the bytes are, and pastes in one piece.

The library decodes strictly, in a thread that ends with the first byte that is no
UTF-8, and the program with it: then the rest of a paste is the shell's. And an escape
within a paste is a key to it, which comes before the paste, so that its text would be
in another order. So broken bytes become U+FFFD here, and escapes are left out of what
is pasted.

And a key right after `esc` is `alt` and that key to it, within a tenth of a second: who
leaves the composer and presses the key of a view would have a sign in their text. A
terminal sends `alt` and its key at once, so what comes in two reads was two keys.
"""

import codecs
import re
import sys

from typing_extensions import override

if sys.platform != "win32":
    from textual.drivers import linux_driver

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~])?")
"""An escape, or a whole one that colours text or moves the cursor."""

_APART = "\x1b[?0;0$y"
"""Says nothing (the mode 0 is none), and so lets an escape before it be a key."""

_CONTINUES = frozenset("[OP]X^_\\\x1b")
"""What may follow an escape that is no key, but was cut from the rest of it."""

_UNFINISHED = re.compile(r"\x1b(\[[0-?]*[ -/]*)?\Z")
"""One, or a mark, of which the rest is still to come."""


class KeyDecoder(codecs.IncrementalDecoder):
    """Decodes what a terminal sends."""

    def __init__(self, errors: str = "replace") -> None:
        super().__init__(errors)
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._pasting = False
        self._escaped = False
        self._before = ""
        """The last that was typed, or what is held back of a paste."""

    @override
    def decode(self, input: bytes, final: bool = False) -> str:  # type: ignore[override] # the library's words
        """What the bytes say, with a paste's marks and without its escapes."""
        text = self._utf8.decode(input, final)
        out = _APART if self._escaped and text[:1] not in {"", *_CONTINUES} else ""
        while text or (final and self._pasting and self._before):
            if self._pasting:
                text, out = self._pasted(text, out, final=final)
            else:
                text, out = self._typed(text, out)
        self._escaped = out.endswith("\x1b") if out else self._escaped
        return out

    def _typed(self, text: str, out: str) -> tuple[str, str]:
        """What is left of the text, and all that it says up to there.

        Nothing is held back, since a lone escape is a key.
        """
        seen = self._before + text
        found = seen.find(_BEGIN)
        if found < 0:
            self._before = seen[1 - len(_BEGIN) :]
            return "", out + text
        end = found + len(_BEGIN) - len(self._before)
        self._pasting, self._before = True, ""
        return text[end:], out + text[:end]

    def _pasted(self, text: str, out: str, *, final: bool) -> tuple[str, str]:
        seen, self._before = self._before + text, ""
        words, mark, rest = seen.partition(_END)
        if mark:
            self._pasting = False
        elif not final and (unfinished := _UNFINISHED.search(seen)):
            words, self._before = seen[: unfinished.start()], unfinished[0]
        return rest, out + _ESCAPES.sub("", words) + mark


def read_whatever_comes() -> None:
    """Makes the library read the terminal so."""
    if sys.platform != "win32":
        linux_driver.getincrementaldecoder = lambda _: KeyDecoder  # type: ignore[attr-defined, assignment]
