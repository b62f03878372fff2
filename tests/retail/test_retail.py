"""A few of the retail tasks through a real worker; all of them: tests.retail.play."""

import pytest

from tests.retail import play

pytestmark = [
    pytest.mark.skipif(
        not play.SHARED.exists(), reason="the shared retail data is not here"
    ),
    pytest.mark.timeout(240),
]

PART = {"takeover": ["1"], "kill": ["2", "33"]}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("way", PART)
async def test_rule_08_a_task_ends_with_the_books_it_should(
    way: str, kind: str
) -> None:
    chosen = [t for t in play.tasks() if str(t["id"]) in PART[way]]
    assert len(chosen) == len(PART[way])
    played = await play.play_all(chosen, way, kind, jobs=2, seed=7)
    assert [p.wrong for p in played] == [""] * len(chosen)
