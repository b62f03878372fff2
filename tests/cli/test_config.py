"""What is configured, and how a mistake in it is told."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from console import wiring
from console.config import load
from core.errors import BadConfiguration
from core.tool import FREE, UNKNOWN, Approve, Consequence
from store.transaction import SqlStore
from tests.cli.conftest import DEMO
from tests.console.shown import ME

SERVER = "[[tool_servers]]\nname = 's'\ncommand = ['true']\n"
Written = Callable[[str], str]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(text: str) -> str:
        path = tmp_path / "handoff.toml"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("colour = 1", "colour: unknown key, expected one of: store, agent"),
        ("[agent]\nmodle = 'x'", "agent.modle: unknown key, expected one of: model"),
        ("[tools.refund]\nlimit = 1", "tools.refund.limit: unknown key"),
        ("[agent]\nmax_turns = '20'", "agent.max_turns: expected integer"),
        ("[agent]\nmax_turns = 0", "agent.max_turns: expected greater than"),
        ("[agent]\nlease = 120", "agent.lease: expected a duration such as"),
        ("[agent]\nlease = '2 weeks'", "agent.lease: expected a duration such as"),
        ("[agent]\nmax_cost_usd = 2.0", "agent.max_cost_usd: expected a decimal in"),
        ("[agent]\nmax_cost_usd = 'NaN'", "agent.max_cost_usd: expected a decimal in"),
        ("[agent]\nprompt = 'none.md'", "agent.prompt: none.md: expected a file"),
        ("[tools.x]\nconsequence = 'big'", "tools.x.consequence: expected 'none'"),
        ("[tools.x]\napprove = 'over'", "tools.x: expected approve_over beside"),
        ("[tools.x]\nlimit_per_day = '1'", "tools.x: expected amount"),
        ("[[tool_servers]]\nname = 's'", "tool_servers.0: expected either command"),
        (f"{SERVER}start_timeout = 5", "0.start_timeout: expected a duration such as"),
        (f"{SERVER}start_timeout = '0s'", "0.start_timeout: expected a duration above"),
        ("[channels.mail]\nkind = 'fax'", "channels.mail.kind: expected 'jsonl'"),
        ("store = 'mysql://h/d'", "store: expected sqlite:///PATH or postgresql://"),
        ("store = 'postgresql://u:pw@h/d'", "store: a password does not belong"),
        ("[agent", "not valid TOML"),
    ],
)
def test_a_mistake_is_one_line_with_file_key_and_what_was_expected(
    written: Written, text: str, told: str
) -> None:
    path = written(text)
    with pytest.raises(BadConfiguration) as wrong:
        load(file=path, store=None)

    line = str(wrong.value)
    assert line.startswith(f"{path}: ")
    assert told in line
    assert "\n" not in line
    assert "pw" not in line


def test_a_named_file_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(BadConfiguration, match=r"none\.toml: expected a file"):
        load(file="none.toml", store=None)


def test_without_a_file_everything_has_a_value(tmp_path: Path) -> None:
    config = load(file=None, store=None)

    assert config.file is None
    assert config.store == f"sqlite:///{tmp_path}/data/handoff/handoff.db"
    assert config.prompt.version.version == "default-1"
    assert config.tool_servers == ()
    assert config.policy_of("look", True) == FREE
    assert config.policy_of("act", False) == UNKNOWN


def test_the_option_wins_over_the_environment_and_that_over_the_file(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written("store = 'sqlite:///in-file.db'")
    (Path.cwd() / "handoff.toml").write_text("store = 'sqlite:///here.db'")
    here = load(file=None, store=None)
    monkeypatch.setenv("HANDOFF_CONFIG", path)
    by_file = load(file=None, store=None)
    monkeypatch.setenv("HANDOFF_STORE", "sqlite:///in-env.db")
    by_environment = load(file=None, store=None)
    by_option = load(file=None, store="postgresql://u@h/d")

    assert here.store == f"sqlite:///{Path.cwd()}/here.db"
    assert by_file.store == f"sqlite:///{tmp_path}/in-file.db"
    assert by_environment.store == f"sqlite:///{Path.cwd()}/in-env.db"
    assert by_option.store == "postgresql://u@h/d"


def test_paths_in_a_file_are_relative_to_its_folder(
    written: Written, tmp_path: Path
) -> None:
    (tmp_path / "p.md").write_text("You help.")
    config = load(
        file=written(
            "[agent]\nprompt = 'p.md'\n"
            "[channels.mail]\nkind = 'jsonl'\npath = 'out/replies.jsonl'\n"
            "[[tool_servers]]\nname = 's'\ncommand = ['x']"
        ),
        store=None,
    )

    assert config.prompt.text == "You help."
    assert config.channels == {"mail": tmp_path / "out" / "replies.jsonl"}
    assert config.tool_servers[0].folder == tmp_path


def test_a_prompt_is_known_by_its_version_and_the_hash_of_its_whole_file(
    written: Written, tmp_path: Path
) -> None:
    raw = b"---\r\nversion: v7\r\n---\r\nYou help.\r\n---\r\nStill text.\r\n"
    (tmp_path / "p.md").write_bytes(raw)
    prompt = load(file=written("[agent]\nprompt = 'p.md'"), store=None).prompt

    assert prompt.version.version == "v7"
    assert prompt.version.sha256 == hashlib.sha256(raw).hexdigest()
    assert prompt.text.startswith("You help.")
    assert "Still text." in prompt.text


def test_the_demo_is_configured_as_it_says() -> None:
    config = load(file=str(DEMO / "handoff.toml"), store=None)
    refund = config.policy_of("refund_order", False)

    assert config.limits.lease == timedelta(seconds=120)
    assert refund.consequence is Consequence.MONEY
    assert refund.approve is Approve.OVER
    assert refund.approve_over == Decimal("50.00")
    assert refund.expires == timedelta(hours=4)
    assert refund.idempotency == "idempotency_key"
    assert config.policy_of("find_customer", True).customer == "customer_id"


@pytest.mark.parametrize(
    ("entry", "read_only", "consequence", "approve"),
    [
        ("", True, "none", "never"),
        ("", False, "account", "always"),
        ("consequence = 'money'", False, "money", "always"),
        ("consequence = 'account'\napprove = 'never'", False, "account", "never"),
        ("consequence = 'message'", False, "message", "never"),
        ("consequence = 'reversible'", False, "reversible", "never"),
        ("approve = 'always'", True, "none", "always"),
    ],
)
def test_what_has_consequences_needs_a_decision_unless_the_file_says_otherwise(
    written: Written, entry: str, read_only: bool, consequence: str, approve: str
) -> None:
    policy = load(file=written(f"[tools.x]\n{entry}"), store=None).policy_of(
        "x", read_only
    )

    assert policy.consequence.value == consequence
    assert policy.approve.value == approve


def test_how_long_a_tool_server_may_take_to_start_is_said_for_each(
    written: Written,
) -> None:
    usual = f"{SERVER}[[tool_servers]]\nname = 't'\nurl = 'http://localhost/mcp'\n"
    config = load(file=written(f"{usual}start_timeout = '2m'"), store=None)
    found = [server.start_timeout for server in config.tool_servers]
    assert found == [timedelta(seconds=30), timedelta(minutes=2)]


@pytest.mark.parametrize(
    ("said", "at_the_desk", "by_command"),
    [("", 8, 0), ("hold_off_human = '0s'", 0, 0), ("hold_off_human = '30s'", 30, 30)],
)
async def test_a_reply_written_at_the_desk_can_be_taken_back_unless_configured_not_to(
    written: Written,
    sqlite_store: SqlStore,
    said: str,
    at_the_desk: int,
    by_command: int,
) -> None:
    config = load(file=written(f"[delivery]\n{said}"), store=None)
    desk = wiring.services(config, sqlite_store, ME).leaving
    assert desk.hold_off == timedelta(seconds=at_the_desk)
    assert wiring.leaving(config).hold_off == timedelta(seconds=by_command)
