"""A store whose tables are not what its revision says: one clear line."""

import pytest
import sqlalchemy as sa

from core.errors import BadConfiguration, StoreUnreachable
from core.ports import QueueQuery, Transaction
from store.transaction import SqlStore
from tests.store.build import T1, asked

CHANGES = {
    "no column": "ALTER TABLE journal DROP COLUMN actor_name",
    "no table": "DROP TABLE drafts",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_store_of_an_unfinished_version_is_called_so(
    store: SqlStore, change: str
) -> None:
    await store.write(asked())
    await store.write(lambda tx: tx._connection.execute(sa.text(change)) and None)

    with pytest.raises(StoreUnreachable, match="made by an unfinished version") as told:
        await store.read(_everything)
    assert "\n" not in str(told.value)


def _everything(tx: Transaction) -> None:
    tx.queue(QueueQuery())
    tx.history(T1)


def test_a_folder_that_is_not_there_is_not_made(tmp_path) -> None:
    with pytest.raises(BadConfiguration, match="there is no folder"):
        SqlStore.open(f"sqlite:///{tmp_path / 'mistyped' / 'store.db'}")
    assert not (tmp_path / "mistyped").exists()
