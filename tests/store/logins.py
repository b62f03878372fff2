"""People and a worker as database logins, and their connections."""

from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from core.decision import Operator, Role, Verdict
from core.ticket import TicketId
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import World, calls
from tests.worlds.brains import Reply, Script

APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
REJECT = Verdict(kind="reject", why="no", input=None, seen=None)
EVE = Operator(name="eve O'Hara", role=Role.AGENT)
MIA = Operator(name="mia", role=Role.SUPERVISOR)
MAX = Operator(name="max", role=Role.SUPERVISOR)
ADMIN = Operator(name="postgres", role=Role.SUPERVISOR)
BOT = "bot"
LONGEST = "é" * 31 + "e"

Plain = psycopg.Connection[tuple[object, ...]]


def plainly(url: str, who: Operator) -> Plain:
    """A connection of this login, for plain SQL."""
    return psycopg.connect(**{**conninfo_to_dict(url), "user": who.name})  # type: ignore[arg-type]


def opened(url: str, name: str) -> SqlStore:
    """The store, opened by this login."""
    return SqlStore.open(url.replace("//postgres@", f"//{quote(name)}@"))


async def waits(world: World, amount: str = "80.00") -> TicketId:
    """A ticket whose run waits for a verdict."""
    world.model.brain = Script(
        [
            calls(("find_customer", {"order_id": "O-1"})),
            calls(("refund_order", {"order_id": "O-1", "amount": amount})),
            Reply(text="Done."),
        ]
    )
    ticket = await world.opened("refund me")
    assert await world.runs(ticket) is Stop.AWAITING_DECISION
    return ticket
