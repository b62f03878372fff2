"""When a run's own calls say that people should go on (rule 15)."""

from core.journal import Body, Refused, ToolCalled, ToolReturned
from core.limits import Limits
from core.ticket import Actor, Json, system
from core.trouble import trouble
from tests.core.building import AGENT, history, run_of, said

FEW = Limits(failures=3, same_call=9)
POLICY = system("policy")
LOOK = "get"
Line = tuple[Actor, Body]


def call(
    n: int,
    *,
    given: Json = None,
    name: str = LOOK,
    error: bool = False,
    rule: str | None = None,
) -> list[Line]:
    """A call with its result, and why it was refused, if it was."""
    given = {"order_id": f"O-{n}"} if given is None else given
    asked: list[Line] = [(AGENT, ToolCalled(id=f"t{n}", name=name, input=given))]
    if rule is not None:
        asked.append((POLICY, Refused(what=name, rule=rule, call=f"t{n}")))
    told = ToolReturned(id=f"t{n}", content=f"{n}", is_error=error or rule is not None)
    return [*asked, (AGENT, told)]


def why(*calls: list[Line]) -> str | None:
    """What speaks against letting the agent go on."""
    run = run_of()
    lines = [line for made in calls for line in made]
    return trouble(history(said("hi"), *lines, runs=[run]).journal, run, FEW)


def test_rule_15_calls_that_keep_failing_are_people_s() -> None:
    assert why(call(1, error=True), call(2, error=True)) is None
    told = why(*(call(n, error=True) for n in range(3)))
    assert told == "3 tool calls of the agent failed in a row"


def test_rule_15_a_call_that_the_rules_refuse_has_not_failed() -> None:
    failed = [call(n, error=True) for n in range(2)]
    assert why(*failed, call(7, rule="needs an identity")) is None
    assert why(*failed, call(7, rule="needs an identity"), call(8)) is None
    told = why(*failed, call(7, rule="needs an identity"), call(8, error=True))
    assert told == "3 tool calls of the agent failed in a row"


def test_rule_15_who_asks_on_and_on_for_what_is_refused_ends_with_the_rule() -> None:
    told = why(*(call(n, rule=f"over {n}.00") for n in range(3)))
    assert told == (
        "3 tool calls of the agent in a row were refused, "
        f"the last, '{LOOK}': over 2.00"
    )


def test_rule_15_refusals_by_one_rule_count_with_other_calls_in_between() -> None:
    between = [call(n, rule="no identity") for n in (1, 3)]
    assert why(between[0], call(2), between[1], call(4)) is None
    assert why(between[0], call(2), between[1], call(4), call(5, rule="else")) is None
    told = why(between[0], call(2), between[1], call(4), call(5, rule="no identity"))
    assert told == (
        "3 tool calls of the agent were refused by one rule, "
        f"the last, '{LOOK}': no identity"
    )


def test_rule_15_arguments_that_are_no_object_are_people_s() -> None:
    for given in ("O-1", ["O-1"], 5, True):
        told = why(call(1, given=given, error=True))
        assert told == f"the agent called '{LOOK}' without named arguments"
    assert why(call(1, given={})) is None


def test_rule_15_a_tool_that_there_is_not_is_people_s_by_a_safe_name() -> None:
    told = why(call(1, name="drop\ntables\x1b[2J", rule="there is no tool"))
    assert told is not None
    assert told.startswith("the agent asked for a tool that there is not: 'drop")
    assert "\n" not in told
    assert "\x1b" not in told
