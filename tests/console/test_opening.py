"""What there is before the desk: a frame at once; one line where there is no desk."""

import subprocess
import sys
from pathlib import Path

from console.codes import UNREACHABLE
from tests.console.terminal import terminal

_LATER = "sqlalchemy alembic anthropic mcp psycopg store.transaction core.adapters"
_LOADED = """
import sys
import console.app, console.cli
print(*[name for name in sys.argv[1:] if name in sys.modules])
"""


def test_the_console_paints_before_it_loads_a_database_or_a_model() -> None:
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


def test_a_store_that_can_not_be_opened_is_one_line_on_a_sane_terminal() -> None:
    store = "postgresql://nobody@127.0.0.1:9/none"
    with terminal("-m", "console.cli", "--store", store) as shown:
        assert shown.ended() == UNREACHABLE
        after = shown.raw.rpartition(b"\x1b[?1049l")[2]
        assert after.count(b"handoff: ") == 1
        assert b"Traceback" not in after
