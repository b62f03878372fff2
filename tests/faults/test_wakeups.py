"""64 messages at one ticket at the same time; more rounds: tests.faults.wakeups."""

import asyncio

import pytest

from tests.faults.kill import stores
from tests.faults.wakeups import soak

pytestmark = pytest.mark.xdist_group("faults")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rule_03_of_messages_that_arrive_at_once_each_is_answered_once(
    kind: str,
) -> None:
    with stores(kind) as kept:
        assert asyncio.run(soak(kept, rounds=3, arrivals=64, count=8)) == []
