"""What can go wrong between a client and the model's server, one class each."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """An error answer in the API's own shape: 400, 401, 403, 404, 429, 500, 529."""

    code: int
    message: str = "as the test asked"
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """A proxy's error page instead of the API's JSON."""

    code: int = 502


@dataclass(frozen=True, slots=True)
class Garbage:
    """Status 200 and a body that is no JSON."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is reset after the request was read."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The head and half of the answer, then the connection is reset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """No answer at all; the connection is reset after so many seconds."""

    seconds: float = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """The usual answer, so many seconds late."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Gate:
    """The usual answer, but only once the test opens the gate.

    Attributes:
        arrived: Set when a request stands at the gate.
        left: Set when its client hung up while it stood there.
    """

    arrived: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    _opened: threading.Event = field(default_factory=threading.Event)

    def open(self) -> None:
        """Lets the request go on."""
        self._opened.set()

    def wait(self, seconds: float) -> bool:
        """Waits for the gate to open; False when it is still shut."""
        return self._opened.wait(seconds)


Fault = Status | Html | Garbage | Closed | Cut | Hang | Delay | Gate
