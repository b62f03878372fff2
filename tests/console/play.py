"""The console on a store, as a program of its own: `python -m tests.console.play`."""

import asyncio
import os
import sys

from console.app import HandoffApp
from console.screens.desk import Desk
from console.screens.pace import Pace
from store.transaction import SqlStore
from tests.console.steps import services_on
from tests.zoo import HOSTILE

_BAD = "".join(HOSTILE[n] for n in ("title", "clipboard", "dcs", "bidi override"))
WRITTEN = HOSTILE | {
    f"a macro {_BAD}": f"---\nnote: {_BAD}\nrelease: queue\n---\nDear {{{_BAD}}} {_BAD}"
}


class Failing(HandoffApp):
    """A console that fails while it holds a secret."""

    def on_ready(self) -> None:
        card = "4111111111111111"
        raise RuntimeError(card)


async def play(url: str, *, fails: bool) -> int:
    store = SqlStore.open(url)
    services = services_on(store, ascii="HANDOFF_ASCII" in os.environ, canned=WRITTEN)
    app = (Failing if fails else HandoffApp)(Desk(services), Pace())
    await app.run_async()
    await store.close()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(asyncio.run(play(sys.argv[1], fails=len(sys.argv) > 2)))
