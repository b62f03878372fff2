"""Rows as a damaged disk would leave them."""

from core.history import History
from core.journal import DecisionChanged
from core.ports import Transaction
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.store.build import HOSTILE, SOON, T1

T2 = TicketId("T-2")
PENDING = DecisionChanged(
    decision="D-1",
    state="pending",
    tool="refund_order",
    input={"order_id": "O-7", "note": HOSTILE},
    hash="ab" * 32,
    rule="amounts over 50.00 need a decision",
    call="call-1",
    amount="118.00",
    currency="EUR",
    expires_at=SOON.isoformat(),
)


def damage(*statements: str) -> object:
    """Changes rows as a damaged disk would."""

    def transact(tx: Transaction) -> None:
        for statement in statements:
            tx._connection.exec_driver_sql(statement)  # type: ignore[attr-defined]

    return transact


async def chart(store: SqlStore, ticket: TicketId = T1) -> History:
    return await store.read(lambda tx: tx.history(ticket))
