"""Giving a ticket back: to the agent, the queue, a colleague, resolved, or asleep."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from console.screens.pace import paced
from console.screens.panel import Panel
from console.widgets.choices import Choice, Choices
from console.widgets.line_view import LineView
from console.widgets.one_line import OneLine
from console.widgets.spans import EMPTY, Line, folded, line
from console.wording import undecided_words
from core.cleanse import one_line
from core.flows.giving_back import GiveBack
from core.ticket import TicketId

SLEEP = "snooze"
"""The choice that lets it sleep."""

_REST = 9
"""Rows of the panel besides its head, the drafts and the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    """It is to sleep, until a time that is asked for next.

    Attributes:
        note: For the agent.
        discard: Whether unsent text is discarded.
    """

    note: str
    discard: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Nothing is given back: on with what is written; `mode` is the draft's."""

    mode: str


Answer: TypeAlias = GiveBack | Sleep | Write


class GiveBackPanel(Panel[Answer]):
    """Asks to whom; enter takes the first: the agent, waiting for the buyer.

    Unsent text is in the way of giving back, so its first line stands here: `D` marks
    it to be discarded with that, `E` goes on writing, and esc keeps it all.
    """

    def __init__(  # noqa: PLR0913 # each by its name
        self,
        ticket: TicketId,
        *,
        names: Sequence[str],
        workers: int,
        unread: bool,
        seen: int,
        withheld: int = 0,
        drafts: Mapping[str, str],
        notes: MutableMapping[TicketId, str] | None = None,
        at: str = "",
    ) -> None:
        super().__init__()
        self.at = at
        self.ticket = ticket
        self.names = tuple(names)
        self.agents = workers
        self.unread = unread
        self.seen = seen
        self.withheld = withheld
        self.drafts = dict(drafts)
        self.notes = {} if notes is None else notes
        self.discards = False
        self._asked = False

    @override
    def compose(self) -> ComposeResult:
        with Vertical(id="panel"):
            yield LineView(self._head(), id="panel-head")
            yield LineView(id="panel-drafts")
            yield Choices(self._choices(), id="choices")
            yield LineView(
                [EMPTY, line(("note for the agent ", "dim"), ("tab", "key"))],
                id="panel-label",
            )
            yield OneLine(
                self.notes.get(self.ticket, ""),
                id="panel-note",
                placeholder="what it should know or do",
                select_on_focus=False,  # the next letter would replace what was begun
            )
            yield LineView(
                [
                    line(
                        ("enter", "key"),
                        (" gives back   ", "dim"),
                        ("esc", "key"),
                        (" keeps it", "dim"),
                    )
                ],
                id="panel-keys",
            )

    @override
    def on_mount(self) -> None:
        """Starts on the list, at the first choice or the one that was asked for."""
        super().on_mount()
        choices = self.query_one(Choices)
        ids = [choice.id for choice in choices.choices]
        if self.at in ids:
            choices.step(ids.index(self.at) - choices.cursor)
        choices.focus()
        self._show_drafts()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keeps the note: who looks at the ticket once more finds it again."""
        event.stop()
        self.notes[self.ticket] = event.value

    def _show_drafts(self) -> None:
        """The first line of what is not sent, and what can be done about it."""
        if not self.drafts:
            return
        role = "faint" if self.discards else "wait"
        state = "Discarded with it, the" if self.discards else "Unsent"
        lines = [
            line((f"{state} {mode}: “{_first(text)}”", role))
            for mode, text in self.drafts.items()
        ]
        keeps = " keeps it   " if self.discards else " discards it   "
        keys = line(
            ("D", "key"), (keeps, "dim"), ("E", "key"), (" goes on writing", "dim")
        )
        self.query_one("#panel-drafts", LineView).draw(
            lambda width: [*folded(lines, width), keys, EMPTY]
        )

    def on_resize(self) -> None:
        """Leaves the list what is left of a low screen: the keys are always seen."""
        drafts = len(self.drafts) + 2 if self.drafts else 0
        room = self.app.size.height * 92 // 100 - _REST - len(self._head()) - drafts
        self.query_one(Choices).styles.max_height = max(3, min(16, room))

    def _head(self) -> list[Line]:
        lines = [line(("Give back ", "strong"), (self.ticket, "strong")), EMPTY]
        if not self.agents:
            said = "No agent is running now: it goes on when one starts."
            lines[1:1] = [line((said, "wait"))]
        if self.withheld:
            lines[1:1] = [line((undecided_words(self.withheld), "wait"))]
        return lines

    def _choices(self) -> list[Choice]:
        wait = (
            "looks at the buyer's new message"
            if self.unread
            else ("waits for the buyer")
        )
        asked = (", who accepts or declines", "dim")
        return [
            Choice(id="wait", line=line("to the agent", (f", {wait}", "dim"))),
            Choice(id="on", line=line("to the agent", (", carries on now", "dim"))),
            Choice(id="queue", line=line("to the queue", (", for people", "dim"))),
            Choice(id="resolved", line=line("resolved")),
            Choice(id=SLEEP, line=line("snooze", (", sleeps until a time", "dim"))),
            *(
                Choice(id=f"@{name}", line=line("to ", one_line(name, 40), asked))
                for name in self.names
            ),
        ]

    @override
    def pressed(self, key: str) -> bool:
        """A letter chooses the colleague whose name begins with it; enter gives."""
        if len(key) != 1 or self.typing:
            return False
        if key == "D" and self.drafts:
            self.discards = not self.discards
            self._show_drafts()
            return True
        if key == "E" and self.drafts:
            self.answer(Write(mode=next(iter(self.drafts))))
            return True
        choices = self.query_one(Choices)
        ids = [choice.id.casefold() for choice in choices.choices]
        found = [n for n, id_ in enumerate(ids) if id_.startswith(f"@{key.casefold()}")]
        if key in "jk" or not found:
            return False
        choices.step(found[0] - choices.cursor)
        return True

    def on_choices_moved(self, event: Choices.Moved) -> None:
        """Another choice is asked about anew."""
        event.stop()
        self._asked = False

    def on_choices_taken(self, event: Choices.Taken) -> None:
        """Answers with the choice and the note, if enter was meant."""
        event.stop()
        paced(self.app).meant(
            lambda: self._give(event.choice), "nothing was given back", after="moves"
        )

    def _give(self, choice: str) -> None:
        note = self.query_one("#panel-note", Input).value.strip()
        if self.drafts and not self.discards:
            self._in_the_way()
            return
        if choice == SLEEP:
            self.answer(Sleep(note=note, discard=self.discards))
            return
        if choice == "resolved" and self.withheld and not self._asked:
            self._asked = True
            self.tell("what is withheld stays unsent: enter again resolves")
            return
        to = {"wait": "agent", "on": "agent"}.get(choice, choice.removeprefix("@"))
        self.answer(
            GiveBack(
                to=to,
                note=note,
                carry_on=choice == "on",
                seen=self.seen,
                discard=self.discards,
            )
        )

    def _in_the_way(self) -> None:
        """Says what to press; in the note a letter is text."""
        if self.typing:
            self.tell("nothing was given back: tab leaves the note, D then discards")
        else:
            self.tell("nothing was given back: D discards the draft, E goes on with it")


def _first(text: str) -> str:
    """The first line of a text that holds any word."""
    return one_line(next(filter(str.strip, text.splitlines()), ""), 50)
