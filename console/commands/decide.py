"""`handoff decisions` and `handoff decide`: what supervisors say of proposals."""

from collections.abc import Mapping

import click

from console import plain, shapes_work, wiring
from console.commands import base, opened, options
from console.commands.base import REFUSED, USAGE, Failed, fail
from console.live import on_objects_of
from console.plain_journal import stamp
from console.wording import cannot_be_read
from core.cleanse import one_line
from core.decision import (
    READY,
    AlreadyDecided,
    Approved,
    Decision,
    Expired,
    FirstOfTwo,
    NotAllowed,
    Overridden,
    Rejected,
    Stale,
    Verdict,
)
from core.flows import supervise
from core.flows.supervise import Decided, UnknownDecision, WrongArguments, why_not
from core.ledger import OnObject, besides
from core.policy import Rules
from core.ports import Transaction
from core.ticket import Json
from core.tool import ToolSpec


@click.command(cls=options.Command)
@click.option("--all", "every", is_flag=True, help="Settled ones too.")
def decisions(every: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """Show what waits for a supervisor."""

    async def work() -> None:
        async with opened.with_store() as store:
            found, kept, also = await store.read(lambda tx: _listed(tx, every=every))
            if not found:
                await opened.tell_if_empty(store)
        if not every:  # as the approvals on the desk: what waits for a verdict first
            found = tuple(sorted(found, key=lambda d: d.state in READY))
        then = {r.version: r for r in kept if r.intact}
        rules = {d.id: then[d.policy].of(d.tool) for d in found if d.policy in then}
        base.warn_of(
            f"{d.ticket}, {d.id}: {cannot_be_read(d)}"
            for d in found
            if d.unreadable is not None
        )
        base.show(
            [shapes_work.decision(d, rules.get(d.id), also.get(d.id)) for d in found],
            lambda: plain.decisions(found, also),
        )

    base.run(work())


_Also = Mapping[str, tuple[OnObject, ...]]


def _listed(
    tx: Transaction, *, every: bool
) -> tuple[tuple[Decision, ...], tuple[Rules, ...], _Also]:
    """The decisions, the rules, and what else is on what each open one acts on."""
    found = tx.decisions(open_only=not every)
    on_objects = on_objects_of(tx, found)
    also = {
        d.id: besides(on_objects.get(d.acts_on or "", ()), d.id)
        for d in found
        if d.open
    }
    return found, tx.rules(), also


@click.command(
    cls=options.Command,
    examples=[
        "handoff decide D-2B8M4XQ7KA --approve",
        "handoff decide D-2B8M4XQ7KA --override "
        '\'{"order": "S-1", "amount": "20.00"}\'',
        'handoff decide D-2B8M4XQ7KA --reject --why "paid already"',
    ],
)
@click.option("--approve", is_flag=True, help="Let it happen exactly as proposed.")
@click.option(
    "--override",
    default=None,
    metavar="JSON",
    help="Let it happen with these arguments instead; all of them.",
)
@click.option("--reject", is_flag=True, help="Do not let it happen.")
@click.option(
    "--why", default="", metavar="TEXT", help="The reason; needed with --reject."
)
@options.seen
@click.argument("decision")
def decide(
    decision: str,
    approve: bool,  # noqa: FBT001 # click's way to say an option
    override: str | None,
    reject: bool,  # noqa: FBT001
    why: str,
    seen: int | None,
) -> None:
    """Approve a decision, override its arguments or reject it."""
    if approve + reject + (override is not None) != 1:
        fail("one of --approve, --override JSON and --reject", USAGE)
    if reject and not why.strip():
        fail("--reject needs --why TEXT", USAGE)
    given: Json = None
    if override is not None:
        given = base.json_argument(override, "--override")
    kind = "approve" if approve else "reject" if reject else "override"
    verdict = Verdict(kind=kind, why=why, input=given, seen=seen)
    base.log_to_stderr()
    settled = base.run(_decide(decision, verdict))
    base.show(
        shapes_work.decision(settled), lambda: f"Stored: {plain.decision_line(settled)}"
    )


async def _decide(decision: str, verdict: Verdict) -> Decision:
    async with opened.at_desk() as desk:
        specs: tuple[ToolSpec, ...] = ()
        found: Decision | None = None
        if verdict.kind == "override":
            found = await desk.store.read(lambda tx: tx.decision(decision))
            tools = await wiring.tool_specs(desk.config) if found is not None else {}
            specs = tuple(tools.values())
        outcome = await supervise.decide(desk.store, decision, verdict, desk.me, specs)
    if isinstance(outcome, WrongArguments) and _left_out(found, verdict):
        left = ", ".join(one_line(name, 40) for name in _left_out(found, verdict))
        why = (
            f"{outcome.why}; --override takes all arguments, as JSON; left out: {left}"
        )
        raise Failed(f"not changed: {why}", REFUSED)
    return _settled(outcome, decision)


def _left_out(found: Decision | None, verdict: Verdict) -> list[str]:
    """The proposed arguments that an override does not name."""
    if found is None or verdict.kind != "override":
        return []
    given = verdict.input if isinstance(verdict.input, Mapping) else {}
    proposed = found.input if isinstance(found.input, Mapping) else {}
    return [name for name in proposed if name not in given]


def _settled(outcome: Decided, name: str) -> Decision:
    match outcome:
        case Approved(decision=new) | Overridden(decision=new) | Rejected(decision=new):
            return new
        case FirstOfTwo(decision=new):
            base.warn("it needs a second supervisor's approval")
            return new
        case AlreadyDecided() | Stale() | NotAllowed():
            raise Failed(f"not changed: {why_not(outcome)}", REFUSED)
        case Expired(decision=old):
            until = stamp(old.expires_at)
            raise Failed(f"not changed: {name} expired at {until}", REFUSED)
        case WrongArguments(why=why):
            raise Failed(f"not changed: {why}", REFUSED)
        case UnknownDecision():
            raise Failed(f"there is no decision {name}", USAGE)
