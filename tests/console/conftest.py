"""A real store with two people on it."""

import pytest

from store.transaction import SqlStore
from tests.console.counter import Counter


@pytest.fixture
async def counter(sqlite_store: SqlStore) -> Counter:
    """Buyers and the agent on a new store."""
    return await Counter(sqlite_store).people()
