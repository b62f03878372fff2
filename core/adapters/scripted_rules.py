"""What the scripted model does next: one pure decision from a case to content blocks.

The order is the prompt's: triage once, hand over what people must answer, verify, look,
act, answer. What colleagues said to the buyer is repeated and kept in the next answer.
"""

from collections.abc import Callable, Mapping

from core.adapters import scripted_letters as letters
from core.adapters.scripted_case import Case, proposal
from core.adapters.scripted_orders import ORDER_ACTS, act, order_matter, verify
from core.adapters.scripted_reader import Call
from core.adapters.scripted_steps import Say, Step, Use, hand_over
from core.adapters.scripted_words import (
    greets,
    reason_to_hand_over,
    topic,
    triage,
)

_GOODWILL = "10.00"


def next_step(case: Case) -> tuple[Step, ...]:
    """Give the next answer, or the tool calls that must come before it."""
    steps = (*_first_triage(case), *_work(case))
    usable = tuple(
        step
        for step in steps
        if isinstance(step, Say) or step.name in case.reading.tools
    )
    # a tool that is not there: say what is known rather than ask for it
    return usable or (Say(text=letters.without_tools(case)),)


def _first_triage(case: Case) -> tuple[Step, ...]:
    if case.reading.called("set_triage"):
        return ()
    category, priority = triage(case.all)
    return (Use(name="set_triage", input={"category": category, "priority": priority}),)


def _work(case: Case) -> tuple[Step, ...]:
    if case.new and (reason := reason_to_hand_over(case.new)):
        return hand_over(case, reason)
    if case.new_wish in _TALK:
        return _TALK[case.new_wish](case)
    if case.all_told:
        return _open_end(case)
    if case.wish in ORDER_ACTS:
        return order_matter(case)
    return _QUESTIONS.get(case.wish, _open_end)(case)


def _thanks(case: Case) -> tuple[Step, ...]:
    return (Say(text=letters.welcome(case)),)


def _undo(case: Case) -> tuple[Step, ...]:
    return hand_over(case, "wants something undone that no tool undoes")


def _recall(case: Case) -> tuple[Step, ...]:
    if any(word.to_buyer for word in case.words) or letters.codes_given(case):
        return (Say(text=letters.recalled(case)),)
    return hand_over(case, "asks for something promised that is not on record")


def _withdraw(case: Case) -> tuple[Step, ...]:
    call = case.consequential
    waits = proposal(call) if call else None
    if waits and not case.reading.called("withdraw_decision"):
        why = {"decision": waits, "why": "the buyer no longer wants it"}
        return (Use(name="withdraw_decision", input=why),)
    return (Say(text=letters.withdrawn(case)),)


def _open_end(case: Case) -> tuple[Step, ...]:
    if case.words and not case.new:
        return (Say(text=letters.kept(case)),)
    if case.answered_at >= 0 and "?" not in case.new:
        return (Say(text=letters.noted(case)),)
    if greets(case.new):
        return (Say(text=letters.at_your_service(case)),)
    return hand_over(case, "I am not sure what the buyer needs")


def _policy(case: Case) -> tuple[Step, ...]:
    about = topic(case.all)
    rules = case.tried("get_policy_text", topic=about)
    if rules is None:
        return (Use(name="get_policy_text", input={"topic": about}),)
    if rules.at < case.answered_at:
        return hand_over(case, f"a question on {about} that our rules do not settle")
    return (Say(text=letters.policy(case, rules)),)


def _voucher(case: Case) -> tuple[Step, ...]:
    if not case.named.vouchers:
        return (Say(text=letters.ask(case, ("the code, exactly as printed",))),)
    code = case.named.vouchers[-1]
    checked = case.tried("check_voucher", code=code)
    if checked is None:
        return (Use(name="check_voucher", input={"code": code}),)
    if checked.at > case.answered_at or checked.is_error:
        return (Say(text=letters.voucher(case, checked)),)
    if checked.data().get("expired") is not True:
        return _open_end(case)
    if case.customer is None:
        return verify(case)
    return _goodwill(case, checked)


def _goodwill(case: Case, checked: Call) -> tuple[Step, ...]:
    given = {
        "customer_id": str((case.customer or {}).get("customer_id")),
        "amount": str(checked.data().get("amount", _GOODWILL)),
        "currency": str(checked.data().get("currency", "EUR")),
        "reason": "goodwill for an expired voucher",
    }
    return act(case, "issue_voucher", given)


_TALK: Mapping[str, Callable[[Case], tuple[Step, ...]]] = {
    "thanks": _thanks,
    "recall": _recall,
    "undo": _undo,
    "withdraw": _withdraw,
}
_QUESTIONS: Mapping[str, Callable[[Case], tuple[Step, ...]]] = {
    "voucher": _voucher,
    "policy": _policy,
}
