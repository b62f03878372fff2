"""HTTP under the model's server: connections, and all that can go wrong on them.

One thread a connection and plain sockets, because faults need the socket itself:
resets, half answers, silence.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, assert_never

from typing_extensions import override

from tests.worlds.faults import (
    Closed,
    Cut,
    Delay,
    Fault,
    Garbage,
    Gate,
    Hang,
    Html,
    Status,
)
from tests.worlds.message_answers import Recorded, error_body

TICK = 0.02
_JSON = {"content-type": "application/json"}
_PAGE = b"<html><body><h1>Bad Gateway</h1></body></html>"
_GARBAGE = b'{"id": "msg_'


class HangUpError(Exception):
    """The answer ends here, with a reset connection."""


class Desk(Protocol):
    """Who decides what the answers are."""

    stopped: threading.Event

    def arrive(self, path: str, headers: Mapping[str, str], raw: bytes) -> Recorded: ...
    def next_fault(self, recorded: Recorded) -> Fault | None: ...
    def answer(self, recorded: Recorded) -> tuple[int, dict[str, Any]]: ...
    def settle(self, recorded: Recorded, status: int, response: Any) -> None: ...


def _encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


class Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, desk: Desk, port: int) -> None:
        self.desk = desk
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    @override
    def server_bind(self) -> None:
        # Not HTTPServer's, which asks the resolver for our name.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", self.server_address[1]

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    @override
    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is nobody's error."""

    def cut_all(self) -> None:
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: Http
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True

    @override
    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].rpartition("/")[2]
        model = {"type": "model", "id": name, "display_name": name}
        self._write(200, _encoded(model), _JSON)

    def do_POST(self) -> None:
        desk = self.server.desk
        path = self.path.partition("?")[0]
        announced = int(self.headers.get("content-length", 0))
        raw = self.rfile.read(announced)
        if len(raw) < announced:  # the client died in the middle of asking
            self.close_connection = True
            return
        recorded = desk.arrive(path, dict(self.headers.items()), raw)
        if path == "/v1/messages/count_tokens":
            self._finish(recorded, 200, {"input_tokens": len(raw) // 4})
        elif path != "/v1/messages":
            self._finish(recorded, 404, error_body(recorded, 404, f"no {path}"))
        else:
            try:
                self._meet(recorded, desk.next_fault(recorded))
            except HangUpError:
                self._reset()

    def _meet(self, recorded: Recorded, fault: Fault | None) -> None:
        status, body = self.server.desk.answer(recorded)
        match fault:
            case Status(code=code, message=message, retry_after=seconds):
                extra = {} if seconds is None else {"retry-after": f"{seconds:g}"}
                self._finish(recorded, code, error_body(recorded, code, message), extra)
            case Html(code=code):
                self._finish(recorded, code, _PAGE)
            case Garbage():
                self._finish(recorded, 200, _GARBAGE)
            case Closed():
                raise HangUpError
            case Cut():
                self._half(body)
            case _:
                self._stand(fault)
                self._finish(recorded, status, body)

    def _stand(self, fault: Hang | Delay | Gate | None) -> None:
        match fault:
            case None:
                pass
            case Hang(seconds=seconds):
                self._wait(Gate(), seconds)
                raise HangUpError
            case Delay(seconds=seconds):
                self._wait(Gate(), seconds)
            case Gate():
                fault.arrived.set()
                self._wait(fault, float("inf"))
            case _:
                assert_never(fault)

    def _wait(self, gate: Gate, seconds: float) -> None:
        """Waits for the gate or the time; a client that hangs up ends it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not gate.wait(TICK):
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                gate.left.set()
                raise HangUpError
            if self.server.desk.stopped.is_set():
                raise HangUpError

    def _finish(
        self,
        recorded: Recorded,
        status: int,
        body: dict[str, Any] | bytes,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        """Answers; bytes are sent as they are, without the API's request id."""
        if isinstance(body, bytes):
            self.server.desk.settle(recorded, status, None)
            kind = {"content-type": "text/html"} if body is _PAGE else _JSON
            self._write(status, body, kind)
        else:
            self.server.desk.settle(recorded, status, body)
            headers = {"request-id": recorded.request_id, **(extra or {})}
            self._write(status, _encoded(body), {**_JSON, **headers})

    def _write(self, status: int, raw: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
        self.wfile.flush()

    def _half(self, body: Any) -> None:
        raw = _encoded(body)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2])
        self.wfile.flush()
        raise HangUpError

    def _reset(self) -> None:
        # With lingering off and no time, closing sends a reset.
        linger = struct.pack("ii", 1, 0)
        with suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
