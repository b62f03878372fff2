"""What the scripted model understands of a buyer's words: wishes, numbers, moods.

Plain patterns over plain text. They are meant for short mails in English about a shop;
what they don't recognise is `unknown`, which the rules hand to people.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

_LATIN_SHARE = 0.7
_SHORT = 160

ORDER = re.compile(r"(?<![\w-])#?([A-Z]{1,3}-?\d{5,8})(?![\w-])", re.IGNORECASE)
VOUCHER = re.compile(r"\b[A-Z]{2,5}-(?=[A-Z0-9]*\d)[A-Z0-9]{4}-[A-Z]{3,}\b")
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
AMOUNT = re.compile(
    r"[€£$]\s?(\d+(?:[.,]\d{2})?)"
    r"|(?<![\w.,-])(\d+(?:[.,]\d{2})?)\s?(?:EUR|GBP|USD|€|£|euros?|pounds?|dollars?)\b"
    r"|(?<![\w.,-])(\d+[.,]\d{2})(?![\w,-])",
    re.IGNORECASE,
)
_NAMED_POSTCODE = re.compile(
    r"(?:post ?code|postal code|zip|eircode|plz|郵便番号|الرمز البريدي)"
    r"(?:\s+(?:is|was|of|are))?\W{0,4}\s*"
    r"((?=[\w-]*\d)[A-Z0-9-]{3,8}(?:\s(?=[A-Z0-9]*\d?)[A-Z0-9]{2,4}\b)?)",
    re.IGNORECASE,
)
_SHAPED_POSTCODE = re.compile(
    r"(?<![\w.,-])(?:"
    r"[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}"
    r"|[A-Z]\d{2}\s[A-Z\d]{4}"
    r"|\d{4}\s[A-Z]{2}"
    r"|\d{3}\s\d{2}"
    r"|\d{2}-\d{3}|\d{4}-\d{3}|\d{3}-\d{4}"
    r"|\d{4,5}"
    r")(?![\w-]|[.,]\d)"
)
_NEW_ADDRESS = re.compile(
    r"new address(?:\s+is)?\s*:?\s*\n?\s*"
    r"([^,\n]{0,60}?\d[^,\n]{0,20}),\s*"
    r"((?:[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}|\d{4}\s[A-Z]{2}|\d{3}\s\d{2}|[\d-]{4,8}))"
    r",?\s+([^\n.,;]{1,60})",
    re.IGNORECASE,
)

# the order matters: the first that is found is the wish
_WISHES = (
    (
        "recall",
        r"what was the (code|discount|offer)|which code|the code again|remind me",
    ),
    (
        "withdraw",
        r"never ?mind|forget (it|about)|no longer (want|need)|after all,? keep",
    ),
    ("undo", r"\bundo\b"),
    ("cancel", r"\bcancel"),
    ("address", r"new address|change the address|house number|we moved"),
    (
        "replacement",
        r"replac|send the right|can you send it|\bmissing\b|wrong item|wrong colou?r",
    ),
    (
        "refund",
        r"refund|money back|pay (one|it|me) back|charged .{0,12}twice|paid .{0,20}twice"
        r"|\bback would be fair|for it back|have it back|are not back",
    ),
    ("return", r"send it back|\breturn"),
    (
        "track",
        r"where('s| is)|weeks for|when (will|does) .{0,40}(get|arrive|come|be) ?(here)?"
        r"|get here|coming before|nothing at my door|not arrived|hasn't (come|arrived)"
        r"|is the parcel",
    ),
    ("voucher", r"voucher|\bcode\b|\bcoupon"),
    ("policy", r"deliver to|warranty|how long does|do you (ship|deliver|offer|accept)"),
    ("news", r"\bnews\b|anything\?|when will i know|still nothing|any update"),
)
_THANKS = re.compile(
    r"thank|cheers|danke|kiitos|perfect|brilliant|lovely|found it|fair enough|\bi see\b"
    r"|good to know|is fine|all good|sorry for the noise",
    re.IGNORECASE,
)
_HAND_OVER = (
    (
        "legal or press",
        r"\blawyer|solicitor|attorney|legal action|\bcourt\b|\bsue\b|ombudsman"
        r"|journalist|an article|writing about",
    ),
    (
        "safety",
        r"too hot|electric shock|\bsmoke|\bsparks?\b|caught fire|injur|is it safe"
        r"|shatter",
    ),
    (
        "asks for a person",
        r"\b(speak|talk) to (a|an|some)\b|real person|a human|not a (machine|bot)",
    ),
)
_GREETING = re.compile(
    r"(hi|hello|hey|good (morning|day|afternoon|evening)|dear all)[\w ,!.]{0,12}",
    re.IGNORECASE,
)
_ANGRY = re.compile(
    r"ridiculous|unacceptable|third time|fed up|scam|worst|disgrace", re.IGNORECASE
)
_URGENT = re.compile(r"urgent|this week|by (mon|tues|wednes|thurs|fri)day|before satur")
_NOT_URGENT = re.compile(r"not urgent|no rush|just curious", re.IGNORECASE)
_TOPICS = (
    ("warranty", r"warranty|rust|guarantee"),
    ("vouchers", r"voucher|code|coupon"),
    ("returns", r"return|send it back"),
    ("refunds", r"refund|money back"),
    ("cancellation", r"cancel"),
    ("delivery", r"deliver|ship|how long"),
)
_CATEGORIES = {
    "recall": "other",
    "withdraw": "other",
    "undo": "other",
    "cancel": "other",
    "address": "account",
    "replacement": "damaged",
    "refund": "refund",
    "return": "return",
    "track": "delivery",
    "voucher": "billing",
    "policy": "product",
    "news": "other",
}


def wish(text: str) -> str:
    """Give what the buyer wants, `thanks` for thanks alone, or `unknown`."""
    for name, pattern in _WISHES:
        if re.search(pattern, text, re.IGNORECASE):
            return name
    if len(text) < _SHORT and _THANKS.search(text):
        return "thanks"
    return "unknown"


def reason_to_hand_over(text: str) -> str | None:
    """Give why a person should answer this, or None."""
    for reason, pattern in _HAND_OVER:
        if re.search(pattern, text, re.IGNORECASE):
            return reason
    if not readable(text):
        return "written in a language I am not sure of"
    return None


def greets(text: str) -> bool:
    """Tell whether a text is a greeting and nothing more."""
    return bool(_GREETING.fullmatch(text.strip()))


def readable(text: str) -> bool:
    """Tell whether most letters are Latin ones."""
    letters = [char for char in text if char.isalpha()]
    latin = sum(ord(char) < 0x250 for char in letters)  # noqa: PLR2004 - end of Latin
    return not letters or latin / len(letters) >= _LATIN_SHARE


def angry(text: str) -> bool:
    """Tell whether the buyer has had enough."""
    return bool(_ANGRY.search(text))


def triage(text: str) -> tuple[str, str]:
    """Give category and priority, in the words that set_triage takes."""
    wanted = wish(text)
    category = _CATEGORIES.get(wanted, "other")
    if re.search(r"broken|crack|damag|in pieces|in a hundred|\bhole\b|\bbent\b", text):
        category = "damaged"
    elif re.search(r"twice|double", text, re.IGNORECASE):
        category = "billing"
    elif wanted == "replacement" and re.search(r"where|late|lost", text):
        category = "delivery"
    handed = reason_to_hand_over(text)
    if handed in {"legal or press", "safety"}:
        return category, "urgent"
    if wanted in {"thanks", "policy"} or _NOT_URGENT.search(text):
        return category, "low"
    if angry(text) or _URGENT.search(text):
        return category, "high"
    return category, "normal"


def topic(text: str) -> str:
    """Give the topic of the shop's rules that a question is about."""
    for name, pattern in _TOPICS:
        if re.search(pattern, text, re.IGNORECASE):
            return name
    return "delivery"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a buyer's words name, newest last."""

    orders: tuple[str, ...]
    emails: tuple[str, ...]
    postcodes: tuple[str, ...]
    vouchers: tuple[str, ...]
    amounts: tuple[Decimal, ...]
    address: tuple[str, str, str] | None

    def any(self) -> bool:
        """Tell whether anything at all is named."""
        lists = (self.orders, self.emails, self.postcodes, self.vouchers, self.amounts)
        return self.address is not None or any(lists)


