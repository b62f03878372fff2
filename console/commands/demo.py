"""`handoff demo`: the whole product in one go, offline."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import click

from console import shapes, wiring
from console.app import run_console
from console.commands import base, options
from console.commands.base import REFUSED, USAGE, Failed, fail
from console.config import load
from console.demo.place import Place, made_place
from console.demo.runner import Buyers, add_colleagues, is_ours, running_worker
from console.measures import count
from console.plain_journal import event_line
from console.screens.desk import Desk
from core.history import History
from core.journal import Entry
from core.ports import QueueQuery, Store, Transaction
from core.ticket import TicketId

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
_ON_SCREEN, _HEADLESS = 1.5, 0.2
_ALL = 100_000
_TOLD = {"message", "tool_call", "decision", "action", "identity", "escalation"}
_TOLD |= {"run", "delivery", "triage", "note", "lock"}


@click.command(cls=options.LineCommand, examples=["handoff demo --headless 20"])
@click.option(
    "--headless",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    metavar="SECONDS",
    help="Run without a screen and print what happens.",
)
@click.option("--fresh", is_flag=True, help="Begin again.")
@click.option("--live", is_flag=True, help="Let the real model be the agent.")
def demo(headless: float | None, fresh: bool, live: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """See everything at work: a shop, its buyers, an agent, and you."""
    if live and not any(os.environ.get(key) for key in _KEYS):
        fail("--live needs ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL", USAGE)
    if headless is None and not base.at_terminal():
        fail("the console needs a terminal; or use --headless SECONDS", USAGE)
    if headless is None and options.asked().json:
        fail("--json goes with --headless SECONDS", USAGE)
    if options.asked().config is not None:
        base.warn("the demo has its own handoff.toml: --config is not used")
    # not HANDOFF_STORE: buyers who are none do not belong where the real ones are
    store = options.asked().store
    if fresh and store is not None:
        fail("--fresh is for the demo's own store; name an empty --store", USAGE)
    model = None if live else wiring.SCRIPTED
    with made_place(store, model=model, fresh=fresh) as place:
        if headless is None:
            base.run(_on_screen(place, live=live))
        else:
            base.run(_headless(place, headless))


async def _on_screen(place: Place, *, live: bool) -> None:
    said = load(file=str(place.config), store=place.store)
    title = f"demo · {said.model}" if live else "demo · scripted agent"

    @asynccontextmanager
    async def opening() -> AsyncIterator[Desk]:
        async with wiring.open_store(said) as store:
            await _make_ready(store)
            me = await wiring.operator(store, options.asked().name)
            async with (
                running_worker(place, delay=_ON_SCREEN),
                asyncio.TaskGroup() as together,
            ):
                buyers = _buyers(place, store, endless=True)
                writing = together.create_task(buyers.run())
                yield Desk(wiring.services(said, store, me, title))
                writing.cancel()

    await run_console(opening)


async def _headless(place: Place, seconds: float) -> None:
    said = load(file=str(place.config), store=place.store)
    async with wiring.open_store(said) as store:
        await _make_ready(store)
        if options.asked().name is not None:
            await wiring.operator(store, options.asked().name)
        try:
            async with (
                asyncio.timeout(seconds),
                running_worker(place, delay=_HEADLESS),
                asyncio.TaskGroup() as together,
            ):
                together.create_task(_buyers(place, store, endless=False).run())
                together.create_task(_tell(store))
        except TimeoutError:
            pass
        await _summary(store)


async def _make_ready(store: Store) -> None:
    if not await store.read(is_ours):
        raise Failed("this store holds tickets that are not the demo's", REFUSED)
    await add_colleagues(store)


def _buyers(place: Place, store: Store, *, endless: bool) -> Buyers:
    return Buyers(
        store=store,
        ids=wiring.ids(),
        clock=wiring.clock(),
        place=place,
        endless=endless,
    )


async def _tell(store: Store) -> None:
    """Prints what happens on any ticket, as it happens."""
    told: dict[TicketId, int] = await store.read(_where_all_stand)
    async for changed in store.follow():
        for ticket in changed:
            history = await store.read(partial(_history, ticket))
            for entry in history.journal:
                if entry.seq > told.get(ticket, 0) and entry.kind in _TOLD:
                    _event(ticket, entry)
            told[ticket] = history.standing.last_seq


def _where_all_stand(tx: Transaction) -> dict[TicketId, int]:
    rows = tx.queue(QueueQuery(limit=_ALL))
    return {row.ticket: row.standing.last_seq for row in rows}


def _history(ticket: TicketId, tx: Transaction) -> History:
    return tx.history(ticket)


def _event(ticket: TicketId, entry: Entry) -> None:
    if options.asked().json:
        base.line({"event": entry.kind, "ticket": ticket, **shapes.entry(entry)})
    else:
        click.echo(f"{ticket} {event_line(entry)}")


async def _summary(store: Store) -> None:
    def look(tx: Transaction) -> tuple[Counter[str], Counter[str], int]:
        rows = tx.queue(QueueQuery(limit=_ALL))
        replies = Counter(reply.state for reply in tx.outbox())
        waiting = len(tx.decisions(open_only=True))
        return Counter(row.status.value for row in rows), replies, waiting

    stands, replies, waiting = await store.read(look)
    if options.asked().json:
        base.line(
            {
                "event": "summary",
                "tickets": sum(stands.values()),
                "status": dict(stands),
                "replies": dict(replies),
                "decisions": waiting,
            }
        )
        return
    each = ", ".join(f"{n} {word}" for word, n in sorted(stands.items()))
    click.echo(f"{count(sum(stands.values()), 'ticket')}: {each}")
    each = ", ".join(f"{n} {word}" for word, n in sorted(replies.items()))
    click.echo(f"replies: {each or 'none'}; {count(waiting, 'decision')} waiting")
