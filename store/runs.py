"""Runs, their turns, and every request exactly as it was sent (rule 9).

A request repeats nearly all of the one before it, so what is stored is what differs.
`bodies` holds each distinct message of a ticket once, packed, by its digest.
`run_messages` holds which digest stands at a position *from a turn on*: turns are
counted through the ticket (`stamp`), and the message at a position of a turn's request
is the one with the greatest stamp that is not above the turn's. A request that only
adds messages adds only rows for these, in a new run too, and is known by one digest of
all that it repeats; after folding, the positions that differ get new rows and the old
requests can still be read. A part of a run's record that can't be decoded is empty, and
the run says so (`Run.unreadable`): one damaged row must not take the ticket with it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa

from core.ports import RunEnd, Spent
from core.ticket import JsonObject, RunId, TicketId
from core.turn import ModelResponse, Prompt, PromptVersion, Run, RunRecord, Stop, Turn
from store.codec import (
    list_of,
    object_of,
    response_from_json,
    response_to_json,
)
from store.columns import Exact, dumps, loads, unpacked
from store.faults import UNDECODABLE
from store.prepared import Prepared, PreparedInsert
from store.reading import Row, as_read, each_of
from store.schema import bodies, run_messages, runs, turns

T = TypeVar("T")


def _undecoded(table: sa.Table, name: str) -> list[sa.ColumnElement[Any]]:
    """The table's columns, one of them as stored: it is decoded where it may fail."""
    return [
        sa.type_coerce(c, Exact).label(name) if c.name == name else c for c in table.c
    ]


_TICKET: sa.BindParameter[str] = sa.bindparam("ticket")
_r, _t = runs.c, turns.c
_INSERT = PreparedInsert(runs)
_INSERT_TURN = PreparedInsert(turns)
_INSERT_SENT = PreparedInsert(run_messages)
_INSERT_BODIES = PreparedInsert(bodies, unless_there=True)
_LAST_TURN = Prepared(
    sa.select(_t.stamp, _t.upto, _t.digest)
    .where(_t.ticket_id == _TICKET)
    .order_by(_t.stamp.desc())
    .limit(1)
)
_RESPONSE = Prepared(
    sa.update(turns).where(
        _t.run_id == sa.bindparam("run"), _t.number == sa.bindparam("of")
    ),
    sets=["response", "applied"],
)
_END = Prepared(
    sa.update(runs).where(_r.id == sa.bindparam("run"), _r.ticket_id == _TICKET),
    sets=["ended_at", "stop", "detail", "escalated", "task_state", "cost_usd"],
)
_RUNS = Prepared(
    sa.select(*_undecoded(runs, "task_state"))
    .where(_r.ticket_id == _TICKET)
    .order_by(_r.token)
)
_TURNS = Prepared(
    sa.select(*_undecoded(turns, "response"))
    .where(_t.ticket_id == _TICKET)
    .order_by(_t.stamp)
)
_ALWAYS_SENT = sa.union(
    *(
        sa.select(digest).where(_r.ticket_id == _TICKET)
        for digest in (_r.prompt_digest, _r.system_digest, _r.tools_digest)
    )
)
KEPT: tuple[sa.ColumnElement[Any], ...] = (
    bodies.c.digest,
    # unpacked one by one: one may be damaged
    sa.type_coerce(bodies.c.content, sa.LargeBinary).label("kept"),
)
"""The columns of a message as sent."""

_TEXTS = Prepared(
    sa.select(*KEPT).where(
        bodies.c.ticket_id == _TICKET, bodies.c.digest.in_(_ALWAYS_SENT)
    )
)


def insert(connection: sa.Connection, run: Run) -> None:
    """Stores a run without turns; what it always sends is kept once for a ticket."""
    prompt, system, tools = map(_bytes, (run.prompt.text, run.system, dumps(run.tools)))
    _keep(connection, run.ticket, (prompt, system, tools))
    _INSERT.run(
        connection,
        [
            {
                "id": run.id,
                "ticket_id": run.ticket,
                "token": run.token,
                "trigger": run.trigger,
                "model": run.model,
                "prompt_version": run.prompt.version.version,
                "prompt_sha256": run.prompt.version.sha256,
                "prompt_digest": _digest(prompt),
                "system_digest": _digest(system),
                "tools_digest": _digest(tools),
                "max_tokens": run.max_tokens,
                "builder": run.builder,
                "staff_voice": run.staff_voice,
                "started_at": run.started_at,
                "ended_at": run.ended_at,
                "stop": run.stop.value if run.stop else None,
                "detail": run.detail,
                "escalated": run.escalated,
                "task_state": run.task_state,
                "cost_usd": None,  # known when it has ended
            }
        ],
    )


