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
from core.turn import Run


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


def unreadable(history: History) -> tuple[Quarantined, ...]:
    """What is stored about the ticket and can't be read, entries first."""
    entries = unreadable_entries(history.journal)
    runs = unreadable_runs(history.runs)
    records = [
        Quarantined(reason=_LOST.format(lost), was=kind, record=name)
        for kind, name, lost in (
            *(("decision", d.id, d.unreadable) for d in history.decisions),
            *(("action", a.id, a.unreadable) for a in history.actions),
            *(("reply", r.message_id, r.unreadable) for r in history.outbox),
        )
        if lost is not None
    ]
    return (*entries, *runs, *records)


def unreadable_runs(runs: Iterable[Run]) -> tuple[Quarantined, ...]:
    """The runs of whose records a part can't be decoded, in order."""
    return tuple(
        Quarantined(reason=r.unreadable, was="run", run=r.id)
        for r in runs
        if r.unreadable is not None
    )


def unreadable_entries(journal: Iterable[Entry]) -> tuple[Quarantined, ...]:
    """The entries whose own rows can't be decoded, in order."""
    return tuple(
        e.body for e in journal if isinstance(e.body, Quarantined) and is_unreadable(e)
    )


_LOST = "{} is damaged"


def unreported(history: History) -> tuple[Quarantined, ...]:
    """What can't be read and people have not been told of, in order.

    Of a decision that is closed nothing more follows: who closed it has seen it.
    """
    closed = {d.id for d in history.decisions if not d.open}
    found = (q for q in unreadable(history) if q.record not in closed)
    return not_told(found, history.journal)


def not_told(
    found: Iterable[Quarantined], journal: Iterable[Entry]
) -> tuple[Quarantined, ...]:
    """Those of which the journal doesn't say that people were told."""
    told = {
        _which(e.body)
        for e in journal
        if isinstance(e.body, Quarantined) and not is_unreadable(e)
    }
    return tuple(q for q in found if _which(q) not in told)


def _which(found: Quarantined) -> tuple[int | None, str | None, str | None]:
    return found.entry, found.run, found.record


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
    return ", ".join(map(_name, found))


def _name(found: Quarantined) -> str:
    if found.run is not None:
        return f"the record of run {found.run}"
    if found.record is not None:
        return f"the record of {found.was} {found.record}"
    return f"entry #{found.entry} ({found.was})"
