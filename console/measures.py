"""Times, lengths, sums and numbers in words for people.

Times are relative and exact on demand, in the person's zone. All functions are plain:
they take `now`.
"""

from datetime import datetime, timedelta, tzinfo
from decimal import Decimal

from console.manner import clock, number
from core.cleanse import one_line
from core.ledger import Sums
from core.ticket import UNKNOWN_TIME

LOST_TIME = "unreadable time"
"""Stands where a stored time is damaged, as in `since unreadable time`."""


def age(since: datetime | None, now: datetime) -> str:
    """How long ago, in one unit: `8s`, `12m`, `3h`, `4d`; "" for never, `?` if lost."""
    if since is None:
        return ""
    if since == UNKNOWN_TIME:
        return "?"
    seconds = max(0, int((now - since).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def span_of(length: timedelta) -> str:
    """A length of time in one or two units: `8 s`, `12 min`, `3 h 57 min`."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:  # noqa: PLR2004 # a minute
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:  # noqa: PLR2004 # an hour
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:  # noqa: PLR2004 # two days
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} days"


def clock_time(at: datetime, zone: tzinfo | None) -> str:
    """The time of day, as a person there reads it; `??:??` where it is lost."""
    if at == UNKNOWN_TIME:
        return "??:??"
    return clock(at.astimezone(zone))


def day(at: datetime, zone: tzinfo | None) -> str:
    """The day, such as `Tuesday 10 March`."""
    if at == UNKNOWN_TIME:
        return "a day that can't be read"
    local = at.astimezone(zone)
    return f"{local:%A} {local.day} {local:%B}"


def when(
    at: datetime, now: datetime, zone: tzinfo | None, *, brief: bool = False
) -> str:
    """The time of day, with the day where that isn't today; `brief`: one of both."""
    if at == UNKNOWN_TIME:
        return "?" if brief else LOST_TIME
    local, today = at.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return clock(local)
    if brief:
        return f"{local.day} {local:%b}"
    return f"{local.day} {local:%b} {clock(local)}"


def money(amount: Decimal | str | None, currency: str | None) -> str:
    """An amount with its currency; "" for none. Never rounded."""
    if amount is None:
        return ""
    text = number(amount) if isinstance(amount, Decimal) else one_line(amount, 24)
    return f"{text} {one_line(currency, 8)}" if currency else text


def sums_words(sums: Sums) -> str:
    """Money by currency: `556.00 EUR, 20.00 GBP`."""
    return ", ".join(money(amount, currency) for currency, amount in sums.items())


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its word: `1 reply`, `3 replies`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