def insert_request(
    connection: sa.Connection,
    ticket: TicketId,
    run: RunId,
    turn: Turn,
    messages: Sequence[bytes],
) -> None:
    """Stores a turn and what its request sent that no earlier one of the ticket did."""
    digests = [_digest(message) for message in messages]
    last = _LAST_TURN.first(connection, ticket=ticket)
    stamp = 1 if last is None else last.stamp + 1
    if last is not None and _whole(digests[: last.upto]) == bytes(last.digest):
        places = list(range(last.upto, len(digests)))
    else:
        before = _as_sent(_sent_rows(connection, ticket), stamp)
        places = [p for p, d in enumerate(digests) if before.get(p) != d]
    if places:
        _keep(connection, ticket, [messages[p] for p in places])
        _INSERT_SENT.run(
            connection,
            [
                {
                    "ticket_id": ticket,
                    "position": p,
                    "stamp": stamp,
                    "digest": digests[p],
                }
                for p in places
            ],
        )
    _INSERT_TURN.run(
        connection,
        [
            {
                "run_id": run,
                "number": turn.number,
                "ticket_id": ticket,
                "stamp": stamp,
                "built_at": turn.built_at,
                "upto": len(messages),
                "digest": _whole(digests),
                "requested_at": turn.requested_at,
                "response": None,
                "applied": False,
                "folds": turn.folds,
            }
        ],
    )


def save_response(
    connection: sa.Connection,
    run: RunId,
    number: int,
    response: ModelResponse,
    *,
    applied: bool,
) -> None:
    """Stores what the model returned for a turn."""
    stored = {"response": response_to_json(response), "applied": applied}
    _RESPONSE.run(connection, {"run": run, "of": number, **stored})


def save_end(
    connection: sa.Connection, ticket: TicketId, run: RunId, end: RunEnd, now: datetime
) -> None:
    """Stores how a run of the ticket ended."""
    ended = {
        "ended_at": now,
        "stop": end.stop.value,
        "detail": end.detail,
        "escalated": end.escalated,
        "task_state": end.task_state,
        "cost_usd": end.cost_usd,
    }
    _END.run(connection, {"run": run, "ticket": ticket, **ended})


def costs(connection: sa.Connection, since: datetime) -> Spent:
    """What the runs cost that ended since then."""
    query = sa.select(runs.c.cost_usd).where(runs.c.ended_at >= since)
    found = each_of(connection, query, lambda row: row.cost_usd)
    known = [cost for cost in found if cost is not None]
    return Spent(
        runs=len(found),
        cost_usd=sum(known, Decimal(0)),
        unknown=len(found) - len(known),
    )


def of_ticket(connection: sa.Connection, ticket: TicketId) -> tuple[Run, ...]:
    """The ticket's runs with their turns, oldest first."""
    wrong: defaultdict[str, list[str]] = defaultdict(list)

    def undated(row: Row) -> Row:
        wrong[row.id].append("when it ran")
        return row

    def undated_turn(row: Row) -> Row:
        wrong[row.run_id].append(f"when turn {row.number} was asked")
        return row

    rows = _RUNS.each(connection, as_read, undated, ticket=ticket)
    if not rows:
        return ()
    made: defaultdict[str, list[Turn]] = defaultdict(list)
    for row in _TURNS.each(connection, as_read, undated_turn, ticket=ticket):
        made[row.run_id].append(_turn(row, wrong[row.run_id]))
    texts = dict(_TEXTS.rows(connection, ticket=ticket))
    return tuple(_run(r, texts, tuple(made[r.id]), wrong[r.id]) for r in rows)


def record(connection: sa.Connection, run: RunId) -> RunRecord | None:
    """A run with the messages of each of its requests, or None."""
    ticket = connection.scalar(sa.select(runs.c.ticket_id).where(runs.c.id == run))
    if ticket is None:
        return None
    owner = TicketId(ticket)
    found = next(r for r in of_ticket(connection, owner) if r.id == run)
    t = turns.c
    stamps = connection.scalars(
        sa.select(t.stamp).where(t.run_id == run).order_by(t.number)
    ).all()
    rows = _sent_rows(connection, owner)
    sent = [
        [at.get(p, b"") for p in range(turn.upto)]
        for turn, at in zip(
            found.turns, (_as_sent(rows, s) for s in stamps), strict=True
        )
    ]
    wrong = [found.unreadable] if found.unreadable is not None else []
    wanted = {d for request in sent for d in request}
    texts = _texts(connection, owner, wanted, wrong)
    requests = tuple(tuple(texts[d] for d in request) for request in sent)
    newest = requests[-1] if requests else ()
    read = replace(found, unreadable=", ".join(dict.fromkeys(wrong)) or None)
    return RunRecord(run=read, messages=newest, requests=requests)


def checked(row: Row) -> object:
    """What is decoded of a run's row; raises where it is damaged."""
    return object_of(row.task_state), _stop(row.stop)


def checked_turn(row: Row) -> ModelResponse | None:
    """What is decoded of a turn's row; raises where it is damaged."""
    stored = row.response
    return None if stored is None else response_from_json(object_of(stored))


