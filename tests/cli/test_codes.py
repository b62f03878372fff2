"""Exit codes, options and output: what scripts rely on."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Handoff, message, opened
from tests.worlds.reporting import worker_on

HANDOFF = (sys.executable, "-m", "console.cli")
A_MODEL = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
"""Where none answers; these workers have nothing to ask."""


@pytest.mark.parametrize(
    "store",
    [
        "sqlite:////dev/null",
        "postgresql://nobody@127.0.0.1:9/x",
    ],
)
def test_a_store_that_cannot_be_reached_is_one_line_and_code_3(
    anywhere: Handoff, store: str
) -> None:
    said = anywhere("tickets", "--store", store)

    assert said.code == 3
    assert said.out == ""
    assert said.err.startswith("handoff: ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("store", ["mysql://h/d", "x.db", "sqlite://", "sqlite:///"])
def test_a_store_that_is_none_is_code_2(anywhere: Handoff, store: str) -> None:
    said = anywhere("tickets", "--store", store)

    assert said.code == 2
    assert "expected sqlite:///PATH" in said.err


def test_a_newer_store_is_code_2_wherever_it_shows(
    handoff: Handoff, tmp_path: Path
) -> None:
    handoff("tickets")
    with closing(sqlite3.connect(tmp_path / "store.db")) as store:
        store.execute("UPDATE alembic_version SET version_num = '9999'")
        store.commit()
    said = [handoff(command) for command in ("tickets", "migrate", "worker")]
    found = {c["check"]: c for c in handoff("doctor", "--json").json}

    assert [s.code for s in said] == [2, 2, 2]
    assert found["store"]["code"] == 2
    assert "newer version" in found["store"]["found"]


def test_a_file_that_is_no_store_is_not_touched(
    anywhere: Handoff, tmp_path: Path
) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear all, this is no database at all.\n" * 100)
    before = path.read_bytes()
    said = anywhere("tickets", "--store", f"sqlite:///{path}")

    assert said.code in {2, 3}
    assert said.err.count("\n") == 1
    assert path.read_bytes() == before


def test_the_options_may_stand_before_and_after_the_command(
    anywhere: Handoff, sqlite_url: str
) -> None:
    before = anywhere("--store", sqlite_url, "--json", "operator", "list")
    after = anywhere("operator", "list", "--json", "--store", sqlite_url)
    between = anywhere("operator", "--json", "list", "--store", sqlite_url)

    assert before == after == between
    assert before.json[0]["role"] == "supervisor"


def test_the_environment_says_what_the_options_do_not(
    anywhere: Handoff, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDOFF_STORE", sqlite_url)
    anywhere("operator", "add", "Mira")
    ticket = opened(anywhere)
    monkeypatch.setenv("HANDOFF_OPERATOR", "Mira")
    taken = anywhere("take", ticket, "--json").json

    assert taken["holder"]["name"] == "Mira"


@pytest.mark.parametrize(
    "arguments",
    [
        ("tickets",),
        ("decisions",),
        ("outbox",),
        ("operator", "list"),
        ("replay", "--all"),
        ("migrate",),
        ("worker", "--drain"),
    ],
)
def test_with_json_there_is_one_document_on_stdout_and_nothing_else(
    both: Handoff, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in A_MODEL.items():
        monkeypatch.setenv(name, value)
    said = both(*arguments, "--json")

    assert said.code == 0
    json.loads(said.out)


def test_the_first_start_makes_the_systems_user_a_supervisor(
    handoff: Handoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    first = handoff("operator", "list")
    people = handoff("operator", "list", "--json").json
    monkeypatch.setenv("LOGNAME", "bea")
    later = handoff("tickets")
    nearly = handoff("tickets", "--as", "Ada")

    assert first.out == "NAME  ROLE\nada   supervisor\n"
    assert first.err == "handoff: made the tables; ada is the first supervisor\n"
    assert people == [{"operator": "ada", "role": "supervisor", "disabled": False}]
    assert nearly.err == "handoff: there is no operator named Ada; is it ada?\n"
    assert later.code == 2
    assert "there is no operator named bea" in later.err


def test_on_postgresql_one_is_the_databases_login(
    anywhere: Handoff, postgres_url: str
) -> None:
    people = anywhere("operator", "list", "--json", "--store", postgres_url).json
    login = people[0]["operator"]
    other = anywhere("tickets", "--as", "Mira", "--store", postgres_url)
    same = anywhere("tickets", "--as", login, "--store", postgres_url)

    assert other.code == 2
    assert login in other.err
    assert same.code == 0


def test_only_supervisors_change_people_and_one_is_always_left(
    handoff: Handoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    added = handoff("operator", "add", "Mira")
    twice = handoff("operator", "add", "Mira")
    herself = handoff("operator", "role", "Mira", "supervisor", "--as", "Mira")
    last = handoff("operator", "disable", "ada")
    handoff("operator", "disable", "Mira")
    disabled = handoff("tickets", "--as", "Mira")

    assert added.code == 0
    assert [s.code for s in (twice, herself, last, disabled)] == [1, 1, 1, 1]
    assert "only a supervisor" in herself.err
    assert "last supervisor" in last.err
    assert "Mira is disabled" in disabled.err


def test_f7_foreign_text_reaches_no_terminal_as_it_is(handoff: Handoff) -> None:
    hostile = "\x1b]52;c;QUJD\x1b\\\x1b[2J\x9b31m\x07\x00\u202eApproved"
    ticket = opened(
        handoff, text=hostile, subject=hostile, **{"from": f"{hostile}@example.com"}
    )
    handoff("take", ticket)
    handoff("reply", ticket, hostile)
    handoff("note", ticket, hostile)
    outputs = [
        handoff("tickets"),
        handoff("tickets", "--search", "Approved"),
        handoff("show", ticket),
        handoff("show", ticket, "--json"),
        handoff("outbox"),
        handoff("show", hostile.replace("\x00", "")),
        handoff("ingest", "-", stdin=message(2, channel=None, text=hostile)),
        handoff("operator", "add", hostile.replace("\x00", "")),
        handoff("operator", "list"),
    ]

    for said in outputs:
        for bad in "\x1b\x9b\x07\x00\u202e":
            assert bad not in said.out + said.err


@pytest.mark.parametrize("words", ["--help", "demo --headless 9 --json"])
def test_a_reader_that_has_enough_ends_the_command_quietly(
    words: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        f"{sys.executable} -m console.cli {words} | head -1",
        shell=True,
        cwd=ROOT,
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )

    assert done.stderr == b""


def test_an_interrupted_command_ends_with_130(sqlite_url: str, tmp_path: Path) -> None:
    worker = subprocess.Popen(
        [*HANDOFF, "worker", "--store", sqlite_url, "--until-stdin-ends"],
        cwd=ROOT,
        env=os.environ | A_MODEL,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert worker_on(tmp_path / "store.db") == worker.pid
    worker.send_signal(signal.SIGINT)
    out, err = worker.communicate(timeout=20)

    assert worker.returncode == 130
    assert b"Traceback" not in out + err


def test_a_terminated_worker_ends_in_order_with_0(
    handoff: Handoff, sqlite_url: str, tmp_path: Path
) -> None:
    worker = subprocess.Popen(
        [*HANDOFF, "worker", "--store", sqlite_url],
        cwd=ROOT,
        env=os.environ | A_MODEL,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert worker_on(tmp_path / "store.db") == worker.pid
    found = {c["check"]: c["found"] for c in handoff("doctor", "--json").json}
    worker.terminate()
    out, err = worker.communicate(timeout=20)

    assert found["workers"].startswith("1 worker")
    assert worker.returncode == 0
    assert b"Traceback" not in out + err


def test_the_console_starts_without_the_heavy_libraries() -> None:
    look = (
        "import sys, console.cli\n"
        "print([m for m in ('anthropic', 'mcp', 'textual', 'sqlalchemy')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", look],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )

    assert done.stdout.strip() == "[]"
