"""The store goes away while a worker waits for work: it lives on, and works again."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from core.ports import Store
from core.turn import Stop
from tests.faults.kill import Stores, on_store, stores
from tests.faults.story import TICKET, says, write_config
from tests.faults.traced_worker import Job, start
from tests.worlds.brains import answers
from tests.worlds.messages_api import MessagesApi
from tests.worlds.ready import code_of

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("faults")]

_AWAY = 4.0
"""Seconds; SQLite's driver waits for one here."""
_LONG = 60.0


@contextmanager
def at_work(folder: Path, url: str, api: MessagesApi) -> Iterator[Job]:
    """A worker on a store that nobody ends before its work is done."""
    write_config(folder, lease="30s")
    job = Job(
        story="overridden",
        folder=folder,
        store=url,
        environment=api.environment,
        drain=False,
        busy=1,
    )
    worker = start(job)
    try:
        yield job
        assert worker.is_alive()
        worker.terminate()
        assert code_of(worker, _LONG) == 0
    finally:
        worker.kill()


def answered(url: str, runs: int) -> None:
    """Returns when so many runs have answered."""

    async def look(store: Store) -> list[Stop | None]:
        history = await store.read(lambda tx: tx.history(TICKET))
        return [run.stop for run in history.runs]

    until = time.monotonic() + _LONG
    found: object = []
    while time.monotonic() < until:
        found = on_store(url, look)
        if found == [Stop.ANSWERED] * runs:
            return
        time.sleep(0.2)
    raise AssertionError(f"runs: {found}")


def away(kept: Stores, folder: Path) -> None:
    """Takes the store away for a while."""
    if kept.cluster is not None:
        kept.cluster.cut()
        time.sleep(_AWAY)
        kept.cluster.again()
        return
    path = folder / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        time.sleep(_AWAY)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rule_11_an_idle_worker_whose_store_goes_away_lives_on_and_works_again(
    kind: str, tmp_path: Path
) -> None:
    with stores(kind) as kept, MessagesApi(answers("It left.", "Soon.")) as api:
        url = kept.new(tmp_path)
        on_store(url, lambda store: says(store, "Where is it?", 1))
        with at_work(tmp_path, url, api) as job:
            answered(url, 1)
            away(kept, tmp_path)
            on_store(url, lambda store: says(store, "And now?", 2))
            answered(url, 2)
    assert "Traceback" not in job.log.read_text()
    assert len((tmp_path / "replies.jsonl").read_text().splitlines()) == 2
