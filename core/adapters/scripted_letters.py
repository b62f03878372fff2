"""The scripted model's answers: short letters that say only what is known.

Every letter keeps what colleagues told the buyer since the last answer: it is quoted
with the colleague's name before anything else is said.
"""

import re
from collections.abc import Mapping, Sequence

from core.adapters.scripted_case import Case, Word
from core.adapters.scripted_reader import Call
from core.adapters.scripted_words import angry
from core.ticket import Json

_SIGNED = "Kind regards\nSundry"
_LONGEST_QUOTE = 300
_GREETING = re.compile(
    r"^(hi|hello|dear|good (morning|afternoon))\b[^\n.!?]*$", re.IGNORECASE
)
_CODE = re.compile(r"\b(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]{3,}\b")
_DISCOUNT = re.compile(r"\b\d{1,2}\s?%")
_TELL = re.compile(
    r"\btell (?:her|him|them|the (?:buyer|customer))(?: that)?[:,]? (?P<what>[^\n]+)",
    re.IGNORECASE,
)
_SECRET = re.compile(r"\b(don'?t|do not|never|internal|secret)\b", re.IGNORECASE)


def quoted(text: str, length: int) -> str:
    """Give the start of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _letter(case: Case, *parts: str) -> str:
    name = str((case.customer or {}).get("name") or "").split(" ")[0]
    hello = f"Hello {name}," if name else "Hello,"
    sorry = (
        "I am sorry that you had to write more than once." if angry(case.new) else ""
    )
    kept = [*map(_as_told, case.fresh_words), *_from_notes(case)]
    body = [part for part in (hello, *kept, sorry, *parts, _SIGNED) if part]
    return "\n\n".join(body)


def _as_told(word: Word) -> str:
    return f"As {word.name} told you: \u201c{_essence(word.text)}\u201d That stands."


def _essence(text: str) -> str:
    lines = [line for line in text.splitlines() if not _GREETING.match(line.strip())]
    return quoted("\n".join(lines) or text, _LONGEST_QUOTE)


def _from_notes(case: Case) -> list[str]:
    """What a note to the agent asks it to say; the note itself stays inside."""
    found: list[str] = []
    for word in case.words:
        if word.to_buyer or word.at <= case.answered_at or _SECRET.search(word.text):
            continue
        if asked := _TELL.search(word.text):
            said = asked["what"].strip()
            found.append(said[:1].upper() + said[1:])
        elif codes := _CODE.findall(word.text):
            off = "".join(_DISCOUNT.findall(word.text)[:1])
            what = f" for {off} off" if off else ""
            found.append(f"Your code{what} is {', '.join(codes)}.")
    return found


def codes_given(case: Case) -> list[str]:
    """Give the voucher codes that the buyer has: from results and colleagues' tools."""
    issued = [
        call.data().get("code")
        for call in case.reading.called("issue_voucher")
        if not call.is_error
    ]
    issued += [fact.data().get("code") for fact in case.facts]
    noted = [
        code
        for word in case.words
        if not word.to_buyer and not _SECRET.search(word.text)
        for code in _CODE.findall(word.text)
    ]
    return [str(code) for code in (*issued, *noted) if code]


def recalled(case: Case) -> str:
    """Say again what colleagues told the buyer, and codes that were issued."""
    told = [word for word in case.words if word.to_buyer]
    old = [_as_told(word) for word in told if word not in case.fresh_words]
    codes = ", ".join(dict.fromkeys(codes_given(case)))
    return _letter(case, *old, f"Your code is {codes}." if codes else "")


def kept(case: Case) -> str:
    """Confirm what colleagues said, with nothing new."""
    old = [_as_told(w) for w in case.words if w.to_buyer and not case.fresh_words]
    return _letter(case, *old[-1:], "If anything is still open, just answer this mail.")


def ask(case: Case, missing: Sequence[str]) -> str:
    """Ask for what is missing."""
    wanted = " and ".join(missing) or "the order number and the postcode"
    return _letter(
        case,
        f"I will gladly look into this. Please send me {wanted}, so that I can be sure"
        " that I am talking about the right order with the right person.",
    )


def no_match(case: Case, wanted: Sequence[str]) -> str:
    """Say that what was given did not match, without saying what would."""
    return _letter(
        case,
        "What you sent does not match our records. Please check it and send me"
        f" {' and '.join(wanted)} once more.",
    )


def ask_address(case: Case) -> str:
    """Ask for the new address."""
    return _letter(
        case,
        "Please write the new address as: New address: street and number, postcode"
        " city.",
    )


def welcome(case: Case) -> str:
    """Answer thanks."""
    if case.consequential is None:
        return _letter(case, "Thank you for your kind words. We are glad to help.")
    return _letter(case, "You are welcome. If anything else comes up, just write back.")


def at_your_service(case: Case) -> str:
    """Answer a greeting that came alone."""
    return _letter(
        case,
        "What can I do for you? If it is about an order, please send me"
        " its number and the postcode of the delivery address.",
    )


def noted(case: Case) -> str:
    """Take note of something that needs no act."""
    return _letter(
        case, "Thank you for letting me know. Nothing more is needed from you."
    )


def waiting(case: Case, call: Call) -> str:
    """Say that a person has still to decide, with no promise."""
    what = _MATTERS.get(call.name, "your request")
    return _letter(
        case,
        f"I have passed {what} to a colleague who has to look at it. I can't tell you"
        " yet how that ends, and you will hear from us as soon as it is decided.",
    )


