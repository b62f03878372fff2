"""`handoff`: the command line, and the one place where its errors become exit codes.

Whatever goes wrong, a person sees one line and never a traceback. For developers
`HANDOFF_LOG` names a file that takes the traceback, and what libraries log.
"""

import asyncio
import logging
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import click
from typing_extensions import override

from console.codes import code_of
from console.commands import base, misuse, options
from core.cleanse import one_line
from core.errors import HandoffError, ModelFailed
from core.who import is_it

log = logging.getLogger(__name__)
"""Not below `handoff`, which some commands show on the screen."""

_SURROGATE = re.compile("[\ud800-\udfff]")
"""What Python makes of an argument's bytes that are no text in this locale."""


_SECTIONS = {
    "Look": {
        "tickets": "look",
        "show": "look",
        "why": "rules",
        "export": "look",
        "overview": "overview",
        "decisions": "decide",
        "outbox": "replies",
        "runs": "records",
        "run": "records",
        "replay": "records",
        "rules": "rules",
    },
    "Hold a ticket": {
        "take": "desk",
        "reply": "desk",
        "unsend": "replies",
        "draft": "replies",
        "withheld": "replies",
        "canned": "canned",
        "act": "act",
        "settle": "act",
        "state": "amend",
        "identity": "amend",
        "release": "desk",
        "decline": "desk",
    },
    "Beside the agent": {
        "claim": "amend",
        "note": "desk",
        "whisper": "desk",
        "triage": "amend",
        "snooze": "amend",
    },
    "Supervise": {
        "decide": "decide",
        "pause": "switch",
        "resume": "switch",
        "operator": "people",
    },
    "Run the house": {
        "demo": "demo",
        "worker": "running",
        "ingest": "intake",
        "import": "intake",
        "web": "web",
        "doctor": "running",
        "settings": "settings",
        "migrate": "running",
    },
}
"""Each command's module, by what it is for; it is loaded when the command is called."""

_COMMANDS = {
    name: module for each in _SECTIONS.values() for name, module in each.items()
}


def _loaded(module: str) -> ModuleType:
    """A module of commands: none is loaded before it is called."""
    return import_module(f"console.commands.{module}")


class Commands(options.Group):
    """All commands, loaded one by one."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        taken = "import_" if cmd_name == "import" else cmd_name
        found: click.Command = getattr(_loaded(module), taken)
        return found

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = is_it(args[0], _COMMANDS)
            ctx.fail(f"there is no command {args[0]}{near and f'; {near}'}")
        return super().resolve_command(ctx, args)

    @override
    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        for title, commands in _SECTIONS.items():
            options.write_commands(self, ctx, formatter, title, commands)


@click.group(cls=Commands, invoke_without_command=True)
@click.version_option(package_name="handoff-console", prog_name="handoff")
@click.pass_context
def cli(context: click.Context) -> None:
    """A console where people and an AI agent work the same support tickets.

    Without a command, the console opens.
    """
    if context.invoked_subcommand is None:
        _loaded("console").open_console()


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command and ends the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Runs a command; gives its exit code."""
    _quiet_logs()
    if any(_SURROGATE.search(argument) for argument in arguments):
        return _told("an argument is not UTF-8; nothing was done", base.USAGE)
    try:
        result = cli.main(list(arguments), "handoff", standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as wrong:
        click.echo(wrong.format_message(), err=True)
        return base.USAGE
    except click.UsageError as wrong:
        hint = wrong.ctx.command_path if wrong.ctx is not None else "handoff"
        return _told(f"{misuse.told(wrong)} (see `{hint} --help`)", base.USAGE)
    except click.ClickException as wrong:
        return _told(wrong.format_message(), base.USAGE)
    except (click.Abort, KeyboardInterrupt, asyncio.CancelledError):
        return base.INTERRUPTED
    except Exception as wrong:  # noqa: BLE001 # a traceback never reaches a screen
        return _code_of(_innermost(wrong))
    return result if isinstance(result, int) else 0


def _innermost(wrong: BaseException) -> BaseException:
    while isinstance(wrong, BaseExceptionGroup):
        wrong = wrong.exceptions[0]
    return wrong


def _code_of(wrong: BaseException) -> int:
    match wrong:
        case BrokenPipeError():  # whoever read our output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case base.Failed(code=code):
            return _told(str(wrong), code)
        case ModelFailed(kind="refused_key"):
            line = f"{wrong}; the worker has stopped: set a valid ANTHROPIC_API_KEY"
            return _told(line, code_of(wrong))
        case HandoffError():
            return _told(str(wrong), code_of(wrong))
        case _:
            log.error("unexpected", exc_info=wrong)
            kind = type(wrong).__name__
            line = f"unexpected error ({kind}); HANDOFF_LOG=FILE takes the details"
            return _told(line, base.UNREACHABLE)


def _told(text: str, code: int) -> int:
    said = " ".join(text.split())  # click breaks a list of choices into lines
    click.echo(f"handoff: {one_line(said, 1000)}", err=True)
    return code


def _quiet_logs() -> None:
    """Keeps what libraries log away from the screen."""
    path = os.environ.get("HANDOFF_LOG")
    handler = logging.FileHandler(path) if path else logging.NullHandler()
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


if __name__ == "__main__":
    main()
