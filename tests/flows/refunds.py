"""Tickets on which the agent asks for refunds, and the verdicts of supervisors."""

from typing import Any

from core.decision import Operator, Verdict
from core.flows.supervise import Decided, decide
from core.ticket import Json, TicketId
from core.turn import Stop
from tests.flows.world import REFUNDS, SUP, World, calls
from tests.worlds.brains import Reply, Script, calls_in

APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
REJECT = Verdict(kind="reject", why="it was delivered", input=None, seen=None)
WANTED = {"order_id": "O-1", "amount": "80.00"}
IDENTIFY = ("find_customer", {"order_id": "O-1"})
DONE = Reply(text="Done.")


def override(given: Json) -> Verdict:
    return Verdict(kind="override", why="", input=given, seen=None)


def refunds(*wanted: dict[str, Any]) -> Script:
    """Identifies the buyer, asks for refunds in one turn, then says that it is done."""
    return Script(
        [
            calls(IDENTIFY),
            calls(*[("refund_order", given) for given in wanted]),
            Reply(text="That is what I could do."),
        ]
    )


async def proposed(world: World, *wanted: dict[str, Any]) -> TicketId:
    """A ticket whose run waits for a verdict."""
    world.model.brain = refunds(*(wanted or (WANTED,)))
    ticket = await world.opened("refund me for O-1")
    assert await world.runs(ticket) is Stop.AWAITING_DECISION
    return ticket


async def says(
    world: World, ticket: TicketId, verdict: Verdict = APPROVE, by: Operator = SUP
) -> Decided:
    """A supervisor's verdict on the ticket's newest decision."""
    found = await world.decision(ticket)
    return await decide(world.store, found.id, verdict, by, (REFUNDS,))


def result_texts(world: World) -> list[str]:
    """What the newest request says of the calls, in order."""
    found = calls_in(world.model.bodies[-1])
    return [str(result["content"]) for _, result in found if result is not None]
