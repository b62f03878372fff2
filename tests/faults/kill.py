"""A worker is cut at every point of a story: `python -m tests.faults.kill`.

    --store sqlite|postgresql|both
    --story NAME|all       which stories (default: all)
    --every K              each K-th point only (default: 1)
    --jobs N               at a time (default: 2)
    --lease D              of a run (default: 1s)
    --way kill             SIGKILL; another worker goes on
    --way sleep            SIGSTOP while another worker takes over; then it wakes
    --way lose             the server crashes and comes back; a SQLite file is locked

Each story is first played without a cut; the points that its workers pass are what is
cut later, one at a time. In the end the records, the shop's books and the replies'
file must be what they were without a cut.

On two busy processors all four stories took, without a violation: asleep 286 cuts in
10 minutes on SQLite, 285 in 17 on PostgreSQL; with the store lost 286 in 13 (four at a
time) and 286 in 19.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import re
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from store.transaction import SqlStore
from tests.faults.points import passed
from tests.faults.story import STORIES, SUP, Story, happens, says, write_config
from tests.faults.traced_worker import Job, start
from tests.faults.verdict import Ended, normalised, violations
from tests.worlds.messages_api import MessagesApi
from tests.worlds.postgres import Cluster
from tests.worlds.postgres_pair import Pair
from tests.worlds.ready import code_of

_PATIENCE = 60.0
_ASLEEP = 5.0
_AWAY = 1.5
_BUSY = 1.0  # for so long SQLite's driver waits here
_LOCKED = 3.0
_STAGES = 6


class Way(StrEnum):
    """What happens at a point."""

    KILL = "kill"
    SLEEP = "sleep"
    LOSE = "lose"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a story is cut: the number of the worker, and its point."""

    worker: int
    point: str

    def __str__(self) -> str:
        return f"worker {self.worker}, {self.point}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """How a story went.

    Attributes:
        points: What the workers passed, in order.
        requests: What the model was asked, normalised.
        killed: Whether the cut was reached.
        found: What is wrong.
    """

    points: Sequence[Cut]
    requests: Sequence[str]
    killed: bool
    found: Sequence[str]
    seconds: float


@dataclass(slots=True)
class Stores:
    """New stores, each a copy of one that was migrated once."""

    kind: str
    folder: Path
    cluster: Cluster | Pair | None = None
    template: str = ""

    def prepare(self) -> None:
        """Makes the store that the others are copied from."""
        if self.kind != "sqlite":
            self.cluster = (Pair() if self.kind == "pair" else Cluster()).start()
            self.template = self.cluster.create_database()
        else:
            self.template = f"sqlite:///{self.folder / 'template.db'}"
        asyncio.run(_first(self.template))

    def new(self, folder: Path) -> str:
        """A store's URL."""
        if self.cluster is not None:
            return self.cluster.create_database(template=self.template)
        shutil.copyfile(self.folder / "template.db", folder / "store.db")
        return f"sqlite:///{folder / 'store.db'}"

    def drop(self, url: str) -> None:
        """Removes it where it isn't removed with its folder."""
        if self.cluster is not None:
            self.cluster.drop_database(url)

    def close(self) -> None:
        """Ends the server, if there is one."""
        if self.cluster is not None:
            self.cluster.stop()


async def _first(url: str) -> None:
    store = SqlStore.open(url)
    await store.write(lambda tx: tx.save_operator(SUP))
    await store.close()


