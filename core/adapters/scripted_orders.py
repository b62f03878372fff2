"""What the scripted model does about an order: verify, look, act once, tell the end.

A change is asked for once; from then on its result, or what people decided, is told.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from core.adapters import scripted_letters as letters
from core.adapters.scripted_case import Case, proposal, ran_out, turned_down
from core.adapters.scripted_reader import Call
from core.adapters.scripted_steps import Say, Step, Use, hand_over
from core.adapters.scripted_words import wish
from core.ticket import Json, JsonObject

_LOOKUPS_BEFORE_HANDING_OVER = 2


def order_matter(case: Case) -> tuple[Step, ...]:
    """Give the next step on something that is about an order."""
    if case.customer is None:
        return verify(case)
    if case.order is None:
        return (Say(text=letters.ask(case, ("the order number",))),)
    order = case.tried("get_order", order_id=case.order)
    if order is None:
        state: dict[str, Json] = {"patch": {"order": case.order, "wants": case.wish}}
        return (
            Use(name="get_order", input={"order_id": case.order}),
            Use(name="update_state", input=state),
        )
    if order.is_error:
        return hand_over(case, f"the order could not be read: {order.result}")
    if order.data().get("customer_id") != case.customer.get("customer_id"):
        return hand_over(case, "the order belongs to another customer")
    return ORDER_ACTS[case.wish](case, order.data())


def verify(case: Case) -> tuple[Step, ...]:
    """Give the next step towards knowing who the buyer is."""
    if case.revoked:
        return hand_over(case, "a colleague took the verified identity back")
    failed = [call for call in case.reading.called("find_customer") if call.is_error]
    for given in _proofs(case):
        if case.tried("find_customer", **given) is None:
            return (Use(name="find_customer", input=given),)
    if len(failed) >= _LOOKUPS_BEFORE_HANDING_OVER:
        return hand_over(case, "the buyer could not be verified")
    if failed:
        wanted: tuple[str, ...] = ("the postcode or e-mail address of the order",)
        return (Say(text=letters.no_match(case, wanted)),)
    missing = [] if case.order else ["the order number"]
    if not (case.named.postcodes or case.named.emails):
        missing.append("the postcode of the delivery address")
    return (Say(text=letters.ask(case, tuple(missing))),)


def _proofs(case: Case) -> list[dict[str, str]]:
    found = [
        {"order_id": case.order, name: value}
        for name, values in (
            ("postcode", case.named.postcodes),
            ("email", case.named.emails),
        )
        for value in reversed(values)
        if case.order
    ]
    both = [
        {"email": email, "postcode": code}
        for email in reversed(case.named.emails)
        for code in reversed(case.named.postcodes)
    ]
    return [*found, *both]


def act(case: Case, name: str, given: Mapping[str, str]) -> tuple[Step, ...]:
    """Give the call for a change, once, or else the letter on what it came to."""
    key = "order_id" if "order_id" in given else "customer_id"
    call = case.tried(name, **{key: given[key]})
    if call is None and _settled_by_colleague(case, name):
        return (Say(text=letters.kept(case)),)
    if call is None:
        return (Use(name=name, input=_shaped(case, name, given)),)
    if proposal(call):
        return _proposed(case, call)
    if ran_out(call) and not case.reading.called("escalate"):
        return hand_over(case, f"nobody decided on {call.name} in time")
    if (reason := turned_down(call)) is not None:
        return _declined(case, call, reason, told_at=call.at)
    if call.is_error:
        return hand_over(case, f"{name} was refused: {(call.result or '')[:200]}")
    if call.at < case.answered_at:
        return (Say(text=letters.done_before(case, name, call.data())),)
    return (Say(text=letters.done(case, name, call.data())),)


def _settled_by_colleague(case: Case, tool: str) -> bool:
    told = any(w.to_buyer and wish(w.text) == case.wish for w in case.words)
    return case.by_colleague(tool) or (told and not case.new)


def _declined(case: Case, call: Call, reason: str, *, told_at: int) -> tuple[Step, ...]:
    if told_at < case.answered_at and case.new:
        # the letter said that a person would read the answer
        return hand_over(case, f"the buyer answers to a declined {call.name}")
    return (Say(text=letters.declined(case, call, reason)),)


def _proposed(case: Case, call: Call) -> tuple[Step, ...]:
    verdict = case.verdict(call)
    if verdict is None:
        return (Say(text=letters.waiting(case, call)),)
    if verdict.state == "expired" and not case.reading.called("escalate"):
        return hand_over(case, f"nobody decided on {call.name} in time")
    if verdict.state != "approved":
        return _declined(case, call, verdict.quoted, told_at=verdict.at)
    outcome = case.outcome(call.name)
    if outcome is None:
        return (Say(text=letters.agreed(case, call)),)
    result, worked = outcome
    if not worked:
        return hand_over(case, f"{call.name} was approved and then failed")
    figures = {**verdict.arguments(), **result.data()}
    return (Say(text=letters.done(case, call.name, figures)),)


def _shaped(case: Case, name: str, given: Mapping[str, str]) -> JsonObject:
    schema = case.reading.tools.get(name, {})
    known = schema.get("properties")
    names = set(known) if isinstance(known, Mapping) else set(given)
    found: dict[str, Json] = {n: value for n, value in given.items() if n in names}
    if "idempotency_key" in names:
        found["idempotency_key"] = f"{name}-{given.get('order_id', 'voucher')}"
    return found


def _refund(case: Case, order: Mapping[str, Json]) -> tuple[Step, ...]:
    asked = case.tried("refund_order", order_id=str(case.order))
    left = Decimal(str(order.get("refundable", "0")))
    if asked is None and left <= 0:
        return (Say(text=letters.nothing_left(case)),)
    if order.get("status") == "shipped" and asked is None:
        tracked = case.tried("track_parcel", order_id=str(case.order))
        if tracked is None:
            return (Use(name="track_parcel", input={"order_id": str(case.order)}),)
        if "Delayed" not in (tracked.result or ""):
            return (Say(text=letters.tracked(case, tracked)),)
    return act(
        case,
        "refund_order",
        {
            "order_id": str(case.order),
            "amount": str(_amount(case, order, left)),
            "currency": str(order.get("currency")),
            "reason": letters.quoted(case.new or case.all, 120),
        },
    )


def _amount(case: Case, order: Mapping[str, Json], left: Decimal) -> Decimal:
    total = Decimal(str(order.get("total", "0")))
    if left > total and re.search(r"twice|double", case.all, re.IGNORECASE):
        return left - total
    named = [one for one in case.named.amounts if 0 < one <= min(left, total)]
    cent = Decimal("0.01")
    return (named[-1] if named else min(left, total)).quantize(cent)


def _cancel(case: Case, order: Mapping[str, Json]) -> tuple[Step, ...]:
    asked = case.tried("cancel_order", order_id=str(case.order))
    if asked is None and order.get("status") in {"shipped", "delivered"}:
        return (Say(text=letters.too_late(case, str(order.get("status")))),)
    given = {"order_id": str(case.order), "reason": "the buyer asked for it"}
    return act(case, "cancel_order", given)


def _address(case: Case, order: Mapping[str, Json]) -> tuple[Step, ...]:
    if case.named.address is None:
        return (Say(text=letters.ask_address(case)),)
    asked = case.tried("change_address", order_id=str(case.order))
    if asked is None and order.get("status") in {"shipped", "delivered"}:
        return (Say(text=letters.too_late(case, str(order.get("status")))),)
    street, postcode, city = case.named.address
    given = {"street": street, "postcode": postcode, "city": city}
    return act(case, "change_address", {"order_id": str(case.order), **given})


def _replacement(case: Case, order: Mapping[str, Json]) -> tuple[Step, ...]:
    lines = order.get("lines")
    listed = lines if isinstance(lines, list | tuple) else ()
    found = [one for one in listed if isinstance(one, Mapping)]
    if not found:
        return hand_over(case, "the order has no lines to send again")
    said = set(re.findall(r"[a-z]+", case.all.lower()))

    def likeness(line: Mapping[str, Json]) -> int:
        return len(said & set(re.findall(r"[a-z]+", str(line.get("name")).lower())))

    line = max(found, key=likeness)
    reason = letters.quoted(case.new or case.all, 120)
    given = {"order_id": str(case.order), "sku": str(line.get("sku")), "reason": reason}
    return act(case, "send_replacement", given)


def _track(case: Case, order: Mapping[str, Json]) -> tuple[Step, ...]:
    tracked = case.tried("track_parcel", order_id=str(case.order))
    if tracked is None:
        return (Use(name="track_parcel", input={"order_id": str(case.order)}),)
    if tracked.is_error:
        return (Say(text=letters.not_sent(case, str(order.get("status")))),)
    return (Say(text=letters.tracked(case, tracked)),)


def _return(case: Case, order: Mapping[str, Json]) -> tuple[Step, ...]:
    if order.get("status") == "placed":
        return _cancel(case, order)
    rules = case.tried("get_policy_text", topic="returns")
    if rules is None:
        return (Use(name="get_policy_text", input={"topic": "returns"}),)
    return (Say(text=letters.policy(case, rules)),)


ORDER_ACTS: Mapping[str, Callable[[Case, Mapping[str, Json]], tuple[Step, ...]]] = {
    "refund": _refund,
    "cancel": _cancel,
    "address": _address,
    "replacement": _replacement,
    "track": _track,
    "return": _return,
}
