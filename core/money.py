"""How an amount of money is read from a call's arguments.

A tool may read a text otherwise than `Decimal` does, which takes digits of any script,
exponents, underscores and blanks. So a text counts only where there is no second
reading of it: ASCII digits, at most one dot between them, at most a minus before them.

A currency has smaller parts, and no sum of it is between two of them: an amount with
more decimals than that is none, whoever wrote it, since a tool would round it.
"""

import re
from decimal import Decimal

from core.ticket import Json

_TEXT = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_COMMA = re.compile(r"(?P<whole>[0-9]{1,15}),(?P<part>[0-9]{1,15})")
_GROUPED = 3
"""As many digits after a comma may be thousands as well as decimals."""

_SHOWN = 24
"""Digits of an amount that are shown where it is none."""

_CODES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL"
        " BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD"
        " EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF"
        " IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD"
        " MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK"
        " NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK"
        " SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD"
        " TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
}
"""Currencies by their decimals. Source: ISO 4217, table A.1, minor units."""

_DECIMALS = {code: n for n, codes in _CODES.items() for code in codes.split()}


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


def too_fine(amount: Decimal, currency: str | None) -> str | None:
    """Why the currency has no such amount, in words; None where it has, or may have.

    Args:
        amount: As written; zeros at its end say nothing.
        currency: Its code, in any case; of an unknown one nothing is known.
    """
    code = (currency or "").strip().upper()
    most, written = _DECIMALS.get(code), f"{amount:f}"
    decimals = len(written.partition(".")[2].rstrip("0"))
    if most is None or decimals <= most:
        return None
    has = f"{most} at most" if most else "none"
    said = "1 decimal" if decimals == 1 else f"{decimals} decimals"
    return f"{written[:_SHOWN]} has {said}, {code} has {has}"


def meant(given: Json) -> str | None:
    """How a text with a comma has to be written, in words; None for any other."""
    found = _COMMA.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return None
    whole, part = found["whole"], found["part"]
    if len(part) == _GROUPED:
        return f"{given} has two readings: write {whole}{part} or {whole}.{part}"
    return f"{given} is no amount here: write {whole}.{part}"


def with_point(text: str, sign: str) -> str:
    """A number that a person wrote with their own decimal sign, with a point.

    Only where there is one reading: `42,50` is no thousands, `1,234` could be.
    """
    found = _COMMA.fullmatch(text) if sign == "," else None
    if found is None or len(found["part"]) == _GROUPED:
        return text
    return f"{found['whole']}.{found['part']}"
