"""Where a demo lives: its own folder with configuration, shop, replies and progress.

A demo is resumed where it was left. How long the buyers have been writing is kept here
and counts only while the demo runs, so that a night's pause does not bring a day's
messages at once.
"""

import json
import re
import shutil
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from console.config import data_folder
from core.errors import BadConfiguration

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
    """

    folder: Path
    store: str

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


def make_place(store: str | None, *, model: str | None, fresh: bool) -> Place:
    """A demo's folder with everything in it that a demo needs.

    Args:
        store: The store that was asked for, or None for one in the folder.
        model: Whom to ask instead of the configured model, or None.
        fresh: Whether to begin again, with the folder removed.

    Raises:
        BadConfiguration: The folder can't be made.
    """
    name = f"demo-{sha256(store.encode()).hexdigest()[:8]}" if store else "demo"
    folder = data_folder() / name
    try:
        if fresh and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, model)
    except OSError as wrong:
        why = (wrong.strerror or "input/output error").lower()
        raise BadConfiguration(f"the demo's folder {folder}: {why}") from None
    return Place(folder=folder, store=store or f"sqlite:///{folder / 'handoff.db'}")


def _write(folder: Path, model: str | None) -> None:
    given = files("console.demo")
    shutil.copyfile(str(given / "support.md"), folder / "support.md")
    text = (given / "handoff.toml").read_text(encoding="utf-8")
    if model is not None:
        text = _MODEL.sub(f'model = "{model}"', text, count=1)
    (folder / "handoff.toml").write_text(text, encoding="utf-8")
