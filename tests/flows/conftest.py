"""What every test of the flows may ask for."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store.transaction import SqlStore
from tests.flows.world import World, world_on


@pytest.fixture
async def world(store: SqlStore, tmp_path: Path) -> AsyncIterator[World]:
    """A house on a new store, on each of both databases."""
    async with world_on(store, tmp_path) as made:
        yield made


@pytest.fixture
async def lite(sqlite_store: SqlStore, tmp_path: Path) -> AsyncIterator[World]:
    """A house on SQLite, for what doesn't depend on the database."""
    async with world_on(sqlite_store, tmp_path) as made:
        yield made
