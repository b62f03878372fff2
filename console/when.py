"""A time as a person writes it: `30m`, `2d`, `17:30`, `5pm`, `tomorrow`, `mon 9:00`.

And one as it is kept in a body, as it is told.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo

_LENGTH = re.compile(r"(\d{1,4})\s*([mhdw])")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(am|pm)?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MORNING = 9
_HALF = 12


def moment(text: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    """The next such time after now, or None where it is none.

    Args:
        text: A length from now, a time of day, or a day with or without one; a day
            without a time is its morning at nine.
        now: Aware.
        zone: The person's; None for the system's.
    """
    said = text.strip().casefold()
    length = _LENGTH.fullmatch(said)
    if length is not None:
        return now + timedelta(**{_UNITS[length[2]]: int(length[1])})
    local = now.astimezone(zone)
    name, _, rest = said.partition(" ")
    days = _days(name, local)
    if days is None:
        at = _at(said, local)
        if at is None or not (":" in said or said.endswith("m")):
            return None
        return at if at > local else at + timedelta(days=1)
    return _at(rest.strip() or str(_MORNING), local + timedelta(days=days))


def told(stored: str, *, to_the_second: bool = False) -> str:
    """A time in UTC with a `Z`; what is none stays as it is."""
    try:
        at = datetime.fromisoformat(stored)
    except ValueError:
        return stored
    if at.tzinfo is None:
        return stored
    utc = at.astimezone(UTC).replace(tzinfo=None)
    return (utc.replace(microsecond=0) if to_the_second else utc).isoformat() + "Z"


def _days(name: str, local: datetime) -> int | None:
    if name == "tomorrow":
        return 1
    short = name[:3]
    if short not in _DAYS or not name.isalpha():
        return None
    return (_DAYS.index(short) - local.weekday() - 1) % 7 + 1


def _at(clock: str, day: datetime) -> datetime | None:
    found = _CLOCK.fullmatch(clock)
    if found is None:
        return None
    hour = int(found[1])
    if found[3] and not 1 <= hour <= _HALF:
        return None
    if found[3]:
        hour = hour % _HALF + (_HALF if found[3] == "pm" else 0)
    try:
        return day.replace(
            hour=hour, minute=int(found[2] or 0), second=0, microsecond=0
        )
    except ValueError:
        return None
