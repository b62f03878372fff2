"""What `--help` and a wrong word say, on a narrow terminal too."""

from collections.abc import Iterator

import click
import pytest

from console.cli import cli
from core.flows.giving_back import PLACES
from tests.cli.conftest import Handoff


def commands(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command, by the words that call it."""
    yield name, group
    context = click.Context(group)
    for word in group.list_commands(context):
        found = group.get_command(context, word)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, f"{name} {word}".strip())
        else:
            yield f"{name} {word}".strip(), found


COMMANDS = dict(commands(cli))


@pytest.mark.parametrize("columns", ["60", "80"])
def test_every_help_is_whole_words_in_the_width_own_options_first(
    anywhere: Handoff, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for words, command in COMMANDS.items():
        said = anywhere(*words.split(), "--help")
        text, _, examples = said.out.partition("\nExamples:\n")
        assert (words, said.code, said.err) == (words, 0, "")
        assert "..." not in text.partition("\n")[2]
        assert max(map(len, text.splitlines())) <= int(columns)
        own, _, everywhere = text.partition("\nOptions everywhere:\n")
        assert "--store" not in own
        assert "--as NAME" in everywhere
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, (words, option.name)
        for example in examples.splitlines():
            assert example.startswith(f"  handoff {words} ")
            assert len(example) <= 80


def test_what_may_be_left_out_is_in_brackets(anywhere: Handoff) -> None:
    said = anywhere("act", "--help").out
    assert said.startswith("Usage: handoff act [OPTIONS] [TICKET] [TOOL] [JSON]\n")


def test_release_names_every_place_that_a_ticket_can_go_to(anywhere: Handoff) -> None:
    where = anywhere("release", "--help").out.partition("--to ")[2].split()[0]
    assert set(where.split("|")) == {*PLACES, "NAME"}


def test_the_list_of_commands_names_each_once_by_what_it_is_for(
    anywhere: Handoff,
) -> None:
    out = anywhere("--help").out
    listed = [
        line.split()[0]
        for line in out[: out.index("\nOptions:")].splitlines()
        if line[:2] == "  " and line[2] not in " AW"
    ]
    assert sorted(listed) == cli.list_commands(click.Context(cli))


def test_a_wrong_command_is_answered_with_the_nearest(anywhere: Handoff) -> None:
    said = [anywhere(word).err for word in ("tikets", "Show", "xyz")]
    assert said == [
        "handoff: there is no command tikets; is it tickets? (see `handoff --help`)\n",
        "handoff: there is no command Show; is it show? (see `handoff --help`)\n",
        "handoff: there is no command xyz (see `handoff --help`)\n",
    ]


def test_a_wrong_option_is_answered_by_its_command(anywhere: Handoff) -> None:
    for arguments, told in (
        (("release", "T-1", "--to"), "--to needs a value"),
        (("operator", "add"), "NAME is missing"),
        (("take", "T-1", "--wait", "x"), "--wait: expected a number of 0 or more"),
    ):
        said = anywhere(*arguments)
        named = " ".join(w for w in arguments[:2] if not w.startswith("T-"))
        assert said.err.startswith(f"handoff: {told}")
        assert said.err.endswith(f" (see `handoff {named} --help`)\n")
