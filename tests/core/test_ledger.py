"""The ledger with a process that may die anywhere: no effect happens twice (rule 5)."""

from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.ledger import (
    Action,
    ActionEvent,
    ActionState,
    AskHuman,
    Execute,
    Reconcile,
    Reuse,
    idempotency_key,
    what_now,
)
from core.ticket import operator
from core.tool import ToolPolicy, ToolResult
from tests.core.building import AGENT, REFUND, T0, TICKET, action

ONCE = REFUND.policy
BY_KEY = replace(ONCE, idempotency="idempotency_key")
OK = ToolResult(content="refunded", is_error=False)


class LedgerMachine(RuleBasedStateMachine):
    """One call, processes that come and go, and a provider that counts."""

    policy: ToolPolicy = ONCE

    def __init__(self) -> None:
        super().__init__()
        self.stored: Action | None = None
        self.calling = False
        self.keys_done: set[str] = set()
        self.effects = 0
        self.calls = 0
        self.people_asked = False

    def happened(self, state: ActionState, result: ToolResult | None = None) -> None:
        assert self.stored is not None
        event = ActionEvent(
            n=len(self.stored.events) + 1, at=T0, state=state, by=AGENT, result=result
        )
        self.stored = replace(self.stored, events=(*self.stored.events, event))

    @precondition(lambda self: not self.calling)
    @rule()
    def a_process_looks_at_the_call(self) -> None:
        match what_now(self.stored, self.policy):
            case Execute():
                self.stored = action(ActionState.INTENDED)
                self.calling = True
            case Reconcile():
                self.calling = True
            case Reuse(result=result):
                done = result.is_error is False
                assert done == (self.effects == 1) or self.stored_by_person()
            case AskHuman():
                if self.stored is not None and self.stored.state is not (
                    ActionState.IN_DOUBT
                ):
                    self.happened(ActionState.IN_DOUBT)
                self.people_asked = True

    def stored_by_person(self) -> bool:
        return self.stored is not None and self.stored.events[-1].by != AGENT

    @precondition(lambda self: self.calling)
    @rule(dies=st.sampled_from(["before", "after", "no", "answer lost"]))
    def the_tool_is_called(self, dies: str) -> None:
        assert self.stored is not None
        self.calling = False
        if dies == "before":
            return
        self.calls += 1
        known = self.policy.idempotency is not None
        if not known or self.stored.key not in self.keys_done:
            self.effects += 1
        self.keys_done.add(self.stored.key)
        if dies == "no":
            self.happened(ActionState.DONE, OK)
        elif dies == "answer lost":
            self.happened(ActionState.IN_DOUBT)

    @precondition(lambda self: self.people_asked and not self.calling)
    @rule()
    def a_person_settles_it(self) -> None:
        assert self.stored is not None
        if not self.stored.open:
            return
        state = ActionState.DONE if self.effects else ActionState.NOT_RUN
        event = ActionEvent(
            n=len(self.stored.events) + 1,
            at=T0 + timedelta(hours=1),
            state=state,
            by=operator("sup"),
            evidence="looked at the provider",
        )
        self.stored = replace(self.stored, events=(*self.stored.events, event))

    @invariant()
    def nothing_happens_twice(self) -> None:
        assert self.effects <= 1
        assert self.policy.idempotency is not None or self.calls <= 1

    @invariant()
    def events_are_dated_numbered_and_never_lost(self) -> None:
        if self.stored is not None:
            numbers = [e.n for e in self.stored.events]
            assert numbers == list(range(1, len(numbers) + 1))
            assert self.stored.events[0].state is ActionState.INTENDED

    @invariant()
    def a_known_end_is_never_called_again(self) -> None:
        if self.stored is not None and not self.stored.open:
            assert isinstance(what_now(self.stored, self.policy), Reuse)


class KeyedLedgerMachine(LedgerMachine):
    """The same for a tool that takes an idempotency key."""

    policy = BY_KEY


TestLedger = LedgerMachine.TestCase
TestKeyedLedger = KeyedLedgerMachine.TestCase
TestLedger.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestKeyedLedger.settings = TestLedger.settings


def test_f05_an_intent_without_a_result_is_people_s_where_there_is_no_key() -> None:
    begun = action(ActionState.INTENDED)
    assert what_now(begun, ONCE) == AskHuman(action=begun)
    assert what_now(begun, BY_KEY) == Reconcile(action=begun)


def test_f03_a_call_that_never_answers_is_people_s_after_three_tries() -> None:
    doubt = ActionState.IN_DOUBT
    twice = action(ActionState.INTENDED, doubt, doubt)
    thrice = action(ActionState.INTENDED, doubt, doubt, doubt)
    assert what_now(twice, BY_KEY) == Reconcile(action=twice)
    assert what_now(thrice, BY_KEY) == AskHuman(action=thrice)


@pytest.mark.parametrize(
    ("state", "words", "is_error"),
    [
        (ActionState.DONE, "it was carried out", False),
        (ActionState.NOT_RUN, "it was not carried out", True),
        (ActionState.FAILED, "it was not carried out", True),
    ],
)
def test_rule_05_what_a_person_has_settled_is_the_answer(
    state: ActionState, words: str, is_error: bool
) -> None:
    doubt = action(ActionState.INTENDED, ActionState.IN_DOUBT)
    found = ActionEvent(
        n=3, at=T0, state=state, by=operator("sup"), evidence="no such refund"
    )
    settled = replace(doubt, events=(*doubt.events, found))
    match what_now(settled, ONCE):
        case Reuse(result=result):
            assert result.is_error is is_error
            assert result.content == f"sup has checked: {words}. no such refund"
        case other:
            pytest.fail(str(other))


def test_f126_the_present_state_is_the_last_event_s() -> None:
    moved = action(ActionState.INTENDED, ActionState.IN_DOUBT, ActionState.DONE)
    assert moved.state is ActionState.DONE
    assert not moved.open
    assert len(moved.events) == 3


def test_rule_05_the_key_is_the_cause_and_the_arguments_and_nothing_else() -> None:
    one = idempotency_key(TICKET, "toolu_1", "refund", {"a": 1, "b": "x"})
    assert one == idempotency_key(TICKET, "toolu_1", "refund", {"b": "x", "a": 1})
    others = {
        idempotency_key(TICKET, "toolu_2", "refund", {"a": 1, "b": "x"}),
        idempotency_key(TICKET, "toolu_1", "refund", {"a": 2, "b": "x"}),
        idempotency_key(TICKET, "toolu_1", "cancel", {"a": 1, "b": "x"}),
    }
    assert len(others | {one}) == 4
    assert one.isascii()
    assert len(one) < 64


def test_rule_12_arguments_that_utf_8_can_t_carry_have_a_key_too() -> None:
    assert idempotency_key(TICKET, "t", "refund", {"a": "\ud800"}).startswith("hk_")
