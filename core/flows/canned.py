"""The team's written replies and macros: everybody uses them, supervisors keep them."""

from dataclasses import dataclass

from core.decision import Operator, Role
from core.flows.person import NotPossible, as_of_now
from core.ports import Canned, HouseAct, Store, Transaction
from core.written import Unreadable, read


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """It is stored, or gone."""

    canned: Canned


async def keep(store: Store, by: Operator, name: str, text: str) -> Kept | NotPossible:
    """Stores a reply or macro, over what had its name.

    Raises:
        StoreUnreachable: Nothing was stored.
    """
    said = read(name, text)
    if isinstance(said, Unreadable):
        return NotPossible(why=f"{name}: {said.why}")
    return await store.write(lambda tx: _put(tx, by, name, text, "wrote a reply"))


async def remove(store: Store, by: Operator, name: str) -> Kept | NotPossible:
    """Removes one.

    Raises:
        StoreUnreachable: Nothing was changed.
    """

    def gone(tx: Transaction) -> Kept | NotPossible:
        if all(canned.name != name for canned in tx.canned()):
            return NotPossible(why=f"the team has written nothing named {name}")
        return _put(tx, by, name, "", "removed a reply")

    return await store.write(gone)


def _put(
    tx: Transaction, by: Operator, name: str, text: str, act: str
) -> Kept | NotPossible:
    me = as_of_now(tx, by)
    if me.disabled or me.role is not Role.SUPERVISOR:
        rule = "only a supervisor may change the team's replies"
        refused = HouseAct(by=by.name, act="refused", whom=None, why=rule, at=tx.now)
        tx.keep_act(refused)
        return NotPossible(why=rule)
    canned = Canned(name=name, text=text, by=by.name, at=tx.now)
    tx.save_canned(canned)
    tx.keep_act(HouseAct(by=by.name, act=act, whom=None, why=name, at=tx.now))
    return Kept(canned=canned)
