"""`handoff runs`, `run` and `replay`: what the agent was sent, and whether it holds."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from console import plain, shapes_values, shapes_work, wiring
from console.commands import base, opened, options
from console.commands.base import REFUSED, USAGE, Failed, fail
from console.config import prompt_at
from console.measures import count
from console.wording import quarantined
from core.cleanse import one_line
from core.flows import replay as offline
from core.flows.replay import (
    BuiltByOther,
    Differs,
    Replayed,
    Same,
    UnknownRun,
    Unreadable,
)
from core.flows.whatif import Compared, Step, what_if
from core.history import History
from core.ports import QueueQuery, Store, Transaction
from core.quarantine import unreadable_runs
from core.ticket import RunId, TicketId
from core.turn import Run

_ALL = 1_000_000
_SHOWN = 60
_SHOW_PROGRESS = 20


@click.command(cls=options.Command)
@click.argument("ticket")
def runs(ticket: str) -> None:
    """Show a ticket's runs."""

    async def work() -> None:
        async with opened.with_store() as store:
            history = await store.read(lambda tx: tx.history(TicketId(ticket)))
        found = history.runs
        _warn_of(found)
        base.show([shapes_work.run(r) for r in found], lambda: plain.runs(found))

    base.run(work())


def _warn_of(runs: Iterable[Run]) -> None:
    """Says of which runs a part can't be read."""
    base.warn_of(quarantined(lost) for lost in unreadable_runs(runs))


@click.command(cls=options.Command)
@click.argument("run")
def run(run: str) -> None:
    """Show everything of a run: what was sent and what came back."""

    async def work() -> None:
        async with opened.with_store() as store:
            record = await store.read(lambda tx: tx.run_record(RunId(run)))
        if record is None:
            raise Failed(f"there is no run {run}", USAGE)
        found = record
        _warn_of([found.run])
        base.show(shapes_work.run_record(found), lambda: plain.run(found))

    base.run(work())


@click.command(
    cls=options.Command,
    examples=[
        "handoff replay --all",
        "handoff replay R-2B8M4XQ7KA --with-prompt new.md",
    ],
)
@click.option("--all", "every", is_flag=True, help="Every run of the store.")
@click.option(
    "--with-prompt",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Ask again with this prompt.",
)
@click.option("--with-model", metavar="ID", help="Ask this model again.")
@click.argument("run", required=False)
def replay(
    run: str | None,
    every: bool,  # noqa: FBT001 # click's way to say an option
    with_prompt: Path | None,
    with_model: str | None,
) -> None:
    """Rebuild a run's requests offline and compare them byte for byte.

    With another prompt or model, the model is asked again turn by turn, with the
    recorded tool results, and what it would have done is set beside what was done.
    No tool runs and nothing is sent to anybody.
    """
    if (run is None) != every:
        fail("either RUN or --all", USAGE)
    if with_prompt is not None or with_model is not None:
        if run is None:
            fail("--with-prompt and --with-model take one RUN", USAGE)
        _ask_again(RunId(run), with_prompt, with_model)
        return

    async def work() -> list[shapes_values.Shape]:
        async with opened.with_store() as store:
            names = [RunId(run)] if run else await _every(store)
            with _progress(names) as shown:
                return [_told(n, await offline.replay(store, n)) for n in shown]

    told = base.run(work())
    if run is not None and told[0]["result"] == "unknown":
        fail(f"there is no run {run}", USAGE)
    base.show(told if every else told[0], lambda: _plain(told))
    if any(t["result"] != "same" for t in told):
        bad = sum(t["result"] != "same" for t in told)
        fail(f"{count(bad, 'run')} not rebuilt from the records", REFUSED)


@contextmanager
def _progress(names: list[RunId]) -> Iterator[Iterable[RunId]]:
    """A bar on the terminal for more than a few runs, on standard error."""
    if len(names) < _SHOW_PROGRESS or not _is_terminal():
        yield names
        return
    with click.progressbar(names, label="replaying", file=sys.stderr) as bar:
        yield bar


def _is_terminal() -> bool:
    return sys.stderr.isatty()


def _ask_again(run: RunId, prompt_file: Path | None, model_id: str | None) -> None:
    """Prints, turn by turn, where another prompt or model goes another way."""

    async def work() -> list[Compared]:
        prompt = None if prompt_file is None else prompt_at(prompt_file)
        async with (
            opened.with_store() as store,
            wiring.open_model(opened.config()) as model,
        ):
            asked = what_if(store, model, run, prompt=prompt, model_id=model_id)
            try:
                return [compared async for compared in asked]
            except LookupError as unknown:
                raise Failed(str(unknown), USAGE) from unknown

    compared = base.run(work())
    base.show([_compared(c) for c in compared], lambda: _side_by_side(compared))


def _compared(compared: Compared) -> shapes_values.Shape:
    return {
        "turn": compared.turn,
        "acts_alike": compared.acts_alike,
        "recorded": _step(compared.recorded),
        "asked": _step(compared.asked),
    }


def _step(step: Step) -> shapes_values.Shape:
    return {"kind": step.kind, "calls": list(step.calls), "text": step.text}


def _side_by_side(compared: Sequence[Compared]) -> str:
    lines = []
    for c in compared:
        if c.acts_alike:
            lines.append(f"turn {c.turn}: alike ({_words(c.recorded)})")
        else:
            lines.append(f"turn {c.turn}: parts")
            lines.append(f"    recorded  {_words(c.recorded)}")
            lines.append(f"    asked     {_words(c.asked)}")
    return "\n".join(lines) or "The run has no answered turn."


def _words(step: Step) -> str:
    said = "; ".join(step.calls) or step.text or step.kind
    return one_line(f"{step.kind}: {said}", 300)


async def _every(store: Store) -> list[RunId]:
    rows = await store.read(lambda tx: tx.queue(QueueQuery(view="all", limit=_ALL)))
    found: list[RunId] = []
    for row in rows:
        history = await store.read(partial(_history, row.ticket))
        found += [r.id for r in history.runs]
    return found


def _history(ticket: TicketId, tx: Transaction) -> History:
    return tx.history(ticket)


def _told(run: RunId, outcome: Replayed) -> shapes_values.Shape:
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
        case Unreadable(what=what):
            return {"run_id": run, "result": "unreadable", "what": what}
        case UnknownRun():
            return {"run_id": run, "result": "unknown"}


def _plain(told: Sequence[shapes_values.Shape]) -> str:
    return "\n".join(_line(t) for t in told) or "There is no run."


def _line(told: shapes_values.Shape) -> str:
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
        case "unreadable":
            return f"{run} can't be compared, not readable: {told['what']}"
        case other:
            return f"{run} {other}"
