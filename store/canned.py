"""The team's written replies, by name; one that was removed is an empty row."""

import sqlalchemy as sa

from core.ports import Canned
from store.reading import Row, each_of
from store.schema import canned

_c = canned.c


def read(connection: sa.Connection) -> tuple[Canned, ...]:
    """All that are there, by name."""
    query = sa.select(canned).where(_c.text != "").order_by(_c.name)
    return tuple(each_of(connection, query, made))


def made(row: Row) -> Canned:
    """What is written in a row; raises where it is damaged."""
    return Canned(name=row.name, text=row.text, by=row.operator, at=row.at)


def save(connection: sa.Connection, said: Canned) -> None:
    """Stores one over what had its name; an empty text removes it."""
    values = {"text": said.text, "operator": said.by, "at": said.at}
    changed = sa.update(canned).where(_c.name == said.name).values(values)
    if connection.execute(changed).rowcount == 0:
        connection.execute(sa.insert(canned), [{"name": said.name, **values}])
