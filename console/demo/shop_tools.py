"""What the Sundry shop can do: a method is a tool, its docstring what a model reads.

Reads look; writes go through `Books.once`, so that a key acts once. What the shop does
not do raises `Refused`, whose text says why.
"""

# ruff: noqa: DOC501 - a tool's docstring is what the model reads, and errors reach it

import sqlite3
from collections.abc import Callable
from datetime import date, timedelta

from console.demo.shop_book import (
    Answer,
    Books,
    Refused,
    cents,
    made_id,
    money,
    order_row,
    refundable,
)
from console.demo.shop_data import POLICIES

_NOT_SENT = ("placed", "packed")
_PROOFS_NEEDED = 2
_VOUCHER_DAYS = 90


class Shop:
    """The tools of the shop over one set of books; each method is a tool."""

    def __init__(self, books: Books, today: Callable[[], date]) -> None:
        self._books = books
        self._today = today

    def find_customer(
        self, order_id: str = "", email: str = "", postcode: str = ""
    ) -> Answer:
        """Find and verify a customer by two of: order number, e-mail, postcode.

        A result proves who the customer is and gives customer_id and name. When
        what was given does not match one customer, that is an error.
        """
        given = {
            "order_id": order_id.strip().lstrip("#").upper(),
            "email": email.strip().lower(),
            "postcode": postcode.replace(" ", "").upper(),
        }
        matched = [name for name, value in given.items() if value]
        if len(matched) < _PROOFS_NEEDED:
            raise Refused("give two of: order_id, email, postcode")
        with self._books.transaction() as db:
            rows = db.execute(
                "SELECT * FROM customers WHERE (:email = '' OR lower(email) = :email)"
                " AND (:postcode = ''"
                " OR upper(replace(postcode, ' ', '')) = :postcode)"
                " AND (:order_id = ''"
                " OR id = (SELECT customer_id FROM orders WHERE id = :order_id))",
                given,
            ).fetchall()
        if len(rows) != 1:
            raise Refused("no single customer matches " + " and ".join(matched))
        return {
            "customer_id": rows[0]["id"],
            "name": rows[0]["name"],
            "matched": matched,
        }

    def get_order(self, order_id: str) -> Answer:
        """Give an order: status, lines, charges, refunds, delivery address."""
        with self._books.transaction() as db:
            row = order_row(db, order_id)
            return _order(db, row)

    def list_orders(self, customer_id: str) -> Answer:
        """List a customer's orders, newest first, with status and total."""
        with self._books.transaction() as db:
            rows = db.execute(
                "SELECT orders.id AS order_id, placed_on, status, currency,"
                " sum(cents * quantity) AS total FROM orders"
                " JOIN lines ON lines.order_id = orders.id WHERE customer_id = ?"
                " GROUP BY orders.id ORDER BY placed_on DESC, orders.id",
                [customer_id.strip()],
            ).fetchall()
        if not rows:
            raise Refused(f"there are no orders of customer {customer_id}")
        return {"orders": [{**dict(row), "total": money(row["total"])} for row in rows]}

    def track_parcel(self, order_id: str) -> Answer:
        """Give what the carrier reported of an order's parcel, oldest first."""
        with self._books.transaction() as db:
            row = order_row(db, order_id)
            events = db.execute(
                "SELECT day, words AS event FROM parcel"
                " WHERE order_id = ? ORDER BY day",
                [row["id"]],
            ).fetchall()
        if not events:
            raise Refused(f"order {row['id']} has not left us yet ({row['status']})")
        return {
            "order_id": row["id"],
            "carrier": row["carrier"],
            "status": row["status"],
            "events": [dict(event) for event in events],
        }

    def check_voucher(self, code: str) -> Answer:
        """Give a voucher's amount, last day and minimum order value."""
        with self._books.transaction() as db:
            row = db.execute(
                "SELECT * FROM vouchers WHERE code = ?", [code.strip().upper()]
            ).fetchone()
        if row is None:
            raise Refused(f"there is no voucher {code.strip().upper()}")
        return {
            "code": row["code"],
            "amount": money(row["cents"]),
            "currency": row["currency"],
            "expires_on": row["expires_on"],
            "expired": row["expires_on"] < self._today().isoformat(),
            "minimum_order": money(row["minimum_cents"]),
        }

    def get_policy_text(self, topic: str) -> Answer:
        """Give our rules on a topic.

        Topics: returns, refunds, damaged, delivery, cancellation, address, vouchers,
        warranty, identity.
        """
        found = POLICIES.get(topic.strip().lower())
        if found is None:
            raise Refused(f"no policy on {topic!r}; topics: {', '.join(POLICIES)}")
        return {"topic": topic.strip().lower(), "text": found}

    def refund_order(
        self,
        order_id: str,
        amount: str,
        currency: str,
        reason: str,
        idempotency_key: str,
    ) -> Answer:
        """Pay back part or all of what was charged for an order, to its card."""

        def act(db: sqlite3.Connection) -> Answer:
            row = order_row(db, order_id)
            wanted, left = cents(amount), refundable(db, row["id"])
            if currency.strip().upper() != row["currency"]:
                raise Refused(f"order {row['id']} was paid in {row['currency']}")
            if wanted > left:
                raise Refused(
                    f"{money(wanted)} exceeds what can be refunded on {row['id']}:"
                    f" {money(left)} {row['currency']}"
                )
            refund = made_id("RF", idempotency_key)
            db.execute(
                "INSERT INTO refunds VALUES (?, ?, ?, ?)",
                [refund, row["id"], wanted, reason],
            )
            return {
                "refund_id": refund,
                "order_id": row["id"],
                "amount": money(wanted),
                "currency": row["currency"],
                "arrives": "in 3 to 5 working days",
                "still_refundable": money(left - wanted),
            }

        asked = {
            "tool": "refund_order",
            "order_id": order_id,
            "amount": amount,
            "currency": currency,
            "reason": reason,
        }
        return self._books.once(idempotency_key, asked, act)

    def cancel_order(self, order_id: str, reason: str, idempotency_key: str) -> Answer:
        """Cancel an order that has not been handed to the carrier; pays it back."""

        def act(db: sqlite3.Connection) -> Answer:
            row = order_row(db, order_id)
            if row["status"] not in _NOT_SENT:
                raise Refused(
                    f"order {row['id']} is already {row['status']}: no cancelling"
                )
            left = refundable(db, row["id"])
            db.execute(
                "UPDATE orders SET status = 'cancelled' WHERE id = ?", [row["id"]]
            )
            if left:
                db.execute(
                    "INSERT INTO refunds VALUES (?, ?, ?, ?)",
                    [made_id("RF", idempotency_key), row["id"], left, reason],
                )
            return {
                "order_id": row["id"],
                "status": "cancelled",
                "refunded": money(left),
                "currency": row["currency"],
            }

        asked = {"tool": "cancel_order", "order_id": order_id, "reason": reason}
        return self._books.once(idempotency_key, asked, act)

    def change_address(
        self, order_id: str, street: str, postcode: str, city: str, idempotency_key: str
    ) -> Answer:
        """Change where an order goes, as long as the carrier does not have it."""

        def act(db: sqlite3.Connection) -> Answer:
            row = order_row(db, order_id)
            if row["status"] not in _NOT_SENT:
                raise Refused(f"order {row['id']} is already {row['status']}")
            if not (street.strip() and postcode.strip() and city.strip()):
                raise Refused("an address needs street, postcode and city")
            db.execute(
                "UPDATE orders SET street = ?, postcode = ?, city = ? WHERE id = ?",
                [street, postcode, city, row["id"]],
            )
            return {
                "order_id": row["id"],
                "delivers_to": f"{street}, {postcode} {city}",
            }

        asked = {
            "tool": "change_address",
            "order_id": order_id,
            "street": street,
            "postcode": postcode,
            "city": city,
        }
        return self._books.once(idempotency_key, asked, act)

    def send_replacement(
        self, order_id: str, sku: str, reason: str, idempotency_key: str
    ) -> Answer:
        """Send one line of a delivered or lost order again, free of charge."""

        def act(db: sqlite3.Connection) -> Answer:
            row = order_row(db, order_id)
            line = db.execute(
                "SELECT * FROM lines WHERE order_id = ? AND sku = ?",
                [row["id"], sku.strip().upper()],
            ).fetchone()
            sent = db.execute(
                "SELECT id FROM replacements WHERE order_id = ? AND sku = ?",
                [row["id"], sku.strip().upper()],
            ).fetchone()
            if line is None:
                raise Refused(f"order {row['id']} has no line {sku}")
            if row["status"] in _NOT_SENT or row["status"] == "cancelled":
                raise Refused(f"order {row['id']} is {row['status']}: nothing was sent")
            if sent is not None:
                raise Refused(f"{line['sku']} was already sent again as {sent['id']}")
            made = made_id("RP", idempotency_key)
            db.execute(
                "INSERT INTO replacements VALUES (?, ?, ?, ?)",
                [made, row["id"], line["sku"], reason],
            )
            return {
                "replacement_id": made,
                "order_id": row["id"],
                "item": line["name"],
                "leaves": "within 2 working days",
            }

        asked = {
            "tool": "send_replacement",
            "order_id": order_id,
            "sku": sku,
            "reason": reason,
        }
        return self._books.once(idempotency_key, asked, act)

    def issue_voucher(
        self,
        customer_id: str,
        amount: str,
        currency: str,
        reason: str,
        idempotency_key: str,
    ) -> Answer:
        """Give a customer a voucher for the next order, valid 90 days."""

        def act(db: sqlite3.Connection) -> Answer:
            found = db.execute("SELECT 1 FROM customers WHERE id = ?", [customer_id])
            if found.fetchone() is None:
                raise Refused(f"there is no customer {customer_id}")
            worth, code = cents(amount), made_id("SUN", idempotency_key)
            expires = (self._today() + timedelta(days=_VOUCHER_DAYS)).isoformat()
            unit = currency.strip().upper()
            db.execute(
                "INSERT INTO vouchers VALUES (?, ?, ?, ?, ?, 0)",
                [code, customer_id, worth, unit, expires],
            )
            return {
                "code": code,
                "amount": money(worth),
                "currency": unit,
                "expires_on": expires,
            }

        asked = {
            "tool": "issue_voucher",
            "customer_id": customer_id,
            "amount": amount,
            "currency": currency,
            "reason": reason,
        }
        return self._books.once(idempotency_key, asked, act)


