import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from core.errors import StoreTooNew
from store import migrate, revision
from store.engine import open_engine
from store.schema import REVISION, metadata
from store.transaction import SqlStore
from tests.store.build import T1, asked, says
from tests.worlds.postgres import Cluster


def test_the_newest_migration_is_the_one_that_the_program_knows() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrate._SCRIPTS))
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


async def test_the_migrations_make_exactly_the_schema(store: SqlStore) -> None:
    def compare(tx) -> list[object]:
        context = MigrationContext.configure(tx._connection)
        return compare_metadata(context, metadata)

    assert await store.read(compare) == []


async def test_a_store_is_opened_again_with_all_that_is_in_it(store_url: str) -> None:
    first = SqlStore.open(store_url)
    await first.write(asked())
    await first.close()
    again = SqlStore.open(store_url)
    assert await again.write(says("more")) == 2
    await again.close()


async def test_a_store_of_a_newer_program_is_refused_untouched(store_url: str) -> None:
    store = SqlStore.open(store_url)
    newer = sa.text("UPDATE alembic_version SET version_num = '9999'")
    await store.write(lambda tx: tx._connection.execute(newer) and None)
    await store.close()
    with pytest.raises(StoreTooNew) as raised:
        SqlStore.open(store_url)
    told = str(raised.value)
    assert "9999" in told
    assert REVISION in told
    assert "upgrade Handoff" in told
    assert "\n" not in told


def test_several_that_start_at_once_on_a_new_store_all_start(
    tmp_path: Path, postgres: Cluster
) -> None:
    for url in (f"sqlite:///{tmp_path / 'new.db'}", postgres.create_database()):
        with ThreadPoolExecutor(4) as threads:
            for store in threads.map(SqlStore.open, [url] * 4):
                store._engine.close()


async def test_a_file_is_copied_before_it_is_migrated(
    sqlite_url: str, tmp_path: Path
) -> None:
    store = SqlStore.open(sqlite_url)
    await store.write(asked())
    await store.close()
    engine = open_engine(sqlite_url)
    engine.backup(REVISION)
    engine.close()
    copy = tmp_path / f"store.db.before-{REVISION}"
    kept = SqlStore.open(f"sqlite:///{copy}")
    assert (await kept.read(lambda tx: tx.standing(T1))).last_seq == 1
    assert copy.stat().st_mode & 0o777 == 0o600
    await kept.close()


NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    with op.batch_alter_table("tickets") as table:
        table.add_column(sa.Column("mood", sa.Text()))
        table.alter_column("claim", nullable=True)
"""


async def test_a_migration_keeps_all_rows_and_leaves_a_copy_of_the_old_file(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = SqlStore.open(store_url)
    await old.write(asked())
    before = await old.read(lambda tx: tx.history(T1).journal)
    await old.close()
    scripts = tmp_path / "scripts"
    shutil.copytree(migrate._SCRIPTS, scripts)
    scripts.joinpath("versions", "rev_0002.py").write_text(NEXT)
    monkeypatch.setattr(migrate, "_SCRIPTS", scripts)
    for module in (migrate, revision):
        monkeypatch.setattr(module, "REVISION", "0002")
    new = SqlStore.open(store_url)
    mood = sa.text("SELECT mood FROM tickets")
    assert await new.read(lambda tx: tx._connection.execute(mood).all()) == [(None,)]
    assert await new.read(lambda tx: tx.history(T1).journal) == before
    assert await new.write(says("more")) == 2
    await new.close()
    monkeypatch.undo()
    with pytest.raises(StoreTooNew):
        SqlStore.open(store_url)
    if store_url.startswith("sqlite"):
        copy = SqlStore.open(f"{store_url}.before-0001")
        assert await copy.read(lambda tx: tx.history(T1).journal) == before
        await copy.close()
