"""What is in force, at the desk and from the command line: all of it, and no secret."""

import json
import sys
from dataclasses import replace
from datetime import timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from console import wiring
from console.config import Config, load
from console.in_force import Start, in_force, policy_words
from console.screens.desk import Desk
from console.screens.settings import SettingsPanel
from console.settings import Section
from console.widgets.setting_lines import setting_lines
from console.widgets.spans import plain, width_of
from core.tool import FREE, UNKNOWN, Approve, Consequence, ToolPolicy
from store.transaction import SqlStore
from tests.console.shown import ME
from tests.console.steps import AT_ONCE, Watched, press, screen_text, until
from tests.console.test_decisions import REFUND
from tests.zoo import HOSTILE

MONEY = ToolPolicy(
    consequence=Consequence.MONEY,
    approve=Approve.OVER,
    approve_over=Decimal("50.00"),
    four_eyes_over=Decimal("500.00"),
    limit_per_ticket=Decimal("200.00"),
    limit_per_day=Decimal(0),
    object="order_id",
    identity=True,
)
SECRET = "hunter2"


def configured(folder: Path, text: str) -> Config:
    """What a configuration file with this text says."""
    file = folder / "handoff.toml"
    file.write_text(text, encoding="utf-8")
    return load(file=str(file), store=None)


def said(config: Config, store: str = "place", **more: object) -> dict[str, str]:
    """Each setting by its name, as `value | where`."""
    sections = in_force(
        Start(config=config, store=store, who=ME, undo=timedelta(seconds=8), log=None),
        more,  # type: ignore[arg-type] # tools by their name
    )
    return {
        f"{section.title}.{s.name}": f"{s.value} | {s.where or section.where}"
        for section in sections
        for s in section.settings
    }


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (FREE, "only reads · free"),
        (UNKNOWN, "account · asks · 4 h to decide · never retried"),
        (
            MONEY,
            "money · asks over 50.00 · four eyes over 500.00 · needs identity · asks"
            " over 200.00 a ticket · asks over 0 a day · one open for each order_id ·"
            " 4 h to decide · never retried",
        ),
        (
            replace(
                FREE,
                consequence=Consequence.REVERSIBLE,
                timeout=timedelta(seconds=90),
                idempotency="meta",
            ),
            "reversible · free · 1 min 30 s a call · safe to retry",
        ),
        (
            replace(FREE, establishes_identity="matched_order", customer="id"),
            "only reads · free · proves who the buyer is (matched_order)",
        ),
    ],
)
def test_a_policy_is_told_in_words(policy: ToolPolicy, words: str) -> None:
    assert policy_words(policy) == words


def test_each_setting_is_told_with_the_file_and_table_that_sets_it(
    tmp_path: Path,
) -> None:
    text = """
        [agent]
        max_turns = 7
        lease = "90s"
        [tools.refund]
        consequence = "message"
        [tools.lookup]
        [delivery]
        hold_off_human = "500ms"
        [retention]
        transcripts_days = 30
        [console]
        bell = true
        [keys]
        take = "ctrl+e"
        pause_all = "f9"
    """
    found = said(configured(tmp_path, text))
    assert str(tmp_path / "handoff.toml") in found["Start.configuration"]
    assert found["Agent.turns"] == "7 a run | handoff.toml [agent]"
    assert found["Agent.lease"].startswith("1 min 30 s |")
    assert found["Tools.refund"].startswith("message · free")
    assert "unless its server says that it only reads" in found["Tools.lookup"]
    assert "free where their server says" in found["Tools.all others"]
    assert found["Replies.undo time"].startswith("500 ms ")
    assert found["Retention.transcripts"].startswith("30 days")
    assert found["Notices.bell"] == "on | handoff.toml [console]"
    assert found["Keys of your own.take"].startswith("^e instead of t: take the")
    assert found["Keys of your own.pause_all"].startswith("f9 instead of none: stop")


