"""What is said of an option or argument that can't be, in our own words.

The library's words name its types (`not a valid float range`); ours name what is
expected, since that is what one writes next. One line, as all that fails.
"""

import re

import click

from core.who import is_it

_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)\.?")


def told(wrong: click.UsageError) -> str:
    """What is wrong with how a command was called, without a full stop."""
    match wrong:
        case click.NoSuchOption():
            return _no_option(wrong)
        case click.MissingParameter(param=click.Parameter() as param):
            return f"{_name(param)} is missing{_choices(param.type)}"
        case click.BadParameter(param=click.Parameter() as param):
            expected = _expected(param.type)
            said = f"expected {expected}" if expected else _plain(wrong.message)
            return f"{_name(param)}: {said}"
        case click.BadOptionUsage(option_name=name):
            takes = "not take a value" not in wrong.message
            return f"{name} needs a value" if takes else f"{name} takes no value"
        case _:
            extra = _EXTRA.fullmatch(wrong.format_message())
            if extra is not None:
                return f"more than is expected: {extra[1]}"
            return _plain(wrong.format_message())


def _no_option(wrong: click.NoSuchOption) -> str:
    command = None if wrong.ctx is None else wrong.ctx.command
    name, known = wrong.option_name, [] if command is None else command.params
    texts = [p for p in known if isinstance(p, click.Argument) and p.name == "text"]
    if name[1:].isdigit() and any(p.name == "time" for p in known):
        return "TIME: expected a time in the future, such as 3h"
    if texts:
        return f"there is no option {name}; a TEXT that begins with - goes after --"
    near = is_it(name, [option for param in known for option in param.opts])
    return f"there is no option {name}{near and f'; {near}'}"


def _name(param: click.Parameter) -> str:
    """How a person calls it: `--view`, or `TICKET`."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.human_readable_name.strip("[]")


def _choices(kind: object) -> str:
    return f": {_expected(kind)}" if isinstance(kind, click.Choice) else ""


def _expected(kind: object) -> str:
    """What may be written, or "" where the library says it better."""
    match kind:
        case click.Choice(choices=choices):
            words = [str(choice) for choice in choices]
            return f"{', '.join(words[:-1])} or {words[-1]}"
        case click.IntRange() | click.FloatRange():
            whole = "a whole number" if isinstance(kind, click.IntRange) else "a number"
            return f"{whole} {_between(kind)}".strip()
        case _ if kind is click.INT:
            return "a whole number"
        case _:
            return ""


def _between(kind: click.IntRange | click.FloatRange) -> str:
    least, most = kind.min, kind.max
    if least is not None and most is not None:
        return f"from {least} to {most}"
    if least is None:
        return ""
    return f"above {least}" if kind.min_open else f"of {least} or more"


def _plain(said: str) -> str:
    """As our own lines begin and end."""
    said = said.removesuffix(".")
    return f"{said[:1].lower()}{said[1:]}"
