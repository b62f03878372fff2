"""The command line in this process, on a store of its own."""

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console import cli, wiring
from tests.worlds import ready_servers

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "console" / "demo"


DAMAGED = (
    "SU-48208: the vase is in a hundred pieces, the box was fine. A refund will do. "
    "Postcode 00100."
)
BENT = (
    "Hello, the tip of the knife from SU-48218 was bent, it arrived damaged. Postcode "
    "80331. I would like my money back. Viktor Hansl"
)
TWICE = (
    "Hello, my card shows 556.00 EUR twice for order SU-48204 (four chairs). I ordered "
    "once. Please refund the second charge. Postcode 20253."
)
"""Letters that the demo's own model acts on: a refund each."""


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Handoff = Callable[..., Said]


@pytest.fixture(autouse=True)
def nobody_elses_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("STORE", "CONFIG", "OPERATOR", "LOG", "SCRIPTED_DELAY"):
        monkeypatch.delenv(f"HANDOFF_{name}", raising=False)
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "PROFILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path / "no-profile"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def anywhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Handoff:
    """Runs a command as typed."""

    def run(*arguments: str, stdin: str | bytes = "") -> Said:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), "utf-8"))
        capsys.readouterr()
        code = cli.run(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Said(code, out, err)

    return run


@pytest.fixture
def handoff(anywhere: Handoff, sqlite_url: str) -> Handoff:
    """Runs a command on an SQLite store."""

    def run(*arguments: str, stdin: str | bytes = "") -> Said:
        return anywhere("--store", sqlite_url, *arguments, stdin=stdin)

    return run


@pytest.fixture
def both(anywhere: Handoff, store_url: str) -> Handoff:
    """Runs a command on each of both databases."""

    def run(*arguments: str, stdin: str | bytes = "") -> Said:
        return anywhere("--store", store_url, *arguments, stdin=stdin)

    return run


def message(n: int = 1, **changed: Any) -> str:
    """A line for `ingest`."""
    said = {
        "external_id": f"<{n}@example.com>",
        "channel": "mail",
        "from": "dana@example.com",
        "subject": "Lamp",
        "text": f"Message {n}: where is it?",
        "sent_at": "2026-11-01T10:00:00Z",
    }
    return json.dumps(said | changed) + "\n"


def opened(handoff: Handoff, **changed: Any) -> str:
    """A ticket with one message of its buyer."""
    return str(handoff("ingest", "-", stdin=message(**changed)).lines[0]["ticket"])


@pytest.fixture
def sundry(tmp_path: Path) -> Path:
    """The demo's configuration with its own model, in a folder of its own."""
    folder = tmp_path / "sundry"
    folder.mkdir()
    shutil.copy(DEMO / "support.md", folder)
    text = (DEMO / "handoff.toml").read_text()
    text = text.replace('model = "claude-sonnet-5-5"', f'model = "{wiring.SCRIPTED}"')
    text = text.replace('hold_off_agent = "5s"', 'hold_off_agent = "0s"')
    shop = json.dumps(ready_servers.command("console.demo.shop"))
    usual = 'command = ["python", "-m", "console.demo.shop"]'
    assert usual in text
    text = text.replace(usual, f"command = {shop}")
    (folder / "handoff.toml").write_text(text)
    return folder / "handoff.toml"


@pytest.fixture
def at_sundry(handoff: Handoff, sundry: Path) -> Handoff:
    """Runs a command on the demo's shop."""

    def run(*arguments: str, stdin: str = "") -> Said:
        return handoff("--config", str(sundry), *arguments, stdin=stdin)

    return run


@pytest.fixture
def proposed(at_sundry: Handoff) -> Callable[..., tuple[str, str]]:
    """A ticket on which the agent proposed something, and the decision."""

    def propose(text: str = BENT) -> tuple[str, str]:
        line = message(text=text, **{"from": "buyer@example.com"})
        ticket = at_sundry("ingest", "-", stdin=line).lines[0]["ticket"]
        assert at_sundry("worker", "--drain").code == 0
        [decision] = at_sundry("decisions", "--json").json
        assert decision["ticket"] == ticket
        return ticket, decision["decision"]

    return propose


def held(handoff: Handoff, **changed: str) -> str:
    """A ticket that is held, whose buyer is verified."""
    ticket = opened(handoff, **changed)
    handoff("take", ticket)
    said = handoff(
        *("identity", ticket, "--customer", "C-1", "--evidence", "called back")
    )
    assert said.code == 0
    return ticket
