"""A full disk and a read-only mount: what is stored can still be read."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT

ON_A_DISK_OF_ITS_OWN = """
import contextlib, io, json, os, subprocess, sys
from console import cli

disk = sys.argv[1]
store = f"sqlite:///{disk}/store.db"
message = {"external_id": "<1@example.com>", "channel": "mail", "subject": "Lamp",
           "from": "dana@example.com", "text": "Where is it?"}
told = {}


def handoff(step, *arguments, stdin=""):
    out, err = io.StringIO(), io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.run(["--store", store, *arguments])
    told[step] = [code, out.getvalue(), err.getvalue()]


handoff("ingest", "ingest", "-", stdin=json.dumps(message))
ticket = json.loads(told["ingest"][1])["ticket"]
HOW
for step in ("tickets", "show"):
    handoff(step, step, *([ticket] if step == "show" else []))
handoff("search", "tickets", "--search", "LAMP", "--json")
handoff("note", "note", ticket, "x" * 100_000)
print(json.dumps(told))
"""

FULL = """
os.remove(f"{disk}/store.db.lock")
block = 4096
filling = os.open(f"{disk}/filling", os.O_CREAT | os.O_WRONLY)
while True:
    try:
        os.write(filling, bytes(block))
    except OSError:
        break
"""
NO_FILE_MORE = """
os.remove(f"{disk}/store.db.lock")
made = 0
while True:
    try:
        os.close(os.open(f"{disk}/f{made}", os.O_CREAT | os.O_WRONLY))
    except OSError:
        break
    made += 1
"""
READ_ONLY = 'subprocess.run(["mount", "-o", "remount,ro", disk], check=True)'


def _can_mount(tmp_path: Path) -> bool:
    mount = f"mount -t tmpfs -o size=1m tmpfs {tmp_path}"
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    tried = subprocess.run(
        [unshare, "-rm", "sh", "-c", mount], capture_output=True, check=False
    )
    return tried.returncode == 0


def told(tmp_path: Path, how: str) -> dict[str, Any]:
    """What the commands said on a small disk, after this was done to it."""
    if not _can_mount(tmp_path):
        pytest.skip("no disk can be mounted here")
    disk = tmp_path / "disk"
    disk.mkdir()
    script = tmp_path / "script.py"
    script.write_text(ON_A_DISK_OF_ITS_OWN.replace("HOW", how))
    mount = f"mount -t tmpfs -o size=2m,nr_inodes=12 tmpfs {disk}"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"{mount}; {sys.executable} {script} {disk}"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "LOGNAME": "ada", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (FULL, "the disk is full: free some space"),
        (NO_FILE_MORE, "the disk is full: free some space"),
        (READ_ONLY, "its file system is read-only"),
    ],
    ids=["full", "no file more", "read-only"],
)
def test_what_can_not_be_written_can_be_read_and_says_why(
    tmp_path: Path, how: str, why: str
) -> None:
    said = told(tmp_path, how)

    assert said["tickets"][0] == said["show"][0] == said["search"][0] == 0
    assert "Lamp" in said["tickets"][1]
    assert "Where is it?" in said["show"][1]
    assert len(json.loads(said["search"][1])) == 1
    code, out, err = said["note"]
    assert (code, out) == (3, "")
    assert why in err
    assert err.count("\n") == 1
