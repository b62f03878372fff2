"""`handoff demo` from the outside: the whole product, alone on its store."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Handoff, message


def test_the_demo_shows_the_whole_product_and_can_be_resumed(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "console.cli", "demo", "--headless"]

    def demo(seconds: int) -> list[dict[str, object]]:
        done = subprocess.run(
            [*command, str(seconds), "--json"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        return [json.loads(line) for line in done.stdout.splitlines()]

    first, wanted = demo(8), {"message", "run", "tool_call", "summary"}
    for seconds in (16, 32):  # on a busy machine all takes longer
        if wanted <= {event["event"] for event in first}:
            break
        first += demo(seconds)
    second = demo(2)
    folder = tmp_path / "data" / "handoff" / "demo"

    assert wanted <= {event["event"] for event in first}
    assert first[-1]["event"] == second[-1]["event"] == "summary"
    tickets = second[-1]["tickets"]
    assert isinstance(tickets, int)
    assert 20 <= tickets < 40
    assert "Traceback" not in (folder / "worker.log").read_text()


def test_the_demo_stays_out_of_a_store_with_tickets_of_others(
    handoff: Handoff,
) -> None:
    handoff("ingest", "-", stdin=message())
    said = handoff("demo", "--headless", "1")
    fresh = handoff("demo", "--headless", "1", "--fresh")

    assert said.code == 1
    assert "not the demo's" in said.err
    assert fresh.code == 2
    assert len(handoff("tickets", "--json").json) == 1


def test_one_demo_at_a_time_runs_on_a_store(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "console.cli", "demo", "--headless"]
    env = os.environ | {"XDG_DATA_HOME": str(data)}
    first = subprocess.Popen(
        [*command, "60"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    try:
        told = [first.stdout.readline() for _ in range(20)]
        store = data / "handoff" / "demo" / "handoff.db"
        others = [
            subprocess.run(
                [*command, "1", *more],
                cwd=ROOT,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            for more in (("--fresh",), (), ("--store", f"sqlite:///{store}"))
        ]
        assert store.exists()
    finally:
        first.kill()
        first.communicate()

    # each event is one line, however long its text
    assert all(line.startswith("T-") and len(line) < 200 for line in told)
    for other in others:
        assert other.returncode == 1
        assert other.stdout == ""
        assert other.stderr == (
            "handoff: a demo runs on this store already "
            f"(process {first.pid}); leave it first\n"
        )


def test_a_killed_demo_leaves_no_worker_behind(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "console.cli", "demo", "--headless", "60", "--json"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if json.loads(line)["event"] == "run":
            break
    workers = _children(demo.pid)
    demo.send_signal(signal.SIGKILL)
    demo.wait()
    demo.stdout.close()
    log = tmp_path / "data" / "handoff" / "demo" / "worker.log"

    assert workers
    for _ in range(400):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            break
        log.read_bytes()
        _pause()
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    if not path.exists():
        pytest.skip("children can't be listed here")
    return [int(child) for child in path.read_bytes().split()]


def _pause() -> None:
    subprocess.run(["sleep", "0.05"], check=True)
