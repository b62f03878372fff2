"""A worker killed, or asleep, at some points; at every point: tests.faults.kill."""

from collections.abc import Sequence

import pytest

from tests.faults import kill
from tests.faults.story import LONG, OVERRIDDEN

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("faults")]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def kept(request: pytest.FixtureRequest) -> kill.Stores:
    with kill.stores(request.param) as made:
        yield made


def test_rule_08_killed_at_any_point_another_worker_reaches_the_same_end(
    kept: kill.Stores,
) -> None:
    def chosen(points: Sequence[kill.Cut]) -> Sequence[kill.Cut]:
        """Of each kind of point one, every other kind on the one store or the other."""
        first = kept.kind == "sqlite"
        return kill.one_of_each(points, last=not first)[0 if first else 1 :: 2]

    played = dict(kill.matrix(LONG, kept, chosen))
    found = {str(cut): p.found for cut, p in played.items() if p.found}
    assert found == {}
    assert sum(p.killed for p in played.values()) == len(played) - 1 > 10


ASLEEP = (
    "model after #1",
    "write _apply after #1",
    "tool refund_order before #1",
    "tool refund_order done #1",
    "write _record before #1",
    "write _claim after #1",
    "channel deliver done #1",
)


def test_rule_01_a_worker_that_wakes_after_its_lease_changes_nothing(
    kept: kill.Stores,
) -> None:
    def chosen(points: Sequence[kill.Cut]) -> Sequence[kill.Cut]:
        return [p for p in dict.fromkeys(points) if p.point in ASLEEP]

    played = dict(kill.matrix(OVERRIDDEN, kept, chosen, way=kill.Way.SLEEP))
    found = {str(cut): p.found for cut, p in played.items() if p.found}
    assert found == {}
    assert sum(p.killed for p in played.values()) == len(played) - 1 >= len(ASLEEP)


LOST = {
    "sqlite": ("model after #1",),
    "postgresql": (
        "model after #1",
        "write _record within #1",
        "write _apply after #2",
    ),
}


def test_rule_11_a_worker_whose_store_goes_away_for_a_while_goes_on(
    kept: kill.Stores,
) -> None:
    def chosen(points: Sequence[kill.Cut]) -> Sequence[kill.Cut]:
        return [p for p in dict.fromkeys(points) if p.point in LOST[kept.kind]]

    jobs = 2 if kept.kind == "sqlite" else 1  # there is one server for all
    rounds = kill.matrix(OVERRIDDEN, kept, chosen, jobs=jobs, way=kill.Way.LOSE)
    played = dict(rounds)
    found = {str(cut): p.found for cut, p in played.items() if p.found}
    assert found == {}
    assert sum(p.killed for p in played.values()) == len(played) - 1 > 0
