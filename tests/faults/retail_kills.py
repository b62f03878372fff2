"""Retail tasks killed at random instants: `python -m tests.faults.retail_kills`.

    --kills N              how many (default: 500)
    --store sqlite|postgresql
    --jobs N               at a time (default: 2)
    --seed N               the first seed (default: 1)

Each kill is a task of its own, with its own shop and store, played by
`tests.retail.play`: in the end the shop's books must be as they should, no key may have
acted twice, and every run must replay.
"""

from __future__ import annotations

import argparse
import asyncio
import time

from tests.retail import play


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.retail_kills")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    begun, left, seed, bad = time.monotonic(), said.kills, said.seed, 0
    tasks = play.tasks()
    while left:
        chosen = tasks[:left]
        rounds = play.play_all(chosen, "kill", said.store, jobs=said.jobs, seed=seed)
        bad += sum(bool(p.wrong) for p in asyncio.run(rounds))
        left, seed = left - len(chosen), seed + 1
    took = time.monotonic() - begun
    print(f"{said.kills} kills on {said.store}, {bad} violations, {took:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
