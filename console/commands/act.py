"""People use tools: under the same policy and ledger as the agent."""

import click

from console import plain, shapes_values, shapes_work, wiring
from console.commands import base, opened, options
from console.commands.base import REFUSED, UNREACHABLE, USAGE, Failed, fail
from console.commands.desk import done, refusal, stored
from core.flows import operate
from core.flows.operate import InDoubt, Operated, Proposed, Used
from core.flows.person import Done, NotHolder, NotPossible
from core.ticket import TicketId


@click.command(
    cls=options.Command,
    examples=[
        'handoff act T-7K3QF2M find_order \'{"order_id": "S-1"}\'',
        "handoff act --decision D-2B8M4XQ7KA",
    ],
)
@click.option(
    "--decision", default=None, metavar="ID", help="Carry out this approved decision."
)
@click.argument("ticket", required=False)
@click.argument("tool", required=False)
@click.argument("arguments", metavar="[JSON]", required=False)
def act(
    ticket: str | None, tool: str | None, arguments: str | None, decision: str | None
) -> None:
    """Use a tool as the holder: TICKET TOOL JSON, or --decision ID.

    The same rules hold as for the agent: what needs a decision is proposed.
    """
    by_decision = decision is not None and ticket is None
    if not by_decision and (arguments is None or decision is not None):
        fail("expected TICKET TOOL JSON, or --decision ID", USAGE)
    given = base.json_argument(arguments, "JSON") if arguments is not None else None

    base.log_to_stderr()

    async def work() -> tuple[TicketId, Operated]:
        async with (
            opened.at_desk() as desk,
            wiring.open_hands(desk.config, desk.store) as hands,
        ):
            if decision is None:
                name = TicketId(ticket or "")
                return name, await operate.use_tool(
                    hands, name, desk.me, tool or "", given
                )
            found = await desk.store.read(lambda tx: tx.decision(decision))
            if found is None:
                raise Failed(f"there is no decision {decision}", USAGE)
            return found.ticket, await operate.execute_decision(
                hands, found.ticket, desk.me, decision
            )

    _told(*base.run(work()))


def _told(ticket: TicketId, outcome: Operated) -> None:
    said: shapes_values.Shape = {"ticket": ticket}
    match outcome:
        case Used(call=call, result=result):
            said |= {
                "outcome": "used",
                "call": call,
                "result": shapes_work.result(result),
            }
            base.show(said, lambda: plain.value(result.content))
            if result.is_error:
                raise Failed("the tool answered with an error", REFUSED)
        case Proposed(decision=decision):
            said |= {"outcome": "proposed", "decision": shapes_work.decision(decision)}
            line = plain.decision_line(decision)
            base.show(said, lambda: f"A supervisor decides: {line}")
        case InDoubt(action=action, key=key):
            said |= {"outcome": "in_doubt", "action": action, "key": key}
            base.show(said, lambda: f"{action} is in doubt")
            raise Failed(
                f"the tool gave no answer: ask its provider for the key {key}, then "
                f"handoff settle {action} --happened or --did-not, with --evidence",
                UNREACHABLE,
            )
        case NotHolder() | NotPossible():
            raise Failed(refusal(outcome), REFUSED)


@click.command(
    cls=options.Command,
    examples=['handoff settle A-2B8M4XQ7KA --happened --evidence "paid"'],
)
@click.option("--happened", is_flag=True, help="It was carried out.")
@click.option("--did-not", "did_not", is_flag=True, help="It was not carried out.")
@click.option("--evidence", default="", metavar="TEXT", help="How you know.")
@click.argument("action")
def settle(action: str, happened: bool, did_not: bool, evidence: str) -> None:  # noqa: FBT001 # click's way to say an option
    """Say what became of an action in doubt, as the holder of its ticket."""
    if happened == did_not:
        fail("one of --happened and --did-not", USAGE)
    if not evidence.strip():
        fail("--evidence TEXT is needed: say how you know", USAGE)

    async def work() -> tuple[TicketId, Done]:
        async with opened.at_desk() as desk:
            ticket = await operate.ticket_of_action(desk.store, action)
            if ticket is None:
                raise Failed(f"there is no action {action}", USAGE)
            outcome = await operate.settle_doubt(
                desk.store,
                ticket,
                desk.me,
                action,
                happened=happened,
                evidence=evidence,
            )
            return ticket, done(outcome)

    stored(*base.run(work()), "Settled")
