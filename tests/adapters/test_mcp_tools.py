"""The adapter to tool servers, against real ones."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.adapters import mcp_servers
from core.adapters.mcp_servers import Server
from core.adapters.mcp_tools import McpTools
from core.errors import BadConfiguration, ToolLost
from core.tool import FREE, UNKNOWN, ToolPolicy, ToolResult
from tests.worlds import ready_servers, retail_shop

ROOT = Path(__file__).parents[2]
USUAL = timedelta(seconds=20)


def policy(tool: str, read_only: bool) -> ToolPolicy:
    usual = FREE if read_only else UNKNOWN
    return replace(usual, idempotency="key") if tool == "write" else usual


def odd(folder: Path, **kept: Any) -> Server:
    given: dict[str, Any] = {
        "name": "odd",
        "command": ready_servers.command("tests.adapters.odd_server"),
        "url": None,
        "env": {"PYTHONPATH": str(ROOT)},
        "folder": folder,
    }
    return Server(**(given | kept))


@asynccontextmanager
async def opened(*servers: Server, **kept: Any) -> AsyncIterator[McpTools]:
    async with McpTools(servers, kept.pop("policy_of", policy), **kept) as tools:
        yield tools


async def call(tools: McpTools, name: str, **kept: Any) -> ToolResult:
    arguments = {"what": "lamp"} | kept.pop("arguments", {})
    kept = {"key": None, "timeout": USUAL} | kept
    return await tools.call(name, arguments, **kept)


async def test_tools_come_sorted_with_the_policy_that_fits_their_marks(
    tmp_path: Path,
) -> None:
    async with opened(odd(tmp_path)) as tools:
        specs = {s.name: s for s in await tools.specs()}

    assert list(specs) == sorted(specs)
    assert len(specs) == 7
    assert specs["look"].policy == FREE
    assert specs["die"].policy == UNKNOWN
    assert specs["die"].description == "the tool die"


async def test_the_model_is_not_shown_the_argument_that_takes_the_key(
    tmp_path: Path,
) -> None:
    async with opened(odd(tmp_path)) as tools:
        specs = {s.name: s for s in await tools.specs()}

    assert specs["write"].input_schema == {
        "type": "object",
        "properties": {"what": {"type": "string"}},
        "required": [],
    }
    assert "key" in specs["look"].input_schema["properties"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("says", "argument", "meta"),
    [("key", "hk_1", None), ("meta", None, "hk_1"), (None, None, None)],
)
async def test_a_key_goes_where_the_policy_says(
    tmp_path: Path, says: str | None, argument: str | None, meta: str | None
) -> None:
    def as_said(name: str, read_only: bool) -> ToolPolicy:
        return replace(UNKNOWN, idempotency=says)

    async with opened(odd(tmp_path), policy_of=as_said) as tools:
        result = await call(tools, "look", key="hk_1")

    seen: Any = result.structured
    assert seen["arguments"].get("key") == argument
    assert seen["meta"] == meta


async def test_one_text_block_is_its_string_and_anything_else_the_blocks(
    tmp_path: Path,
) -> None:
    async with opened(odd(tmp_path)) as tools:
        one = await call(tools, "look")
        several = await call(tools, "blocks")

    assert one.content == "seen\n"
    assert several.content == [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
    ]


async def test_a_result_that_breaks_its_own_schema_is_kept(tmp_path: Path) -> None:
    # its effect has happened: to lose the answer would put it in doubt
    async with opened(odd(tmp_path)) as tools:
        result = await call(tools, "wrong_shape")

    assert result == ToolResult(content="done", is_error=False, structured={"n": 1})


async def test_a_server_gets_no_secret_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    server = odd(tmp_path, env={"PYTHONPATH": str(ROOT), "SHOP_DB": "shop.db"})
    async with opened(server) as tools:
        result = await call(tools, "look")

    seen: Any = result.structured
    assert not {"ANTHROPIC_API_KEY", "PGPASSWORD"} & set(seen["environment"])
    assert {"SHOP_DB", "PATH", "HOME"} <= set(seen["environment"])
    assert seen["folder"] == str(tmp_path)


async def test_python_is_the_python_that_handoff_runs_in(tmp_path: Path) -> None:
    server = odd(tmp_path, command=("python", "-m", "tests.adapters.odd_server"))
    async with opened(server) as tools:
        assert len(await tools.specs()) == 7


async def test_what_a_server_writes_to_stderr_goes_to_the_file_only(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with opened(odd(tmp_path), stderr=tmp_path / "stderr") as tools:
        await call(tools, "look")

    assert capfd.readouterr() == ("", "")
    assert "noise on stderr" in (tmp_path / "stderr").read_text()


async def test_rule_05_a_server_that_dies_in_a_call_leaves_it_in_doubt(
    tmp_path: Path,
) -> None:
    async with opened(odd(tmp_path)) as tools:
        with pytest.raises(ToolLost, match="odd ended the connection") as lost:
            await call(tools, "die")
        again = await call(tools, "look")

    assert lost.value.started
    assert again.content == "seen\n"


async def test_rule_05_a_call_without_an_answer_in_time_is_in_doubt(
    tmp_path: Path,
) -> None:
    async with opened(odd(tmp_path)) as tools:
        with pytest.raises(ToolLost, match="no answer in time") as lost:
            await call(tools, "slow", timeout=timedelta(milliseconds=200))
        again = await call(tools, "look")

    assert lost.value.started
    assert again.content == "seen\n"


async def test_a_server_that_died_between_calls_is_started_again(
    tmp_path: Path,
) -> None:
    async with opened(odd(tmp_path)) as tools:
        pid = int(str((await call(tools, "bye")).content))
        os.kill(pid, signal.SIGKILL)
        await tools._running.over(odd(tmp_path)).wait()
        again = await call(tools, "bye")

    assert int(str(again.content)) != pid


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("no-such-program",), "there is no 'no-such-program'"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "tool server odd"),
    ],
)
async def test_rule_05_a_call_that_never_left_is_not_in_doubt(
    tmp_path: Path, command: tuple[str, ...], why: str
) -> None:
    async with opened(odd(tmp_path, command=command)) as tools:
        with pytest.raises(ToolLost, match=why) as lost:
            await call(tools, "look")

    assert not lost.value.started
    assert "\n" not in str(lost.value)


async def test_rule_05_an_http_server_that_is_away_was_not_called(
    tmp_path: Path,
) -> None:
    away = odd(tmp_path, command=(), url="http://127.0.0.1:9/mcp")
    async with opened(away) as tools:
        with pytest.raises(ToolLost) as lost:
            await tools.specs()

    assert not lost.value.started


async def test_two_servers_with_the_same_tool_are_a_mistake_that_names_both(
    tmp_path: Path,
) -> None:
    twin = odd(tmp_path, name="twin")
    async with opened(odd(tmp_path), twin) as tools:
        with pytest.raises(BadConfiguration, match="odd and twin both have a tool"):
            await tools.specs()


async def test_an_error_beside_the_tools_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="beside"):
        async with opened(odd(tmp_path)) as tools:
            await tools.specs()
            raise LookupError("beside")


async def test_calls_to_one_server_run_side_by_side(tmp_path: Path) -> None:
    async with opened(odd(tmp_path)) as tools:
        slow = asyncio.ensure_future(call(tools, "slow"))
        quick = await call(tools, "look")
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        still = await call(tools, "look")

    assert quick.content == still.content == "seen\n"


async def test_a_start_that_nobody_waits_for_any_more_does_not_keep_us(
    tmp_path: Path,
) -> None:
    async with opened(odd(tmp_path)) as tools:
        asked = asyncio.ensure_future(tools.specs())
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked


@pytest.fixture
def retail_http(tmp_path: Path) -> Iterator[str]:
    source = ROOT.parent / "shared" / "data" / "retail" / "db.json"
    if not source.exists():
        pytest.skip("the retail data is not here")
    db = shutil.copy(source, tmp_path / "db.json")
    shop = subprocess.Popen(
        retail_shop.command("--http", "0"),
        env=os.environ | retail_shop.environment(Path(db)),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert shop.stdout is not None
    yield shop.stdout.readline().strip()
    shop.terminate()
    shop.wait()
    shop.stdout.close()


async def test_a_shop_over_http_answers_and_refuses(
    tmp_path: Path, retail_http: str
) -> None:
    server = odd(tmp_path, name="retail", command=(), url=retail_http, env={})
    async with opened(server) as tools:
        kinds = await tools.call("list_all_product_types", {}, key=None, timeout=USUAL)
        wrong = await tools.call(
            "get_order_details", {"order_id": "#none"}, key=None, timeout=USUAL
        )

    assert len(json.loads(str(kinds.content))) == 50
    assert wrong.is_error


async def test_a_server_that_prints_something_else_is_called_so(
    tmp_path: Path,
) -> None:
    chatty = odd(tmp_path, command=("sh", "-c", "echo Welcome to the shop"))
    async with opened(chatty) as tools:
        with pytest.raises(ToolLost, match="odd prints what is not MCP"):
            await tools.specs()


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("cat >/dev/null; true", "odd to start …"),
        ("echo Hi; cat >/dev/null; true", "odd to start; it prints what is not MCP …"),
    ],
)
async def test_a_server_that_takes_long_to_start_is_named_and_waited_for(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    words: str,
) -> None:
    monkeypatch.setattr(mcp_servers, "NOTICE", 0.3)
    one_second = {"start_timeout": timedelta(seconds=1)}
    server = odd(tmp_path, command=("sh", "-c", program), **one_second)
    async with opened(server) as tools:
        with pytest.raises(ToolLost, match=r"did not start within 1 s|is not MCP"):
            await tools.specs()
    assert caplog.messages == [f"waiting for the tool server {words}"]


async def test_the_last_words_of_a_server_that_dies_at_its_start_are_told_cleansed(
    tmp_path: Path,
) -> None:
    program = "printf 'first\\nno \\033]0;x\\007 shop.db %0300d\\n\\n' 7 >&2; exit 3"
    log = tmp_path / "tools.log"
    server = odd(tmp_path, command=("sh", "-c", program))
    async with opened(server, stderr=log) as tools:
        with pytest.raises(ToolLost) as lost:
            await tools.specs()
    assert lost.value.said.startswith("no ␛]0;x␇ shop.db 000")
    assert len(lost.value.said) <= 201  # with the mark where it is cut
    assert "shop.db" not in str(lost.value)  # what a log may get
    assert b"first\n" in log.read_bytes()


async def test_what_a_server_says_once_it_has_started_is_passed_on_and_not_kept(
    tmp_path: Path,
) -> None:
    log = tmp_path / "tools.log"
    async with opened(odd(tmp_path), stderr=log) as tools:
        with pytest.raises(ToolLost) as lost:
            await call(tools, "die")
    assert lost.value.said == ""
