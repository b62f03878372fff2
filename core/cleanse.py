r"""The one place where foreign text becomes safe to show (rule 12).

Nothing that a buyer, a tool, a model or a colleague wrote reaches a terminal before
it went through here: terminals obey escapes, C1 controls and bidi overrides whatever
a screen library thinks of them. What is dangerous or invisible becomes a visible
stand-in, so that nobody reads something other than what was written; the raw text
stays in the store.

Stand-ins: C0 controls and DEL are their control pictures (`␛`), everything else is
its escape (`\x9b`, `\u202e`). Length and number of lines are capped before anything
looks at the text, since laying out 100,000 lines freezes a screen for seconds.
"""

import re
import unicodedata

MARKS = 4
"""Combining marks kept on one letter; more would paint over the lines around it."""

_NEWLINES = re.compile("\r\n|[\n\x85\u2028\u2029]")
_LINE_ENDS = re.compile("\r\n?|[\n\x85\u2028\u2029]")
_JOINER = "\u200d"
_JOINERS = {_JOINER, "\u200c"}
_LATIN = "\u0590"
"""Scripts before this one need no joiner between letters."""
_SELECTORS = {"\ufe0e", "\ufe0f"}
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)
_TAB = "    "


def cleanse(text: str, *, limit: int = 2000, lines: int = 200) -> str:
    """Foreign text over several lines, safe to show.

    Args:
        text: As received.
        limit: Characters of it that are shown at most.
        lines: Lines of it that are shown at most.

    Returns:
        Lines joined by a line feed, without any other control character. Where
        something was left out, the last line says how much.
    """
    head = text[:limit]
    parts = _NEWLINES.split(head, maxsplit=lines)
    shown = parts[:lines]
    left = len(text) - len(head) + sum(len(p) for p in parts[lines:])
    safe = [_line(part) for part in shown]
    if left:
        safe.append(f"… {left:,} more characters")
    return "\n".join(safe)


def one_line(text: str, limit: int = 200) -> str:
    """Foreign text on one line, safe to show; its line ends show as `⏎`.

    Args:
        text: As received.
        limit: Characters of it that are shown at most; `…` stands for the rest.
    """
    head = _NEWLINES.sub("⏎", text[:limit].strip("\r\n"))
    return _line(head) + ("…" if len(text) > limit else "")


def written(text: str) -> str:
    """Text that becomes a person's own, as pasted: only what its readers will see.

    What can't be seen is left out: a stand-in would go to the buyer as words. A lone
    carriage return ends a line, since terminals paste one. What joins or separates
    letters stays where a script or an emoji needs it.
    """
    return "\n".join(_visible(part) for part in _LINE_ENDS.split(text))


def _visible(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    spaced = unicodedata.normalize("NFC", line)
    out: list[str] = []
    marks = 0
    for i, char in enumerate(spaced):
        unseen = _hidden(spaced, i) and not _joins(spaced, i)
        if unseen or (char < " " and char != "\t") or char == "\x7f":
            continue
        mark = unicodedata.category(char) in {"Mn", "Me"}
        marks = marks + 1 if mark else 0
        if marks <= MARKS:
            out.append(char if char in _JOINERS else _shown(spaced, i))
    return "".join(out)


def _joins(line: str, i: int) -> bool:
    """Whether a joiner stands between letters of a script that needs it."""
    around = line[i - 1 : i] + line[i + 1 : i + 2]
    return (
        line[i] in _JOINERS
        and len(around) == 2  # noqa: PLR2004 # one at each side
        and all(c >= _LATIN and unicodedata.category(c)[0] in "LM" for c in around)
    )


def changed(text: str) -> bool:
    """Whether the text holds something that is not shown as it was written.

    Line ends, tabs and kinds of spaces don't count; controls and everything that
    a reader can't see do.
    """
    return any(
        _line(part) != _plain(part)
        for part in _NEWLINES.split(text)
        if not (part.isascii() and part.isprintable())
    )


def _plain(line: str) -> str:
    spaced = (" " if unicodedata.category(c) == "Zs" else c for c in line)
    return unicodedata.normalize("NFC", "".join(spaced)).replace("\t", _TAB)


def _line(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    spaced = unicodedata.normalize("NFC", line)
    out: list[str] = []
    marks = 0
    for i, char in enumerate(spaced):
        if unicodedata.category(char) in {"Mn", "Me"} and not _hidden(spaced, i):
            marks += 1
            if marks <= MARKS:
                out.append(char)
            continue
        if marks > MARKS:
            out.append(f"⟨{marks - MARKS} more marks⟩")
        marks = 0
        out.append(_shown(spaced, i))
    if marks > MARKS:
        out.append(f"⟨{marks - MARKS} more marks⟩")
    return "".join(out)


def _shown(line: str, i: int) -> str:
    char = line[i]
    if char == "\t":
        return _TAB
    if char < " ":
        return chr(0x2400 + ord(char))
    if char == "\x7f":
        return "␡"
    if unicodedata.category(char) == "Zs":
        return "\u3000" if char == "\u3000" else " "
    return _escape(char) if _hidden(line, i) else char


def _hidden(line: str, i: int) -> bool:
    """Whether a reader would not see this character, or see it elsewhere."""
    char = line[i]
    if char == _JOINER:
        return not (_emoji(line, i - 1) and _emoji(line, i + 1))
    if char in _SELECTORS:
        return i == 0 or not (_emoji(line, i - 1) or line[i - 1] in "0123456789#*")
    if "\ufe00" <= char <= "\ufe0d" or "\U000e0100" <= char <= "\U000e01ef":
        return True
    return char in _INVISIBLE or not (char.isprintable() or char.isspace())


def _emoji(line: str, i: int) -> bool:
    """Whether an emoji, or what belongs to one, stands at this place."""
    if not 0 <= i < len(line):
        return False
    char = line[i]
    return char in _SELECTORS or unicodedata.category(char) in {"So", "Sk"}


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004 # the width of the escape
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004