_MATTERS = {
    "refund_order": "the refund",
    "send_replacement": "the replacement",
    "change_address": "the new address",
    "issue_voucher": "a voucher",
    "cancel_order": "the cancellation",
}


def declined(case: Case, call: Call, reason: str) -> str:
    """Say that a person said no, with the reason where there is one."""
    what = _MATTERS.get(call.name, "your request")
    why = f" The reason: {reason.rstrip('.')}." if reason else ""
    return _letter(
        case,
        f"A colleague has looked at {what}, and we can't do it as asked.{why}",
        "If you see it differently, answer this mail and a person will read it.",
    )


def done(case: Case, tool: str, result: Mapping[str, Json]) -> str:
    """Say what a tool has confirmed, in its own figures."""
    return _letter(case, _confirmed(tool, result))


def done_before(case: Case, tool: str, result: Mapping[str, Json]) -> str:
    """Say again what was said before, as such."""
    return _letter(
        case, f"Nothing has changed since I wrote: {_confirmed(tool, result)}"
    )


def _confirmed(tool: str, result: Mapping[str, Json]) -> str:
    """The fullest sentence that the figures at hand allow."""
    shown = {name: str(value) for name, value in result.items()}
    for sentence in (_DONE.get(tool), _DONE_IN_SHORT.get(tool)):
        try:
            return (sentence or _PLAINLY).format_map(shown)
        except KeyError:
            continue
    return _PLAINLY


_PLAINLY = "This has been done."


_DONE = {
    "refund_order": "I have refunded {amount} {currency} for order {order_id}"
    " (reference {refund_id}). It reaches your card {arrives}.",
    "cancel_order": "Order {order_id} is cancelled, and {refunded} {currency} go back"
    " to your card.",
    "change_address": "Order {order_id} now goes to {delivers_to}.",
    "send_replacement": "We are sending you the {item} again, free of charge (reference"
    " {replacement_id}). It leaves {leaves}.",
    "issue_voucher": "Here is a voucher of {amount} {currency} for your next order:"
    " {code}. It is valid until {expires_on}.",
}


_DONE_IN_SHORT = {
    "refund_order": "{amount} {currency} for order {order_id} were refunded.",
    "cancel_order": "Order {order_id} is cancelled.",
    "change_address": "Order {order_id} now goes to {street}, {postcode} {city}.",
    "send_replacement": "The replacement for order {order_id} is on its way to you.",
    "issue_voucher": "A voucher of {amount} {currency} was made for you.",
}


def agreed(case: Case, call: Call) -> str:
    """Say that a person agreed, where the tool's own result is not at hand."""
    what = _MATTERS.get(call.name, "your request")
    return _letter(case, f"A colleague has agreed to {what}. It is being carried out.")


def withdrawn(case: Case) -> str:
    """Say that nothing more is done."""
    return _letter(case, "All right, I have stopped this. Nothing more will be done.")


def nothing_left(case: Case) -> str:
    """Say that an order is paid back in full."""
    return _letter(case, f"Everything that was paid for {case.order} is paid back.")


def too_late(case: Case, status: str) -> str:
    """Say that an order has left."""
    return _letter(
        case,
        f"Order {case.order} is already {status}, so I can't change it any more. You"
        " can send it back free of charge within 30 days of delivery.",
    )


def not_sent(case: Case, status: str) -> str:
    """Say that there is no parcel yet."""
    return _letter(case, f"Order {case.order} is {status} and has not left us yet.")


def tracked(case: Case, call: Call) -> str:
    """Say what the carrier reported last."""
    events = call.data().get("events")
    last = events[-1] if isinstance(events, list | tuple) and events else {}
    words = last if isinstance(last, Mapping) else {}
    event = f"{words.get('event')} ({words.get('day')})"
    late = "Delayed" in event
    offer = (
        "That is not good enough. Would you like a replacement or your money back?"
        if late
        else "If that doesn't match what you see, please answer this mail."
    )
    carrier = call.data().get("carrier")
    return _letter(case, f"{carrier} reports for order {case.order}: {event}.", offer)


def policy(case: Case, call: Call) -> str:
    """Say what our rules are."""
    return _letter(case, str(call.data().get("text", call.result)))


def voucher(case: Case, call: Call) -> str:
    """Say what a voucher is worth and why it may be refused."""
    found = call.data()
    if call.is_error:
        return _letter(case, "I can't find that code. Please check it once more.")
    if found.get("expired") is True:
        return _letter(
            case,
            f"The voucher {found.get('code')} ran out on {found.get('expires_on')}.",
            "Please send me your e-mail address and postcode, and I will see what can"
            " be done.",
        )
    return _letter(
        case,
        f"The voucher {found.get('code')} is worth {found.get('amount')}"
        f" {found.get('currency')} until {found.get('expires_on')}, for baskets from"
        f" {found.get('minimum_order')} {found.get('currency')} on.",
    )


def handed_over(case: Case) -> str:
    """Say that people go on."""
    return _letter(case, "I have given this to a colleague, who will write to you.")


def without_tools(case: Case) -> str:
    """Say that it was read, where no tool is there to do more."""
    return _letter(case, "Thank you for your message. It is with us.")
