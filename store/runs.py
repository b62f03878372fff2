"""Runs and their turns; what their requests sent is kept by `sent` (rule 9).

A part of a run's record that can't be decoded is empty, and the run says so
(`Run.unreadable`): one damaged row must not take the ticket with it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from core.ports import RunEnd, Spent
from core.ticket import JsonObject, RunId, TicketId
from core.turn import ModelResponse, Prompt, PromptVersion, Run, RunRecord, Stop, Turn
from store import sent
from store.codec import (
    list_of,
    object_of,
    response_from_json,
    response_to_json,
)
from store.columns import Exact, dumps, loads, unpacked
from store.prepared import Prepared, PreparedInsert
from store.reading import Row, as_read, each_of, readable
from store.schema import bodies, runs, turns


def _undecoded(table: sa.Table, name: str) -> list[sa.ColumnElement[Any]]:
    """The table's columns, one of them as stored: it is decoded where it may fail."""
    return [
        sa.type_coerce(c, Exact).label(name) if c.name == name else c for c in table.c
    ]


_TICKET: sa.BindParameter[str] = sa.bindparam("ticket")
_r, _t = runs.c, turns.c
_INSERT = PreparedInsert(runs)
_INSERT_TURN = PreparedInsert(turns)
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
_TEXTS = Prepared(
    sa.select(*sent.KEPT).where(
        bodies.c.ticket_id == _TICKET, bodies.c.digest.in_(_ALWAYS_SENT)
    )
)


def insert(connection: sa.Connection, run: Run) -> None:
    """Stores a run without turns; what it always sends is kept once for a ticket."""
    prompt, system, tools = (
        text.encode("utf-8", "surrogatepass")
        for text in (run.prompt.text, run.system, dumps(run.tools))
    )
    sent.keep(connection, run.ticket, (prompt, system, tools))
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
                "prompt_digest": sent.digest_of(prompt),
                "system_digest": sent.digest_of(system),
                "tools_digest": sent.digest_of(tools),
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
    last = _LAST_TURN.first(connection, ticket=ticket)
    stamp = 1 if last is None else last.stamp + 1
    repeats = None if last is None else (last.upto, bytes(last.digest))
    digest = sent.add(connection, ticket, stamp, messages, repeats=repeats)
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
                "digest": digest,
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
    stood = sent.places(connection, owner)
    asked = [
        [at.get(p, b"") for p in range(turn.upto)]
        for turn, at in zip(
            found.turns, (sent.at(stood, s) for s in stamps), strict=True
        )
    ]
    wrong = [found.unreadable] if found.unreadable is not None else []
    wanted = {d for request in asked for d in request}
    texts = sent.texts(connection, owner, wanted, wrong)
    requests = tuple(tuple(texts[d] for d in request) for request in asked)
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


def _turn(row: Row, wrong: list[str]) -> Turn:
    stored, what = row.response, f"the answer of turn {row.number}"
    response = None
    if stored not in {None, "null"}:
        response = readable(lambda: _response(stored), None, wrong, what)
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
        return readable(
            lambda: unpacked(texts[bytes(digest)]).decode("utf-8", "surrogatepass"),
            "",
            wrong,
            what,
        )

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
        tools=readable(lambda: _tools(tools), (), wrong, "its tools"),
        max_tokens=row.max_tokens,
        builder=row.builder,
        staff_voice=row.staff_voice,
        started_at=row.started_at,
        ended_at=row.ended_at,
        stop=readable(lambda: _stop(row.stop), None, wrong, "how it ended"),
        detail=row.detail,
        escalated=row.escalated,
        turns=made,
        task_state=readable(
            lambda: object_of(loads(row.task_state)), {}, wrong, "its task state"
        ),
        unreadable=", ".join(wrong) or None,
    )


def _response(stored: str) -> ModelResponse:
    return response_from_json(object_of(loads(stored)))


def _stop(stored: str | None) -> Stop | None:
    return None if stored is None else Stop(stored)


def _tools(stored: str) -> tuple[JsonObject, ...]:
    decoded = loads(stored) if stored else []
    return tuple(object_of(tool) for tool in list_of(decoded))
