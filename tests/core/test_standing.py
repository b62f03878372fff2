"""Where a ticket stands: due, attended, answered (rule 3), and what else is derived."""

from datetime import timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from core.journal import (
    ActionChanged,
    Compacted,
    DecisionChanged,
    Delivery,
    Escalated,
    IdentityChanged,
    LockChanged,
    RunChanged,
    StateAmended,
    Triaged,
)
from core.standing import UNANSWERED_KEPT, Standing, merge_patch, status
from core.ticket import Actor, RunId, Status, operator, system
from tests.core.any_journal import actors, bodies
from tests.core.building import (
    AGENT,
    ANA,
    LEASE,
    RUN,
    T0,
    given_back,
    journal,
    replied,
    run_began,
    run_ended,
    said,
    standing,
    taken,
)

BEN = operator("ben")


def after(*lines: tuple[Actor, object]) -> Standing:
    return standing(*journal(*lines))  # type: ignore[arg-type]


def decided(state: str, decision: str = "D-1") -> tuple[Actor, DecisionChanged]:
    body = DecisionChanged(
        decision=decision,
        state=state,
        tool="refund_order",
        input={},
        hash="0",
        rule="money",
    )
    return (AGENT if state == "pending" else operator("sup")), body


def escalated() -> tuple[Actor, Escalated]:
    return AGENT, Escalated(reason="no tool for it", tried="t", summary="s")


def delivery(seq: int, state: str) -> tuple[Actor, Delivery]:
    return system("delivery"), Delivery(message_seq=seq, state=state)


# Rule 3: due until somebody has looked, unanswered until somebody has answered


def test_rule_03_a_new_message_is_due() -> None:
    s = after(said("hi"))
    assert s.due
    assert s.unanswered == ((1, T0 + timedelta(minutes=1)),)
    assert status(s) is Status.QUEUED


def test_rule_03_an_answer_covers_what_its_author_had_seen() -> None:
    s = after(said("m1"), run_began(), replied("a1", 1), run_ended(seen=1))
    assert not s.due
    assert s.waiting_since is None
    assert status(s) is Status.WAITING_BUYER


def test_rule_03_a_message_that_came_during_the_answer_is_still_unanswered() -> None:
    s = after(said("m1"), run_began(), said("m2"), replied("a1", 2), run_ended(seen=2))
    assert s.due
    assert [seq for seq, _ in s.unanswered] == [3]


def test_rule_03_a_crashed_run_has_attended_to_nothing() -> None:
    s = after(said("m1"), run_began(), run_ended(seen=None, stop="crashed"))
    assert s.due
    assert s.run is None


def test_rule_03_a_run_that_waits_for_a_decision_is_not_due_until_it_is_there() -> None:
    lines = [said("m1"), run_began(), decided("pending"), run_ended(seen=1)]
    waiting = after(*lines)
    assert not waiting.due
    assert waiting.waiting_since is not None
    assert status(waiting) is Status.NEEDS_DECISION
    for verdict in ("approved", "overridden", "rejected", "expired"):
        assert after(*lines, decided(verdict)).due
    for other in ("withdrawn", "executed"):
        assert not after(*lines, decided(other)).due


def test_rule_03_a_person_s_answer_covers_up_to_what_they_had_seen() -> None:
    s = after(said("m1"), taken(), said("m2"), replied("mine", 2, ANA))
    assert [seq for seq, _ in s.unanswered] == [3]


def test_what_waits_for_us_ages_from_the_oldest_of_it_whoever_writes_meanwhile() -> (
    None
):
    minute = [T0 + timedelta(minutes=n) for n in range(9)]
    passed = [said("m1"), replied("somebody will look", 1), escalated()]
    assert after(said("m1"), replied("a1", 1)).ours_since is None
    assert after(*passed).ours_since == minute[3]
    assert after(*passed, said("hello?")).ours_since == minute[3]
    assert after(*passed, replied("mine", 3, ANA)).ours_since is None
    again = after(*passed, replied("mine", 3, ANA), said("and?"), said("hello?"))
    assert again.ours_since == minute[5]
    lines = [said("m1"), decided("pending"), replied("I asked", 1), decided("pending")]
    assert after(*lines).ours_since == minute[2]
    assert after(*lines, said("and?")).ours_since == minute[2]
    assert after(*lines, decided("rejected")).ours_since is None
    queued = [*passed, replied("mine", 3, ANA), given_back("queue")]
    assert after(*queued, said("and?")).ours_since == minute[5]


def test_f55_a_release_with_an_unanswered_message_is_due_at_once() -> None:
    s = after(said("m1"), taken(), said("m2"), given_back())
    assert s.due
    assert s.held_by is None


