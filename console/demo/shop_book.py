"""The Sundry shop's books: a small SQLite database and what can be done to it.

Every act runs in one transaction together with the answer that was given for its
idempotency key, so a server that is killed at any instant and asked again gives the
first answer and never pays twice. A refusal is an answer too and is kept the same way.
Money is decimal text with a currency outside and whole cents inside.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path

from console.demo.shop_data import CUSTOMERS, ORDERS, VOUCHERS, Order

Answer = dict[str, object]

_MOST = 1_000_000_000

_SCHEMA = """
CREATE TABLE customers (id TEXT PRIMARY KEY, name TEXT, email TEXT, street TEXT,
  postcode TEXT, city TEXT, country TEXT);
CREATE TABLE orders (id TEXT PRIMARY KEY, customer_id TEXT REFERENCES customers,
  placed_on TEXT, status TEXT, currency TEXT, carrier TEXT, street TEXT,
  postcode TEXT, city TEXT, country TEXT);
CREATE TABLE lines (order_id TEXT, sku TEXT, name TEXT, cents INTEGER,
  quantity INTEGER);
CREATE TABLE charges (order_id TEXT, charged_on TEXT, cents INTEGER);
CREATE TABLE parcel (order_id TEXT, day TEXT, words TEXT);
CREATE TABLE refunds (id TEXT PRIMARY KEY, order_id TEXT, cents INTEGER, reason TEXT);
CREATE TABLE replacements (id TEXT PRIMARY KEY, order_id TEXT, sku TEXT, reason TEXT);
CREATE TABLE vouchers (code TEXT PRIMARY KEY, customer_id TEXT, cents INTEGER,
  currency TEXT, expires_on TEXT, minimum_cents INTEGER);
CREATE TABLE answers (key TEXT PRIMARY KEY, request TEXT, answer TEXT, refused TEXT);
"""


class Refused(Exception):
    """The shop does not do this; the text says why, in words for a support agent."""


def cents(amount: str) -> int:
    """Give the whole cents of a decimal text such as `12.50`.

    Raises:
        Refused: when it is no positive amount with at most two decimals.
    """
    try:
        value = Decimal(amount)
    except InvalidOperation:
        raise Refused(f"{amount!r} is not an amount; write it like 12.50") from None
    if not value.is_finite() or not 0 < value < _MOST:
        raise Refused(f"the amount must be from 0.01 to 999999999, not {amount}")
    whole = value * 100
    if whole != whole.to_integral_value():
        raise Refused(f"{amount} has more than two decimals")
    return int(whole)


def money(amount: int) -> str:
    """Give cents as decimal text: 1250 becomes `12.50`."""
    return f"{amount // 100}.{amount % 100:02}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """The shop's database at `path`, made and filled when it is not there.

    Attributes:
        today: the day from which ages of orders are counted when it is filled.
    """

    path: Path
    today: date

    def open(self) -> None:
        """Make and fill the database, unless another process already has."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.transaction() as db:
            found = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'")
            if found.fetchone() is None:
                _fill(db, self.today)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Give a connection whose changes are all kept, or none of them."""
        connect = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        with closing(connect) as db:
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA synchronous = FULL")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def once(
        self,
        key: str,
        request: dict[str, str],
        act: Callable[[sqlite3.Connection], Answer],
    ) -> Answer:
        """Do `act` once for `key`; the same key again gets the first answer.

        Raises:
            Refused: as `act` does, the first time and every time after it; or when
                the key was used for something else.
        """
        if not key.strip():
            raise Refused("idempotency_key is empty")
        asked = json.dumps(request, sort_keys=True)
        with self.transaction() as db:
            row = db.execute("SELECT * FROM answers WHERE key = ?", [key]).fetchone()
            if row is None:
                row = _answer(db, (key, asked), act)
        if row["request"] != asked:
            raise Refused(f"the key {key} was already used for another request")
        if row["refused"]:
            raise Refused(row["refused"])
        answer: Answer = json.loads(row["answer"])
        return answer


def _answer(
    db: sqlite3.Connection,
    asked: tuple[str, str],
    act: Callable[[sqlite3.Connection], Answer],
) -> sqlite3.Row:
    db.execute("SAVEPOINT act")
    try:
        answer, refused = json.dumps(act(db), ensure_ascii=False), ""
    except Refused as refusal:
        db.execute("ROLLBACK TO act")
        answer, refused = "", str(refusal)
    db.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", [*asked, answer, refused])
    found = db.execute("SELECT * FROM answers WHERE key = ?", [asked[0]])
    row: sqlite3.Row = found.fetchone()
    return row


def _fill(db: sqlite3.Connection, today: date) -> None:
    # executescript would commit what is open, and two servers may start at once
    for statement in _SCHEMA.split(";"):
        db.execute(statement)
    for one in CUSTOMERS:
        db.execute(
            "INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                one.id,
                one.name,
                one.email,
                one.street,
                one.postcode,
                one.city,
                one.country,
            ],
        )
    for order in ORDERS:
        _fill_order(db, order, today)
    for held in VOUCHERS:
        expires = today + timedelta(days=held.valid_days - held.days)
        db.execute(
            "INSERT INTO vouchers VALUES (?, ?, ?, ?, ?, ?)",
            [
                held.code,
                held.customer,
                cents(held.amount),
                held.currency,
                expires.isoformat(),
                int(Decimal(held.minimum) * 100),
            ],
        )


def _fill_order(db: sqlite3.Connection, order: Order, today: date) -> None:
    placed = (today - timedelta(days=order.days)).isoformat()
    db.execute(
        "INSERT INTO orders SELECT ?, id, ?, ?, ?, ?, street, postcode, city, country"
        " FROM customers WHERE id = ?",
        [
            order.id,
            placed,
            order.status,
            order.currency,
            order.carrier,
            order.customer,
        ],
    )
    total = 0
    for line in order.lines:
        total += cents(line.price) * line.quantity
        db.execute(
            "INSERT INTO lines VALUES (?, ?, ?, ?, ?)",
            [order.id, line.sku, line.name, cents(line.price), line.quantity],
        )
    for _ in range(order.charges):
        db.execute("INSERT INTO charges VALUES (?, ?, ?)", [order.id, placed, total])
    for days, words in order.parcel:
        day = (today - timedelta(days=days)).isoformat()
        db.execute("INSERT INTO parcel VALUES (?, ?, ?)", [order.id, day, words])


def order_row(db: sqlite3.Connection, order_id: str) -> sqlite3.Row:
    """Give the order with this number, written with or without `#` and case.

    Raises:
        Refused: when there is none.
    """
    wanted = order_id.strip().lstrip("#").upper()
    found = db.execute("SELECT * FROM orders WHERE id = ?", [wanted])
    row: sqlite3.Row | None = found.fetchone()
    if row is None:
        raise Refused(f"there is no order {wanted}")
    return row


def refundable(db: sqlite3.Connection, order_id: str) -> int:
    """Give the cents that were charged for an order and not given back yet."""
    charged = _sum(db, "SELECT sum(cents) FROM charges WHERE order_id = ?", order_id)
    given = _sum(db, "SELECT sum(cents) FROM refunds WHERE order_id = ?", order_id)
    return charged - given


def _sum(db: sqlite3.Connection, query: str, order_id: str) -> int:
    return int(db.execute(query, [order_id]).fetchone()[0] or 0)


def made_id(prefix: str, key: str) -> str:
    """Give an id that follows from the idempotency key alone."""
    return f"{prefix}-{hashlib.sha256(key.encode()).hexdigest()[:8].upper()}"
