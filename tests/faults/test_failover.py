"""A PostgreSQL primary dies and its standby takes over; more: tests.faults.failover."""

import pytest

from tests.faults import failover, kill

pytestmark = pytest.mark.xdist_group("faults")


def test_rule_08_a_worker_goes_on_at_the_standby_that_took_over() -> None:
    played = failover.story(kill.Cut(1, "tool find_order done #1"), None)
    assert played.found == []
    assert played.killed


def test_rule_03_what_was_acknowledged_outlives_the_primary() -> None:
    found, acknowledged = failover.burst(1)
    assert found == []
    assert acknowledged > 50
