"""The model as a real HTTP server: POST /v1/messages on a free loopback port.

A brain decides every answer from the request body alone; the server checks each
request by `validate_request` and answers 400 in the API's own shape where it breaks
a rule, so that every test is a test of our requests too. Requests are kept in
memory and, where a log is named, on disk, a line each before its answer is sent.

`fail_next` makes the next requests meet a fault (see `faults`). As a program,
`python -m tests.worlds.messages_api --tasks tasks.json [--port N] [--log FILE]`
prints its address and plays reference actions.
"""

from __future__ import annotations

import argparse
import json
import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.worlds.brains import Brain, reference_actions
from tests.worlds.faults import Fault
from tests.worlds.message_answers import (
    Recorded,
    error_body,
    message_body,
    refused_headers,
)
from tests.worlds.message_rules import validate_request
from tests.worlds.messages_wire import TICK, Http

API_KEY = "test-key"


class MessagesApi:
    """The server; a context manager.

    Args:
        brain: Decides each answer.
        log: Takes a JSON line for each request.
        undeclared_tools: As in `validate_request`.
        port: 0 takes a free one.

    Attributes:
        requests: Every request so far, in order of arrival.
        refuses: Says of a request what of it is refused, although it keeps the public
            rules, in the API's words: `messages.1.content.0: …`; None: nothing.
    """

    def __init__(
        self,
        brain: Brain,
        *,
        log: Path | None = None,
        undeclared_tools: bool = False,
        port: int = 0,
    ) -> None:
        self.brain = brain
        self.requests: list[Recorded] = []
        self.refuses: Callable[[Any], str | None] = lambda body: None
        self._log = log
        self._undeclared_tools = undeclared_tools
        self._faults: deque[Fault] = deque()
        self._news = threading.Condition()
        self.stopped = threading.Event()
        self._http = Http(self, port)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(TICK,), daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL for the SDK."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which the SDK in another process finds this server."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": API_KEY}

    def __enter__(self) -> MessagesApi:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the server and every open connection."""
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.cut_all()
        self._thread.join()

    def fail_next(self, *faults: Fault) -> None:
        """Lets the next requests meet these faults, one each, in order."""
        with self._news:
            self._faults.extend(faults)

    def wait_for(self, count: int, seconds: float = 20.0) -> bool:
        """Waits until so many requests have been answered; False when time is up."""
        with self._news:
            return self._news.wait_for(lambda: self._answered() >= count, seconds)

    def bodies(self) -> list[Any]:
        """The bodies of all requests for a message so far."""
        return [r.body for r in self.requests if r.path == "/v1/messages"]

    def violations(self) -> list[str]:
        """Every broken rule so far; a test's last word: `== []`."""
        return [v for recorded in self.requests for v in recorded.violations]

    def _answered(self) -> int:
        return sum(recorded.status > 0 for recorded in self.requests)

    def arrive(self, path: str, headers: Mapping[str, str], raw: bytes) -> Recorded:
        """Records a request that has just been read."""
        request_id = f"req_{secrets.token_hex(12)}"
        try:
            body = json.loads(raw, parse_constant=_no_constant)
            broken: list[str] = []
        except ValueError as error:
            body, broken = None, [f"body: is not valid JSON: {error}"]
        with self._news:
            recorded = Recorded(
                number=len(self.requests) + 1,
                path=path,
                request_id=request_id,
                headers=headers,
                raw=raw,
                body=body,
                violations=broken,
            )
            self.requests.append(recorded)
        return recorded

    def next_fault(self, recorded: Recorded) -> Fault | None:
        """Takes the fault that this request meets, if any."""
        with self._news:
            fault = self._faults.popleft() if self._faults else None
        recorded.fault = type(fault).__name__ if fault is not None else None
        return fault

    def answer(self, recorded: Recorded) -> tuple[int, dict[str, Any]]:
        """The status and body that a request deserves."""
        refusal = refused_headers(recorded)
        if refusal is not None:
            return refusal, error_body(recorded, refusal, "see the request's headers")
        if recorded.body is not None:
            recorded.violations += validate_request(
                recorded.body, undeclared_tools=self._undeclared_tools
            )
        if recorded.violations:
            return 400, error_body(recorded, 400, "; ".join(recorded.violations))
        refused = self.refuses(recorded.body)
        if refused is not None:
            return 400, error_body(recorded, 400, refused)
        try:
            reply = self.brain(recorded.body)
        except Exception as error:  # noqa: BLE001 - a test's brain must fail loudly
            recorded.violations.append(f"brain: {error!r}")
            return 400, error_body(recorded, 400, f"brain: {error!r}")
        return 200, message_body(recorded.body, reply)

    def settle(self, recorded: Recorded, status: int, response: Any) -> None:
        """Notes what a request is answered with, on disk before it is sent."""
        with self._news:
            recorded.status = status
            recorded.response = response
            if self._log is not None:
                with self._log.open("ab") as log:
                    log.write(json.dumps(_logged(recorded)).encode() + b"\n")
            self._news.notify_all()


def _logged(recorded: Recorded) -> dict[str, Any]:
    names = ("number", "path", "request_id", "fault", "status", "violations")
    return {
        **{name: getattr(recorded, name) for name in names},
        "body": recorded.body,
        "response": recorded.response,
    }


def read_log(log: Path) -> list[dict[str, Any]]:
    """The requests in a log, in the order of their answers."""
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def main() -> None:
    """Serves reference actions until it is stopped."""
    parser = argparse.ArgumentParser(prog="messages_api")
    parser.add_argument("--tasks", type=Path, required=True)
    parser.add_argument("--per-turn", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    brain = reference_actions(options.tasks, per_turn=options.per_turn)
    with MessagesApi(brain, log=options.log, port=options.port) as api:
        print(api.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
