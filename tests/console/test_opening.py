"""What there is before the desk: a frame at once; one line where there is no desk."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from console.codes import UNREACHABLE, USAGE
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.terminal import Terminal, terminal

_LATER = (
    "sqlalchemy alembic anthropic mcp psycopg store.transaction core.adapters "
    "pydantic jsonschema core.ports console.config console.screens.desk"
)
_LOADED = """
import sys
import console.cli, console.commands.console
print(*[name for name in sys.argv[1:] if name in sys.modules])
"""


def test_the_console_paints_before_it_loads_what_stands_behind_the_frame() -> None:
    said = subprocess.run(
        [sys.executable, "-c", _LOADED, *_LATER.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == []


def test_the_frame_is_there_while_the_store_is_opened(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'new.db'}"
    with terminal("-m", "console.cli", "--store", store) as shown:
        shown.until(b"opening the store")
        shown.shows("There is no ticket in this store yet")
        shown.keys("q")
        assert shown.ended() == 0


_ERRORS_ELSEWHERE = """
import os, runpy, sys
os.dup2(os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT, 0o600), 2)
runpy.run_module("console.cli", run_name="__main__")
"""


def test_a_console_whose_errors_are_kept_elsewhere_is_on_the_terminal(
    tmp_path: Path,
) -> None:
    errors = tmp_path / "errors"
    store = f"sqlite:///{tmp_path / 'new.db'}"
    with terminal("-c", _ERRORS_ELSEWHERE, str(errors), "--store", store) as shown:
        shown.shows("There is no ticket in this store yet")
        shown.keys("q")
        assert shown.ended() == 0
    assert errors.read_text() == ""


def test_a_store_that_can_not_be_opened_is_one_line_on_a_sane_terminal() -> None:
    store = "postgresql://nobody@127.0.0.1:9/none"
    with terminal("-m", "console.cli", "--store", store) as shown:
        assert shown.ended() == UNREACHABLE
        after = shown.raw.rpartition(b"\x1b[?1049l")[2]
        assert after.count(b"handoff: ") == 1
        assert b"Traceback" not in after


def test_a_wrong_configuration_is_one_line_on_a_sane_terminal(tmp_path: Path) -> None:
    wrong = tmp_path / "handoff.toml"
    wrong.write_text("[agent]\nmax_turns = 0\n")
    with terminal("-m", "console.cli", "--config", str(wrong)) as shown:
        assert shown.ended() == USAGE
        after = shown.raw.rpartition(b"\x1b[?1049l")[2].decode()
        assert after.split("\r\n")[0].endswith(
            f"handoff: {wrong}: agent.max_turns: expected greater than or equal to 1"
        )
        assert after.count("handoff: ") == 1


@contextmanager
def pressed(url: str, keys: str) -> Iterator[Terminal]:
    """The console on a store, where keys were pressed before the desk was there."""
    me = ("-m", "console.cli", "--store", url, "--as", ME.name)
    with terminal(*me) as shown:
        shown.until(b"opening the store")
        shown.keys(keys)
        shown.until("● live".encode())
        yield shown


@pytest.mark.parametrize("keys", ["j", "6j", "2j6G"])
async def test_keys_that_look_count_from_the_first_frame_on(
    keys: str, counter: Counter, sqlite_url: str
) -> None:
    await counter.people()
    await counter.writes("The first.", subject="One")
    await counter.writes("The second.", subject="Two")
    with pressed(sqlite_url, keys) as shown:
        shown.shows("  The second.")
        assert "not used" not in shown.screen()


async def test_keys_that_act_do_nothing_on_a_ticket_that_nobody_has_seen(
    counter: Counter, sqlite_url: str
) -> None:
    await counter.people()
    ticket = await counter.writes("The first.", subject="One")
    before = await counter.store.read(lambda tx: tx.history(ticket).journal)
    with pressed(sqlite_url, "6tR\rnhello\x13y") as shown:
        shown.shows("were not used")
        shown.shows("  The first.")
        shown.keys("q")
        assert shown.ended() == 0
    after = await counter.store.read(lambda tx: tx.history(ticket).journal)
    assert after == before


def test_keys_pressed_before_a_desk_that_never_comes_are_dropped() -> None:
    store = "postgresql://nobody@127.0.0.1:9/none"
    with terminal("-m", "console.cli", "--store", store) as shown:
        shown.until(b"opening the store")
        shown.keys("2j")
        assert shown.ended() == UNREACHABLE
        assert shown.raw.rpartition(b"\x1b[?1049l")[2].count(b"handoff: ") == 1
