"""A store with something of every kind, and a PostgreSQL whose people are logins."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest

from core.flows.people import Changed, add
from core.ports import Transaction
from core.ticket import agent
from store.transaction import SqlStore
from tests.flows.world import World, world_on
from tests.store.build import R1, T1, a_decision, a_reply, an_action, asked, taken
from tests.store.damage import PENDING, T2
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


@pytest.fixture
async def desk(store: SqlStore) -> SqlStore:
    """Two tickets; on the first there is something of every kind."""

    def fill(tx: Transaction) -> None:
        asked(T1)(tx)
        asked(T2)(tx)
        hold = taken(T1)(tx)
        tx.propose(hold, a_decision())
        tx.append_as(hold, agent(R1), PENDING)
        tx.intend(hold, an_action(hold, "A-1", "20.00", tx.now))
        tx.enqueue(hold, a_reply("m-1", 3, "queued", tx.now))

    await store.write(fill)
    return store
