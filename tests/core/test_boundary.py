"""What a run does next, decided from the records alone (rules 3, 8 and 15)."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from core.boundary import (
    TAKEN_OVER,
    AwaitDecision,
    CarryOut,
    Continue,
    Escalate,
    Execute,
    HandOver,
    NextStep,
    Pause,
    Release,
    next_step,
)
from core.decision import Decision, DecisionState
from core.history import History
from core.journal import DecisionChanged, Escalated, ToolCalled, ToolReturned
from core.ledger import ActionState
from core.limits import Limits
from core.ticket import Actor, RunId, agent, operator
from core.turn import Run, Stop
from tests.core.building import (
    AGENT,
    RUN,
    action,
    decision,
    given_back,
    history,
    replied,
    run_began,
    run_ended,
    run_of,
    said,
    taken,
    turn,
)

LIMITS = Limits()
NEXT = RunId("R-2")


def called(
    call: str = "toolu_1", by: Actor = AGENT, name: str = "refund_order"
) -> tuple[Actor, ToolCalled]:
    return by, ToolCalled(id=call, name=name, input={"order_id": "O-1"})


def returned(call: str = "toolu_1", content: str = "ok") -> tuple[Actor, ToolReturned]:
    return AGENT, ToolReturned(id=call, content=content)


def told(state: DecisionState, name: str = "D-1") -> tuple[Actor, DecisionChanged]:
    by = AGENT if state is DecisionState.PENDING else operator("sup")
    return by, DecisionChanged(
        decision=name, state=state.value, tool="t", input={}, hash="0", rule="r"
    )


def asks(chart: History) -> NextStep:
    return next_step(chart, chart.runs[-1], LIMITS)


def with_limits(chart: History, limits: Limits) -> NextStep:
    return next_step(chart, chart.runs[-1], limits)


# Asking and answering


def test_a_run_begins_by_asking_the_model() -> None:
    assert asks(history(said("hi"), run_began(), runs=[run_of()])) == Continue(unrun=())


def test_rule_03_with_everything_answered_the_lock_is_given_back() -> None:
    chart = history(
        said("hi"), run_began(), replied("hello", 2), runs=[run_of(turns=(turn(2),))]
    )
    assert asks(chart) == Release()


def test_rule_03_a_message_during_the_answer_is_another_turn() -> None:
    chart = history(
        said("hi"),
        run_began(),
        said("and?"),
        replied("hello", 2),
        runs=[run_of(turns=(turn(2),))],
    )
    assert asks(chart) == Continue(unrun=())


def test_rule_03_a_message_the_turn_had_seen_is_not_news() -> None:
    chart = history(
        said("hi"),
        said("and?"),
        run_began(),
        replied("hello", 3),
        runs=[run_of(turns=(turn(3),))],
    )
    assert asks(chart) == Release()


def test_rule_08_a_turn_whose_answer_was_not_applied_is_asked_again() -> None:
    lost = turn(2, applied=False)
    chart = history(said("hi"), run_began(), runs=[run_of(turns=(lost,))])
    assert asks(chart) == Continue(unrun=())


# Tools


def test_a_call_without_a_result_is_carried_out_first() -> None:
    chart = history(
        said("hi"),
        run_began(),
        called("t1"),
        called("t2"),
        returned("t1"),
        runs=[run_of(turns=(turn(2),))],
    )
    assert asks(chart) == CarryOut(call=called("t2")[1])


def test_results_go_back_to_the_model() -> None:
    chart = history(
        said("hi"),
        run_began(),
        called("t1"),
        returned("t1"),
        runs=[run_of(turns=(turn(2),))],
    )
    assert asks(chart) == Continue(unrun=())


def test_rule_08_a_crashed_run_s_call_is_carried_out_by_the_next() -> None:
    dead = replace(run_of(turns=(turn(2),)), stop=Stop.CRASHED)
    chart = history(said("hi"), run_began(), called("t1"), runs=[dead, run_of(NEXT)])
    assert asks(chart) == CarryOut(call=called("t1")[1])


def test_f75_a_call_from_before_a_takeover_is_told_as_not_run() -> None:
    before = replace(run_of(turns=(turn(2),)), stop=Stop.HANDED_OVER)
    chart = history(
        said("hi"),
        run_began(),
        called("t1"),
        taken(),
        given_back(),
        runs=[before, run_of(NEXT)],
    )
    assert asks(chart) == Continue(unrun=((called("t1")[1], TAKEN_OVER),))


def test_f75_not_even_a_crash_lets_a_call_survive_a_takeover() -> None:
    dead = replace(run_of(turns=(turn(2),)), stop=Stop.CRASHED)
    chart = history(
        said("hi"),
        run_began(),
        called("t1"),
        taken(),
        given_back(),
        runs=[dead, run_of(NEXT)],
    )
    assert asks(chart) == Continue(unrun=((called("t1")[1], TAKEN_OVER),))


@pytest.mark.parametrize("state", [ActionState.INTENDED, ActionState.IN_DOUBT])
def test_rule_05_an_open_ledger_row_is_looked_after_whatever_came_between(
    state: ActionState,
) -> None:
    before = replace(run_of(turns=(turn(2),)), stop=Stop.HANDED_OVER)
    chart = history(
        said("hi"),
        run_began(),
        called(),
        taken(),
        given_back(),
        runs=[before, run_of(NEXT)],
        actions=[action(ActionState.INTENDED, state)],
    )
    assert asks(chart) == CarryOut(call=called()[1])


# People


def test_rule_02_who_wants_the_ticket_gets_it_before_anything_else() -> None:
    chart = history(
        said("hi"),
        run_began(),
        called(),
        runs=[run_of(turns=(turn(2),))],
        wanted_by="ana",
    )
    assert asks(chart) == HandOver()


def test_rule_15_what_is_in_people_s_hands_is_not_worked_on() -> None:
    chart = history(
        said("hi"),
        run_began(),
        called(),
        (AGENT, Escalated(reason="unsure", tried="", summary="")),
        runs=[run_of(turns=(turn(2),))],
    )
    assert asks(chart) == Escalate(stop=Stop.ESCALATED, why=None)


# Decisions


def waiting(*more: tuple[Actor, object], state: DecisionState) -> History:
    return history(
        said("refund please"),
        run_began(),
        called(),
        told(DecisionState.PENDING),
        *more,  # type: ignore[arg-type]
        runs=[run_of(turns=(turn(2),))],
        decisions=[decision(state=state)],
    )


def test_the_run_ends_where_all_that_is_left_waits_for_a_verdict() -> None:
    assert asks(waiting(state=DecisionState.PENDING)) == AwaitDecision()


def test_a_message_meanwhile_is_answered_knowing_that_it_still_waits() -> None:
    step = asks(waiting(said("any news?"), state=DecisionState.PENDING))
    assert isinstance(step, Continue)
    ((call, words),) = step.unrun
    assert call.id == "toolu_1"
    assert words.startswith("Proposed as D-1; it waits")


@pytest.mark.parametrize("state", [DecisionState.APPROVED, DecisionState.OVERRIDDEN])
def test_rule_06_what_was_approved_is_executed(state: DecisionState) -> None:
    step = asks(waiting(told(state), state=state))
    assert isinstance(step, Execute)
    assert step.decision.id == "D-1"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (DecisionState.REJECTED, "rejected by sup. Reason: too much"),
        (DecisionState.EXPIRED, "nobody decided the proposal in time"),
        (DecisionState.WITHDRAWN, "the proposal was withdrawn"),
    ],
)
def test_f13_what_was_not_approved_is_told_and_never_executed(
    state: DecisionState, words: str
) -> None:
    chart = waiting(told(DecisionState.REJECTED), state=state)
    closed = decision(state=state, decided_by="sup", why="too much")
    step = asks(replace(chart, decisions=(closed,)))
    assert isinstance(step, Continue)
    ((_, said_of_it),) = step.unrun
    assert words in said_of_it


def test_f23_of_two_proposals_the_approved_one_does_not_wait_for_the_other() -> None:
    two: list[Decision] = [
        decision(state=DecisionState.APPROVED),
        decision(name="D-2", call="toolu_2"),
    ]
    chart = history(
        said("refund both"),
        run_began(),
        called(),
        called("toolu_2"),
        told(DecisionState.PENDING),
        told(DecisionState.PENDING, "D-2"),
        run_ended(seen=2, stop="awaiting_decision"),
        told(DecisionState.APPROVED),
        run_began(NEXT),
        runs=[
            replace(run_of(turns=(turn(2),)), stop=Stop.AWAITING_DECISION),
            run_of(NEXT),
        ],
        decisions=two,
    )
    step = asks(chart)
    assert isinstance(step, Execute)
    assert step.decision.id == "D-1"


# Limits


def asked_again(times: int, *, result: str = "nothing") -> tuple[History, Run]:
    lines = [said("hi"), run_began()]
    for n in range(times):
        lines += [
            (AGENT, ToolCalled(id=f"t{n}", name="get", input={"a": 1})),
            returned(f"t{n}", result),
        ]
    run = run_of(turns=(turn(2),))
    return history(*lines, runs=[run]), run


def test_rule_15_the_same_call_with_the_same_result_three_times_is_people_s() -> None:
    twice, _ = asked_again(2)
    thrice, _ = asked_again(3)
    assert asks(twice) == Continue(unrun=())
    step = asks(thrice)
    assert isinstance(step, Escalate)
    assert step.stop is Stop.ERROR


def test_rule_15_a_run_that_comes_to_no_end_is_people_s() -> None:
    turns = tuple(turn(2, n, applied=False) for n in range(1, 21))
    chart = history(said("hi"), run_began(), runs=[run_of(turns=turns)])
    step = asks(chart)
    assert isinstance(step, Escalate)
    assert step.stop is Stop.TURN_LIMIT


def test_rule_15_a_run_that_costs_too_much_is_people_s() -> None:
    chart = history(
        said("hi"),
        run_began(),
        said("more"),
        runs=[run_of(turns=(turn(2),))],
    )
    step = with_limits(chart, Limits(max_cost_usd=Decimal("0.00001")))
    assert isinstance(step, Escalate)
    assert step.stop is Stop.COST_LIMIT


def test_an_answered_ticket_is_released_even_at_its_limits() -> None:
    turns = tuple(turn(2, n) for n in range(1, 21))
    chart = history(
        said("hi"), run_began(), replied("hello", 2), runs=[run_of(turns=turns)]
    )
    assert asks(chart) == Release()


def test_rule_08_another_run_s_calls_are_not_this_run_s_answer() -> None:
    before = replace(run_of(turns=(turn(2),)), stop=Stop.ANSWERED)
    mine = run_of(NEXT, turns=(turn(6),))
    chart = history(
        said("hi"),
        run_began(),
        called("t1"),
        returned("t1"),
        run_ended(RUN, seen=2),
        run_began(NEXT),
        replied("done", 6, agent(NEXT)),
        runs=[before, mine],
    )
    assert asks(chart) == Release()


def test_rule_15_a_run_that_takes_too_long_or_a_ticket_too_dear_is_people_s() -> None:
    chart = history(said("Hello"), runs=[run_of(turns=(turn(0),))])
    (run,) = chart.runs
    slow = replace(Limits(), max_run=timedelta(minutes=5))
    outcome = next_step(chart, run, slow)
    assert isinstance(outcome, Escalate)
    assert outcome.stop is Stop.TURN_LIMIT
    dear = replace(Limits(), max_ticket_cost_usd=Decimal("0.000001"))
    outcome = next_step(chart, run, dear)
    assert isinstance(outcome, Escalate)
    assert outcome.stop is Stop.COST_LIMIT


def test_rule_02_a_stopped_agent_starts_nothing_and_goes_on_where_it_was() -> None:
    call = ToolCalled(id="toolu_1", name="get_order", input={})
    chart = history(said("Hello"), (AGENT, call), runs=[run_of(turns=(turn(1),))])
    (run,) = chart.runs
    assert isinstance(next_step(replace(chart, stopped="sam"), run, Limits()), Pause)
    assert isinstance(next_step(chart, run, Limits()), CarryOut)
