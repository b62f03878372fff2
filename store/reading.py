"""Rows of the database as values, where one that is damaged takes no other with it.

What is read of a table is made by a function of the row. Where that fails for any, the
rows are gone through one by one: of a damaged one is read what can be, and whoever
asked says what is made of that.
"""

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import sqlalchemy as sa

from core.ticket import UNKNOWN_TIME
from store.columns import Exact, Moment, stored_moment, stored_text
from store.faults import UNDECODABLE

T = TypeVar("T")

Row: TypeAlias = Any
"""A named tuple: which columns it has is said by the statement."""

_Cursor: TypeAlias = Any  # of one driver or the other
_Decode: TypeAlias = Callable[[Any], object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a driver's rows are read.

    Attributes:
        decode: How each column is read.
        row: Makes a row of its values.
        instead: What stands for each column that can't be read.
    """

    decode: tuple[_Decode, ...]
    row: Callable[[tuple[object, ...]], Row]
    instead: tuple[object, ...]

    def rows(self, found: Sequence[tuple[object, ...]]) -> list[Row]:
        """All of them, column by column, which is fast."""
        if not found:
            return []
        columns = (
            column if decode is None else map(decode, column)
            for decode, column in zip(
                self.decode, zip(*found, strict=True), strict=True
            )
        )
        return list(map(self.row, zip(*columns, strict=True)))

    def each(
        self,
        found: Sequence[tuple[object, ...]],
        make: Callable[[Row], T],
        mend: Callable[[Row], T],
    ) -> list[T]:
        """What is made of each, or of what can be read of it."""
        try:
            return list(map(make, self.rows(found)))
        except UNDECODABLE:
            return [self._one(stored, make, mend) for stored in found]

    def _one(
        self,
        stored: tuple[object, ...],
        make: Callable[[Row], T],
        mend: Callable[[Row], T],
    ) -> T:
        try:
            return make(self.rows([stored])[0])
        except UNDECODABLE:
            return mend(self.row(tuple(self._readable(stored))))

    def _readable(self, stored: tuple[object, ...]) -> Iterator[object]:
        for value, decode, instead in zip(
            stored, self.decode, self.instead, strict=True
        ):
            try:
                yield value if decode is None else decode(value)
            except UNDECODABLE:
                yield instead


def readable(decode: Callable[[], T], instead: T, wrong: list[str], what: str) -> T:
    """What is stored, or where that can't be read the value instead, noted as wrong."""
    try:
        return decode()
    except UNDECODABLE:
        wrong.append(what)
        return instead


def as_read(row: Row) -> Row:
    """What to make of rows that are taken as they are."""
    return row


def each_of(
    connection: sa.Connection,
    statement: sa.Select[*tuple[Any, ...]],
    make: Callable[[Row], T],
    mend: Callable[[Row], T] | None = None,
) -> list[T]:
    """As `Prepared.each`, for a statement that is not always the same."""
    result = connection.execute(statement)
    cursor: _Cursor = result.cursor
    found: list[tuple[object, ...]] = cursor.fetchall()
    result.close()
    reading = reading_of(tuple(statement.selected_columns), connection.dialect)
    return reading.each(found, make, mend or make)


def walk(
    connection: sa.Connection,
    statement: sa.Select[*tuple[Any, ...]],
    make: Callable[[Row], T],
    mend: Callable[[Row], T],
) -> Iterator[T]:
    """As `each_of`, some rows at a time, for a whole table."""
    columns = tuple(statement.selected_columns)
    reading = reading_of(columns, connection.dialect)
    as_stored = (sa.type_coerce(c, sa.types.NULLTYPE).label(c.key) for c in columns)
    options = {"stream_results": True}
    with connection.execute(
        statement.with_only_columns(*as_stored), execution_options=options
    ) as result:
        for found in result.partitions(_AT_A_TIME):
            yield from reading.each([tuple(row) for row in found], make, mend)


_AT_A_TIME = 1000


def reading_of(
    columns: Sequence[sa.ColumnElement[Any]], dialect: sa.Dialect
) -> Reading:
    """How rows of these columns are read."""
    return Reading(
        decode=tuple(_decoder(c.type, dialect) for c in columns),
        row=_row_of(tuple(str(column.key) for column in columns)),
        instead=tuple(map(_instead, columns)),
    )


def _instead(column: sa.ColumnElement[Any]) -> object:
    if getattr(column, "nullable", True):
        return None
    match column.type:
        case Moment():
            return UNKNOWN_TIME
        case Exact():
            return ""
        case _:
            return None


@functools.lru_cache(maxsize=256)
def _row_of(names: tuple[str, ...]) -> Callable[[tuple[object, ...]], Row]:
    # as collections.namedtuple, which takes longer to make than most queries
    fields = {name: property(operator.itemgetter(i)) for i, name in enumerate(names)}
    kind: type[Any] = type("Row", (tuple,), {"__slots__": (), **fields})
    return functools.partial(tuple.__new__, kind)


def _decoder(kind: sa.types.TypeEngine[Any], dialect: sa.Dialect) -> _Decode:
    match kind:  # those of most values, without a detour
        case Exact():
            return stored_text
        case Moment() if dialect.name == "sqlite":
            return stored_moment
        case _:
            pass
    if isinstance(kind, sa.types.TypeDecorator):
        within = kind.load_dialect_impl(dialect).result_processor(dialect, None)
        if within is None:
            return functools.partial(kind.process_result_value, dialect=dialect)
    return kind.dialect_impl(dialect).result_processor(dialect, None)
