"""The statements that every turn runs: made once for a database, run by its driver.

SQLAlchemy looks at a statement anew each time it is executed, and for the small ones
of a turn that takes many times as long as the database needs for them. What it finds
is always the same: the words of the SQL, and how each value is stored and read. So
a `Prepared` statement is written like any other, of the schema's tables for both
databases; SQLAlchemy is asked once, and then the driver runs it. Errors are those
that SQLAlchemy would have raised, so that nobody has to know who ran a statement.
Changes may wait to be sent with others (`gathering`).
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from store import gathering
from store.faults import told_by_driver
from store.gathering import Change
from store.reading import Reading, Row, T, reading_of

Values: TypeAlias = Mapping[str, object]

_Cursor: TypeAlias = Any  # of one driver or the other
_Decode: TypeAlias = Callable[[Any], object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A statement in the words of one database.

    Attributes:
        sql: What the driver is given.
        places: Each value's name and how it is stored, in the order of the SQL.
        fixed: Values that are part of the statement.
        positional: Whether the driver takes values in order, else by name.
        read: How its rows are read.
        table: For a change: which table's.
    """

    sql: str
    places: tuple[tuple[str, _Decode], ...]
    fixed: Values
    positional: bool
    read: Reading
    table: str

    def bind(self, values: Values) -> list[object] | dict[str, object]:
        """The values as the driver takes them."""
        given = {**self.fixed, **values} if self.fixed else values
        stored = [
            given[name] if encode is None else encode(given[name])
            for name, encode in self.places
        ]
        if self.positional:
            return stored
        return {name: v for (name, _), v in zip(self.places, stored, strict=True)}


class Prepared:
    """A statement that is run often."""

    def __init__(
        self,
        statement: sa.Select[*tuple[Any, ...]] | sa.UpdateBase,
        *,
        sets: Sequence[str] | None = None,
    ) -> None:
        """Keeps what is to be made.

        Args:
            statement: Its values are bound by name.
            sets: For an update: the columns that are set to a value of their name.
        """
        self._statement = statement
        self._sets = sets
        self._made: dict[str, _Made] = {}

    def run(self, connection: sa.Connection, values: Values) -> None:
        """Changes rows, at the latest when something is read or committed."""
        made = self._for(connection.dialect)
        bound = made.bind(values)
        if isinstance(bound, dict):
            change = Change(table=made.table, sql=made.sql, values=bound)
            if gathering.wait(connection, change):
                return
        _execute(connection, made.sql, bound)

    def rows(self, connection: sa.Connection, **values: object) -> list[Row]:
        """All rows, as named tuples."""
        made = self._for(connection.dialect)
        return made.read.rows(self._found(connection, made, values))

    def each(
        self,
        connection: sa.Connection,
        make: Callable[[Row], T],
        mend: Callable[[Row], T] | None = None,
        **values: object,
    ) -> list[T]:
        """What is made of each row.

        Args:
            connection: The connection.
            make: Of a row; where it raises, the row is damaged.
            mend: Of what can be read of a damaged row: a stand-in is in place of what
                can't (see `reading`; else an empty text, or None). Without it
                `make` gets that.
            values: The statement's.
        """
        made = self._for(connection.dialect)
        return made.read.each(self._found(connection, made, values), make, mend or make)

    def _found(
        self, connection: sa.Connection, made: _Made, values: Values
    ) -> list[tuple[object, ...]]:
        gathering.send(connection)
        found: list[tuple[object, ...]] = _execute(
            connection, made.sql, made.bind(values)
        ).fetchall()
        return found

    def first(self, connection: sa.Connection, **values: object) -> Row | None:
        """The first row, or None."""
        found = self.rows(connection, **values)
        return found[0] if found else None

    def _for(self, dialect: sa.Dialect) -> _Made:
        made = self._made.get(dialect.name)
        if made is None:
            made = self._made[dialect.name] = self._make(dialect)
        return made

    def _make(self, dialect: sa.Dialect) -> _Made:
        compiled = self._statement.compile(dialect=dialect, column_keys=self._sets)
        columns = (
            tuple(self._statement.selected_columns)
            if isinstance(self._statement, sa.Select)
            else ()
        )
        given = compiled.params
        names = compiled.positiontup or tuple(given)
        types = {name: bind.type for bind, name in compiled.bind_names.items()}
        return _Made(
            sql=compiled.string,
            places=tuple((n, _encoder(types[n], dialect)) for n in names),
            fixed={n: given[n] for n in names if isinstance(given[n], int | str)},
            positional=compiled.positiontup is not None,
            read=reading_of(columns, dialect),
            table=_table_of(self._statement),
        )


class PreparedInsert:
    """Stores rows of one table, several with one statement."""

    def __init__(self, table: sa.Table, *, unless_there: bool = False) -> None:
        """Keeps what is to be made.

        Args:
            table: Where the rows go.
            unless_there: Whether a row whose key is there already is left out.
        """
        self._table = table
        self._unless_there = unless_there
        self._many: dict[int, Prepared] = {}

    def run(self, connection: sa.Connection, rows: Sequence[Values]) -> None:
        """Stores rows, each with a value for every column."""
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            statement = self._many.get(len(some))
            if statement is None:
                statement = self._many[len(some)] = Prepared(self._insert(len(some)))
            statement.run(
                connection,
                {f"{k}_{i}": v for i, r in enumerate(some) for k, v in r.items()},
            )

    def _insert(self, rows: int) -> sa.Insert:
        values = [
            {c.name: sa.bindparam(f"{c.name}_{i}", type_=c.type) for c in self._table.c}
            for i in range(rows)
        ]
        # both databases have this clause, and each its name for the other's
        inserted = postgresql.insert(self._table).values(values)
        return inserted.on_conflict_do_nothing() if self._unless_there else inserted


_AT_ONCE = 16
"""Rows in one statement at most: each number of them is a statement of its own."""


def _table_of(statement: sa.Select[*tuple[Any, ...]] | sa.UpdateBase) -> str:
    if isinstance(statement, sa.Select):
        return ""
    table: Any = statement.entity_description["table"]
    return str(table.name)


def _execute(connection: sa.Connection, sql: str, values: object) -> _Cursor:
    driver: Any = connection.connection.dbapi_connection
    try:
        cursor: _Cursor = driver.execute(sql, values)
    except connection.dialect.loaded_dbapi.Error as error:
        raise told_by_driver(error, sql, connection) from error
    return cursor


def _encoder(kind: sa.types.TypeEngine[Any], dialect: sa.Dialect) -> _Decode:
    if isinstance(kind, sa.types.TypeDecorator):
        within = kind.load_dialect_impl(dialect).bind_processor(dialect)
        if within is None:
            return functools.partial(kind.process_bind_param, dialect=dialect)
    return kind.dialect_impl(dialect).bind_processor(dialect)
