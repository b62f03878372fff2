"""`handoff doctor` names what is wrong, and ends with the worst code (rule 11)."""

from pathlib import Path

from tests.cli.conftest import DAMAGED, Handoff, message


def test_the_doctor_names_everything_and_ends_with_the_worst_code(
    at_sundry: Handoff, handoff: Handoff, tmp_path: Path
) -> None:
    well = at_sundry("doctor", "--json")
    (tmp_path / "bad.toml").write_text(
        "[[tool_servers]]\nname = 'gone'\ncommand = ['no-such-program']\n"
    )
    ill = handoff("doctor", "--config", str(tmp_path / "bad.toml"))
    away = at_sundry("doctor", "--store", "postgresql://nobody@127.0.0.1:9/x")

    assert well.code == 0
    assert {c["check"] for c in well.json} == {
        "store",
        "clocks",
        "lease",
        "in doubt",
        "records",
        "workers",
        "model",
        "tools of shop",
        "channels",
    }
    assert ill.code == 3
    assert "FAIL  model: claude-sonnet-5-5: there is no usable key" in ill.out
    assert "FAIL  tools of gone: tool server gone can't be started" in ill.out
    assert away.code == 3
    assert "FAIL  store:" in away.out


def test_rule_11_the_doctor_fails_where_the_lease_is_hardly_longer_than_runs(
    at_sundry: Handoff, sundry: Path
) -> None:
    at_sundry("ingest", "-", stdin=message(text=DAMAGED))
    at_sundry("worker", "--drain")
    text = sundry.read_bytes().decode().replace('lease = "120s"', 'lease = "1ms"')
    sundry.write_bytes(text.encode())
    said = at_sundry("doctor")

    assert said.code == 1
    assert "FAIL  lease:" in said.out
