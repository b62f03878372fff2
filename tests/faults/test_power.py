"""Power cuts under a SQLite store; many more: tests.faults.power."""

from pathlib import Path

import pytest

from tests.faults import power

pytestmark = [
    pytest.mark.skipif(power.STRACE is None, reason="there is no strace"),
    pytest.mark.xdist_group("faults"),
]


def test_rule_03_what_was_acknowledged_survives_a_power_cut(tmp_path: Path) -> None:
    found, looked = power.lost(tmp_path, turns=10, seed=3)
    assert found == []
    assert looked > 50


def test_the_power_cut_would_show_a_store_that_waits_for_no_disk(
    tmp_path: Path,
) -> None:
    found, _ = power.lost(tmp_path, turns=6, seed=3, synchronous="NORMAL")
    assert found != []
