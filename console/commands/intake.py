"""`handoff ingest` and `handoff import`: messages and conversations from a file.

A line is stored before the next is read. A bad one is told by its number and the rest
goes on. Keys that nobody knows are left out: a payload that calls its sender verified
says nothing that we could know.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import BinaryIO

import click

from console import wiring
from console.arriving import BadLine, arrival, objects, parsed, text
from console.commands import base, opened, options
from console.measures import count
from core.flows.intake import Received, bring_in, receive
from core.ports import Store
from core.ticket import JsonObject

_FILE = click.argument("file", type=click.File("rb"))


@click.command(cls=options.LineCommand, examples=["handoff ingest messages.jsonl"])
@_FILE
def ingest(file: BinaryIO) -> None:
    """Append messages, one JSON object a line; "-" reads stdin."""
    base.run(_each(file, _ingest))


@click.command("import", cls=options.LineCommand)
@_FILE
def import_(file: BinaryIO) -> None:
    """Bring in finished conversations, one JSON object a line; "-" reads stdin."""
    base.run(_each(file, _import))


async def _ingest(store: Store, said: JsonObject) -> Received:
    return await receive(store, wiring.ids(), arrival(said))


async def _import(store: Store, said: JsonObject) -> Received:
    subject = said.get("subject")
    messages: Sequence[JsonObject] = objects(said, "messages")
    return await bring_in(
        store,
        wiring.ids(),
        source_id=text(said, "id"),
        subject=subject if isinstance(subject, str) else None,
        messages=messages,
    )


async def _each(
    file: BinaryIO, store_one: Callable[[Store, JsonObject], Awaitable[Received]]
) -> None:
    bad = 0
    async with opened.with_store() as store:
        for number, raw in enumerate(file, 1):
            if not raw.strip():
                continue
            try:
                received = await store_one(store, parsed(raw))
            except (BadLine, ValueError) as wrong:
                base.warn(f"line {number}: {wrong}")
                bad += 1
                continue
            base.line(
                {
                    "ticket": received.ticket,
                    "seq": received.seq,
                    "duplicate": received.duplicate,
                }
            )
    if bad:
        base.fail(f"{count(bad, 'line')} not stored", base.REFUSED)