def test_f55_what_an_earlier_run_saw_and_nobody_answered_is_due_at_a_release() -> None:
    s = after(said("m1"), run_began(), decided("pending"), run_ended(seen=1), taken())
    assert after(
        said("m1"),
        run_began(),
        decided("pending"),
        run_ended(seen=1),
        taken(),
        given_back(),
    ).due
    assert s.held_by == "ana"


def test_f56_a_second_takeover_before_the_agent_s_first_step_leaves_it_held() -> None:
    s = after(said("m1"), taken(), given_back(), taken(BEN))
    assert s.held_by == "ben"
    assert status(s) is Status.HELD


def test_f63_after_people_have_resolved_it_a_new_message_is_the_agent_s_again() -> None:
    escalated = (AGENT, Escalated(reason="unsure", tried="", summary=""))
    lines = [said("m1"), run_began(), escalated, run_ended(seen=1, stop="escalated")]
    with_people = after(*lines)
    assert not with_people.due
    assert status(with_people) is Status.NEEDS_HUMAN
    resolved = [*lines, taken(), replied("done", 5, ANA), given_back("resolved")]
    assert status(after(*resolved)) is Status.RESOLVED
    again = after(*resolved, said("thanks, new question"))
    assert again.due
    assert again.with_people is None
    assert status(again) is Status.QUEUED


def test_f65_a_release_after_the_person_s_last_word_wakes_nobody() -> None:
    s = after(
        taken(),
        said("m1"),
        said("m2"),
        said("m3"),
        replied("all", 4, ANA),
        given_back(),
    )
    assert not s.due
    assert s.last_out == "operator"


def test_f65_an_old_verdict_the_agent_has_seen_does_not_wake_it_at_a_release() -> None:
    lines = [
        said("m1"),
        run_began(),
        decided("pending"),
        replied("I asked for it.", 3),
        run_ended(seen=3),
        decided("rejected"),
        run_began(),
        run_ended(seen=7),
        taken(),
    ]
    assert not after(*lines, given_back()).due


def test_f65_carry_on_wakes_the_agent_without_a_new_message() -> None:
    s = after(said("m1"), taken(), replied("x", 2, ANA), given_back(carry_on=True))
    assert s.due


def test_rule_06_an_approval_that_nobody_executed_is_due_at_a_release() -> None:
    s = after(
        said("m1"),
        run_began(),
        decided("pending"),
        run_ended(seen=1),
        taken(),
        decided("approved"),
        replied("it is on its way", 6, ANA),
        given_back(),
    )
    assert s.ready == ("D-1",)
    assert s.due


def test_given_to_the_queue_is_people_s_and_never_due() -> None:
    s = after(said("m1"), taken(), given_back("queue"))
    assert not s.due
    assert status(s) is Status.NEEDS_HUMAN


# A reply that never left has answered nobody


def test_rule_03_a_withheld_reply_leaves_its_message_unanswered() -> None:
    answered = [said("m1"), run_began(), replied("a1", 1), run_ended(seen=1)]
    s = after(*answered, taken(), delivery(3, "withheld"))
    assert s.withheld == (3,)
    assert [seq for seq, _ in s.unanswered] == [1]


def test_f55_discarding_what_was_withheld_and_giving_back_wakes_the_agent() -> None:
    s = after(
        said("m1"),
        run_began(),
        replied("a1", 1),
        run_ended(seen=1),
        taken(),
        delivery(3, "withheld"),
        delivery(3, "discarded"),
        given_back(),
    )
    assert s.withheld == ()
    assert s.due


def test_f65_sending_what_was_withheld_answers_the_message_after_all() -> None:
    s = after(
        said("m1"),
        run_began(),
        replied("a1", 1),
        run_ended(seen=1),
        taken(),
        delivery(3, "withheld"),
        delivery(3, "discarded"),
        replied("a1, edited", 7, ANA),
        given_back(),
    )
    assert s.unanswered == ()
    assert not s.due


def test_a_delivered_reply_can_not_become_unanswered_again() -> None:
    s = after(said("m1"), run_began(), replied("a1", 1), delivery(3, "delivered"))
    assert s.on_their_way == ()
    assert (
        after(
            said("m1"),
            run_began(),
            replied("a1", 1),
            delivery(3, "delivered"),
            delivery(3, "failed"),
        ).unanswered
        == ()
    )


def test_a_reply_that_can_t_be_delivered_goes_to_people_and_answers_nobody() -> None:
    s = after(said("m1"), run_began(), replied("a1", 1), delivery(3, "failed"))
    assert s.undelivered == (3,)
    assert s.with_people == "a reply could not be delivered"
    assert [seq for seq, _ in s.unanswered] == [1]


