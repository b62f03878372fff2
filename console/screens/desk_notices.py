"""What the desk tells unasked: what waits for the person, and where colleagues are.

A notice never takes the focus. Each is told once, many at once in one line, and the
terminal's title counts what waits.
"""

import time
from contextlib import suppress
from datetime import datetime
from functools import partial

from textual.widgets import Input, TextArea
from typing_extensions import override

from console.live import Mine, meet
from console.screens.background import in_background
from console.screens.desk_working import DeskWorking
from core.cleanse import one_line
from core.decision import Operator
from core.errors import StoreUnreachable
from core.ports import CLOSED, Presence
from core.ticket import TicketId

_OWN = 15.0
"""Seconds for which a change of hands is this console's own doing."""

_SAY = 10.0
"""Seconds between two reports of where the person is."""

_SOON = 2.0
"""The same where it has changed."""


class DeskNotices(DeskWorking, inherit_bindings=False):
    """Notices, the title's count, and presence."""

    def __init__(self) -> None:
        super().__init__()
        self.active_at: datetime | None = None
        self._said_at = 0.0
        self._seat = ""
        self._said: tuple[TicketId | None, str] | None = None

    def mine_read(self, before: Mine | None, now: Mine) -> None:
        """Tells what is new for the person who sits here."""
        supervises = self.supervises
        decisions = now.decisions if supervises else {}
        waits = len(decisions) + len(now.unanswered | now.ready) + len(now.offered)
        self.post_message(self.Waiting(waits))
        if before is None:
            return
        if before.person != now.person and now.person is not None:
            self.tell(_made(now.person), good=False)
            self.paint()
        if supervises:
            new = [t for d, t in now.decisions.items() if d not in before.decisions]
            many = "new decisions wait for approval"
            self._notify(new, "{} waits for a decision", many, "approvals")
            self._ring(new)
        asked = sorted(now.offered - before.offered)
        many = "tickets are offered to you"
        self._notify(asked, "{} is offered to you", many, "mine")
        for ticket, who in now.declined.items():
            name = one_line(ticket, 40)
            where = self._in("human")
            self.tell(f"{one_line(who, 30)} declined {name}{where}", good=False)
        given = [t for t in now.held if t not in before.held and not self._own(t)]
        many = "tickets were handed to you"
        self._notify(given, "{} was handed to you", many, "mine")
        self._ring([*asked, *given])
        lost = [t for t in before.held if t not in now.held and not self._own(t)]
        self._notify(lost, "{} is not yours any more", "tickets are not yours any more")
        wrote = [
            ticket
            for ticket, seq in now.held.items()
            if seq > before.held.get(ticket, seq) and ticket != self.ticket()
        ]
        self._notify(wrote, "{}: the buyer wrote", "buyers wrote to you", "mine")
        self._ring(wrote)

    def _ring(self, tickets: list[TicketId]) -> None:
        """Rings for what waits for the person, where they want that."""
        if tickets and self.services.bell:
            self.app.bell()

    def _own(self, ticket: TicketId) -> bool:
        return time.monotonic() - self.asked.get(ticket, -_OWN) < _OWN

    def _notify(
        self, tickets: list[TicketId], one: str, many: str, view: str = ""
    ) -> None:
        where = self._in(view)
        if len(tickets) == 1:
            self.tell(one.format(one_line(tickets[0], 40)) + where)
        elif tickets:
            self.tell(f"{len(tickets):,} {many}{where}")

    def _in(self, view: str) -> str:
        """Which key shows them."""
        key = self.keys.get(f"view:{view}", "")
        return f" · {key}" if key else ""

    # Presence

    def touched(self) -> None:
        """Takes note that the person pressed a key."""
        self.active_at = self.reads.now()

    def tell_presence(self) -> None:
        """Tells colleagues where this person is, when there is something to tell."""
        typing = (
            isinstance(self.focused, Input | TextArea) and self.pane() == "composer"
        )
        here = (self.ticket(), "typing" if typing else "watching")
        since = time.monotonic() - self._said_at
        if self.lost is not None or since < (_SAY if here == self._said else _SOON):
            return
        self._said_at, self._said = time.monotonic(), here
        meet_them = partial(self._meet, self._present(*here))
        in_background(self, meet_them, "Presence", group="presence")

    def _present(self, ticket: TicketId | None, doing: str) -> Presence:
        now = self.reads.now()
        self.active_at = self.active_at or now  # who has just come is here
        self._seat = self._seat or self.services.ids.new("CON")
        return Presence(
            operator=self.me,
            ticket=ticket,
            doing=doing,
            active_at=self.active_at,
            seen_at=now,
            console=self._seat,
        )

    @override
    async def say_goodbye(self) -> None:
        """Tells colleagues that nobody sits here any more."""
        with suppress(StoreUnreachable):  # then its silence tells
            await meet(self.services.store, self._present(self.ticket(), CLOSED))

    async def _meet(self, said: Presence) -> None:
        with suppress(StoreUnreachable):  # the feed says so
            before = self.presence_words()
            self.nearby = await meet(self.services.store, said)
            self.paint_banner()
            if self.history is not None and self.presence_words() != before:
                self.paint_chart(self.history)
                self.paint_composer()  # who else types is said there


def _made(person: Operator) -> str:
    """What the person was made by a supervisor."""
    if person.disabled:
        return "You are disabled: you can look, and change nothing"
    return f"You are {person.role.value} now"
