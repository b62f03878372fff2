"""A PostgreSQL whose people are logins."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest

from core.flows.people import Changed, add
from store.transaction import SqlStore
from tests.flows.world import World, world_on
from tests.store.logins import ADMIN, BOT, EVE, LONGEST, MAX, MIA


@pytest.fixture
def logins(postgres_url: str) -> Iterator[str]:
    """Removes the logins that a test has made; gives the administrator's address."""
    yield postgres_url
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        for name in (EVE.name, MIA.name, MAX.name, BOT, LONGEST):
            quoted = psycopg.sql.Identifier(name)
            known = "SELECT 1 FROM pg_roles WHERE rolname = %s"
            if admin.execute(known, (name,)).fetchone() is not None:
                for drop in ("DROP OWNED BY {}", "DROP ROLE {}"):
                    admin.execute(psycopg.sql.SQL(drop).format(quoted))


@pytest.fixture
async def house(logins: str, tmp_path: Path) -> AsyncIterator[World]:
    """A house whose administrator has added an agent and two supervisors."""
    store = SqlStore.open(logins)
    async with world_on(store, tmp_path) as made:
        await store.write(lambda tx: tx.save_operator(ADMIN))
        for who in (EVE, MIA, MAX):
            added = await add(store, ADMIN, who.name, who.role)
            assert added == Changed(operator=who)
        yield made
    await store.close()
