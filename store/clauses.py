"""What each database says in words of its own, as parts of any statement.

Statements are made of the schema's tables for both databases alike. These clauses
differ, and cost less within another statement than in one of their own.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement

from store.columns import Moment


class Clock(FunctionElement[datetime]):
    """The database's time as the row is read, not as the transaction began."""

    type = Moment()
    inherit_cache = True
    name = "clock"


class ChangeNumber(FunctionElement[int]):
    """The number under which the feed finds this transaction's changes (`changes`)."""

    type = sa.BigInteger()
    inherit_cache = True
    name = "change_number"


@compiles(Clock, "sqlite")
def _sqlite_clock(_: object, __: object, **___: object) -> str:
    return "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')"


@compiles(Clock, "postgresql")
def _postgres_clock(_: object, __: object, **___: object) -> str:
    return "clock_timestamp()"


@compiles(ChangeNumber, "sqlite")
def _sqlite_change_number(_: object, __: object, **___: object) -> str:
    return "(SELECT position FROM feed)"


@compiles(ChangeNumber, "postgresql")
def _postgres_change_number(_: object, __: object, **___: object) -> str:
    return "pg_current_xact_id()::text::bigint"
