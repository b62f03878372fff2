"""What stands behind the console's frame."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from console import wiring
from console.commands import opened
from console.screens.desk import Desk


@asynccontextmanager
async def desk() -> AsyncIterator[Desk]:
    """The desk on the configured store, of whoever sits here."""
    async with opened.at_desk() as at:
        yield Desk(wiring.services(at.config, at.store, at.me))