@contextmanager
def stores(kind: str, folder: Path | None = None) -> Iterator[Stores]:
    """Where stories are kept while they are played; the usual place, or a folder."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        made = Stores(kind, Path(name))
        try:
            made.prepare()
            yield made
        finally:
            made.close()


def play(
    story: Story,
    kept: Stores,
    cut: Cut | None,
    undisturbed: Sequence[str] | None,
    *,
    lease: str = "1s",
    way: Way = Way.KILL,
) -> Played:
    """Plays a story, cut at one point or not at all."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=kept.folder) as name:
        folder = Path(name)
        write_config(folder, lease=lease)
        url = kept.new(folder)
        try:
            with MessagesApi(story.brain) as api:
                going = _Going(story, folder, url, api.environment, way, kept)
                _to_its_end(going, cut)
                requests = normalised(api.bodies(), once=way is not Way.KILL)
                ended = Ended(folder=folder, requests=requests, broken=api.violations())
                found = going.found + _judge(story, url, ended, undisturbed)
                if found:
                    found += [log.read_text() for log in folder.glob("*.log")]
        finally:
            kept.drop(url)
    return Played(
        points=going.points,
        requests=requests,
        killed=going.killed,
        found=found,
        seconds=time.monotonic() - begun,
    )


@dataclass(slots=True)
class _Going:
    """A story while it goes on."""

    story: Story
    folder: Path
    url: str
    environment: Mapping[str, str]
    way: Way
    kept: Stores
    workers: int = 0
    points: list[Cut] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    killed: bool = False

    def start(self, cut_at: str = "") -> tuple[Job, ForkServerProcess]:
        """Starts the next worker."""
        self.workers += 1
        job = Job(
            story=self.story.name,
            folder=self.folder,
            store=self.url,
            environment=self.environment,
            number=self.workers,
            cut_at=cut_at,
            by=signal.SIGKILL if self.way is Way.KILL else signal.SIGSTOP,
            busy=_BUSY if self.way is Way.LOSE else None,
        )
        return job, start(job)

    def end(self, job: Job, process: ForkServerProcess) -> int | None:
        """Waits for a worker's end; its exit code."""
        code = code_of(process, _PATIENCE)
        if code is None:
            process.kill()
            self.found.append(f"worker {job.number} did not end")
        elif code not in {0, -signal.SIGKILL}:
            self.found.append(f"worker {job.number} exited with {code}")
        return code

    def whole(self, stage: int) -> None:
        """One worker that nobody cuts, after those that were."""
        job, process = self.start()
        if self.end(job, process) == -signal.SIGKILL:
            self.found.append(f"worker {job.number} was killed by somebody")
        self.points += [Cut(stage, point) for point in passed(job.trace)]

    def cut(self, point: str, stage: int) -> None:
        """One worker that is cut, and others that go on."""
        job, process = self.start(point)
        if self.way is not Way.KILL:
            self.killed = _stopped(process, _PATIENCE)
            if self.killed:
                self._while_stopped(process)
            self.end(job, process)
        else:
            self.killed = self.end(job, process) == -signal.SIGKILL
            if self.killed:
                self.whole(stage)

    def _while_stopped(self, process: ForkServerProcess) -> None:
        assert process.pid is not None
        match self.way:
            case Way.SLEEP:
                self._while_another_goes_on(process.pid)
            case Way.LOSE if self.kept.cluster is not None:
                self.kept.cluster.cut()
                os.kill(process.pid, signal.SIGCONT)
                time.sleep(_AWAY)
                self.kept.cluster.again()
            case _:
                with _locked(self.folder / "store.db"):
                    os.kill(process.pid, signal.SIGCONT)
                    time.sleep(_LOCKED)

    def _while_another_goes_on(self, asleep: int) -> None:
        """The first wakes when the other is through.

        One that was stopped while it wrote holds a lock of the database, so the other
        can't be waited for without end.
        """
        other, going_on = self.start()
        code_of(going_on, _ASLEEP)
        os.kill(asleep, signal.SIGCONT)
        self.end(other, going_on)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A foreign program keeps the file locked, without standing in our line."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=5)) as foreign:
        with suppress(sqlite3.OperationalError):  # it was stopped while it wrote
            foreign.execute("BEGIN IMMEDIATE")
        yield


def _to_its_end(going: _Going, cut: Cut | None) -> None:
    """Starts one worker after the other until nothing happens any more."""
    story, url = going.story, going.url
    on_store(url, lambda store: says(store, story.said[0], 1))
    for stage in range(1, _STAGES):
        if cut is not None and cut.worker == stage:
            going.cut(cut.point, stage)
        else:
            going.whole(stage)
        if going.found or not on_store(
            url, lambda store: happens(story, "idle", store)
        ):
            return
    going.found.append("it never ended")


