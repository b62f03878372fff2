"""The command line equals the console: the same actions, by the same flows.

People with screen readers and people who script use the commands; so each action of
the desk names its command, each command that changes something names its key, and
both call the same flow of the core.
"""

import ast
import importlib
import inspect
from pathlib import Path

import click
import pytest

from console.cli import cli
from console.keymap import Here, command_for
from console.keytable import COMMANDS
from console.screens.palette import choices_for

CONTEXT = click.Context(cli)
CONSOLE = Path(__file__).parents[2] / "console"

COMMAND_OF = {
    "send": "reply",
    "reply": "reply",
    "canned": "canned use",
    "take": "take",
    "decline": "decline",
    "undo": "unsend",
    "discard": "draft --discard",
    "withheld": "withheld",
    "give_back": "release",
    "decide": "decide",
    "settle": "settle",
    "act": "act",
    "identity": "identity",
    "triage": "triage",
    "state": "state",
    "force": "take --force",
    "transfer": "release --force",
    "claim": "claim",
    "whisper": "whisper",
    "snooze": "snooze",
    "pause": "pause",
    "pause_all": "pause",
    "replay": "replay",
    "note": "note",
    "find": "tickets --search",
    "of_buyer": "tickets --search",
    "supervisor": "overview",
    "people": "operator",
    "settings": "settings",
    "help": "show --help",
    "palette": "show --help",
}
"""The command of each action, with the option that makes it the same."""

SCREEN = {
    "retry", "down", "up", "first", "last", "page_down", "page_up", "open", "back",
    "next_match", "previous_match", "expand", "next_person", "next_error", "copy",
    "next_pane", "previous_pane", "zoom", "theme", "suspend", "quit",
}  # fmt: skip
"""What only moves on a screen, or lays it out."""

ACTION_OF = {
    "take": "take",
    "reply": "send",
    "note": "note",
    "whisper": "whisper",
    "withheld": "withheld",
    "unsend": "undo",
    "draft": "discard",
    "release": "give_back",
    "decline": "decline",
    "act": "act",
    "settle": "settle",
    "claim": "claim",
    "snooze": "snooze",
    "triage": "triage",
    "identity": "identity",
    "state": "state",
    "pause": "pause",
    "resume": "pause",
    "decide": "decide",
    "operator": "people",
    "canned": "canned",
}
"""The action of each command that changes a ticket or the house."""

OTHERS = {
    "ingest", "import",  # mail comes in by itself
    "tickets", "show", "overview", "outbox", "decisions", "runs", "run", "replay",
    "why", "rules", "export", "settings",  # the screens themselves
    "worker", "doctor", "migrate", "demo", "web",  # programs
}  # fmt: skip

ONLY_COMMANDS = {
    "intake.bring_in": "import",
    "intake.receive": "ingest",
    "serve.serve": "worker",
    "replay.replay": "the panel compares by `compare`, which it rests on",
    "operate.ticket_of_action": "the desk knows the ticket",
    "people.admit_worker": "a login of a database is made by who has a shell",
    "canned.keep": "texts of the team are files, or written by the command",
    "canned.remove": "as they are written",
}
ONLY_SCREENS = {"drafts.save_draft": "a command sends its text at once"}


def flows_of(folder: Path) -> set[str]:
    """The flows that the files of a folder call, as `module.function`."""
    found: set[tuple[str, str]] = set()
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        modules: dict[str, str] = {}
        names: dict[str, tuple[str, str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "core.flows":
                modules |= {a.asname or a.name: a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                head, _, module = node.module.rpartition(".")
                if head == "core.flows":
                    names |= {a.asname or a.name: (module, a.name) for a in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id in modules:
                    found.add((modules[node.value.id], node.attr))
            elif isinstance(node, ast.Name) and node.id in names:
                found.add(names[node.id])
    return {f"{m}.{name}" for m, name in found if _awaits(m, name)}


def _awaits(module: str, name: str) -> bool:
    made = getattr(importlib.import_module(f"core.flows.{module}"), name)
    return inspect.iscoroutinefunction(made)


def found(words: str) -> click.Command:
    """The command that these words call; each option in them is one of its own."""
    command: click.Command = cli
    for word in words.split():
        if word.startswith("--"):
            options = {o for p in command.params for o in p.opts} | {"--help"}
            assert word in options, words
        else:
            assert isinstance(command, click.Group), words
            inner = command.get_command(CONTEXT, word)
            assert inner is not None, words
            command = inner
    return command


def test_every_action_of_the_desk_has_its_command() -> None:
    views = {c.id for c in COMMANDS if c.id.startswith("view:")}
    assert {c.id for c in COMMANDS} == set(COMMAND_OF) | SCREEN | views
    for words in (*COMMAND_OF.values(), "tickets --view"):
        found(words)
    view = next(p for p in found("tickets").params if "--view" in p.opts)
    assert isinstance(view.type, click.Choice)
    assert {v.removeprefix("view:") for v in views} <= set(view.type.choices)


def test_every_command_that_changes_something_has_its_key_and_is_in_the_palette() -> (
    None
):
    assert set(cli.list_commands(CONTEXT)) == set(ACTION_OF) | OTHERS
    keys = {c.id: c.keys for c in COMMANDS}
    anywhere = Here(
        pane="composer", ticket=True, mine=True, held=True, pending=True,
        withheld=True, supervisor=True, undo=True, drafted=True, offered=True,
        doubts=True,
    )  # fmt: skip
    free = Here(pane="queue", ticket=True, supervisor=True)
    listed = {
        choice.id
        for here in (anywhere, free)
        for choice in choices_for("", COMMANDS, here)
    }
    for action in ACTION_OF.values():
        assert keys[action]
        assert action in listed


def test_both_call_the_same_flows() -> None:
    screens, commands = flows_of(CONSOLE / "screens"), flows_of(CONSOLE / "commands")
    assert commands - screens == set(ONLY_COMMANDS)
    assert screens - commands == set(ONLY_SCREENS)


SWALLOWED = {
    "ctrl+q": "flow control starts the screen again",
    "ctrl+c": "interrupts",
    "ctrl+backslash": "ends the program",
    "ctrl+h": "is backspace",
    "ctrl+i": "is tab",
    "ctrl+m": "is enter",
    "ctrl+j": "is enter",
    "ctrl+left_square_bracket": "is escape",
    "ctrl+at": "is nothing",
    "ctrl+b": "tmux takes it",
    "ctrl+a": "screen takes it",
}


def test_no_action_needs_a_chord_that_terminals_swallow_or_a_mouse() -> None:
    for command in COMMANDS:
        assert not SWALLOWED.keys() & set(command.keys), command.id
        assert not [k for k in command.keys if k.startswith(("alt+", "ctrl+shift"))]
        sure = [k for k in command.keys if k not in {"ctrl+s", "ctrl+enter"}]
        assert sure or not command.keys or command.id == "send"


@pytest.mark.parametrize("key", ["ctrl+p", "f1"])
def test_what_sends_can_be_reached_where_flow_control_eats_its_key(key: str) -> None:
    writing = Here(pane="composer", typing=True, ticket=True, mine=True, held=True)
    assert command_for(COMMANDS, key, writing) is not None
    assert "send" in {c.id for c in choices_for("send", COMMANDS, writing)}
