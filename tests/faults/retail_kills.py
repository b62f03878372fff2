"""Retail tasks killed at random instants: `python -m tests.faults.retail_kills`.

    --kills N              how many (default: 500)
    --store sqlite|postgresql
    --jobs N               at a time (default: 2)
    --seed N               the first seed (default: 1)

On stderr it says after every tenth kill how far it is.

Each kill is a task of its own, with its own shop and store, played by
`tests.retail.play`: in the end the shop's books must be as they should, no key may have
acted twice, and every run must replay.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from tests.retail import play

_TOLD = 10


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.retail_kills")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    begun, left, seed, bad, over = time.monotonic(), said.kills, said.seed, 0, 0
    tasks = play.tasks()

    def tell(played: play.Played) -> None:
        nonlocal bad, over
        bad, over = bad + bool(played.wrong), over + 1
        if over % _TOLD == 0 or played.wrong:
            took = time.monotonic() - begun
            line = f"{over} of {said.kills} kills, {bad} violations, {took:.0f} s"
            print(line, file=sys.stderr)

    while left:
        chosen = tasks[:left]
        asyncio.run(
            play.play_all(
                chosen, "kill", said.store, jobs=said.jobs, seed=seed, told=tell
            )
        )
        left, seed = left - len(chosen), seed + 1
    took = time.monotonic() - begun
    print(f"{said.kills} kills on {said.store}, {bad} violations, {took:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
