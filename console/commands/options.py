"""The options that stand everywhere, and how a command's help is written.

`--store`, `--config`, `--as` and `--json` may stand before or after a command's name;
the last one counts. A command's help has its own options first, then these, then
examples to copy.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from typing_extensions import override

T = TypeVar("T", bound=Callable[..., Any] | click.Command)


@dataclass(slots=True)
class Asked:
    """What was said by the options that stand everywhere."""

    store: str | None = None
    config: str | None = None
    name: str | None = None
    json: bool = False


_OURS = "everywhere_"
"""Before the options' names, so that they meet no command's own."""


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> object:
    asked = context.find_root().ensure_object(Asked)
    if value not in {None, False}:
        setattr(asked, str(parameter.name).removeprefix(_OURS), value)
    return value


_CONFIG = "handoff.toml (HANDOFF_CONFIG)."
_NAME = "Who you are (HANDOFF_OPERATOR)."


def _everywhere(json_help: str = "Print JSON.") -> list[click.Parameter]:
    def option(*names: str, **kept: object) -> click.Option:
        return click.Option(names, expose_value=False, callback=_keep, **kept)  # type: ignore[arg-type] # click's own keywords

    return [
        option(
            "--store", f"{_OURS}store", metavar="URL", help="The store (HANDOFF_STORE)."
        ),
        option("--config", f"{_OURS}config", metavar="FILE", help=_CONFIG),
        option("--as", f"{_OURS}name", metavar="NAME", help=_NAME),
        option("--json", f"{_OURS}json", is_flag=True, help=json_help),
    ]


def _write_options(
    command: click.Command, context: click.Context, formatter: click.HelpFormatter
) -> None:
    """A command's own options first, then those that all commands have."""
    own: list[tuple[str, str]] = []
    everywhere: list[tuple[str, str]] = []
    for option in command.get_params(context):
        record = option.get_help_record(context)
        shared = str(option.name).startswith(_OURS) or "--help" in option.opts
        if isinstance(option, click.Option) and record is not None:
            (everywhere if shared else own).append(record)
    for title, records in (("Options", own), ("Options everywhere", everywhere)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


class Command(click.Command):
    """A command that takes the options that stand everywhere."""

    json_help = "Print JSON."

    def __init__(
        self, *args: object, examples: Sequence[str] = (), **kept: object
    ) -> None:
        super().__init__(*args, **kept)  # type: ignore[arg-type] # click's own
        self.params.extend(_everywhere(self.json_help))
        self._examples = examples

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as wrong:
            wrong.ctx = wrong.ctx or ctx  # so that the hint names this command
            raise

    @override
    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        _write_options(self, ctx, formatter)

    @override
    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self._examples:
            with formatter.section("Examples"):
                for example in self._examples:  # never wrapped, to be copied
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class LineCommand(Command):
    """One that prints as it goes."""

    json_help = "Print JSON, one object a line."


class Group(click.Group):
    """A group of such commands that takes the options itself too."""

    command_class = Command
    group_class = type

    def __init__(self, *args: object, **kept: object) -> None:
        super().__init__(*args, **kept)  # type: ignore[arg-type] # click's own
        self.params.extend(_everywhere())

    @override
    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)

    @override
    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        write_commands(self, ctx, formatter, "Commands", self.list_commands(ctx))


def write_commands(
    group: click.Group,
    context: click.Context,
    formatter: click.HelpFormatter,
    title: str,
    names: Iterable[str],
) -> None:
    """Commands of a group with the whole first line of their help."""
    found = ((name, group.get_command(context, name)) for name in names)
    with formatter.section(title):
        formatter.write_dl(
            [
                (name, (command.help or "").partition("\n")[0])
                for name, command in found
                if command is not None
            ]
        )


def one_of(
    name: str, choices: Sequence[str], letter: str, **kept: object
) -> Callable[[T], T]:
    """An option that is one of a few words, which its help names."""
    words = f"{', '.join(choices[:-1])} or {choices[-1]}."
    kind = click.Choice(choices)
    return click.option(name, type=kind, metavar=letter, help=words, **kept)  # type: ignore[arg-type] # click's own keywords


seen = click.option(
    "--seen",
    type=int,
    default=None,
    metavar="SEQ",
    help="The last entry that you have read.",
)
"""For what is refused if the ticket has moved on meanwhile."""


def asked() -> Asked:
    """What was said by the options that stand everywhere."""
    return click.get_current_context().find_root().ensure_object(Asked)
