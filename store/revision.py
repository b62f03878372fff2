"""Whether a store is what this program expects: one small query.

Only where it is not, the machinery of migrations is loaded: it takes longer than most
commands.
"""

import importlib

import sqlalchemy as sa

from store.engine import Engine
from store.schema import REVISION

_TABLE = "alembic_version"


def ensure(engine: Engine) -> None:
    """Brings the store up to date, or finds that it is.

    Raises:
        StoreTooNew: A newer program has written it.
        StoreUnreachable: It can't be reached or written.
    """
    if engine.read(stored).result() != REVISION:
        importlib.import_module("store.migrate").bring_up(engine)


def stored(connection: sa.Connection) -> str | None:
    """The revision that the store is at, or None for a new one."""
    if not sa.inspect(connection).has_table(_TABLE):
        return None
    number = sa.text(f"SELECT version_num FROM {_TABLE}")  # noqa: S608 # a constant
    found: str | None = connection.scalar(number)
    return found
