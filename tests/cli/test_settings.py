"""`handoff settings`: what is in force, without a screen."""

from pathlib import Path

from tests.cli.conftest import Handoff


def test_what_is_in_force_as_words_and_as_json(both: Handoff, sundry: Path) -> None:
    words = both("settings", "--config", str(sundry))
    assert words.code == 0
    assert "asks over 50.00" in words.out
    assert "handoff.toml [tools.NAME]" in words.out
    found = both("settings", "--config", str(sundry), "--json").json
    by_name = {(row["section"], row["name"]): row for row in found}
    refund = by_name["Tools", "refund_order"]
    assert refund["value"].startswith("money · asks over 50.00 · four eyes over 500.00")
    assert refund["where"] == "handoff.toml [tools.NAME]"
    assert by_name["Start", "configuration"]["value"] == str(sundry)
    assert by_name["Retention", "transcripts"]["value"].startswith("90 days")
