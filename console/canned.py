"""Replies that are written already: Markdown files of a team, filled from the chart.

A file's name is the reply's name. `{name}`, `{ticket}`, `{subject}`, `{operator}` and
the names of the task state stand for what the chart says; what it does not say stays
as it is, so that nobody sends a gap without seeing it. Values are foreign text and
are never looked at for further names.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from core.history import History

_NAME = re.compile(r"\{([A-Za-z][A-Za-z0-9_ -]{0,39})\}")
_LARGEST = 20_000
_MOST = 500


def read_replies(folder: Path) -> dict[str, str]:
    """The replies of a folder, by name; empty where there is none."""
    found: dict[str, str] = {}
    if not folder.is_dir():
        return found
    for path in sorted(folder.glob("*.md"))[:_MOST]:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found[path.stem] = text.strip()[:_LARGEST]
    return found


def values_of(history: History, me: str) -> dict[str, str]:
    """What the names in a written reply stand for on a ticket."""
    identity = history.standing.identity
    values = {
        name: str(value)
        for name, value in history.standing.task_state.items()
        if isinstance(value, str | int | float)
    }
    values |= {
        "ticket": history.ticket.id,
        "subject": history.ticket.subject,
        "operator": me,
    }
    if identity is not None and identity.name:
        values["name"] = identity.name
    return values


def filled(text: str, values: Mapping[str, str]) -> str:
    """The reply with its names replaced, each once."""
    return _NAME.sub(lambda m: values.get(m[1], m[0]), text)
