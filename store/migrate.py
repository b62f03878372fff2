"""Brings a store's schema up to what this program needs, from code.

An older SQLite file is copied before it is changed; a newer store is refused, because
this program can't know what it would break. `revision` decides whether any of this is
needed.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from core.errors import StoreTooNew
from store.engine import Engine
from store.revision import stored
from store.schema import REVISION

_SCRIPTS = Path(__file__).with_name("migrations")


def bring_up(engine: Engine) -> None:
    """Creates or upgrades the store; does nothing where another just did.

    Raises:
        StoreTooNew: A newer program has written it.
        StoreUnreachable: It can't be reached or written.
    """

    def upgrade(connection: sa.Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
        config.attributes["connection"] = connection
        found = stored(connection)
        if found == REVISION:
            return
        scripts = ScriptDirectory.from_config(config)
        if found is not None:
            if found not in {script.revision for script in scripts.walk_revisions()}:
                raise StoreTooNew(
                    f"the store {engine.place} was written by a newer version of"
                    f" Handoff (schema {found}; this one knows {REVISION}): upgrade"
                    " Handoff"
                )
            engine.backup(found)
        command.upgrade(config, "head")

    engine.migrate(upgrade)
