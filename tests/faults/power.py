"""The power goes while a SQLite store is written to: `python -m tests.faults.power`.

    --turns N              turns of the agent (default: 200)
    --seed N               for which of the unsynced writes have reached the disk
    --synchronous HOW      FULL as the store has it, or NORMAL to see what that loses

A process plays turns on a store under strace, which writes down what it hands to the
kernel and when it waits for the disk, and each acknowledged commit. From that the disk
is rebuilt as it was at each acknowledgement: all that was synced, and of what was not,
nothing or any part. A store opened on it must hold every acknowledged entry.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from core.ports import Transaction
from store import engine_sqlite
from store.transaction import SqlStore
from tests.flows.world import calls, world_on
from tests.worlds.brains import Reply

T = TypeVar("T")

STRACE = shutil.which("strace")
_CALLS = "pwrite64,write,fsync,fdatasync,ftruncate"
_LINE = re.compile(r"^(\d+)\s+(.*)$")
_CALL = re.compile(r"^(\w+)\((\d+)<([^>]*)>(?:, (.*)|\).*| <.*)?$", re.DOTALL)
_DATA = re.compile(r'^"((?:\\x[0-9a-f]{2})*)", \d+(?:, (\d+))?')


@dataclass(slots=True)
class Acknowledging:
    """A store that tells each commit to whoever reads our output."""

    inner: SqlStore
    ticket: Any = None

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        seq = 0

        def work(tx: Transaction) -> T:
            nonlocal seq
            result = transact(tx)
            self.ticket = self.ticket or getattr(result, "ticket", None)
            seq = tx.standing(self.ticket).last_seq if self.ticket else 0
            return result

        result = await self.inner.write(work)
        os.write(1, f"ack {seq}\n".encode())
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _brain(body: dict[str, Any]) -> Reply:
    if body["messages"][-1]["role"] == "user" and "tool_result" not in str(
        body["messages"][-1]
    ):
        return calls(("get_order", {"order_id": "W-1"}))
    return Reply(text="It is on its way. " * 20)


async def _play(folder: Path, turns: int, synchronous: str) -> None:
    """One ticket: a message, a look-up, an answer, and again."""
    said = [p for p in engine_sqlite._EACH if not p.startswith("synchronous")]
    engine_sqlite._EACH = (*said, f"synchronous={synchronous}")
    store = Acknowledging(SqlStore.open(f"sqlite:///{folder / 'store.db'}"))
    async with world_on(store, folder, _brain) as world:  # type: ignore[arg-type]
        ticket = None
        for _ in range(max(turns // 2, 1)):
            ticket = (await world.writes("Where is it? " * 20, ticket)).ticket
            await world.runs(ticket)
    os._exit(0)  # without the orderly end that a power cut does not leave time for


@dataclass(slots=True)
class Disk:
    """Files as they are on the disk, and what is still on its way there."""

    synced: dict[str, bytearray] = field(default_factory=dict)
    unsynced: dict[str, list[tuple[int, bytes | None]]] = field(default_factory=dict)

    def written(self, path: str, at: int, data: bytes | None) -> None:
        """Bytes at a place; None cuts the file off there."""
        self.unsynced.setdefault(path, []).append((at, data))

    def sync(self, path: str) -> None:
        """All that was written to a file reaches the disk."""
        image = self.synced.setdefault(path, bytearray())
        _apply(image, self.unsynced.pop(path, []))

    def after_a_cut(self, dice: random.Random | None) -> dict[str, bytes]:
        """The files, with none of what was on its way or with a part of it."""
        files = {path: bytearray(image) for path, image in self.synced.items()}
        for path, writes in self.unsynced.items():
            kept = [w for w in writes if dice is not None and dice.random() < 0.5]
            _apply(files.setdefault(path, bytearray()), kept)
        return {path: bytes(image) for path, image in files.items()}


def _apply(image: bytearray, writes: list[tuple[int, bytes | None]]) -> None:
    for at, data in writes:
        if data is None:
            del image[at:]
            continue
        image.extend(bytes(max(at + len(data) - len(image), 0)))
        image[at : at + len(data)] = data


def traced(folder: Path, turns: int, synchronous: str) -> Path:
    """Plays the turns under strace; gives what it wrote down."""
    assert STRACE is not None
    log = folder / "strace.log"
    arguments = ["-f", "-y", "-xx", "-s", "200000", "-e", f"trace={_CALLS}"]
    me = [sys.executable, "-m", "tests.faults.power", "--play", str(folder)]
    me += ["--synchronous", synchronous]
    subprocess.run(
        [STRACE, *arguments, "-o", log, *me, "--turns", str(turns)],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=Path(__file__).resolve().parents[2],
    )
    return log


def acknowledged(log: Path, store: Path) -> Iterator[tuple[int, Disk]]:
    """Each acknowledgement, with the disk as it was then."""
    disk, waiting = Disk(), {}
    for raw in log.read_text(encoding="ascii").splitlines():
        line = _LINE.match(raw)
        if line is None:
            continue
        thread, said = line[1], line[2]
        if said.startswith("<... ") and thread in waiting:
            call = waiting.pop(thread)
            if call[1] in {"fsync", "fdatasync"}:
                disk.sync(call[3])
            continue
        call = _CALL.match(_plain(said))
        if call is None:
            continue
        if said.endswith("<unfinished ...>"):
            waiting[thread] = call
        name, descriptor, path, rest = call[1], call[2], call[3], call[4] or ""
        if name == "write" and descriptor == "1":
            yield int(_bytes(rest)[0].split()[1]), disk
        elif path in {str(store), f"{store}-wal"}:  # all else is made anew
            match name:
                case "pwrite64":
                    data, at = _bytes(rest)
                    disk.written(path, at, data)
                case "ftruncate":
                    disk.written(path, int(rest.split(")")[0]), None)
                case _ if not said.endswith("<unfinished ...>"):
                    disk.sync(path)


def _plain(said: str) -> str:
    """strace -xx writes paths in hexadecimal, too."""
    return re.sub(
        r"<((?:\\x[0-9a-f]{2})+)>",
        lambda found: (
            f"<{bytes.fromhex(found[1].replace(chr(92) + 'x', '')).decode()}>"
        ),
        said,
        count=1,
    )


def _bytes(rest: str) -> tuple[bytes, int]:
    found = _DATA.match(rest)
    assert found is not None, rest[:80]
    data = bytes.fromhex(found[1].replace("\\x", ""))
    return data, int(found[2] or 0)


def lost(
    folder: Path, turns: int, seed: int, synchronous: str = "FULL"
) -> tuple[list[str], int]:
    """What a cut at any acknowledgement would lose, and how many were looked at."""
    log = traced(folder, turns, synchronous)
    dice = random.Random(seed)
    found, looked = [], 0
    for seq, disk in acknowledged(log, folder / "store.db"):
        if not seq:
            continue
        for part in (None, dice):
            looked += 1
            kept = _entries(disk.after_a_cut(part), folder)
            if kept < seq:
                found.append(f"of {seq} acknowledged entries {kept} are left")
    return found, looked


def _entries(files: dict[str, bytes], folder: Path) -> int:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        for path, image in files.items():
            (Path(name) / Path(path).name).write_bytes(image)
        with closing(sqlite3.connect(Path(name) / "store.db")) as store:
            (sound,) = store.execute("PRAGMA integrity_check").fetchone()
            assert sound == "ok", sound
            tables = "SELECT count(*) FROM sqlite_master WHERE name = 'journal'"
            if store.execute(tables).fetchone() == (0,):
                return 0
            (newest,) = store.execute("SELECT max(seq) FROM journal").fetchone()
            return newest or 0


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.power")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--synchronous", default="FULL")
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.play is not None:
        asyncio.run(_play(said.play, said.turns, said.synchronous))
    with tempfile.TemporaryDirectory() as name:
        found, looked = lost(Path(name), said.turns, said.seed, said.synchronous)
    print(*found[:20], sep="\n", end="\n" if found else "")
    print(f"{said.turns} turns, {looked} power cuts, {len(found)} with a loss")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
