"""A PostgreSQL primary with a synchronous standby, which takes its place.

Every commit waits until the standby has it on its disk, so that the primary can die at
any instant and nothing that was acknowledged is lost.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.worlds.postgres import START_SECONDS, Cluster, NoPostgres


@dataclass(slots=True)
class Standby(Cluster):
    """A copy of a primary that follows it.

    Attributes:
        primary: Whom it follows; running.
    """

    primary: Cluster = field(default_factory=Cluster)

    def _initdb(self, programs: Path) -> None:
        done = subprocess.run(
            [
                programs / "pg_basebackup",
                *("-d", f"host=127.0.0.1 port={self.primary.port} user=postgres"),
                *("-D", self.folder / "data"),
                *("-X", "stream", "-c", "fast", "-R", "--no-sync"),
            ],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            **self._as_account(),  # type: ignore[call-overload]
        )
        if done.returncode != 0:
            raise NoPostgres(f"pg_basebackup failed: {done.stderr}")


@dataclass(slots=True)
class Pair:
    """Both, under one address; used where a `Cluster` is, for one fail-over."""

    primary: Cluster = field(default_factory=Cluster)
    standby: Standby | None = None
    _promoted: bool = False

    def start(self) -> Pair:
        """Starts the primary, then the standby, and waits until commits wait for it."""
        self.primary.start()
        try:
            self.standby = Standby(primary=self.primary)
            self.standby.start()
            with psycopg.connect(self.primary.url(), autocommit=True) as primary:
                primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                primary.execute("SELECT pg_reload_conf()")
                self._until(primary, "SELECT sync_state FROM pg_stat_replication")
        except BaseException:
            self.stop()
            raise
        return self

    def _until(self, primary: psycopg.Connection, query: str) -> None:
        until = time.monotonic() + START_SECONDS
        while primary.execute(query).fetchall() != [("sync",)]:
            if time.monotonic() > until:
                raise NoPostgres("the standby does not follow")
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends both."""
        if self.standby is not None:
            self.standby.stop()
        self.primary.stop()

    def create_database(self, template: str | None = None) -> str:
        """A new database; a URL that leads to whichever takes writes."""
        made = self._writable().create_database(_named(template))
        return self._both(made)

    def drop_database(self, url: str) -> None:
        """Removes a database."""
        self._writable().drop_database(_named(url) or "")

    def cut(self) -> None:
        """The primary dies."""
        self.primary.cut()

    def again(self) -> None:
        """The standby takes its place."""
        assert self.standby is not None
        with psycopg.connect(self.standby.url(), autocommit=True) as standby:
            standby.execute("SELECT pg_promote()")
        self._promoted = True

    def _writable(self) -> Cluster:
        chosen = self.standby if self._promoted else self.primary
        assert chosen is not None
        return chosen

    def _both(self, url: str) -> str:
        assert self.standby is not None
        ports = (self.primary.port, self.standby.port)
        hosts = "&".join(f"host=127.0.0.1:{port}" for port in ports)
        name = url.rsplit("/", 1)[-1]
        where = f"{hosts}&target_session_attrs=read-write"
        return f"postgresql://postgres@/{name}?{where}"


def _named(url: str | None) -> str | None:
    return url.split("?")[0] if url is not None else None
