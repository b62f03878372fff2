"""A console that stays open all day."""

from tests.bench.console import fill
from tests.bench.session import session

MORE = 75
"""Of no type may there be so many more: a fortieth of the changes that came."""


async def test_a_long_session_keeps_nothing_of_what_came(sqlite_url: str) -> None:
    await fill(sqlite_url, 200, 40)
    sizes = [
        size
        async for size in session(sqlite_url, tickets=200, changes=4000, every=1000)
    ]
    first, last = sizes[1].ours, sizes[-1].ours  # what is made once is made by then
    grown = {kind: n - first.get(kind, 0) for kind, n in last.items()}
    assert {kind: n for kind, n in grown.items() if n > MORE} == {}
