"""Where a demo lives: its own folder with configuration, shop, replies and progress.

A demo is resumed where it was left. How long the buyers have been writing is kept here
and counts only while the demo runs, so that a night's pause does not bring a day's
messages at once.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from console.config import data_folder
from console.demo.lock import only_demo
from core.errors import BadConfiguration

_LOCK = "running.lock"
_STORE = re.compile(r'^store = "[^"]*"', re.MULTILINE)
_MODEL = re.compile(r'^model = "[^"]*"', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the story is.

    Attributes:
        round: Counts the times that the buyers have begun to write.
        elapsed: Seconds of this round.
    """

    round: int = 0
    elapsed: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A demo's folder.

    Attributes:
        store: URL of the demo's store.
        lock: The open lock file; whoever has it keeps other demos out.
    """

    folder: Path
    store: str
    lock: int

    @property
    def config(self) -> Path:
        """The demo's `handoff.toml`."""
        return self.folder / "handoff.toml"

    @property
    def log(self) -> Path:
        """What its worker says."""
        return self.folder / "worker.log"

    def progress(self) -> Progress:
        """How far the story was when it was last left."""
        try:
            kept = json.loads(self._progress.read_bytes())
            return Progress(round=int(kept["round"]), elapsed=float(kept["elapsed"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Progress()

    def keep(self, progress: Progress) -> None:
        """Keeps how far the story is."""
        text = json.dumps({"round": progress.round, "elapsed": progress.elapsed})
        new = self._progress.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(self._progress)

    @property
    def _progress(self) -> Path:
        return self.folder / "progress.json"


@contextmanager
def made_place(store: str | None, *, model: str | None, fresh: bool) -> Iterator[Place]:
    """A demo's folder with everything in it that a demo needs, for this demo alone.

    Args:
        store: The store that was asked for, or None for one in the folder.
        model: Whom to ask instead of the configured model, or None.
        fresh: Whether to begin again, with the folder's files removed.

    Raises:
        BadConfiguration: The folder can't be made.
        DemoRuns: A demo runs on this store.
    """
    usual = data_folder() / "demo"
    own = f"sqlite:///{(usual / 'handoff.db').resolve()}"
    store = own if store is None else _one_name(store)
    digest = sha256(store.encode()).hexdigest()[:8]
    folder = usual if store == own else data_folder() / f"demo-{digest}"
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(only_demo(folder / _LOCK))
            if fresh:
                _clear(folder)
            _write(folder, store, model)
        except OSError as wrong:
            why = (wrong.strerror or "input/output error").lower()
            raise BadConfiguration(f"the demo's folder {folder}: {why}") from None
        yield Place(folder=folder, store=store, lock=lock)


def _one_name(store: str) -> str:
    """The same name for the same SQLite file, however it was written."""
    path = store.removeprefix("sqlite:///")
    if path == store or not path:
        return store
    return f"sqlite:///{Path(path).expanduser().resolve()}"


def _clear(folder: Path) -> None:
    """Removes all but the lock, which is held."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()


def _write(folder: Path, store: str, model: str | None) -> None:
    given = files("console.demo")
    shutil.copyfile(str(given / "support.md"), folder / "support.md")
    for reply in (given / "replies").iterdir():
        (folder / "replies").mkdir(exist_ok=True)
        (folder / "replies" / reply.name).write_bytes(reply.read_bytes())
    text = (given / "handoff.toml").read_text(encoding="utf-8")
    # so that every command reads this store in this folder; no file keeps a password
    named = "" if urlsplit(store).password else f"store = {json.dumps(store)}"
    text = _STORE.sub(lambda _: named, text, count=1)
    if model is not None:
        text = _MODEL.sub(f'model = "{model}"', text, count=1)
    (folder / "handoff.toml").write_text(text, encoding="utf-8")
