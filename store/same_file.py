"""Whether a store's file is still the one that was opened.

Who has a file open keeps it, also when another takes its place in the folder: all
reads and commits would go on and go nowhere. So its place is looked at before each.
"""

from dataclasses import dataclass, field
from pathlib import Path

from core.errors import StoreReplaced


@dataclass(frozen=True, slots=True, kw_only=True)
class SameFile:
    """A file as it was when this was made; one that is not there is not watched.

    Attributes:
        path: Where it is.
        place: The same for people.
    """

    path: Path
    place: str
    _was: tuple[int, int] | None = field(init=False)

    def __post_init__(self) -> None:
        try:
            was = _identity(self.path)
        except OSError:  # what is wrong with it shows later
            was = None
        object.__setattr__(self, "_was", was)

    def check(self) -> None:
        """Nothing, as long as it is the same.

        Raises:
            StoreReplaced: It was removed, or another one is in its place.
        """
        if self._was is None:
            return
        try:
            same = _identity(self.path) == self._was
        except (FileNotFoundError, NotADirectoryError):
            same = False
        except OSError:  # the database tells what it makes of that
            return
        if not same:
            raise StoreReplaced(
                "the store's file was removed or replaced: put it back, or leave and"
                f" start again ({self.place})"
            )


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