def _stopped(process: ForkServerProcess, seconds: float) -> bool:
    """Whether a process has stopped itself, rather than ended, by then."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8")
            state = stat.rsplit(") ", 1)[1][0]
        except FileNotFoundError:
            return False
        if state in "TZX":
            return state == "T"
        time.sleep(0.02)
    return False


def on_store(url: str, act: Callable[[SqlStore], Awaitable[object]]) -> object:
    """Does something on a store that is opened for it."""

    async def done() -> object:
        store = SqlStore.open(url)
        try:
            return await act(store)
        finally:
            await store.close()

    return asyncio.run(done())


def _judge(
    story: Story, url: str, ended: Ended, undisturbed: Sequence[str] | None
) -> list[str]:
    found: list[str] = []

    async def look(store: SqlStore) -> None:
        found.extend(await violations(story, store, ended, undisturbed))

    on_store(url, look)
    return found


def matrix(
    story: Story,
    kept: Stores,
    chosen: Callable[[Sequence[Cut]], Sequence[Cut]],
    *,
    jobs: int = 3,
    lease: str = "1s",
    way: Way = Way.KILL,
) -> Iterator[tuple[Cut | None, Played]]:
    """Plays a story uncut, then once for each chosen point; gives each as it ends."""
    whole = play(story, kept, None, None, lease=lease)
    yield None, whole
    if whole.found:
        return
    one = functools.partial(play, story, kept, lease=lease, way=way)
    with ThreadPoolExecutor(jobs) as pool:
        playing = [
            (cut, pool.submit(one, cut, whole.requests)) for cut in chosen(whole.points)
        ]
        for cut, played in playing:
            yield cut, played.result()


def choose(points: Sequence[Cut], every: int) -> list[Cut]:
    """Each K-th point; of those that come with time, not with work, none."""
    work = [p for p in dict.fromkeys(points) if not _TIMED.search(p.point)]
    return work[::every]


def one_of_each(points: Sequence[Cut], *, last: bool) -> list[Cut]:
    """One point of each kind: its first, or its last."""
    work = choose(points, 1)
    kinds = {p.point.rsplit(" #", 1)[0]: p for p in (work if last else work[::-1])}
    return list(kinds.values())


_TIMED = re.compile(r"write (report_alive|_renew) ")


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kill")
    parser.add_argument("--store", default="both")
    parser.add_argument("--story", default="all")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lease", default="1s")
    parser.add_argument("--way", choices=list(Way), default="kill")
    said = parser.parse_args()
    kinds = ["sqlite", "postgresql"] if said.store == "both" else [said.store]
    bad = 0
    for kind in kinds:
        with stores(kind) as kept:
            for story in STORIES:
                if said.story in {"all", story.name}:
                    bad += _told(story, kind, kept, said)
    return 1 if bad else 0


def _told(story: Story, kind: str, kept: Stores, said: argparse.Namespace) -> int:
    begun, cuts, killed, wrong = time.monotonic(), 0, 0, 0
    points = 0
    chosen = functools.partial(choose, every=said.every)
    way = Way(said.way)
    shared = way is Way.LOSE and kind != "sqlite"  # there is one server for all
    jobs = 1 if shared else said.jobs
    rounds = matrix(story, kept, chosen, jobs=jobs, lease=said.lease, way=way)
    for cut, played in rounds:
        if cut is None:
            points = len(played.points)
        cuts += cut is not None
        killed += played.killed
        wrong += bool(played.found)
        if played.found:
            print(f"{kind} {story.name}: {cut or 'uncut'}", *played.found, sep="\n  ")
    print(
        f"{kind:>10} {story.name:>10}: {points} points, {cuts} cuts ({way}), "
        f"{killed} reached, {wrong} violations, {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