def _order(db: sqlite3.Connection, row: sqlite3.Row) -> Answer:
    lines = db.execute(
        "SELECT sku, name, cents, quantity FROM lines WHERE order_id = ?", [row["id"]]
    ).fetchall()
    charges = db.execute(
        "SELECT charged_on, cents FROM charges WHERE order_id = ?", [row["id"]]
    ).fetchall()
    refunds = db.execute(
        "SELECT id, cents FROM refunds WHERE order_id = ?", [row["id"]]
    ).fetchall()
    total = sum(line["cents"] * line["quantity"] for line in lines)
    return {
        "order_id": row["id"],
        "customer_id": row["customer_id"],
        "placed_on": row["placed_on"],
        "status": row["status"],
        "currency": row["currency"],
        "total": money(total),
        "lines": [
            {
                "sku": line["sku"],
                "name": line["name"],
                "price": money(line["cents"]),
                "quantity": line["quantity"],
            }
            for line in lines
        ],
        "charges": [
            {"on": one["charged_on"], "amount": money(one["cents"])} for one in charges
        ],
        "refunds": [
            {"refund_id": one["id"], "amount": money(one["cents"])} for one in refunds
        ],
        "refundable": money(refundable(db, row["id"])),
        "delivers_to": f"{row['street']}, {row['postcode']} {row['city']}",
    }