# The lock, seen from the journal


def test_wanting_ends_with_the_hand_over_or_with_the_wish() -> None:
    me = {"kind": "operator", "name": "ana"}
    wants = (ANA, LockChanged(change="wanted", holder=me, token=1))
    no_more = (
        ANA,
        LockChanged(
            change="wanted",
            holder=me,
            token=1,
            since=T0.isoformat(),
            until=T0.isoformat(),
        ),
    )
    assert after(said("m1"), run_began(), wants).wanted_by == "ana"
    assert after(said("m1"), run_began(), wants, no_more).wanted_by is None
    given = after(said("m1"), run_began(), wants, taken(change="handed_over"))
    assert given.wanted_by is None
    assert given.held_by == "ana"


def test_a_run_whose_lease_ran_out_is_over() -> None:
    expired = LockChanged(
        change="expired", holder={"kind": "run", "name": RUN}, token=1
    )
    began = after(said("m1"), run_began())
    assert began.run == RUN
    assert status(began) is Status.AGENT
    assert after(said("m1"), run_began(), (LEASE, expired)).run is None


def test_turns_are_counted_within_a_run() -> None:
    turn = (AGENT, RunChanged(run=RUN, change="turn", turn=4))
    assert after(said("m1"), run_began(), turn).run_turn == 4
    again = after(said("m1"), run_began(), turn, run_began(RunId("R-2")))
    assert again.run_turn == 0


# What else is derived


def test_facts_are_kept_as_the_last_entry_says() -> None:
    verified = IdentityChanged(
        verified=True, customer="c-1", name="Bo", method="m", evidence="e"
    )
    s = after(
        (AGENT, Triaged(category="refund", priority="high")),
        (AGENT, StateAmended(patch={"order": {"id": "O-1", "paid": True}})),
        (ANA, StateAmended(patch={"order": {"paid": None}})),
        (AGENT, verified),
        (AGENT, Compacted(upto=2, text="s")),
        (AGENT, Compacted(upto=1, text="older")),
    )
    assert s.triage == ("refund", "high")
    assert s.task_state == {"order": {"id": "O-1"}}
    assert s.identity is not None
    assert (s.identity.customer, s.identity.seq, s.identity.by) == ("c-1", 4, AGENT)
    assert s.compacted_upto == 2


def test_rule_07_a_revoked_identity_is_none() -> None:
    verified = IdentityChanged(
        verified=True, customer="c-1", name=None, method="m", evidence="e"
    )
    revoked = IdentityChanged(
        verified=False, customer="c-1", name=None, method="m", evidence="e"
    )
    empty = IdentityChanged(
        verified=True, customer=None, name=None, method="m", evidence="e"
    )
    assert after((AGENT, verified), (ANA, revoked)).identity is None
    assert after((AGENT, empty)).identity is None


def test_a_doubt_stands_above_all_else_until_it_is_settled() -> None:
    doubt = ActionChanged(action="A-1", state="in_doubt", tool="refund_order")
    done = ActionChanged(action="A-1", state="done", tool="refund_order")
    assert status(after(said("m"), taken(), (AGENT, doubt))) is Status.IN_DOUBT
    settled = after(said("m"), taken(), (AGENT, doubt), (ANA, done))
    assert status(settled) is Status.HELD


def test_f28_a_stranger_s_message_is_people_s() -> None:
    s = after(said("I am on it too", stranger=True))
    assert not s.due
    assert status(s) is Status.NEEDS_HUMAN


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        (["a"], {"b": None}, {}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "b"}, ["c"], ["c"]),
    ],
)
def test_a_merge_patch_is_rfc_7396_s(
    target: object, patch: object, merged: object
) -> None:
    assert merge_patch(target, patch) == merged  # type: ignore[arg-type]


def test_a_flood_keeps_the_first_times_and_the_last_message() -> None:
    s = after(*[said(f"m{n}") for n in range(300)])
    assert len(s.unanswered) == UNANSWERED_KEPT
    assert s.unanswered[0][0] == 1
    assert s.unanswered[-1][0] == 300
    assert s.messages == 300


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(actors, bodies), max_size=20))
def test_whatever_a_journal_holds_it_stands_somewhere(
    lines: list[tuple[Actor, object]],
) -> None:
    s = after(*lines)
    assert s.last_seq == len(lines)
    assert status(s) in set(Status)
    seqs = [seq for seq, _ in s.unanswered]
    assert seqs == sorted(set(seqs))
    assert not seqs or seqs[-1] <= s.last_buyer_seq
    promised = [seq for _, answers in s.on_their_way for seq, _ in answers]
    assert not set(promised) & set(seqs)