def named(text: str) -> Named:
    """Give the numbers, addresses and amounts that a text names."""
    moved = list(_NEW_ADDRESS.finditer(text))
    # a new address is what the buyer wants, no proof of who it is
    rest = _NEW_ADDRESS.sub(" ", text)
    orders = tuple(found.group(1).upper() for found in ORDER.finditer(rest))
    bare = AMOUNT.sub(" ", VOUCHER.sub(" ", ORDER.sub(" ", EMAIL.sub(" ", rest))))
    shaped = [found.group(0) for found in _SHAPED_POSTCODE.finditer(bare)]
    spoken = [found.group(1).strip() for found in _NAMED_POSTCODE.finditer(bare)]
    clear = [
        code for code in spoken if code not in shaped and not _inside(code, shaped)
    ]
    last = moved[-1].groups() if moved else None
    return Named(
        orders=orders,
        emails=tuple(EMAIL.findall(rest)),
        postcodes=(*shaped, *clear),
        vouchers=tuple(VOUCHER.findall(text)),
        amounts=tuple(_amounts(rest)),
        address=(last[0].strip(), last[1].strip(), last[2].strip()) if last else None,
    )


def _inside(code: str, shaped: list[str]) -> bool:
    return any(one in code or code in one for one in shaped)


def _amounts(text: str) -> list[Decimal]:
    found = []
    for match in AMOUNT.finditer(text):
        digits = next(group for group in match.groups() if group)
        found.append(Decimal(digits.replace(",", ".")))
    return found
