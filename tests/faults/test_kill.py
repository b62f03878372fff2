"""A worker killed at one point of each kind; at every point: tests.faults.kill."""

import functools

import pytest

from tests.faults import kill
from tests.faults.story import STORIES, Story

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("faults")]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def kept(request: pytest.FixtureRequest) -> kill.Stores:
    with kill.stores(request.param) as made:
        yield made


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_rule_08_killed_at_any_point_another_worker_reaches_the_same_end(
    story: Story, kept: kill.Stores
) -> None:
    chosen = functools.partial(kill.one_of_each, last=kept.kind == "postgresql")
    played = dict(kill.matrix(story, kept, chosen))
    found = {str(cut): p.found for cut, p in played.items() if p.found}
    assert found == {}
    assert sum(p.killed for p in played.values()) == len(played) - 1 > 10
