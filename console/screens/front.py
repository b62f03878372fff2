"""The desk as the program knows it, which paints before the desk's modules are loaded.

Nothing here needs more than the screen library.
"""

from collections.abc import Sequence
from pathlib import Path

from textual import events
from textual.message import Message
from textual.screen import Screen


class KeysFirst:
    """A screen that acts on a key before its focused widget sees it."""

    def take_key(self, event: events.Key) -> bool:
        """Acts on a key, unless letters are text here.

        Returns:
            Whether the key is done with.
        """
        raise NotImplementedError


class Front(KeysFirst, Screen[None], inherit_bindings=False):
    """The screen that everything else lies above.

    Attributes:
        look: The theme to start with.
        ascii: Whether the terminal shows nothing but ASCII.
        log_path: The file that takes what went wrong, or None.
    """

    look: str
    ascii: bool
    log_path: Path | None

    class Waiting(Message):
        """So many things wait for the person now."""

        def __init__(self, waits: int) -> None:
            super().__init__()
            self.waits = waits

    class Failed(Message):
        """Something in the background failed that should not."""

        def __init__(self, what: str, error: BaseException) -> None:
            super().__init__()
            self.what = what
            self.error = error

    def begin_with(self, keys: Sequence[events.Key]) -> None:
        """Takes the keys that were pressed before it was there."""
        raise NotImplementedError

    async def keep_drafts(self) -> object:
        """Stores every unsent text, the last letters included."""
        raise NotImplementedError
