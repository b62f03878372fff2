"""What a supervisor's verdict makes of a proposal (rule 6)."""

from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.decision import (
    AlreadyDecided,
    Approved,
    Decision,
    DecisionState,
    Expired,
    FirstOfTwo,
    NotAllowed,
    Operator,
    Overridden,
    Rejected,
    Role,
    Settlement,
    Stale,
    Verdict,
    arguments_hash,
    canonical,
    settle,
)
from core.ticket import Json
from tests.core.building import T0, decision

SUP = Operator(name="sup", role=Role.SUPERVISOR)
DEP = Operator(name="dep", role=Role.SUPERVISOR)
NOW = T0 + timedelta(minutes=5)
APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
REJECT = Verdict(kind="reject", why="too much", input=None, seen=None)


def override(given: Json) -> Verdict:
    return Verdict(kind="override", why="", input=given, seen=None)


def says(
    of: Decision,
    verdict: Verdict = APPROVE,
    by: Operator = SUP,
    *,
    newest: int = 1,
    now: object = NOW,
) -> Settlement:
    return settle(of, verdict, by, newest_buyer_seq=newest, now=now)  # type: ignore[arg-type]


def test_rule_06_an_approval_keeps_the_exact_arguments_and_their_hash() -> None:
    proposed = decision()
    match says(proposed):
        case Approved(decision=new):
            assert new.final_input == proposed.input
            assert new.final_hash == proposed.hash
            assert (new.decided_by, new.decided_at) == ("sup", NOW)
            assert new.state is DecisionState.APPROVED
        case other:
            pytest.fail(str(other))


def test_f11_other_arguments_are_executed_and_hashed_as_the_supervisor_gave_them() -> (
    None
):
    given = {"order_id": "O-1", "amount": "20.00"}
    match says(decision(), override(given)):
        case Overridden(decision=new):
            assert new.final_input == given
            assert new.final_hash == arguments_hash(new.tool, given)
            assert new.final_hash != new.hash
            assert new.input == decision().input
        case other:
            pytest.fail(str(other))


def test_an_override_with_the_proposed_arguments_is_an_approval() -> None:
    same = {"amount": "80.00", "order_id": "O-1"}
    assert isinstance(says(decision(), override(same)), Approved)


@pytest.mark.parametrize("state", [s for s in DecisionState if s.value != "pending"])
@pytest.mark.parametrize("verdict", [APPROVE, REJECT, override({})])
def test_f01_a_settled_verdict_stands_whoever_says_what(
    state: DecisionState, verdict: Verdict
) -> None:
    settled = decision(state=state, decided_by="dep")
    assert says(settled, verdict) == AlreadyDecided(decision=settled)


@pytest.mark.parametrize(
    "by",
    [
        Operator(name="ana", role=Role.AGENT),
        Operator(name="sup", role=Role.SUPERVISOR, disabled=True),
    ],
)
@pytest.mark.parametrize("verdict", [APPROVE, REJECT, override({})])
def test_f16_who_may_not_changes_nothing(by: Operator, verdict: Verdict) -> None:
    assert isinstance(says(decision(), verdict, by), NotAllowed)


def test_rule_06_a_newer_message_must_be_looked_at_before_an_approval() -> None:
    proposed = decision(based_on=3)
    assert says(proposed, newest=4) == Stale(newer=4)
    looked = replace(APPROVE, seen=4)
    assert isinstance(says(proposed, looked, newest=4), Approved)
    assert isinstance(says(proposed, replace(APPROVE, seen=3), newest=4), Stale)
    assert isinstance(says(proposed, newest=3), Approved)


def test_rule_06_a_rejection_needs_no_look_at_newer_messages() -> None:
    match says(decision(based_on=3), REJECT, newest=9):
        case Rejected(decision=new):
            assert new.why == "too much"
            assert new.final_input is None
        case other:
            pytest.fail(str(other))


def test_f10_after_its_time_a_proposal_is_closed_as_expired() -> None:
    proposed = decision()
    at_the_end = says(proposed, now=proposed.expires_at)
    just_before = says(proposed, now=proposed.expires_at - timedelta(seconds=1))
    assert isinstance(at_the_end, Expired)
    assert at_the_end.decision.state is DecisionState.EXPIRED
    assert isinstance(just_before, Approved)


def test_f15_above_the_limit_two_different_people_approve_the_same() -> None:
    first = says(decision(four_eyes=True))
    assert isinstance(first, FirstOfTwo)
    waiting = first.decision
    assert waiting.state is DecisionState.PENDING
    assert waiting.first == "sup"
    assert isinstance(says(waiting, by=SUP), NotAllowed)
    second = says(waiting, by=DEP)
    assert isinstance(second, Approved)
    assert second.decision.decided_by == "dep"
    assert second.decision.first == "sup"


def test_f15_the_second_can_t_approve_other_arguments_but_may_reject() -> None:
    first = says(decision(four_eyes=True))
    assert isinstance(first, FirstOfTwo)
    changed = override({"order_id": "O-1", "amount": "9000.00"})
    assert isinstance(says(first.decision, changed, DEP), NotAllowed)
    assert isinstance(says(first.decision, REJECT, DEP), Rejected)


def test_f15_an_override_under_four_eyes_needs_both_for_the_new_arguments() -> None:
    less = override({"order_id": "O-1", "amount": "600.00"})
    first = says(decision(four_eyes=True), less)
    assert isinstance(first, FirstOfTwo)
    assert isinstance(says(first.decision, APPROVE, DEP), NotAllowed)
    assert isinstance(says(first.decision, less, DEP), Overridden)


def test_open_is_what_still_binds_its_object() -> None:
    opened = {s for s in DecisionState if decision(state=s).open}
    assert opened == {
        DecisionState.PENDING,
        DecisionState.APPROVED,
        DecisionState.OVERRIDDEN,
    }


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.one_of(st.integers(), st.text(max_size=5), st.booleans(), st.none()),
        max_size=4,
    )
)
def test_rule_06_equal_arguments_have_one_hash_and_others_another(
    given_arguments: dict[str, Json],
) -> None:
    turned = dict(reversed(list(given_arguments.items())))
    assert canonical(turned) == canonical(given_arguments)
    more = {**given_arguments, "\x00more": 1}
    assert canonical(more) != canonical(given_arguments)


def test_rule_12_arguments_that_utf_8_can_t_carry_have_a_hash_too() -> None:
    assert arguments_hash("t", {"a": "\ud800"}) != arguments_hash("t", {"a": "?"})
