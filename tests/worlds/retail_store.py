"""The retail shop's memory: a base file that never changes and a journal beside it.

Every write call, refused ones included, is one appended line with the key, the
result and the rows it changed, synced before the caller hears of it. So effect
and key are stored together, and a server killed at any instant leaves either the
whole call or nothing: a torn last line is cut off by the next to open the journal.
Several servers may share one shop; a file lock makes their calls follow each other.

The journal is the truth about effects (`effects`). The call log is what reached
the shop, answered from the record or not; its line comes after the journal's.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.worlds.retail_rules import Db
from tests.worlds.retail_tools import KEY, TOOLS, Outcome, call

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
DATA = SHARED / "data" / "retail"


def open_copy(folder: Path, source: Path = DATA / "db.json") -> Path:
    """A fresh working copy of the shop's data in `folder`; gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(source, folder / "retail.json"))


def journal_of(db: Path) -> Path:
    """Where the journal of the shop at `db` lies."""
    return db.with_name(db.name + ".journal")


class Shop:
    """One server's view of the shop at `db`; `log` takes a line for each write call."""

    def __init__(self, db: Path, log: Path | None = None) -> None:
        self._log = log
        self._rows: Db = json.loads(db.read_bytes())
        self._results: dict[str, Outcome] = {}
        self._read_to = 0
        self._journal = os.open(journal_of(db), os.O_RDWR | os.O_CREAT | os.O_APPEND)

    def close(self) -> None:
        os.close(self._journal)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Runs one call, or gives the recorded result where its key was seen before."""
        tool = TOOLS.get(name)
        writes = tool is not None and tool.writes
        key = arguments.get(KEY) if writes else None
        with self._alone():
            recorded = self._results.get(key) if isinstance(key, str) else None
            outcome = recorded or call(self._rows, name, arguments)
            if writes and recorded is None:
                self._record(name, arguments, outcome)
            if writes and self._log is not None:
                self._append_log(name, arguments, outcome, replayed=bool(recorded))
        return outcome

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Holds the shop for one call, with what other servers did taken in."""
        fcntl.flock(self._journal, fcntl.LOCK_EX)
        try:
            self._catch_up()
            yield
        finally:
            fcntl.flock(self._journal, fcntl.LOCK_UN)

    def _catch_up(self) -> None:
        size = os.fstat(self._journal).st_size
        if size == self._read_to:
            return
        fresh = os.pread(self._journal, size - self._read_to, self._read_to)
        whole = fresh[: fresh.rfind(b"\n") + 1]
        for line in whole.splitlines():
            entry = json.loads(line)
            _apply(self._rows, entry)
            self._keep(entry["key"], _outcome(entry))
        self._read_to += len(whole)
        if len(whole) < len(fresh):  # its writer was killed in the middle
            os.ftruncate(self._journal, self._read_to)

    def _record(
        self, name: str, arguments: Mapping[str, Any], outcome: Outcome
    ) -> None:
        rows: dict[str, dict[str, Any]] = {}
        for table, row_id in outcome.changed:
            rows.setdefault(table, {})[row_id] = self._rows[table][row_id]
        key = arguments.get(KEY)
        entry = {
            "tool": name,
            "key": key,
            "arguments": {k: v for k, v in arguments.items() if k != KEY},
            "is_error": outcome.is_error,
            "result": outcome.text,
            "rows": rows,
        }
        line = json.dumps(entry).encode() + b"\n"
        os.write(self._journal, line)
        os.fsync(self._journal)
        self._read_to += len(line)
        self._keep(key, outcome)

    def _keep(self, key: object, outcome: Outcome) -> None:
        if isinstance(key, str):
            self._results[key] = outcome

    def _append_log(
        self,
        name: str,
        arguments: Mapping[str, Any],
        outcome: Outcome,
        *,
        replayed: bool,
    ) -> None:
        entry = {
            "tool": name,
            "key": arguments.get(KEY),
            "arguments": {k: v for k, v in arguments.items() if k != KEY},
            "acted": not replayed and not outcome.is_error,
            "replayed": replayed,
            "is_error": outcome.is_error,
        }
        assert self._log is not None
        with self._log.open("ab") as log:
            log.write(json.dumps(entry).encode() + b"\n")


def _apply(rows: Db, entry: Mapping[str, Any]) -> None:
    for table, changed in entry["rows"].items():
        rows[table].update(changed)


def _outcome(entry: Mapping[str, Any]) -> Outcome:
    return Outcome(text=entry["result"], is_error=entry["is_error"])


def entries(db: Path) -> list[dict[str, Any]]:
    """Every write call that was carried out or refused, in order, each once."""
    journal = journal_of(db)
    if not journal.exists():
        return []
    whole, _, _ = journal.read_bytes().rpartition(b"\n")
    return [json.loads(line) for line in whole.splitlines()]


def effects(db: Path) -> list[dict[str, Any]]:
    """The write calls that changed the shop, in order."""
    return [entry for entry in entries(db) if not entry["is_error"]]


def effects_by_key(db: Path) -> Counter[str | None]:
    """How often each idempotency key changed the shop; calls without one: None."""
    return Counter(entry["key"] for entry in effects(db))


def snapshot(db: Path) -> Db:
    """The whole database as of now, base and journal together."""
    rows: Db = json.loads(db.read_bytes())
    for entry in entries(db):
        _apply(rows, entry)
    return rows
