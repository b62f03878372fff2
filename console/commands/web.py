"""`handoff web`: the console in a browser."""

import asyncio
import os
import secrets
import signal
from collections.abc import Mapping

import click

from console import wiring
from console.commands import base, opened, options
from console.commands.base import INTERRUPTED, USAGE, fail
from console.shapes_values import Shape
from console.web.door import Door, is_loopback

_TOKEN = "HANDOFF_WEB_TOKEN"  # noqa: S105 # the variable's name
_SHORTEST = 20


@click.command(cls=options.Command)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    metavar="N",
    help="Which port; 0 for any that is free.",
)
@click.option("--exposed", is_flag=True, help="Let other machines reach it.")
def web(host: str, port: int, exposed: bool) -> None:  # noqa: FBT001 # click's way to say an option
    """Serve the console to a browser; prints the address to open.

    The address holds a token that is new at each start, or is HANDOFF_WEB_TOKEN.
    Whoever has it works here as you; nothing is encrypted on the way.
    """
    if not is_loopback(host) and not exposed:
        fail(
            f"{host} can be reached from other machines, unencrypted; "
            "with --exposed, if that is meant",
            USAGE,
        )
    kept = os.environ.pop(_TOKEN, "")
    if kept and len(kept) < _SHORTEST:
        fail(f"{_TOKEN}: expected {_SHORTEST} characters or more", USAGE)
    token = kept or secrets.token_urlsafe(32)

    def listens(port: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{port}/?token={f'${_TOKEN}' if kept else token}"
        said: Shape = {"url": url, "host": host, "port": port}
        base.show(said, lambda: f"{url}\nCtrl-C ends it and its consoles.")

    async def work() -> bool:
        stopping, interrupted = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, stopping.set)

        def interrupt() -> None:
            interrupted.set()
            stopping.set()

        loop.add_signal_handler(signal.SIGINT, interrupt)
        environment = await _environment()
        door = Door(host=host, port=port, token=token, environment=environment)
        await wiring.serve_web(door, listens, stopping)
        return interrupted.is_set()

    if base.run(work()):
        base.leave(INTERRUPTED)


async def _environment() -> Mapping[str, str]:
    """What makes a console work on this store, as this operator."""
    async with opened.at_desk() as desk:
        said = {"HANDOFF_STORE": desk.config.store, "HANDOFF_OPERATOR": desk.me.name}
        if desk.config.file is not None:
            said["HANDOFF_CONFIG"] = str(desk.config.file.resolve())
        return os.environ | said