def test_without_a_file_that_is_said_and_everything_is_as_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = said(load(file=None, store=f"sqlite:///{tmp_path}/x.db"))
    assert found["Start.configuration"].startswith("none")
    assert found["Tool servers.none"].endswith("handoff.toml [[tool_servers]]")
    assert "8 s at the desk" in found["Replies.undo time"]
    assert "no limit" in found["Agent.costs of a ticket"]


def test_what_the_servers_offer_is_told_once_it_is_known(tmp_path: Path) -> None:
    config = configured(tmp_path, "[tools.lookup]\n")
    found = said(config, refund_order=REFUND)
    assert "money · asks over 50" in found["Tools.refund_order"]
    assert "by its server's marks" in found["Tools.refund_order"]
    assert "Tools.all others" not in found


def test_nothing_that_may_be_a_secret_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    text = f"""
        [[tool_servers]]
        name = "shop"
        command = ["shop", "--key", "{SECRET}"]
        env = {{ SHOP_TOKEN = "{SECRET}" }}
        [[tool_servers]]
        name = "stock"
        url = "https://me:{SECRET}@stock.example.com:8443/mcp/{SECRET}?key={SECRET}"
    """
    file = configured(tmp_path, text).file
    config = load(file=str(file), store=f"postgresql://me:{SECRET}@db.example.com/desk")
    found = said(config, store="db.example.com/desk")
    assert SECRET not in str(found)
    assert "PostgreSQL db.example.com/desk" in found["Start.store"]
    assert "shop with 2 arguments" in found["Tool servers.shop"]
    assert "gets SHOP_TOKEN" in found["Tool servers.shop"]
    assert found["Tool servers.stock"].startswith("at stock.example.com:8443 ·")


def test_foreign_names_are_cleansed_and_every_line_keeps_to_its_width(
    tmp_path: Path,
) -> None:
    names = "".join(f"[tools.{json.dumps(bad + 'x' * 60)}]\n" for bad in zoo())
    config = configured(tmp_path, names)
    start = Start(config=config, store="", who=ME, undo=timedelta(0), log=None)
    sections: tuple[Section, ...] = in_force(start, {})
    for width in (30, 68, 104):
        lines = setting_lines(sections, width)
        assert max(map(width_of, lines)) <= width
        assert all(c.isprintable() for c in plain(lines).replace("\n", ""))


def zoo() -> list[str]:
    """What TOML can hold of it."""
    return [text for text in HOSTILE.values() if text.isascii() and len(text) < 200]


async def test_the_panel_opens_without_a_tool_server_and_changes_the_theme(
    sqlite_store: SqlStore, tmp_path: Path
) -> None:
    code = "open('started', 'w')"
    text = f"""
        [[tool_servers]]
        name = "shop"
        command = [{json.dumps(sys.executable)}, "-c", {json.dumps(code)}]
        [keys]
        settings = "f7"
    """
    services = wiring.services(configured(tmp_path, text), sqlite_store, ME)
    app = Watched(Desk(services), AT_ONCE)
    async with app.run_test(size=(100, 40)) as pilot:
        await press(pilot, "f7")
        await until(pilot, lambda: "handoff-dark" in screen_text(app))
        assert isinstance(app.screen, SettingsPanel)
        assert "handoff.toml [agent]" in screen_text(app)
        await press(pilot, "f2")
        await until(pilot, lambda: "handoff-light" in screen_text(app))
        assert app.theme == "handoff-light"
        await press(pilot, "G")
        await until(pilot, lambda: "f7 instead of S" in screen_text(app))
        await press(pilot, "f7")
        await until(pilot, lambda: not isinstance(app.screen, SettingsPanel))
    assert not (tmp_path / "started").exists()


async def test_it_opens_while_the_store_is_away_and_tells_the_zone(
    sqlite_store: SqlStore,
) -> None:
    there = wiring.services(load(file=None, store=None), sqlite_store, ME)
    app = Watched(
        Desk(replace(there, zone=timezone(timedelta(hours=-3, minutes=-30), "NST"))),
        AT_ONCE,
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await sqlite_store.close()
        await press(pilot, "S")
        await until(pilot, lambda: "NST, UTC-03:30" in screen_text(app))
