"""What `handoff doctor` looks at, one line each, with the exit code it is worth."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from console import wiring
from console.codes import REFUSED, UNREACHABLE, USAGE, code_of
from console.config import Config
from console.measures import count, span_of
from console.wording import damaged
from core.errors import HandoffError, ModelFailed
from core.ports import QueueQuery, Store, Transaction
from core.ticket import UNKNOWN_TIME

_SKEW = timedelta(seconds=5)
_COMFORTABLE = 2
_SAMPLE = 500
_NAMED = 20
"""Damaged records that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at.

    Attributes:
        code: 0 where all is well, else the exit code that it is worth.
        found: What was found, in one line.
    """

    name: str
    code: int
    found: str


async def check_all(config: Config, name: str | None) -> AsyncIterator[Check]:
    """Looks at everything, the store first: without it the rest of it is left out.

    Args:
        config: The configuration.
        name: Who asks, where they said so; they must be somebody.
    """
    try:
        async with wiring.open_store(config) as store:
            place = getattr(store, "place", config.store)
            yield Check(name="store", code=0, found=f"{place}, schema current")
            if name is not None:
                yield await _operator(store, name)
            yield await _clocks(store)
            yield await _lease(config, store)
            yield await _records(store)
            for check in await _work(store):
                yield check
    except HandoffError as wrong:
        yield Check(name="store", code=code_of(wrong), found=str(wrong))
    yield await _model(config)
    for check in await _tools(config):
        yield check
    yield _channels(config)


async def _operator(store: Store, name: str) -> Check:
    try:
        me = await wiring.operator(store, name)
    except HandoffError as wrong:
        return Check(name="operator", code=code_of(wrong), found=str(wrong))
    return Check(name="operator", code=0, found=f"{me.name}, {me.role.value}")


async def _clocks(store: Store) -> Check:
    before = wiring.clock().now()
    theirs = await store.read(lambda tx: tx.now)
    between = before + (wiring.clock().now() - before) / 2
    skew = abs(theirs - between)
    code = REFUSED if skew > _SKEW else 0
    words = f"the store's clock and ours are {skew.total_seconds():.1f} s apart"
    return Check(name="clocks", code=code, found=words)


async def _lease(config: Config, store: Store) -> Check:
    lengths = sorted(await store.read(_run_lengths))
    lease = config.limits.lease
    if not lengths:
        return Check(name="lease", code=0, found=f"{span_of(lease)}; no run yet")
    p95 = lengths[min(len(lengths) - 1, len(lengths) * 95 // 100)]
    short = lease < p95 * _COMFORTABLE
    found = f"{span_of(lease)}; 95 of 100 runs end within {p95.total_seconds():.1f} s"
    if short:
        found += f"; make it at least {_COMFORTABLE} times as long"
    return Check(name="lease", code=REFUSED if short else 0, found=found)


def _run_lengths(tx: Transaction) -> list[timedelta]:
    """How long runs of the first tickets of the queue took."""
    return [
        run.ended_at - run.started_at
        for row in tx.queue(QueueQuery(view="all", limit=_SAMPLE))
        for run in tx.history(row.ticket).runs
        if run.ended_at is not None and run.started_at != UNKNOWN_TIME
    ]


async def _records(store: Store) -> Check:
    """Whether all that is stored can be read."""
    lost = await store.read(lambda tx: tx.damaged())
    if not lost:
        return Check(name="records", code=0, found="all can be read")
    named = [damaged(record) for record in lost]
    more = len(named) - _NAMED
    found = ", ".join(named[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return Check(name="records", code=REFUSED, found=f"can't be read: {found}")


async def _work(store: Store) -> Sequence[Check]:
    """Actions in doubt, and whether somebody works."""

    def look(tx: Transaction) -> tuple[list[str], int, bool]:
        rows = tx.queue(QueueQuery(view="human", limit=_SAMPLE))
        doubts = [
            f"{row.ticket} {doubt}" for row in rows for doubt in row.standing.doubts
        ]
        alive = sum(worker.alive for worker in tx.workers())
        return doubts, alive, bool(tx.due(1))

    doubts, alive, due = await store.read(look)
    idle = due and not alive
    workers = count(alive, "worker") + " alive"
    return (
        Check(
            name="in doubt",
            code=REFUSED if doubts else 0,
            found=", ".join(doubts) or "no action",
        ),
        Check(
            name="workers",
            code=REFUSED if idle else 0,
            found=f"{workers}; tickets wait: run `handoff worker`" if idle else workers,
        ),
    )


async def _model(config: Config) -> Check:
    try:
        found = await wiring.try_model(config)
    except ModelFailed as failed:
        return Check(
            name="model", code=code_of(failed), found=f"{config.model}: {failed}"
        )
    return Check(name="model", code=0, found=f"{config.model}: {found}")


async def _tools(config: Config) -> Sequence[Check]:
    reports = await wiring.try_servers(config)
    checks = [_server(config, report) for report in reports]
    if not reports:
        return [Check(name="tools", code=0, found="no tool server is configured")]
    offered = {spec.name for report in reports for spec in report.tools}
    missing = sorted(set(config.tools) - offered)
    if missing and all(r.problem is None for r in reports):
        found = f"configured, but no server has: {', '.join(missing)}"
        checks.append(Check(name="tools", code=USAGE, found=found))
    twice = _twice(reports)
    if twice:
        found = f"on more than one server: {', '.join(twice)}"
        checks.append(Check(name="tools", code=USAGE, found=found))
    return checks


def _server(config: Config, report: wiring.ServerReport) -> Check:
    name = f"tools of {report.name}"
    if report.problem is not None:
        return Check(name=name, code=UNREACHABLE, found=report.problem)
    found = count(len(report.tools), "tool")
    bare = [spec.name for spec in report.tools if spec.name not in config.tools]
    if bare:
        found += f"; without a policy here, so by their own marks: {', '.join(bare)}"
    return Check(name=name, code=0, found=found)


def _twice(reports: Sequence[wiring.ServerReport]) -> list[str]:
    seen: dict[str, int] = {}
    for report in reports:
        for spec in report.tools:
            seen[spec.name] = seen.get(spec.name, 0) + 1
    return sorted(name for name, times in seen.items() if times > 1)


def _channels(config: Config) -> Check:
    named: Mapping[str, object] = config.channels
    found = ", ".join(named) or "none: replies wait in the outbox"
    return Check(name="channels", code=0, found=found)
