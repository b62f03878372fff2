"""What all shapes of the command line's JSON are made of: times, money, actors.

Times are RFC 3339 in UTC, money is a decimal string, what is unknown is null.
"""

from datetime import UTC, datetime
from decimal import Decimal

from core.ticket import UNKNOWN_TIME, Actor, Json

Shape = dict[str, Json]


def when(at: datetime | None) -> str | None:
    """A time in UTC, or null where there is none or it can't be read."""
    if at is None or at == UNKNOWN_TIME:
        return None
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def money(amount: Decimal | None) -> str | None:
    """A decimal without an exponent, or null."""
    return None if amount is None else format(amount, "f")


def actor(who: Actor) -> Shape:
    """Who did something."""
    return {"kind": who.kind.value, "name": who.name}
