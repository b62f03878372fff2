"""What every test may ask for: a real store, on SQLite and on PostgreSQL.

Each is a copy of one that was migrated once: migrating takes ten times as long.
"""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from store.transaction import SqlStore
from tests.worlds.postgres import Cluster, postgres_cluster

# else each of the many programs that tests start would compile all its modules anew
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_xdist_auto_num_workers() -> int | None:
    """One more than there are processors: for half of its time a test waits."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist takes that
    return len(os.sched_getaffinity(0)) + 1


postgres = pytest.fixture(scope="session")(postgres_cluster)


@pytest.fixture(scope="session")
def migrated(postgres: Cluster) -> str:
    """A PostgreSQL database at the newest revision, to be copied."""
    url = postgres.create_database()
    SqlStore.open(url)._engine.close()
    return url


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file at the newest revision, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "store.db"
    SqlStore.open(f"sqlite:///{path}")._engine.close()
    return path


@pytest.fixture
def sqlite_url(tmp_path: Path, migrated_file: Path) -> str:
    """A SQLite store of one's own."""
    shutil.copy(migrated_file, tmp_path)
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def postgres_url(postgres: Cluster, migrated: str) -> Iterator[str]:
    """A PostgreSQL store of one's own."""
    url = postgres.create_database(template=migrated)
    yield url
    postgres.drop_database(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """A store's URL, on each of both databases."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    url: str = request.getfixturevalue(name)
    return url


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[SqlStore]:
    """A new store, on each of both databases."""
    opened = SqlStore.open(store_url)
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite_store(sqlite_url: str) -> AsyncIterator[SqlStore]:
    """A new store on SQLite, for what doesn't depend on the database."""
    opened = SqlStore.open(sqlite_url)
    yield opened
    await opened.close()


@pytest.fixture
async def postgres_store(postgres_url: str) -> AsyncIterator[SqlStore]:
    """A new store on PostgreSQL, for what only a server does."""
    opened = SqlStore.open(postgres_url)
    yield opened
    await opened.close()
