"""What a person writes on the desk: drafts by ticket and mode, kept in the store."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from console.screens.acts import Acts
from core.history import Draft
from core.ticket import TicketId

_OWN = 8
"""Texts stored last: what is read a little later may be one of these."""

AGAIN = 60.0
"""Seconds for which a discarded text can be brought back."""


@dataclass(slots=True, kw_only=True)
class Drafts:
    """Unsent texts of this operator.

    Attributes:
        acts: Stores them.
    """

    acts: Acts
    _texts: dict[tuple[TicketId, str], str] = field(default_factory=dict)
    _unsaved: set[tuple[TicketId, str]] = field(default_factory=set)
    _kept: dict[tuple[TicketId, str], datetime] = field(default_factory=dict)
    _own: dict[tuple[TicketId, str], tuple[str, ...]] = field(default_factory=dict)
    _begun: dict[tuple[TicketId, str], int] = field(default_factory=dict)
    _discarded: dict[TicketId, tuple[float, dict[str, str]]] = field(
        default_factory=dict
    )

    def learn(self, ticket: TicketId, stored: Iterable[Draft], me: str) -> None:
        """Takes the stored drafts of a ticket where they are newer than ours.

        The same person may have written them in another console, which was closed or
        killed since. What was begun here meanwhile stands behind them.
        """
        for draft in stored:
            key = (ticket, draft.mode)
            known, own = self._kept.get(key), self._own.get(key, ())
            if draft.operator != me or draft.text in own:
                continue
            if known is None or draft.updated_at > known:
                begun = self._texts.get(key, "") if key in self._unsaved else ""
                self._texts[key] = "\n".join(filter(None, (draft.text, begun)))
                self._begun[key] = draft.written_at_seq
                self._kept[key] = draft.updated_at

    def text(self, ticket: TicketId, mode: str) -> str:
        """What is written there."""
        return self._texts.get((ticket, mode), "")

    def begun(self, ticket: TicketId, mode: str) -> int:
        """The last seq that was there when its text was begun."""
        return self._begun.get((ticket, mode), 0)

    def stands(self, ticket: TicketId, mode: str, seen: int) -> None:
        """Takes note that the text is meant after all that came up to a seq."""
        self._begun[ticket, mode] = seen

    def write(self, ticket: TicketId, mode: str, text: str, seen: int) -> None:
        """Takes note of what is written; `save` stores it.

        Args:
            ticket: On which ticket.
            mode: `reply`, `note` or what `words_for` says.
            text: All of it.
            seen: The last seq that was on the screen.
        """
        if not self._texts.get((ticket, mode), "").strip():
            self._begun[ticket, mode] = seen
        self._texts[ticket, mode] = text
        self._unsaved.add((ticket, mode))

    def unsent_on(self, ticket: TicketId) -> dict[str, str]:
        """What is written on a ticket and not sent, by its mode."""
        there = [mode for on, mode in self._texts if on == ticket]
        texts = {mode: self.text(ticket, mode) for mode in _in_order(there)}
        return {mode: text for mode, text in texts.items() if text.strip()}

    def as_stored(self, ticket: TicketId) -> dict[str, str]:
        """What is written on a ticket and stored just so, by its mode."""
        return {
            key[1]: text
            for key, text in self._texts.items()
            if key[0] == ticket
            and text
            and key in self._kept
            and key not in self._unsaved
        }

    def gone(
        self,
        ticket: TicketId,
        before: Mapping[str, str],
        stored: Iterable[Draft],
        me: str,
    ) -> bool:
        """Empties what was sent or discarded in another console, untouched here.

        Args:
            ticket: The ticket.
            before: Its texts `as_stored`, before the store was read.
            stored: Its drafts, as they were read.
            me: Whose this console is.

        Returns:
            Whether there was any.
        """
        there = {draft.mode for draft in stored if draft.operator == me}
        now = self.as_stored(ticket)
        over = [m for m in before.keys() - there if now.get(m) == before[m]]
        for mode in over:
            self._texts[ticket, mode] = ""
        return bool(over)

    def discarded(self, ticket: TicketId) -> None:
        """Empties what is written on a ticket; `restore` brings it back for a while."""
        texts = self.unsent_on(ticket)
        for mode in texts:
            self._texts[ticket, mode] = ""
            self._unsaved.discard((ticket, mode))
        self._discarded[ticket] = (time.monotonic(), texts)

    def can_restore(self, ticket: TicketId) -> bool:
        """Whether a discarded text can be brought back, over nothing that is new."""
        at, texts = self._discarded.get(ticket, (0.0, {}))
        free = not any(self.text(ticket, mode).strip() for mode in texts)
        return bool(texts) and free and time.monotonic() - at < AGAIN

    def restore(self, ticket: TicketId) -> None:
        """Brings back what was discarded; `save` stores it."""
        _, texts = self._discarded.pop(ticket, (0.0, {}))
        for mode, text in texts.items():
            self.write(ticket, mode, text, self.begun(ticket, mode))

    def drop(self, ticket: TicketId) -> None:
        """Forgets the texts of a ticket that is not there any more."""
        for key in [key for key in self._texts if key[0] == ticket]:
            del self._texts[key]
            self._unsaved.discard(key)

    @property
    def unsent(self) -> bool:
        """Whether there is any text that was not sent."""
        return any(text.strip() for text in self._texts.values())

    @property
    def saved(self) -> bool:
        """Whether everything written is stored."""
        return not self._unsaved

    async def save(self) -> bool:
        """Stores what was written since; what can't be stored stays to be stored.

        Returns:
            Whether all is stored.
        """
        for key in tuple(self._unsaved):
            ticket, mode = key
            text = self._texts.get(key, "")
            self._own[key] = (*self._own.get(key, ())[-_OWN:], text)
            kept = await self.acts.save_draft(ticket, mode, text)
            if kept is not None:
                self._kept[key] = kept
                if self._texts.get(key, "") == text:
                    self._unsaved.discard(key)
        return self.saved


def _in_order(modes: Iterable[str]) -> list[str]:
    """The reply, the note, and then words for replies that are withheld."""
    return sorted(modes, key=lambda mode: (mode != "reply", mode != "note", mode))
