"""A channel that appends each delivered reply to a file, one JSON object a line.

A reply is delivered once its line is on the disk. A crash in between may leave a torn
last line without a line feed; the next reply then starts on a line of its own, and the
torn one counts as not delivered. A reply that is in the file is not appended again, so
that a sender which wakes up late, after another took over, says nothing twice. For this
the file is read from its start: it is for small shops, demos and for handing replies
to another program.
"""

import asyncio
import fcntl
import json
import os
from datetime import datetime
from pathlib import Path

from core.errors import DeliveryFailed
from core.history import Reply
from core.ticket import Json


class JsonlChannel:
    """Replies in a file.

    Args:
        path: The file; made, with its folder, at the first reply.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    async def deliver(self, reply: Reply) -> str | None:
        """Appends the reply, once, and waits until it is on the disk.

        Returns:
            None: a file gives no ids.

        Raises:
            DeliveryFailed: It can't be written now; trying again may help.
        """
        try:
            line = _line(reply)
            await asyncio.to_thread(_append, self._path, line, reply.message_id)
        except OSError as wrong:
            raise DeliveryFailed(self._told(wrong), permanent=False) from None
        return None

    async def find(self, message_id: str) -> bool:
        """Whether a reply of this id is in the file.

        Raises:
            DeliveryFailed: The file can't be read.
        """
        try:
            return await asyncio.to_thread(_holds, self._path, message_id)
        except OSError as wrong:
            raise DeliveryFailed(self._told(wrong), permanent=False) from None

    def _told(self, wrong: OSError) -> str:
        why = (wrong.strerror or "input/output error").lower()
        return f"replies file {self._path}: {why}"


def _line(reply: Reply) -> bytes:
    said: dict[str, Json] = {
        "message_id": reply.message_id,
        "ticket": reply.ticket,
        "to": reply.to,
        "subject": reply.subject,
        "text": reply.text,
        "in_reply_to": reply.in_reply_to,
        "author": {"kind": reply.author.kind.value, "name": reply.author.name},
        "at": _utc(reply.created_at),
    }
    return json.dumps(said).encode() + b"\n"


def _utc(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _append(path: Path, line: bytes, message_id: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        # several workers may deliver by the same file
        fcntl.flock(file, fcntl.LOCK_EX)
        if _holds(path, message_id):
            return
        start = file.seek(0, os.SEEK_END)
        if start and _torn(file.fileno(), start):
            line = b"\n" + line
        try:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), start)
            raise


def _torn(descriptor: int, size: int) -> bool:
    return os.pread(descriptor, 1, size - 1) != b"\n"


def _holds(path: Path, message_id: str) -> bool:
    if not path.is_file():
        return False
    named = json.dumps(message_id).encode()
    with path.open("rb") as file:
        return any(_id_of(line) == message_id for line in file if named in line)


def _id_of(line: bytes) -> object:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found.get("message_id") if isinstance(found, dict) else None
