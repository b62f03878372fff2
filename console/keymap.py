"""What a command of the desk is, and which one a key runs here.

The commands themselves stand in one table (`keytable`). A command says when it is
possible as a plain question about `Here`; while somebody types, only commands
marked so are possible, so that no letter ever acts on a ticket by accident. `alt` is
never used: terminals type it.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Where the person stands.

    Attributes:
        pane: `queue`, `timeline`, `chart`, `composer` or `find`.
        typing: Whether letters are text.
        ticket: Whether a ticket is shown.
        awaits: Whether the rows of another view are still to come.
        mine: Whether the person holds it.
        held: Whether a person holds it.
        pending: Whether a decision waits on it.
        decides: Whether the person may approve what waits.
        withheld: Whether replies were caught on it.
        opens: Whether the entry under the cursor can be opened.
        searching: Whether the timeline is being searched.
        narrow: Whether one pane is shown at a time.
        away: Whether there is something to go back from.
        lost: Whether the store is gone.
        supervisor: Whether the person may decide and take away.
        undo: Whether a reply of theirs can still be taken back, or a discarded text.
        drafted: Whether something of theirs is written on it and not sent.
        runs: Whether the agent has worked on it.
        noting: Whether a note is being written.
        offered: Whether a colleague offers it to the person.
        offers: Whether the person offers it to a colleague.
        doubts: Whether an action on it is in doubt.
        ready: Whether something approved is not carried out on it yet.
        match: Which match of how many the search stands on, as in `2 of 5`, or "".
    """

    pane: str = "queue"
    typing: bool = False
    ticket: bool = False
    awaits: bool = False
    mine: bool = False
    held: bool = False
    pending: bool = False
    decides: bool = False
    withheld: bool = False
    opens: bool = False
    searching: bool = False
    narrow: bool = False
    away: bool = False
    lost: bool = False
    supervisor: bool = False
    undo: bool = False
    drafted: bool = False
    runs: bool = False
    noting: bool = False
    offered: bool = False
    offers: bool = False
    doubts: bool = False
    ready: bool = False
    match: str = ""


GROUPS = ("Ticket", "Desk", "Views", "Move")
"""What commands are about, in the order in which they are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A named action.

    Attributes:
        id: Its name in configuration and code.
        keys: As the library names them; the first is the one shown.
        words: What it does.
        short: For the hint line; "" keeps it out of there.
        when: Whether it is possible here.
        hinted: Whether it is worth a place in the hint line here.
        typing: Whether it acts while somebody types.
        group: For the help.
        meant: What was not done where its key came in the midst of typing; "" for a
            command that may be pressed as fast as one likes.
        after: What may be pressed right before it, see `console.screens.pace`.
        needs: Why it is not possible where it is not, told to who presses its key.
        writes: Whether who presses its key is about to write.
        supervisor: Whether only supervisors may do it.
    """

    id: str
    keys: tuple[str, ...]
    words: str
    short: str = ""
    when: Callable[[Here], bool] = lambda _: True
    hinted: Callable[[Here], bool] = lambda _: True
    typing: bool = False
    group: str = "Ticket"
    meant: str = ""
    after: Literal["nothing", "moves", "text"] = "moves"
    needs: str | Callable[[Here], str] = ""
    writes: bool = False
    supervisor: bool = False


_SHOWN = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "plus": "+",
    "escape": "esc",
    "space": "space",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "ctrl+enter": "^enter",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def shown(key: str) -> str:
    """A key as it is written on the screen."""
    if key in _SHOWN:
        return _SHOWN[key]
    return _CTRL.sub(r"^\1", key)


_CTRL = re.compile(r"ctrl\+([a-z])")

_SILENT = re.compile(r"ctrl\+.+|shift\+tab|tab|escape|f\d+")


def _types(key: str) -> bool:
    """Whether a key is a letter, a mark or a move where somebody writes."""
    return _SILENT.fullmatch(key) is None


def possible(command: Command, here: Here) -> bool:
    """Whether a command can be run here, by this person."""
    return allowed(command, here) and command.when(here)


def allowed(command: Command, here: Here) -> bool:
    """Whether this person may ever run it."""
    return here.supervisor or not command.supervisor


