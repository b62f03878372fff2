"""The rows of operators and of worker processes."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from core.decision import Operator, Role
from core.ports import Worker
from store.codec import list_of, text_of
from store.reading import Row, each_of
from store.schema import operators, workers

SILENT = timedelta(seconds=30)
"""After how long without a report a worker counts as dead."""

_LISTED = timedelta(days=1)


def read_operators(connection: sa.Connection) -> tuple[Operator, ...]:
    """Everybody, by name."""
    query = sa.select(operators).order_by(operators.c.name)
    return tuple(each_of(connection, query, made, _mended))


def made(row: Row) -> Operator:
    """The operator of a row; raises where it is damaged."""
    return Operator(name=row.name, role=Role(row.role), disabled=row.disabled)


def _mended(row: Row) -> Operator:
    """Whose rights can't be read has none, until a supervisor gives them anew."""
    return Operator(name=row.name, role=Role.AGENT, disabled=True)


def save_operator(connection: sa.Connection, operator: Operator) -> None:
    """Stores a new or changed operator."""
    values = {"role": operator.role.value, "disabled": operator.disabled}
    changed = sa.update(operators).where(operators.c.name == operator.name)
    if connection.execute(changed.values(values)).rowcount == 0:
        connection.execute(sa.insert(operators), [{"name": operator.name, **values}])


def save_worker(connection: sa.Connection, worker: Worker, now: datetime) -> None:
    """Stores that a worker process lives now, by the database's clock."""
    changed = sa.update(workers).where(workers.c.id == worker.id)
    said = {"seen_at": now, "channels": list(worker.channels)}
    if connection.execute(changed.values(said)).rowcount == 0:
        connection.execute(
            sa.insert(workers),
            [
                {
                    "id": worker.id,
                    "host": worker.host,
                    "pid": worker.pid,
                    "started_at": now,
                    **said,
                }
            ],
        )


def remove_worker(connection: sa.Connection, worker: str) -> None:
    """Forgets a worker that ended in order."""
    connection.execute(sa.delete(workers).where(workers.c.id == worker))


def read_workers(connection: sa.Connection, now: datetime) -> tuple[Worker, ...]:
    """Workers that reported within the last day, oldest first."""
    query = (
        sa.select(workers)
        .where(workers.c.seen_at >= now - _LISTED)
        .order_by(workers.c.started_at, workers.c.id)
    )

    def reported(row: Row, channels: tuple[str, ...]) -> Worker:
        return Worker(
            id=row.id,
            host=row.host,
            pid=row.pid,
            started_at=row.started_at,
            seen_at=row.seen_at,
            alive=now - row.seen_at < SILENT,
            channels=channels,
        )

    return tuple(
        each_of(
            connection,
            query,
            lambda row: reported(row, tuple(map(text_of, list_of(row.channels)))),
            lambda row: reported(row, ()),  # its next report stores them anew
        )
    )
