"""What the holder does besides writing: tools, doubts, who the buyer is, triage.

Each is a flow and its answer in one plain line, as in `acts`.
"""

from console.live import Services
from console.measures import money
from console.screens.acts import Said, no, outcome_said, told
from core.cleanse import one_line
from core.decision import Decision
from core.flows import amend, operate
from core.flows.operate import InDoubt, Operated, Proposed, Used
from core.flows.person import NotHolder, NotPossible
from core.journal import IdentityChanged
from core.ticket import JsonObject, TicketId


class WorkActs:
    """The acts of one operator on the ticket that they hold."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.store
        self._me = services.operator

    async def use(self, ticket: TicketId, tool: str, arguments: JsonObject) -> Said:
        """Uses a tool under the agent's policy and ledger."""

        async def call(ticket: TicketId) -> Said:
            if self._services.hands is None:
                return no("no tool server is configured")
            async with self._services.hands() as hands:
                return _operated(
                    tool,
                    await operate.use_tool(hands, ticket, self._me, tool, arguments),
                )

        return await told(call, ticket, in_parts=True)

    async def execute(self, ticket: TicketId, decision: Decision) -> Said:
        """Executes an approved decision with exactly the approved arguments."""

        async def call(ticket: TicketId) -> Said:
            if self._services.hands is None:
                return no("no tool server is configured")
            async with self._services.hands() as hands:
                outcome = await operate.execute_decision(
                    hands, ticket, self._me, decision.id
                )
                return _operated(decision.tool, outcome)

        return await told(call, ticket)

    async def settle(
        self, ticket: TicketId, action: str, *, happened: bool, evidence: str
    ) -> Said:
        """Says what became of an action in doubt."""

        async def say(ticket: TicketId) -> Said:
            done = await operate.settle_doubt(
                *(self._store, ticket, self._me, action),
                happened=happened,
                evidence=evidence,
            )
            return outcome_said(done, f"{one_line(action, 30)} is settled")

        return await told(say, ticket)

    async def verify(self, ticket: TicketId, customer: str, evidence: str) -> Said:
        """Records who the buyer is; no customer: that nobody is verified."""

        async def record(ticket: TicketId) -> Said:
            body = IdentityChanged(
                verified=bool(customer),
                customer=customer or None,
                name=None,
                method="operator",
                evidence=evidence,
            )
            done = await amend.verify(self._store, ticket, self._me, body)
            words = "The buyer is verified" if customer else "Nobody is verified now"
            return outcome_said(done, words)

        return await told(record, ticket)

    async def triage(self, ticket: TicketId, category: str, priority: str) -> Said:
        """Sets category and priority."""

        async def change(ticket: TicketId) -> Said:
            done = await amend.set_triage(
                self._store, ticket, self._me, category, priority
            )
            return outcome_said(done, f"{category}, {priority}")

        return await told(change, ticket)

    async def state(self, ticket: TicketId, patch: JsonObject) -> Said:
        """Amends the agent's working state."""

        async def change(ticket: TicketId) -> Said:
            done = await amend.amend_state(self._store, ticket, self._me, patch)
            return outcome_said(done, "The state is amended")

        return await told(change, ticket)


def _operated(tool: str, outcome: Operated) -> Said:
    name = one_line(tool, 40)
    match outcome:
        case Used(result=result) if result.is_error:
            said = result.content
            more = f": {said}" if isinstance(said, str) else "; the timeline has it"
            return no(f"{name} answered with an error{more}")
        case Used():
            return Said(words=f"{name} is done; the timeline has its answer", done=True)
        case Proposed(decision=decision):
            amount = money(*decision.moves)
            what = f"{name} {amount}".rstrip()
            return Said(words=f"{what}: a supervisor decides, {decision.id}", done=True)
        case InDoubt(action=action):
            doubt = f"{one_line(action, 30)} is in doubt"
            return no(f"{name} gave no answer: {doubt}", over=True)
        case NotHolder() | NotPossible():
            return outcome_said(outcome, "")