def body_of(row: Row) -> bytes:
    """A message as sent, of a row with the columns of `KEPT`; raises as above."""
    return unpacked(bytes(row.kept))


_Sent = Sequence[tuple[int, int, bytes]]


def _sent_rows(connection: sa.Connection, ticket: TicketId) -> _Sent:
    m = run_messages.c
    query = (
        sa.select(m.position, m.stamp, m.digest)
        .where(m.ticket_id == ticket)
        .order_by(m.position, m.stamp)
    )
    return [(p, s, bytes(d)) for p, s, d in connection.execute(query)]


def _as_sent(rows: _Sent, stamp: int) -> Mapping[int, bytes]:
    """Position to digest as of a turn; rows are in the order of stamps."""
    return {position: digest for position, since, digest in rows if since <= stamp}


def _keep(
    connection: sa.Connection, ticket: TicketId, contents: Iterable[bytes]
) -> None:
    rows = [
        {"ticket_id": ticket, "digest": _digest(content), "content": content}
        for content in contents
    ]
    _INSERT_BODIES.run(connection, rows)


_AT_ONCE = 500
"""Digests in one query: below what any database allows as parameters."""


def _texts(
    connection: sa.Connection,
    ticket: TicketId,
    digests: Set[bytes],
    wrong: list[str],
) -> Mapping[bytes, bytes]:
    """Messages by their digests; one that can't be read is empty, and noted."""
    texts: dict[bytes, bytes] = {}
    kept = sa.type_coerce(bodies.c.content, sa.LargeBinary)
    for some in _portions(bytes(d) for d in digests):
        query = sa.select(bodies.c.digest, kept).where(
            bodies.c.ticket_id == ticket, bodies.c.digest.in_(some)
        )
        for digest, stored in connection.execute(query):
            texts[bytes(digest)] = _readable(
                partial(unpacked, bytes(stored)), b"", wrong, "what it sent"
            )
    for missing in digests - texts.keys():
        texts[missing] = b""
        wrong.append("what it sent")
    return texts


def _portions(digests: Iterable[bytes]) -> Iterable[list[bytes]]:
    ordered = sorted(digests)
    starts = range(0, len(ordered), _AT_ONCE)
    return (ordered[start : start + _AT_ONCE] for start in starts)


def _whole(digests: Sequence[bytes]) -> bytes:
    """One digest for all messages of a request: an equal one begins like it."""
    return _digest(b"".join(digests))


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _turn(row: Row, wrong: list[str]) -> Turn:
    stored, what = row.response, f"the answer of turn {row.number}"
    response = None
    if stored not in {None, "null"}:
        response = _readable(lambda: _response(stored), None, wrong, what)
    return Turn(
        number=row.number,
        built_at=row.built_at,
        upto=row.upto,
        requested_at=row.requested_at,
        response=response,
        applied=row.applied,
        folds=row.folds,
    )


def _run(
    row: Row,
    texts: Mapping[bytes, bytes],
    made: tuple[Turn, ...],
    wrong: list[str],
) -> Run:
    def text(digest: bytes, what: str) -> str:
        return _readable(lambda: _text(unpacked(texts[bytes(digest)])), "", wrong, what)

    tools = text(row.tools_digest, "its tools")
    version = PromptVersion(version=row.prompt_version, sha256=row.prompt_sha256)
    return Run(
        id=RunId(row.id),
        ticket=TicketId(row.ticket_id),
        token=row.token,
        trigger=row.trigger,
        model=row.model,
        prompt=Prompt(text=text(row.prompt_digest, "its prompt"), version=version),
        system=text(row.system_digest, "what it sent as system"),
        tools=_readable(lambda: _tools(tools), (), wrong, "its tools"),
        max_tokens=row.max_tokens,
        builder=row.builder,
        staff_voice=row.staff_voice,
        started_at=row.started_at,
        ended_at=row.ended_at,
        stop=_readable(lambda: _stop(row.stop), None, wrong, "how it ended"),
        detail=row.detail,
        escalated=row.escalated,
        turns=made,
        task_state=_readable(
            lambda: object_of(loads(row.task_state)), {}, wrong, "its task state"
        ),
        unreadable=", ".join(wrong) or None,
    )


def _readable(decode: Callable[[], T], instead: T, wrong: list[str], what: str) -> T:
    """What is stored, or where that can't be read the value instead, noted as wrong."""
    try:
        return decode()
    except UNDECODABLE:
        wrong.append(what)
        return instead


def _response(stored: str) -> ModelResponse:
    return response_from_json(object_of(loads(stored)))


def _stop(stored: str | None) -> Stop | None:
    return None if stored is None else Stop(stored)


def _tools(stored: str) -> tuple[JsonObject, ...]:
    decoded = loads(stored) if stored else []
    return tuple(object_of(tool) for tool in list_of(decoded))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
