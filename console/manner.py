"""How numbers and times are written where the person is.

Read once, from the environment, when the console is opened: the program's words stay
English, and what a tool is given is shown as it is. A context variable holds it, since
the smallest words need it and nothing but the terminal's owner decides it.
"""

import locale
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """A way of writing.

    Attributes:
        point: Before the decimals.
        group: Between thousands; "" for nothing.
        twelve: Whether the day has twice twelve hours.
    """

    point: str = "."
    group: str = ","
    twelve: bool = False


MANNER: ContextVar[Manner] = ContextVar("manner", default=Manner())  # noqa: B039 # frozen


def from_environment() -> Manner:
    """The manner of `LC_ALL`, `LC_NUMERIC`, `LC_TIME` or `LANG`; English without."""
    try:
        locale.setlocale(locale.LC_NUMERIC, "")
        locale.setlocale(locale.LC_TIME, "")
        said = locale.localeconv()
        hours = locale.nl_langinfo(locale.T_FMT)
    except (locale.Error, AttributeError):
        return Manner()
    finally:
        locale.setlocale(locale.LC_NUMERIC, "C")
        locale.setlocale(locale.LC_TIME, "C")
    point, group = str(said["decimal_point"]), str(said["thousands_sep"])
    if (point, group) == (".", ""):  # "C" says nothing
        group = ","
    return Manner(
        point=point, group=group, twelve="%p" in hours or hours.startswith("%r")
    )


def number(amount: Decimal) -> str:
    """All digits of an amount, with marks between thousands; never rounded."""
    manner = MANNER.get()
    marks = str.maketrans({",": manner.group, ".": manner.point})
    return f"{amount:,f}".translate(marks)


def clock(local: datetime) -> str:
    """The time of day: `14:05`, or `2:05 pm`."""
    if not MANNER.get().twelve:
        return f"{local:%H:%M}"
    return f"{local:%I:%M} {'am' if local.hour < 12 else 'pm'}".lstrip("0")  # noqa: PLR2004 # noon
