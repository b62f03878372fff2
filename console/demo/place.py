"""Where a demo lives: its own folder with configuration, shop, replies and progress.

A demo is resumed where it was left. How long the buyers have been writing is kept here
and counts only while the demo runs, so that a night's pause does not bring a day's
messages at once. What somebody changed or added in it stays theirs.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from console.config import data_folder
from console.demo.lock import only_demo
from console.wiring import SCRIPTED
from core.errors import BadConfiguration

_LOCK = "running.lock"
_STORE = re.compile(r'^store = "[^"]*"', re.MULTILINE)
_MODEL = re.compile(r'^(model\s*=\s*)"([^"]*)"', re.MULTILINE)
_CONFIG = "handoff.toml"
_MADE = ("handoff.db*", "shop.db*", "replies.jsonl*", "progress.*", "worker.log")


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
        return self.folder / _CONFIG

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
        fresh: Whether to begin again, with the demo's files written anew.

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
    """Removes what a demo made, but for the lock, which is held."""
    for path in [found for made in _MADE for found in folder.glob(made)]:
        path.unlink()
    for name in _given():
        (folder / name).unlink(missing_ok=True)


def _given() -> dict[str, bytes]:
    """The files that a demo begins with, by their path in its folder."""
    ours = files("console.demo")
    found = {name: (ours / name).read_bytes() for name in (_CONFIG, "support.md")}
    replies = (ours / "replies").iterdir()
    return found | {f"replies/{reply.name}": reply.read_bytes() for reply in replies}


def _write(folder: Path, store: str, model: str | None) -> None:
    """Writes what is not there yet; of what is there only who answers changes."""
    given = _given()
    config = given[_CONFIG].decode()
    # so that every command reads this store in this folder; no file keeps a password
    named = "" if urlsplit(store).password else f"store = {json.dumps(store)}"
    given[_CONFIG] = _STORE.sub(lambda _: named, config, count=1).encode()
    (folder / "replies").mkdir(exist_ok=True)
    for name, content in given.items():
        if not (folder / name).exists():
            (folder / name).write_bytes(content)
    _let_answer(folder / _CONFIG, model or _model_of(config), live=model is None)


def _let_answer(config: Path, model: str, *, live: bool) -> None:
    """Puts the model into the configuration; a live one that is there stays."""
    said = config.read_bytes().decode(errors="surrogateescape")
    if live and _model_of(said) != SCRIPTED:
        return
    new = _MODEL.sub(lambda line: f'{line[1]}"{model}"', said, count=1)
    if new != said:
        config.write_bytes(new.encode(errors="surrogateescape"))


def _model_of(config: str) -> str:
    line = _MODEL.search(config)
    return "" if line is None else line[2]
