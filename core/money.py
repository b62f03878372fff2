"""How an amount of money is read from a call's arguments.

A tool may read a text otherwise than `Decimal` does, which takes digits of any script,
exponents, underscores and blanks. So a text counts only where there is no second
reading of it: ASCII digits, at most one dot between them, at most a minus before them.
"""

import re
from decimal import Decimal

from core.ticket import Json

_TEXT = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def money_of(given: Json) -> Decimal | None:
    """The number that a JSON value says without a doubt, or None."""
    match given:
        case bool():
            return None
        case int() | float():
            return Decimal(str(given))
        case str() if _TEXT.fullmatch(given):
            return Decimal(given)
        case _:
            return None
