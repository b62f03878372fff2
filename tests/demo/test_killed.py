"""A demo that dies without a word takes its worker with it, and its store is safe."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.config import data_folder
from console.demo import lock
from console.demo.lock import DemoRuns
from console.demo.place import made_place
from tests.worlds.reporting import worker_on

ROOT = Path(__file__).parents[2]


@pytest.fixture
def demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A demo that runs in a folder of its own, and its worker's process id."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "console.cli", "demo", "--headless", "600"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as started:
        worker = worker_on(data_folder() / "demo" / "handoff.db")
        yield started, worker
        started.kill()
        _ends(worker)


def _ends(process: int, seconds: float = 20.0) -> bool:
    """Whether a process is gone by then."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def test_a_killed_demo_s_worker_ends_at_once_and_the_demo_can_begin_again(
    demo: tuple[subprocess.Popen[bytes], int],
) -> None:
    started, worker = demo
    started.kill()
    started.wait()
    with made_place(None, model=None, fresh=True) as place:
        assert _ends(worker, 0)
        assert not (place.folder / "handoff.db").exists()


def test_a_fresh_demo_leaves_the_store_to_a_worker_that_still_lives(
    demo: tuple[subprocess.Popen[bytes], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    started, worker = demo
    monkeypatch.setattr(lock, "_PATIENCE", 0.3)
    os.kill(worker, signal.SIGSTOP)
    try:
        with pytest.raises(DemoRuns, match=f"process {started.pid}"):
            made_place(None, model=None, fresh=True).__enter__()
        started.kill()
        started.wait()
        with pytest.raises(DemoRuns, match="its worker is not"):
            made_place(None, model=None, fresh=True).__enter__()
        assert (data_folder() / "demo" / "handoff.db").exists()
    finally:
        os.kill(worker, signal.SIGCONT)
