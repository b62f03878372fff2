"""Every point at which a worker can be cut: counted, written down, and used once.

A point is named for what is going on there and how often it has been, such as
`write _apply within #2`; so the list of a run's points comes from the run itself and
a new commit or call is in it the moment somebody writes it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Points:
    """One process's points.

    Attributes:
        trace: Takes a line for each point that was passed.
        cut_at: The point at which this process is cut, or "".
        by: The signal that it sends to itself there: SIGKILL or SIGSTOP.
    """

    trace: Path
    cut_at: str = ""
    by: signal.Signals = signal.SIGKILL
    _passed: Counter[str] = field(default_factory=Counter)
    _one: threading.Lock = field(default_factory=threading.Lock)

    def reach(self, what: str) -> None:
        """Passes a point, or does not."""
        with self._one:
            self._passed[what] += 1
            name = f"{what} #{self._passed[what]}"
            with self.trace.open("ab", buffering=0) as trace:
                trace.write(name.encode() + b"\n")
        if name == self.cut_at:
            os.kill(os.getpid(), self.by)


def passed(trace: Path) -> list[str]:
    """The points in a trace, in order."""
    return trace.read_text(encoding="utf-8").splitlines() if trace.exists() else []
