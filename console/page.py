"""A ticket's session chart as a page that leaves the house: Markdown or HTML.

Whole where `handoff show` shortens, and inert wherever it is opened: what others wrote
stands in fenced or escaped blocks, cleansed as on a screen, so that it is no markup,
no script, no terminal control and no heading of its own. An HTML page loads nothing
and says so to the browser.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from html import escape

from console.plain import facts
from console.plain_journal import by_whom, entry_line
from core.cleanse import cleanse, one_line
from core.history import History
from core.identity import SentUnder, sent_under
from core.journal import (
    Body,
    Compacted,
    Entry,
    Escalated,
    Message,
    Note,
    StateAmended,
    Thinking,
    ToolCalled,
    ToolReturned,
)
from core.ticket import Json

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0 1rem 1rem; }
h2 { font-size: 1rem; margin: 1rem 0 0; }
"""


def markdown(history: History) -> str:
    """The chart as Markdown."""
    lines = [f"# {_inline(_title(history))}", "", *_fenced("\n".join(facts(history)))]
    for head, text in _entries(history):
        lines += ["", f"## {_inline(head)}"]
        if text:
            lines += ["", *_fenced(text)]
    return "\n".join(lines)


def html(history: History) -> str:
    """The chart as one HTML page that needs nothing else."""
    title = escape(_title(history))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<pre>{escape(chr(10).join(facts(history)))}</pre>",
    ]
    for head, text in _entries(history):
        parts.append(f"<h2>{escape(head)}</h2>")
        if text:
            parts.append(f'<pre dir="auto">{escape(text)}</pre>')
    return "\n".join([*parts, "</body></html>"])


FORMS: Mapping[str, Callable[[History], str]] = {"md": markdown, "html": html}
"""How a page is made, by the name of its form."""


def _title(history: History) -> str:
    return f"{history.ticket.id} {one_line(history.ticket.subject, 1000)}"


def _entries(history: History) -> Iterable[tuple[str, str]]:
    """Each entry's one line, and its whole text below it."""
    sent = sent_under(history.journal)
    for entry in history.journal:
        yield _head(entry, sent.get(entry.seq)), _whole(_text(entry.body))


def _head(entry: Entry, under: SentUnder | None) -> str:
    """What happened, without what stands whole below."""
    who = f"#{entry.seq} {by_whom(entry, under)}"
    match entry.body:
        case ToolCalled(name=name):
            return f"{who} calls {one_line(name, 60)}"
        case ToolReturned(is_error=is_error):
            return f"{who} {'gets an error' if is_error else 'gets'}"
        case StateAmended():
            return f"{who} amends the state"
        case _:
            line, *_ = entry_line(entry, under).strip().split("\n")
            return f"#{line.removesuffix(':')}"


def _text(body: Body) -> Json:
    match body:
        case Message(text=text) | Note(text=text) | Compacted(text=text):
            return text
        case ToolCalled(input=value) | ToolReturned(content=value):
            return value
        case StateAmended(patch=value) | Thinking(block=value):
            return value
        case Escalated(summary=summary):
            return summary
        case _:
            return ""


def _whole(value: Json) -> str:
    shown = (
        value
        if isinstance(value, str)
        else json.dumps(value, indent=1, ensure_ascii=False)
    )
    return cleanse(shown, limit=len(shown), lines=len(shown) + 1)


def _inline(text: str) -> str:
    """Text that Markdown takes for nothing but text."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _fenced(text: str) -> list[str]:
    """Text between fences that it can't close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", text, fence]
