"""`handoff`: the command line, and the one place where its errors become exit codes.

Whatever goes wrong, a person sees one line and never a traceback. For developers
`HANDOFF_LOG` names a file that takes the traceback, and what libraries log.
"""

import asyncio
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import click
from typing_extensions import override

from console import wiring
from console.codes import code_of
from console.commands import base
from console.live import Services
from core.cleanse import one_line
from core.errors import HandoffError, ModelFailed

log = logging.getLogger(__name__)
"""Not below `handoff`, which some commands show on the screen."""

_SURROGATE = re.compile("[\ud800-\udfff]")
"""What Python makes of an argument's bytes that are no text in this locale."""


_COMMANDS = {
    "ingest": "intake",
    "import": "intake",
    "tickets": "desk",
    "show": "desk",
    "export": "desk",
    "overview": "overview",
    "take": "desk",
    "reply": "desk",
    "note": "desk",
    "whisper": "desk",
    "withheld": "replies",
    "unsend": "replies",
    "release": "desk",
    "decline": "desk",
    "outbox": "replies",
    "act": "act",
    "settle": "act",
    "claim": "amend",
    "snooze": "amend",
    "triage": "amend",
    "identity": "amend",
    "state": "amend",
    "pause": "switch",
    "resume": "switch",
    "decisions": "decide",
    "decide": "decide",
    "runs": "records",
    "run": "records",
    "replay": "records",
    "why": "rules",
    "rules": "rules",
    "operator": "people",
    "canned": "canned",
    "worker": "running",
    "doctor": "running",
    "migrate": "running",
    "demo": "demo",
    "web": "web",
}
"""Each command's module; it is loaded when the command is called."""


class Commands(base.Group):
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
        return wiring.command(module, taken)


@click.group(cls=Commands, invoke_without_command=True)
@click.version_option(package_name="handoff-console", prog_name="handoff")
@click.pass_context
def cli(context: click.Context) -> None:
    """A console where people and an AI agent work the same support tickets."""
    if context.invoked_subcommand is None:
        open_console()


def open_console() -> None:
    """Opens the console on the configured store."""
    if not base.at_terminal():
        base.fail("the console needs a terminal; see `handoff --help`", base.USAGE)

    base.config()  # a mistake in it is told before the screen is taken

    @asynccontextmanager
    async def opening() -> AsyncIterator[Services]:
        async with base.at_desk() as at:
            yield wiring.services(at.config, at.store, at.me)

    base.run(wiring.run_console(opening))


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
        return _told(f"{wrong.format_message()} (see `{hint} --help`)", base.USAGE)
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
