"""`handoff worker`, `doctor` and `migrate`: what keeps the house running."""

import asyncio
import os
import signal
from collections import Counter

import click

from console import wiring
from console.checks import Check, check_all
from console.commands import base, opened, options
from console.commands.base import INTERRUPTED, REFUSED
from console.config import Config
from console.shapes_values import Shape
from core.cleanse import one_line
from core.errors import ToolLost
from core.flows.ending import Over
from core.flows.house import House
from core.flows.serve import serve
from core.ticket import TicketId


@click.command(cls=options.Command)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="Runs at a time.",
)
@click.option("--drain", is_flag=True, help="End when nothing is left to do.")
@click.option("--until-stdin-ends", "tied", is_flag=True, hidden=True)
def worker(concurrency: int, drain: bool, tied: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """Run agents on tickets, and deliver replies."""
    said = opened.config()
    base.log_to_stderr("%(asctime)s %(name)s: %(message)s")
    stops: Counter[str] = Counter()

    def ended(ticket: TicketId, over: Over) -> None:
        stops[over.stop.value] += 1
        why = f": {one_line(over.why)}" if over.why else ""
        click.echo(f"{ticket} {over.stop.value}{why}", err=True)

    async def work() -> bool:
        async with (
            opened.with_store() as store,
            wiring.open_house(said, store) as house,
        ):
            await _try_tools(house)
            stopping = asyncio.Event()
            interrupted = _stop_on_signals(stopping)
            if tied:
                _end_with_stdin(stopping)
            await serve(
                house,
                wiring.worker(),
                concurrency=concurrency,
                drain=drain,
                stopping=stopping,
                on_end=ended,
            )
            return interrupted.is_set()

    interrupted = base.run(work())
    base.show({"runs": dict(stops)}, lambda: _summary(stops))
    if interrupted:
        base.leave(INTERRUPTED)


async def _try_tools(house: House) -> None:
    # a server that is away now may come back; two tools of one name will not
    try:
        await house.tools.specs()
    except ToolLost as lost:
        base.warn(f"{lost}; tickets go to people until it is there")


def _stop_on_signals(stopping: asyncio.Event) -> asyncio.Event:
    """Lets runs end at a boundary; the event says whether it was Ctrl-C.

    A second Ctrl-C ends at once: everything can be taken up again from the store.
    """
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()

    def interrupt() -> None:
        interrupted.set()
        stopping.set()
        loop.remove_signal_handler(signal.SIGINT)

    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_signal_handler(signal.SIGINT, interrupt)
    return interrupted


_A_MOMENT = 0.2
"""Seconds."""


def _end_with_stdin(stopping: asyncio.Event) -> None:
    """Ties this process to the one that started it and holds the other end.

    That one has died without a word: this one ends at once, since nobody would know
    of it any more. What it was doing is taken up again from the store. Where this one
    was told to stop, which may be heard a moment later, it stops in order.
    """
    loop = asyncio.get_running_loop()

    def look() -> None:
        if not os.read(0, 1024):
            loop.remove_reader(0)
            loop.call_later(_A_MOMENT, end)

    def end() -> None:
        if not stopping.is_set():
            click.echo("the process that started this worker is gone", err=True)
            os._exit(REFUSED)

    loop.add_reader(0, look)


def _summary(stops: Counter[str]) -> str:
    total = sum(stops.values())
    each = ", ".join(f"{count} {stop}" for stop, count in sorted(stops.items()))
    return f"{total} runs" + (f": {each}" if each else "")


@click.command(cls=options.Command)
def doctor() -> None:
    """Check store, clocks, lease, model, tools, channels, doubts and workers."""
    base.log_to_stderr()
    checks = base.run(_check(opened.config()))
    base.show([_document(c) for c in checks], lambda: "\n".join(map(_told, checks)))
    worst = max(c.code for c in checks)
    if worst:
        base.leave(worst)


async def _check(said: Config) -> list[Check]:
    return [check async for check in check_all(said, options.asked().name)]


def _document(check: Check) -> Shape:
    return {"check": check.name, "code": check.code, "found": check.found}


def _told(check: Check) -> str:
    word = "ok  " if check.code == 0 else "FAIL"
    return f"{word}  {check.name}: {one_line(check.found, 400)}"


@click.command(cls=options.Command)
def migrate() -> None:
    """Bring the store's schema up to date."""

    async def work() -> str:
        async with opened.with_store() as store:
            return str(getattr(store, "place", ""))

    place = base.run(work())
    base.show({"store": place, "schema": "current"}, lambda: f"{place}: up to date")
