"""Tool servers that start at once: forked from one that has loaded what they need.

The library of tool servers takes a second of a processor to load. One process of each
test run loads it, and forks for each server that is started (see `at_once`).
"""

import functools
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOADED = (
    "anyio._backends._asyncio",
    "console.demo.shop_tools",
    "mcp.server.lowlevel.server",
    "mcp.server.mcpserver",
    "mcp.server.stdio",
    "tests.worlds.retail_store",
    "tests.worlds.retail_tools",
    "uvicorn",
)


def command(module: str, *words: str) -> tuple[str, ...]:
    """The command line that runs a module of tool servers."""
    stub = str(Path(__file__).with_name("at_once.py"))
    return (sys.executable, "-S", stub, _address(), module, *words)


@functools.cache
def _address() -> str:
    """Where this test run's process listens; it ends with us."""
    name = f"handoff-ready-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen(64)
        _forking.append(
            subprocess.Popen(
                [sys.executable, "-m", __name__, str(listener.fileno())],
                stdin=subprocess.PIPE,
                cwd=ROOT,
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )
        )
    return name


_forking: list[subprocess.Popen[bytes]] = []


def main() -> None:
    """Forks until the input ends."""
    for name in LOADED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(fileno=int(sys.argv[1]))
    while listener in select.select([listener, 0], [], [])[0]:
        asked, _ = listener.accept()
        said, streams = _received(asked)
        if os.fork() == 0:
            listener.close()
            _become(asked, said, streams)
        asked.close()
        for stream in streams:
            os.close(stream)


def _received(asked: socket.socket) -> tuple[dict[str, Any], list[int]]:
    raw, streams, _, _ = socket.recv_fds(asked, 65536, 3)
    while not raw.endswith(b"\n"):
        raw += asked.recv(65536)
    said: dict[str, Any] = json.loads(raw)
    return said, streams


def _become(asked: socket.socket, said: dict[str, Any], streams: list[int]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(said["environment"])
    os.chdir(said["folder"])
    threading.Thread(target=_end_with, args=[asked], daemon=True).start()
    sys.argv = said["words"]
    code = 0
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    asked.send(bytes([code]))
    os._exit(code)


def _end_with(asked: socket.socket) -> None:
    """Ends this process when the one that asked for it is gone."""
    asked.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
