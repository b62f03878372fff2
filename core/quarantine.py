"""Records that can't be used: what is left out of requests, and what people are told.

Two things come here: a record whose row can't be decoded, found as it is read, and an
entry whose content the model's provider refuses, which is stored as found out. Either
way the ticket goes to people once, with the record named, and the agent goes on
without what it held (rule 15). What was sent before stays as it was sent: an entry is
left out from the entry that says so on.
"""

from collections.abc import Iterable, Mapping

from core.history import History
from core.journal import Entry, Quarantined


def left_out(journal: Iterable[Entry]) -> Mapping[int, Quarantined]:
    """The entries that are not told as they are stored, by seq."""
    found: dict[int, Quarantined] = {}
    for entry in journal:
        body = entry.body
        if isinstance(body, Quarantined) and body.entry is not None:
            found.setdefault(body.entry, body)
    return found


def is_unreadable(entry: Entry) -> bool:
    """Whether the entry's own row could not be decoded."""
    body = entry.body
    return isinstance(body, Quarantined) and body.entry == entry.seq


def unreported(history: History) -> tuple[Quarantined, ...]:
    """What can't be read and people have not been told of, in order."""
    marks = [e for e in history.journal if isinstance(e.body, Quarantined)]
    told = {
        (m.body.entry, m.body.run)
        for m in marks
        if isinstance(m.body, Quarantined) and not is_unreadable(m)
    }
    entries = [
        m.body
        for m in marks
        if isinstance(m.body, Quarantined)
        and is_unreadable(m)
        and (m.seq, None) not in told
    ]
    runs = [
        Quarantined(reason=r.unreadable, was="run", run=r.id)
        for r in history.runs
        if r.unreadable is not None and (None, r.id) not in told
    ]
    return (*entries, *runs)


def lost_result(journal: Iterable[Entry], call: Entry) -> bool:
    """Whether a result that can't be read may be the one of this call."""
    return any(
        is_unreadable(e)
        and isinstance(e.body, Quarantined)
        and e.body.was == "tool_result"
        and e.seq > call.seq
        and e.actor.name == call.actor.name
        for e in journal
    )


def named(found: Iterable[Quarantined]) -> str:
    """Which records, for a line to people: `entry #12 (tool_result)`."""
    return ", ".join(
        f"the record of run {q.run}"
        if q.run is not None
        else f"entry #{q.entry} ({q.was})"
        for q in found
    )
