"""The same turn by a driver alone: the same rows, tables, indexes and durability.

It knows beforehand what the store finds out: who holds the ticket, where it stands,
and how every value is written. What is left is the least that a turn can cost.
"""

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from store.codec import response_to_json
from tests.bench.turns import TEXT, a_response

STANDING = json.dumps({"last_seq": 1, "task_state": {}, "text": "s" * 330})

_SQLITE = (
    "UPDATE turns SET response = :response, applied = 1"
    " WHERE run_id = 'R-T-ONE' AND number = :n",
    "INSERT INTO journal VALUES"
    " ('T-ONE', :seq, :at, 'agent', 'R-T-ONE', 'tool_call', NULL, :call),"
    " ('T-ONE', :seq + 1, :at, 'agent', 'R-T-ONE', 'tool_result', NULL, :result)",
    "UPDATE feed SET position = position + 1",
    "UPDATE tickets SET standing = :standing, version = version + 1,"
    " change = (SELECT position FROM feed), updated_at = :at, harm_order = :order"
    " WHERE id = 'T-ONE'",
)
_POSTGRES = """
WITH held AS (
  SELECT ticket_id FROM locks WHERE ticket_id = 'T-ONE' AND token = 1 FOR UPDATE
), answered AS (
  UPDATE turns SET response = %(response)s, applied = true FROM held
  WHERE run_id = 'R-T-ONE' AND number = %(n)s
), said AS (
  INSERT INTO journal
  SELECT ticket_id, v.seq, now(), 'agent', 'R-T-ONE', v.kind, NULL, v.body
  FROM held, (VALUES (%(seq)s::bigint, 'tool_call', %(call)s),
                     (%(seq)s::bigint + 1, 'tool_result', %(result)s))
             AS v(seq, kind, body)
)
UPDATE tickets SET standing = %(standing)s, version = version + 1,
  change = pg_current_xact_id()::text::bigint, updated_at = now(),
  harm_order = %(order)s
FROM held WHERE id = held.ticket_id
"""


def _values(n: int) -> dict[str, object]:
    response = response_to_json(a_response(n))
    return {
        "n": n,
        "seq": 2 * n,
        "response": json.dumps(response),
        "call": json.dumps({"id": f"toolu_{n}", "name": "find", "input": {"q": TEXT}}),
        "result": json.dumps({"id": f"toolu_{n}", "content": TEXT * 2}),
        "standing": STANDING,
        "order": -time.time_ns() // 1000,
        "at": "2026-11-30T00:00:00.000000+00:00",
    }


def sqlite_turn(path: Path) -> Callable[[int], None]:
    """A turn in one BEGIN IMMEDIATE … COMMIT, with the store's own settings."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "secure_delete=ON",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")

    def turn(n: int) -> None:
        values = _values(n)
        connection.execute("BEGIN IMMEDIATE")
        held = "SELECT token FROM locks WHERE ticket_id = 'T-ONE'"
        assert connection.execute(held).fetchone() == (1,)
        for statement in _SQLITE:
            connection.execute(statement, values)
        connection.execute("COMMIT")

    return turn


def postgres_turn(url: str) -> Callable[[int], None]:
    """A turn in one statement, committed by itself."""
    connection = psycopg.connect(url, autocommit=True)

    def turn(n: int) -> None:
        assert connection.execute(_POSTGRES, _values(n)).rowcount == 1

    return turn
