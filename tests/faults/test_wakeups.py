"""64 messages at one ticket at the same time; more rounds: tests.faults.wakeups."""

import asyncio
from pathlib import Path

import pytest

from tests.faults.kill import stores
from tests.faults.wakeups import soak

pytestmark = pytest.mark.xdist_group("faults")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rule_03_of_messages_that_arrive_at_once_each_is_answered_once(
    kind: str, tmp_path: Path
) -> None:
    with stores(kind) as kept:
        rounds = soak(kept.new(tmp_path), tmp_path, range(3), arrivals=64, count=8)
        assert asyncio.run(rounds) == []
