"""PostgreSQL: an operator is a database login, and what a login may do.

Every login that works with the store gets the same grants: it reads all, appends to
what is a record (journal, ledger, acts: nobody may change or delete these but the
tables' owner, as which erasure runs), and changes what has a state. Supervisors may
write `operators` besides. What a grant can't tell apart, an agent's proposal from a
supervisor's verdict, a trigger does (`migrations.guard`): so a demotion counts at
once, even where nobody was there to revoke a grant.

A login that may not grant is told what an administrator has to run.
"""

import sqlalchemy as sa

from core.decision import Role
from core.errors import UnfitName
from store.schema import metadata

_APPENDED = {
    *("journal", "arrivals", "participants", "bodies", "run_messages"),
    *("actions", "action_events", "house_acts", "rules"),
}
_READ = {"operators", "feed"}
_DELETED = ("drafts", "workers")
_REVISION = "alembic_version"

_MAY = sa.text(
    "SELECT pg_has_role(session_user, c.relowner, 'MEMBER'),"
    " EXISTS (SELECT FROM pg_roles WHERE rolname = :login),"
    " (SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = session_user)"
    " FROM pg_class c WHERE c.oid = 'operators'::regclass"
)

_OWNS = sa.text(
    "SELECT pg_has_role(:login, c.relowner, 'MEMBER')"
    " FROM pg_class c WHERE c.oid = 'operators'::regclass"
)


def admit(connection: sa.Connection, login: str, role: Role | None) -> tuple[str, ...]:
    """Gives a login a role's rights; None: those of a worker.

    Returns:
        The statements that this login may not run, for an administrator.

    Raises:
        UnfitName: PostgreSQL can have no such login; nothing was done yet.
    """
    _must_fit(login)
    may_grant, exists, may_create = connection.execute(_MAY, {"login": login}).one()
    if exists and _owns(connection, login):
        return ()
    wanted = _grants(login, role)
    if not exists and not may_create:
        return (_create(login), *wanted)
    if not exists:
        _run(connection, _create(login))
    if not may_grant:
        return wanted
    _run(connection, *wanted)
    return ()


def expel(connection: sa.Connection, login: str) -> tuple[str, ...]:
    """Takes all rights from a login; it still is one, for other databases.

    Returns:
        The statements that this login may not run, for an administrator.
    """
    may_grant, exists, _ = connection.execute(_MAY, {"login": login}).one()
    if not exists or _owns(connection, login):
        return ()
    tables = ", ".join((*sorted(metadata.tables), _REVISION))
    taken = f"REVOKE ALL ON {tables} FROM {_quoted(login)}"
    if not may_grant:
        return (taken,)
    _run(connection, taken)
    return ()


_LONGEST = 63
"""Bytes of a name; PostgreSQL cuts a longer one, which would be somebody else's."""

_RESERVED = {"public", "none"}
"""What PostgreSQL takes for no login, even in quotes: `public` is everybody."""


def _must_fit(login: str) -> None:
    size = len(login.encode("utf-8", "surrogatepass"))
    if size > _LONGEST:
        message = f"a PostgreSQL login has at most {_LONGEST} bytes; this has {size}"
        raise UnfitName(message)
    if login in _RESERVED or login.startswith("pg_"):
        raise UnfitName(f"PostgreSQL keeps the name {login} for itself")


def _owns(connection: sa.Connection, login: str) -> bool:
    """Whether the tables are the login's: whose they are has all rights."""
    return bool(connection.scalar(_OWNS, {"login": login}))


def _run(connection: sa.Connection, *statements: str) -> None:
    raw = connection.execution_options(no_parameters=True)
    for statement in statements:
        raw.exec_driver_sql(statement)


def _create(login: str) -> str:
    return f"CREATE ROLE {_quoted(login)} LOGIN"


def _grants(login: str, role: Role | None) -> tuple[str, ...]:
    name, tables = _quoted(login), sorted(metadata.tables)
    changed = ", ".join(t for t in tables if t not in _APPENDED | _READ)
    appended = ", ".join(t for t in tables if t in _APPENDED)
    people = (
        f"GRANT INSERT, UPDATE ON operators TO {name}"
        if role is Role.SUPERVISOR
        else f"REVOKE INSERT, UPDATE ON operators FROM {name}"
    )
    return (
        f"GRANT SELECT ON {', '.join((*tables, _REVISION))} TO {name}",
        f"GRANT INSERT, UPDATE ON {changed} TO {name}",
        f"GRANT INSERT ON {appended} TO {name}",
        f"GRANT DELETE ON {', '.join(_DELETED)} TO {name}",
        people,
    )


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
