"""Who works here: supervisors add people, give them roles, disable and enable them.

Who is disabled loses at once what they hold, want or look after: each ticket goes
back in a transaction of its own, and `free_absent` is also asked by every worker from
time to time, so that one which was missed in a crash does not stay with somebody who
can't come back. What they did and wrote, drafts too, stays theirs.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from core.decision import Operator, Role
from core.errors import UnfitName
from core.flows.offer import not_taken
from core.flows.person import NotPossible, as_of_now
from core.journal import Claimed, LockChanged
from core.lock import HolderKind, Released, release
from core.ports import HouseAct, QueueQuery, Store, Transaction
from core.stretch import ended
from core.ticket import TicketId, system

_SYSTEM = system("people")
_ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """It is stored.

    Attributes:
        operator: As they are now.
        to_run: What a database's administrator has to run for their login, or ().
    """

    operator: Operator
    to_run: tuple[str, ...] = ()


async def add(
    store: Store, by: Operator, name: str, role: Role
) -> Changed | NotPossible:
    """Adds somebody; on PostgreSQL their login gets the rights of the role.

    Raises:
        StoreUnreachable: Nothing was stored.
    """

    def new(found: Operator | None) -> Operator | NotPossible:
        if found is not None:
            return NotPossible(why=f"there is an operator named {name} already")
        return Operator(name=name, role=role)

    return await store.write(lambda tx: _change(tx, by, name, new, "added"))


async def give_role(
    store: Store, by: Operator, name: str, role: Role
) -> Changed | NotPossible:
    """Gives somebody another role; it counts from this moment.

    Raises:
        StoreUnreachable: Nothing was stored.
    """

    def moved(found: Operator | None) -> Operator | NotPossible:
        return _nobody(name) if found is None else replace(found, role=role)

    return await store.write(
        lambda tx: _change(tx, by, name, moved, f"made {role.value}")
    )


async def disable(store: Store, by: Operator, name: str) -> Changed | NotPossible:
    """Lets somebody work here no more; what they hold goes back to the queue.

    Raises:
        StoreUnreachable: They may be disabled; what they hold goes back later.
    """

    def gone(found: Operator | None) -> Operator | NotPossible:
        return _nobody(name) if found is None else replace(found, disabled=True)

    changed = await store.write(lambda tx: _change(tx, by, name, gone, "disabled"))
    if isinstance(changed, Changed):
        await free_absent(store)
    return changed


async def enable(store: Store, by: Operator, name: str) -> Changed | NotPossible:
    """Lets somebody who was disabled work here again.

    Raises:
        StoreUnreachable: Nothing was stored.
    """

    def back(found: Operator | None) -> Operator | NotPossible:
        return _nobody(name) if found is None else replace(found, disabled=False)

    return await store.write(lambda tx: _change(tx, by, name, back, "enabled"))


async def admit_worker(
    store: Store, by: Operator, login: str
) -> tuple[str, ...] | NotPossible:
    """Gives a database login what a worker needs, without making it a person.

    Returns:
        What an administrator has to run for it, or ().

    Raises:
        StoreUnreachable: Nothing was stored.
    """

    def grant(tx: Transaction) -> tuple[str, ...] | NotPossible:
        if not _supervises(as_of_now(tx, by)):
            return _refused(tx, by, login, "only a supervisor may change people")
        try:
            return tx.admit(login, None)
        except UnfitName as unfit:
            return _refused(tx, by, login, str(unfit))

    return await store.write(grant)


def _nobody(name: str) -> NotPossible:
    return NotPossible(why=f"there is no operator named {name}")


def _change(
    tx: Transaction,
    by: Operator,
    name: str,
    make: Callable[[Operator | None], Operator | NotPossible],
    act: str,
) -> Changed | NotPossible:
    """A supervisor changes somebody; there is always one supervisor left."""
    people = {o.name: o for o in tx.operators(alone=True)}
    if by.name not in people or not _supervises(people[by.name]):
        return _refused(tx, by, name, "only a supervisor may change people")
    new = make(people.get(name))
    if isinstance(new, NotPossible):
        return _refused(tx, by, name, new.why)
    alike = [n for n in people if name not in people and _folded(n) == _folded(name)]
    if alike:
        why = f"{name} and the operator {alike[0]} could not be told apart"
        return _refused(tx, by, name, why)
    if not any(_supervises(o) for o in (people | {name: new}).values()):
        return _refused(tx, by, name, f"{name} is the last supervisor")
    try:
        to_run = tx.expel(name) if new.disabled else tx.admit(name, new.role)
    except UnfitName as unfit:
        return _refused(tx, by, name, str(unfit))
    tx.keep_act(HouseAct(by=by.name, act=act, whom=name, why="", at=tx.now))
    tx.save_operator(new)
    return Changed(operator=new, to_run=to_run)


def _folded(name: str) -> str:
    """A name as it is heard: two that differ in case or width alone are one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _supervises(who: Operator) -> bool:
    return who.role is Role.SUPERVISOR and not who.disabled


def _refused(tx: Transaction, by: Operator, whom: str, rule: str) -> NotPossible:
    """Keeps the refused try, by itself in its transaction (rule 14)."""
    tx.keep_act(HouseAct(by=by.name, act="refused", whom=whom, why=rule, at=tx.now))
    return NotPossible(why=rule)


async def free_absent(store: Store) -> int:
    """Takes from disabled operators what they hold, want or look after.

    Returns:
        How many tickets were changed.

    Raises:
        StoreUnreachable: What is left is done at the next call.
    """

    def theirs(tx: Transaction) -> list[tuple[TicketId, str]]:
        return [
            (row.ticket, o.name)
            for o in tx.operators()
            if o.disabled
            for row in tx.queue(QueueQuery(view="mine", operator=o.name, limit=_ALL))
        ]

    left = await store.read(theirs)
    for ticket, name in left:
        await store.write(partial(_free, ticket, name))
    return len(left)


def _free(ticket: TicketId, name: str, tx: Transaction) -> None:
    gone = {o.name for o in tx.operators() if o.disabled}
    if name not in gone:
        return
    lock, why = tx.lock_of(ticket), f"{name} was disabled"
    holder = lock.holder
    if holder is not None and holder.kind is HolderKind.OPERATOR:
        outcome = release(lock, lock.hold, tx.now)
        if holder.name == name and isinstance(outcome, Released):
            over = ended(lock, "released", tx.now, to="queue", why=why)
            tx.append_as(lock.hold, _SYSTEM, over)
            tx.save_lock(outcome.lock)
    elif tx.standing(ticket).offered_to == name:
        tx.append(ticket, _SYSTEM, not_taken(lock.token, name, why))
    elif lock.wanted_by == name and lock.wanted_since is not None:
        no_more = LockChanged(
            change="wanted",
            holder={"kind": "operator", "name": name},
            token=lock.token,
            since=lock.wanted_since.isoformat(),
            until=tx.now.isoformat(),
            why=why,
        )
        tx.save_lock(replace(lock, wanted_by=None, wanted_since=None))
        tx.append(ticket, _SYSTEM, no_more)
    if tx.standing(ticket).owner == name:
        tx.append(ticket, _SYSTEM, Claimed(owner=None))
