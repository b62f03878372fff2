"""Replies and macros that are written already: a folder's files and the team's own.

A file's name is its name; a file goes before what the team keeps under the same name.
What the names in braces stand for comes from the chart: `{name}` (of a verified buyer
only), `{customer}`, `{ticket}`, `{subject}`, `{operator}`, and the task state's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from core.history import History
from core.ports import Canned
from core.written import CARRY_ON, LARGEST, Unreadable, Written, read

Shelf: TypeAlias = Mapping[str, Written | Unreadable]

Files: TypeAlias = Mapping[str, str | Unreadable]
"""What stands in files, by name, or why that can't be said."""

_MOST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where a written text comes from.

    Attributes:
        name: What people call it.
        text: Markdown, or why it can't be said.
        canned: The team's, or None for a file.
    """

    name: str
    text: str | Unreadable
    canned: Canned | None = field(default=None)

    @property
    def said(self) -> Written | Unreadable:
        """What it says."""
        text = self.text
        return text if isinstance(text, Unreadable) else read(self.name, text)


def files_beside(config: Path | None) -> Files:
    """The texts in the folder `replies` beside a configuration file."""
    return {} if config is None else read_replies(config.resolve().parent / "replies")


def read_replies(folder: Path) -> Files:
    """The texts of a folder's Markdown files, by name; empty where there is none."""
    found: dict[str, str | Unreadable] = {}
    if not folder.is_dir():
        return found
    for path in sorted(folder.glob("*.md"))[:_MOST]:
        try:
            found[path.stem] = path.read_text(encoding="utf-8")[: LARGEST + 1]
        except UnicodeDecodeError:
            why = "the file is no UTF-8 text"
            found[path.stem] = Unreadable(name=path.stem, why=why)
        except OSError as wrong:
            why = f"the file: {(wrong.strerror or 'input/output error').lower()}"
            found[path.stem] = Unreadable(name=path.stem, why=why)
    return found


def kept(files: Files, team: Sequence[Canned]) -> tuple[Kept, ...]:
    """Everything that is there, by name."""
    found = {c.name: Kept(name=c.name, text=c.text, canned=c) for c in team}
    found |= {name: Kept(name=name, text=text) for name, text in files.items()}
    return tuple(found[name] for name in sorted(found))


def shelf(files: Files, team: Sequence[Canned]) -> Shelf:
    """What all of it says, by name."""
    return {k.name: k.said for k in kept(files, team)}


def values_of(history: History, me: str) -> dict[str, str]:
    """What the names in a written text stand for on a ticket."""
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
    values.pop("name", None)  # the agent's word is no verification
    values.pop("customer", None)
    if identity is not None:
        values["customer"] = identity.customer
        if identity.name:
            values["name"] = identity.name
    return values


STEP_WORDS = {
    "reply": "reply to the buyer",
    "state": "amend the state",
    "note": "note for colleagues",
    "note_for_agent": "note for the agent",
    "release": "give back",
}
"""What each step of a macro is called."""


def release_words(release: str) -> str:
    """Where a macro gives the ticket, in words."""
    match release:
        case "agent":
            return "to the agent, waits for the buyer"
        case "queue":
            return "to the queue, for people"
        case "resolved":
            return "resolved"
        case _ if release == CARRY_ON:
            return "to the agent, carries on now"
        case _:
            return f"to {release}"