_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
_PLAIN = re.compile(r"(ctrl|shift)\+([a-z0-9]|[a-z]{2,9})|f([1-9]|1[0-2])|[a-z]{2,9}")


def key_named(said: str) -> str | None:
    """A key as a person writes it (`x`, `?`, `ctrl+e`, `f5`, `esc`), or None.

    `alt` is no key: terminals type it.
    """
    shown_as = {text: key for key, text in _SHOWN.items()}
    if said in shown_as:
        return shown_as[said]
    if re.fullmatch(r"\^[a-z]", said):
        return f"ctrl+{said[1]}"
    if len(said) == 1 and said.isprintable() and not said.isspace():
        if said.isalnum():
            return said
        name = unicodedata.name(said, "").lower().replace(" ", "_").replace("-", "_")
        return _NAMES.get(name, name) or None
    return said if _PLAIN.fullmatch(said) else None


def wrong_key(commands: Sequence[Command], id_: str, said: str) -> str | None:
    """Why a key can't be a command's, in words, or None."""
    command = next((c for c in commands if c.id == id_), None)
    if command is None:
        return f"one of: {', '.join(c.id for c in commands)}"
    key = key_named(said)
    if key is None:
        return 'a key such as "x", "?", "ctrl+e", "f5" or "esc"'
    apart = command.typing and not any(len(k) == 1 for k in command.keys)
    if apart and (len(said) == 1 or "+" not in key) and key[0] != "f":
        return "a key that types nothing, such as ctrl+e or f5: it acts while one types"
    return None


def with_keys(
    commands: Sequence[Command], keys: Mapping[str, str]
) -> tuple[Command, ...]:
    """The commands with the keys that a person wants, by the command's id.

    A key that was another command's is only the wanted one's from now on.
    """
    keys = {id_: key_named(said) or said for id_, said in keys.items()}
    taken = set(keys.values())
    return tuple(
        replace(c, keys=(keys[c.id],))
        if c.id in keys
        else replace(c, keys=tuple(k for k in c.keys if k not in taken))
        for c in commands
    )


def key_names(commands: Sequence[Command]) -> Mapping[str, str]:
    """The key that is said of each command by its id, "" for one that has none."""
    return {c.id: shown(c.keys[0]) if c.keys else "" for c in commands}


def command_for(commands: Sequence[Command], key: str, here: Here) -> Command | None:
    """The command that a key runs here, or None."""
    for command in commands:
        if key not in command.keys or not possible(command, here):
            continue
        if here.typing and (not command.typing or _types(key)):
            continue
        return command
    return None


def why_not(command: Command, here: Here) -> str:
    """Why a command is not possible here, or "" where there is nothing to say."""
    if command.needs and command.group == "Ticket" and not here.ticket:
        return "There is no ticket here"
    return command.needs if isinstance(command.needs, str) else command.needs(here)


def needed_for(commands: Sequence[Command], key: str, here: Here) -> str:
    """Why a key does nothing here, or "" where there is nothing to say."""
    if here.typing:
        return ""
    said = (why_not(c, here) for c in commands if key in c.keys)
    return next(filter(None, said), "")


def key_of(commands: Sequence[Command], id_: str, here: Here) -> str:
    """The key that runs a command here, as it is written, or "" where none does."""
    for command in commands:
        for key in command.keys if command.id == id_ else ():
            if command_for(commands, key, here) is command:
                return shown(key)
    return ""


def writes_for(commands: Sequence[Command], key: str) -> str:
    """The id of the command with which a key goes to write, or ""."""
    return next((c.id for c in commands if c.writes and key in c.keys), "")


def hints(commands: Sequence[Command], here: Here) -> list[tuple[Command, str]]:
    """The few commands worth saying here, with the key to say."""
    out = []
    for command in commands:
        if not command.short or not command.hinted(here):
            continue
        if not possible(command, here):
            continue
        keys = [k for k in command.keys if not (here.typing and _types(k))]
        if here.typing and not command.typing:
            continue
        if command.id == "canned" and here.pane != "composer":
            continue  # the reply itself goes before: there is no room for both
        if not keys or command_for(commands, keys[0], here) is not command:
            continue
        both = command.id == "down" and keys[0] == "j"
        out.append((command, "j k" if both else shown(keys[0])))
    return out
