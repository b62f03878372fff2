"""What concerns the whole house: acts on it, the pause, its rules, who sits where.

Acts are numbered without gaps and never changed. Two at the same instant meet at the
number's unique key, and the second is tried again.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa

from core.policy import Rules
from core.ports import CLOSED, HERE, HouseAct, Pause, Presence
from core.ticket import TicketId
from store.codec import object_of
from store.prepared import Prepared
from store.reading import Row, as_read, each_of
from store.schema import house_acts, presence, rules

_LISTED = timedelta(minutes=30)

_h = house_acts.c
_p = presence.c
_SWITCHED = sa.select(house_acts).where((_h.act == "paused") | (_h.act == "resumed"))
_LAST_SWITCHED = Prepared(_SWITCHED.order_by(_h.n.desc()).limit(1))


def keep_act(connection: sa.Connection, act: HouseAct) -> None:
    """Stores an act under the next number."""
    last = connection.scalar(sa.select(sa.func.max(_h.n))) or 0
    values = {"n": last + 1, "at": act.at, "operator": act.by, "act": act.act}
    connection.execute(
        sa.insert(house_acts), [{**values, "whom": act.whom, "why": act.why}]
    )


def read_acts(connection: sa.Connection) -> tuple[HouseAct, ...]:
    """All acts, oldest first."""
    return tuple(each_of(connection, sa.select(house_acts).order_by(_h.n), act_of))


def act_of(r: Row) -> HouseAct:
    """The act of a row; raises where it is damaged."""
    return HouseAct(by=r.operator, act=r.act, whom=r.whom, why=r.why, at=r.at)


def read_pause(connection: sa.Connection) -> Pause | None:
    """Why the agent is stopped everywhere, or None."""
    last = _LAST_SWITCHED.each(connection, act_of)
    if not last or last[0].act != "paused":
        return None
    return Pause(by=last[0].by, why=last[0].why, at=last[0].at)


def keep_rules(connection: sa.Connection, new: Rules, now: datetime) -> None:
    """Stores a version of the rules that is not there yet."""
    there = sa.select(rules.c.version).where(rules.c.version == new.version)
    if connection.scalar(there) is None:
        values = {"version": new.version, "first_seen": now, "tools": new.tools}
        connection.execute(sa.insert(rules), [values])


def read_rules(connection: sa.Connection) -> tuple[Rules, ...]:
    """All versions, the newest first; one that can't be read is not intact."""
    newest = rules.c.first_seen.desc()
    query = sa.select(rules).order_by(newest, rules.c.version)
    return tuple(each_of(connection, query, rules_of, _mended_rules))


def rules_of(r: Row) -> Rules:
    """The version of a row; raises where it is damaged."""
    return Rules(version=r.version, tools=object_of(r.tools), first_seen=r.first_seen)


def _mended_rules(r: Row) -> Rules:
    return Rules(version=r.version, tools={}, first_seen=r.first_seen)


def save_presence(connection: sa.Connection, said: Presence, now: datetime) -> None:
    """Stores what one console of an operator says of itself now.

    A new console takes the row of one of theirs that is gone, so that there are never
    more rows than were open at once.
    """
    values = {
        "console": said.console,
        "ticket": said.ticket,
        "doing": said.doing,
        "active_at": min(said.active_at, now),  # a clock may be fast
        "seen_at": now,
    }
    mine = sa.update(presence).where(_p.operator == said.operator).values(values)
    if connection.execute(mine.where(_p.console == said.console)).rowcount:
        return
    gone = (_p.seen_at < now - HERE) | (_p.doing == CLOSED)
    one = sa.select(sa.func.min(_p.console)).where(_p.operator == said.operator, gone)
    if connection.execute(mine.where(_p.console == one.scalar_subquery())).rowcount:
        return
    connection.execute(sa.insert(presence), [{"operator": said.operator, **values}])


def read_presences(connection: sa.Connection, now: datetime) -> tuple[Presence, ...]:
    """Where people are whose consoles reported within the last half hour, by name.

    Of several consoles of one person, those that are gone say nothing as long as one
    is here; of those, the one with the last key says where they are.
    """
    query = (
        sa.select(presence)
        .where(_p.seen_at >= now - _LISTED)
        .order_by(_p.operator, _p.console)
    )
    said: dict[str, Presence] = {}
    for row in each_of(connection, query, as_read):
        one = Presence(
            operator=row.operator,
            ticket=None if row.ticket is None else TicketId(row.ticket),
            doing=row.doing,
            active_at=row.active_at,
            seen_at=row.seen_at,
            console=row.console,
            here=row.seen_at >= now - HERE and row.doing != CLOSED,
        )
        known = said.get(one.operator)
        if known is None or _tells(one) > _tells(known):
            said[one.operator] = one
    return tuple(said.values())


def _tells(said: Presence) -> tuple[bool, datetime]:
    """How much a console says about where its operator is."""
    return said.here, said.active_at
