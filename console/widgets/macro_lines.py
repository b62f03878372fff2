"""All that a macro will do, a paragraph each, in the order in which it is done."""

import json

from console.canned import STEP_WORDS, release_words
from console.widgets.spans import Line, line, paragraph
from core.cleanse import cleanse, one_line
from core.written import Written

_MOST = 6
"""Lines of one text."""


def macro_lines(written: Written, width: int) -> list[Line]:
    """The steps, with their texts as they would be stored."""
    state = written.state and json.dumps(dict(written.state), ensure_ascii=False)
    release = written.release and release_words(written.release)
    lines: list[Line] = []
    for step, text in (
        ("reply", written.reply),
        ("state", state),
        ("note", written.note),
        ("note_for_agent", written.note_for_agent),
        ("release", release),
    ):
        if not text:
            continue
        if step in {"release", "state"}:
            said = one_line(text, 300)
        else:
            said = cleanse(text, limit=2000, lines=30)
        shown = paragraph(said, width, "dim", indent=2)
        more = [line((f"  … {len(shown) - _MOST} more lines", "dim"))]
        role = "wait" if step in {"reply", "release"} else "strong"
        lines.append(line((f"• {STEP_WORDS[step]}", role)))
        lines += shown if len(shown) <= _MOST + 1 else [*shown[:_MOST], *more]
    return lines
