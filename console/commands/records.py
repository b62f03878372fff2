"""`handoff runs`, `run` and `replay`: what the agent was sent, and whether it holds."""

from collections.abc import Sequence
from functools import partial

import click

from console import plain, shapes
from console.commands import base
from console.commands.base import REFUSED, USAGE, Failed, fail
from console.wording import count
from core.cleanse import one_line
from core.flows import replay as offline
from core.flows.replay import BuiltByOther, Differs, Replayed, Same, UnknownRun
from core.history import History
from core.ports import QueueQuery, Store, Transaction
from core.ticket import RunId, TicketId

_ALL = 1_000_000
_SHOWN = 60


@click.command(cls=base.Command)
@click.argument("ticket")
def runs(ticket: str) -> None:
    """Show a ticket's runs."""

    async def work() -> None:
        async with base.with_store() as store:
            history = await store.read(lambda tx: tx.history(TicketId(ticket)))
        found = history.runs
        base.show([shapes.run(r) for r in found], lambda: plain.runs(found))

    base.run(work())


@click.command(cls=base.Command)
@click.argument("run")
def run(run: str) -> None:
    """Show everything of a run: what was sent and what came back."""

    async def work() -> None:
        async with base.with_store() as store:
            record = await store.read(lambda tx: tx.run_record(RunId(run)))
        if record is None:
            raise Failed(f"there is no run {run}", USAGE)
        found = record
        base.show(shapes.run_record(found), lambda: plain.run(found))

    base.run(work())


@click.command(cls=base.Command)
@click.option("--all", "every", is_flag=True, help="Every run of the store.")
@click.argument("run", required=False)
def replay(run: str | None, every: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """Rebuild a run's requests offline and compare them byte for byte."""
    if (run is None) != every:
        fail("either RUN or --all", USAGE)

    async def work() -> list[shapes.Shape]:
        async with base.with_store() as store:
            names = [RunId(run)] if run else await _every(store)
            return [_told(n, await offline.replay(store, n)) for n in names]

    told = base.run(work())
    if run is not None and told[0]["result"] == "unknown":
        fail(f"there is no run {run}", USAGE)
    base.show(told if every else told[0], lambda: _plain(told))
    if any(t["result"] != "same" for t in told):
        bad = sum(t["result"] != "same" for t in told)
        fail(f"{count(bad, 'run')} not rebuilt from the records", REFUSED)


async def _every(store: Store) -> list[RunId]:
    rows = await store.read(lambda tx: tx.queue(QueueQuery(view="all", limit=_ALL)))
    found: list[RunId] = []
    for row in rows:
        history = await store.read(partial(_history, row.ticket))
        found += [r.id for r in history.runs]
    return found


def _history(ticket: TicketId, tx: Transaction) -> History:
    return tx.history(ticket)


def _told(run: RunId, outcome: Replayed) -> shapes.Shape:
    match outcome:
        case Same(turns=turns):
            return {"run_id": run, "result": "same", "turns": turns}
        case Differs(turn=turn, what=what, diff=diff):
            return {
                "run_id": run,
                "result": "differs",
                "turn": turn,
                "what": what,
                "diff": list(diff),
            }
        case BuiltByOther(version=version):
            return {"run_id": run, "result": "built_by_other", "version": version}
        case UnknownRun():
            return {"run_id": run, "result": "unknown"}


def _plain(told: Sequence[shapes.Shape]) -> str:
    return "\n".join(_line(t) for t in told) or "There is no run."


def _line(told: shapes.Shape) -> str:
    run = told["run_id"]
    match told["result"]:
        case "same":
            turns = told["turns"]
            words = count(turns if isinstance(turns, int) else 0, "turn")
            return f"{run} same: {words} rebuilt byte for byte"
        case "differs":
            diff = told["diff"]
            lines = diff if isinstance(diff, list) else []
            shown = [f"    {one_line(str(d))}" for d in lines[:_SHOWN]]
            head = f"{run} differs at turn {told['turn']} ({told['what']})"
            return "\n".join([head, *shown])
        case "built_by_other":
            return f"{run} built by version {told['version']}: can't be compared"
        case other:
            return f"{run} {other}"
