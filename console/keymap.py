"""Every action of the desk: one table of named commands.

Hint line, help, palette and the keys themselves are made from it, so none can tell
another story. A command says when it is possible as a plain question about `Here`;
while somebody types, only commands marked so are possible, so that no letter ever
acts on a ticket by accident. `alt` is never used: terminals type it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from console.wording import VIEWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Where the person stands.

    Attributes:
        pane: `queue`, `timeline`, `chart`, `composer` or `find`.
        typing: Whether letters are text.
        ticket: Whether a ticket is shown.
        mine: Whether the person holds it.
        held: Whether a person holds it.
        pending: Whether a decision waits on it.
        withheld: Whether replies were caught on it.
        opens: Whether the entry under the cursor can be opened.
        searching: Whether the timeline is being searched.
        narrow: Whether one pane is shown at a time.
        away: Whether there is something to go back from.
        lost: Whether the store is gone.
    """

    pane: str = "queue"
    typing: bool = False
    ticket: bool = False
    mine: bool = False
    held: bool = False
    pending: bool = False
    withheld: bool = False
    opens: bool = False
    searching: bool = False
    narrow: bool = False
    away: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A named action.

    Attributes:
        id: Its name in configuration and code.
        keys: As the library names them; the first is the one shown.
        words: What it does.
        short: For the hint line; "" keeps it out of there.
        when: Whether it is possible here.
        typing: Whether it acts while somebody types.
        group: For the help.
    """

    id: str
    keys: tuple[str, ...]
    words: str
    short: str = ""
    when: Callable[[Here], bool] = lambda _: True
    typing: bool = False
    group: str = "Ticket"


_SHOWN = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "plus": "+",
    "escape": "esc",
    "space": "space",
    "enter": "⏎",
    "down": "↓",
    "up": "↑",
    "ctrl+s": "^s",
    "ctrl+p": "^p",
    "ctrl+r": "^r",
    "ctrl+enter": "^⏎",
    "ctrl+d": "^d",
    "ctrl+u": "^u",
}


def shown(key: str) -> str:
    """A key as it is written on the screen."""
    return _SHOWN.get(key, key)


def _timeline(here: Here) -> bool:
    return here.pane == "timeline" and here.ticket


COMMANDS: tuple[Command, ...] = (
    Command(
        id="send",
        keys=("ctrl+s", "ctrl+enter"),
        words="send what is written",
        short="send",
        when=lambda h: h.pane == "composer",
        typing=True,
    ),
    Command(
        id="retry",
        keys=("ctrl+r",),
        words="look for the store again now",
        short="retry",
        when=lambda h: h.lost,
        typing=True,
        group="Desk",
    ),
    Command(id="down", keys=("j", "down"), words="down", short="move", group="Move"),
    Command(id="up", keys=("k", "up"), words="up", group="Move"),
    Command(id="first", keys=("g", "home"), words="first", group="Move"),
    Command(id="last", keys=("G", "end"), words="last", group="Move"),
    Command(
        id="page_down", keys=("ctrl+d", "pagedown"), words="a page down", group="Move"
    ),
    Command(id="page_up", keys=("ctrl+u", "pageup"), words="a page up", group="Move"),
    Command(
        id="open",
        keys=("enter",),
        words="open the ticket",
        short="open",
        when=lambda h: h.ticket and h.pane == "queue",
        group="Move",
    ),
    Command(
        id="take",
        keys=("t",),
        words="take the ticket over",
        short="take over",
        when=lambda h: h.ticket and not h.held,
    ),
    Command(
        id="reply",
        keys=("r",),
        words="write to the buyer",
        short="reply",
        when=lambda h: h.mine,
    ),
    Command(
        id="withheld",
        keys=("w",),
        words="look at the agent's withheld replies",
        short="withheld",
        when=lambda h: h.mine and h.withheld,
    ),
    Command(
        id="give_back",
        keys=("R",),
        words="give the ticket back",
        short="give back",
        when=lambda h: h.mine,
    ),
    Command(
        id="decide",
        keys=("a",),
        words="open the decision's card",
        short="approve",
        when=lambda h: h.pending,
    ),
    Command(
        id="next_match",
        keys=("n",),
        words="next match",
        short="next",
        when=lambda h: _timeline(h) and h.searching,
        group="Move",
    ),
    Command(
        id="previous_match",
        keys=("N",),
        words="match before",
        when=lambda h: _timeline(h) and h.searching,
        group="Move",
    ),
    Command(
        id="note",
        keys=("n",),
        words="write a note that the buyer never sees",
        short="note",
        when=lambda h: h.ticket,
    ),
    Command(
        id="expand",
        keys=("space", "enter"),
        words="open or close the entry",
        short="expand",
        when=lambda h: _timeline(h) and h.opens,
    ),
    Command(
        id="next_person",
        keys=("h",),
        words="next entry of a person",
        when=_timeline,
        group="Move",
    ),
    Command(
        id="next_error",
        keys=("e",),
        words="next tool error",
        when=_timeline,
        group="Move",
    ),
    Command(
        id="find",
        keys=("slash",),
        words="filter the queue, search the timeline",
        short="filter",
        group="Desk",
    ),
    Command(
        id="copy",
        keys=("y",),
        words="copy the ticket's name, or the entry's text",
        when=lambda h: h.ticket,
    ),
    Command(
        id="back",
        keys=("escape",),
        words="back",
        short="back",
        when=lambda h: h.away or h.typing,
        typing=True,
        group="Move",
    ),
    Command(
        id="next_pane", keys=("tab",), words="next pane", typing=True, group="Move"
    ),
    Command(
        id="previous_pane",
        keys=("shift+tab",),
        words="pane before",
        typing=True,
        group="Move",
    ),
    Command(id="zoom", keys=("plus",), words="this pane alone, or all", group="Desk"),
    *(
        Command(id=f"view:{view}", keys=(key,), words=f"view: {words}", group="Views")
        for key, view, words, _ in VIEWS
    ),
    Command(
        id="palette",
        keys=("colon", "ctrl+p"),
        words="all actions",
        short="all actions",
        group="Desk",
        typing=True,
    ),
    Command(
        id="help",
        keys=("question_mark", "f1"),
        words="the keys of where you are",
        short="keys",
        group="Desk",
        typing=True,
    ),
    Command(id="theme", keys=("f2",), words="dark or light", typing=True, group="Desk"),
    Command(id="quit", keys=("q",), words="leave; holds stay", group="Desk"),
)
"""All commands, the most particular first: the first possible one gets the key."""

_TYPED = {"colon", "question_mark"}


def possible(command: Command, here: Here) -> bool:
    """Whether a command can be run here."""
    return command.when(here)


def command_for(key: str, here: Here) -> Command | None:
    """The command that a key runs here, or None."""
    for command in COMMANDS:
        if key not in command.keys or not possible(command, here):
            continue
        if here.typing and (not command.typing or key in _TYPED):
            continue
        return command
    return None


def hints(here: Here) -> list[tuple[Command, str]]:
    """The few commands worth saying here, with the key to say."""
    out = []
    for command in COMMANDS:
        if not command.short or not possible(command, here):
            continue
        keys = [k for k in command.keys if not (here.typing and k in _TYPED)]
        if here.typing and not command.typing:
            continue
        if command_for(keys[0], here) is not command:
            continue
        out.append((command, "j k" if command.id == "down" else shown(keys[0])))
    return out
