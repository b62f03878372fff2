"""The lock as a state machine: any actors, any order, and what must always hold."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.lock import (
    Acquired,
    AlreadyYours,
    FencingToken,
    HandedOver,
    HeldBy,
    Hold,
    Holder,
    HolderKind,
    Lease,
    Lock,
    Lost,
    PassedOn,
    Released,
    Renewed,
    TakeoverWanted,
    acquire_for_operator,
    acquire_for_run,
    force,
    hand_over,
    is_current,
    release,
    renew,
)
from core.ticket import TicketId

T0 = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
LEASE = Lease(length=timedelta(seconds=120))
FREE = Lock(ticket=TicketId("T-1"), token=FencingToken(0))
PEOPLE = st.sampled_from(["ana", "ben", "cleo"])


def run_named(name: str) -> Holder:
    return Holder(kind=HolderKind.RUN, name=name)


def person(name: str) -> Holder:
    return Holder(kind=HolderKind.OPERATOR, name=name)


def held_by_run(now: datetime = T0) -> Lock:
    granted = acquire_for_run(FREE, run_named("R-1"), now, LEASE)
    assert isinstance(granted, Acquired)
    return granted.lock


def held_by(name: str, lock: Lock = FREE, now: datetime = T0) -> Lock:
    granted = acquire_for_operator(lock, name, now)
    assert isinstance(granted, Acquired)
    return granted.lock


class LockMachine(RuleBasedStateMachine):
    """One ticket's lock, runs and people who forget nothing they ever held."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = FREE
        self.now = T0
        self.runs = 0
        self.holds: list[Hold] = []

    def became(self, lock: Lock, *, grows: int) -> None:
        """Stores a new state and checks what every change has in common."""
        before = self.lock
        assert lock.token == before.token + grows
        assert lock.ticket == before.ticket
        if grows:
            assert lock.holder is not None
            assert lock.since == self.now
            assert lock.wanted_by is None
            self.holds.append(lock.hold)
        self.lock = lock

    def an_old_hold(self, pick: int) -> Hold:
        return self.holds[pick % len(self.holds)]

    @rule(seconds=st.integers(0, 200))
    def time_goes_by(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def a_run_asks(self) -> None:
        self.runs += 1
        before, me = self.lock, run_named(f"R-{self.runs}")
        match acquire_for_run(before, me, self.now, LEASE):
            case Acquired(lock=lock, displaced=displaced):
                assert before.holder is None or before.expired(self.now)
                assert before.wanted_by is None
                assert displaced == (before if before.holder else None)
                assert lock.holder == me
                self.became(lock, grows=1)
            case PassedOn(lock=lock, displaced=displaced):
                assert before.expired(self.now)
                assert displaced == before
                assert lock.holder == person(before.wanted_by or "")
                self.became(lock, grows=1)
            case HeldBy(holder=holder):
                assert before.held(self.now)
                assert holder == before.holder

    @rule(name=PEOPLE)
    def a_person_asks(self, name: str) -> None:
        before = self.lock
        match acquire_for_operator(before, name, self.now):
            case Acquired(lock=lock):
                assert not before.held(self.now)
                assert before.wanted_by in {None, name}
                assert lock.holder == person(name)
                self.became(lock, grows=1)
            case AlreadyYours(lock=lock):
                assert lock == before
                assert before.holder == person(name)
            case TakeoverWanted(lock=lock):
                assert before.held(self.now)
                assert lock == replace(
                    before, wanted_by=name, wanted_since=lock.wanted_since
                )
                self.became(lock, grows=0)
            case PassedOn(lock=lock):
                assert before.wanted_by not in {None, name}
                assert lock.holder == person(before.wanted_by or "")
                self.became(lock, grows=1)
            case HeldBy(holder=holder):
                assert holder != person(name)

    @rule(name=PEOPLE)
    def a_supervisor_forces(self, name: str) -> None:
        match force(self.lock, name, self.now):
            case Acquired(lock=lock):
                assert lock.holder == person(name)
                self.became(lock, grows=1)
            case AlreadyYours(lock=lock):
                assert lock == self.lock

    @precondition(lambda self: self.holds)
    @rule(pick=st.integers(0, 50))
    def somebody_renews(self, pick: int) -> None:
        hold, before = self.an_old_hold(pick), self.lock
        match renew(before, hold, self.now, LEASE):
            case Renewed(lock=lock):
                assert hold.token == before.token
                assert lock == replace(before, expires_at=self.now + LEASE.length)
                self.became(lock, grows=0)
            case Lost():
                current = hold.token == before.token and before.holder is not None
                assert not current or before.expires_at is None

    @precondition(lambda self: self.holds)
    @rule(pick=st.integers(0, 50))
    def somebody_hands_over(self, pick: int) -> None:
        hold, before = self.an_old_hold(pick), self.lock
        match hand_over(before, hold, self.now):
            case HandedOver(lock=lock, ended=ended):
                assert hold.token == before.token
                assert ended == before
                assert lock.holder == person(before.wanted_by or "")
                self.became(lock, grows=1)
            case Lost():
                assert hold.token != before.token or before.wanted_by is None

    @precondition(lambda self: self.holds)
    @rule(pick=st.integers(0, 50))
    def somebody_lets_go(self, pick: int) -> None:
        hold, before = self.an_old_hold(pick), self.lock
        match release(before, hold, self.now):
            case Released(lock=lock, ended=ended):
                assert hold.token == before.token
                assert before.wanted_by is None
                assert ended == before
                assert lock.holder is None
                self.became(lock, grows=0)
            case HandedOver(lock=lock):
                assert lock.holder == person(before.wanted_by or "")
                self.became(lock, grows=1)
            case Lost():
                assert hold.token != before.token or before.holder is None

    @invariant()
    def no_old_token_is_ever_current_again(self) -> None:
        current = [h for h in self.holds if is_current(self.lock, h)]
        expected = [self.lock.hold] if self.lock.holder is not None else []
        assert current == expected

    @invariant()
    def only_runs_have_a_lease_and_only_they_are_wanted(self) -> None:
        holder = self.lock.holder
        by_run = holder is not None and holder.kind is HolderKind.RUN
        assert (self.lock.expires_at is not None) == by_run
        assert self.lock.wanted_by is None or by_run
        assert (self.lock.wanted_by is None) == (self.lock.wanted_since is None)
        assert (self.lock.since is None) == (holder is None)

    @invariant()
    def a_person_never_runs_out(self) -> None:
        holder = self.lock.holder
        if holder is not None and holder.kind is HolderKind.OPERATOR:
            assert not self.lock.expired(self.now + timedelta(days=3650))

    @invariant()
    def something_is_always_possible(self) -> None:
        later = self.now + LEASE.length
        asked = acquire_for_operator(self.lock, "ana", later)
        held_by_person = (
            self.lock.holder is not None
            and self.lock.holder.kind is HolderKind.OPERATOR
        )
        assert held_by_person or isinstance(asked, Acquired | PassedOn)
        if self.lock.holder is not None:
            let_go = release(self.lock, self.lock.hold, later)
            assert isinstance(let_go, Released | HandedOver)


TestLockMachine = LockMachine.TestCase
TestLockMachine.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None
)


def test_rule_01_a_held_ticket_is_not_given_to_a_second_run() -> None:
    lock = held_by_run()
    asked = acquire_for_run(lock, run_named("R-2"), T0 + timedelta(seconds=119), LEASE)
    assert asked == HeldBy(holder=run_named("R-1"), since=T0)


def test_rule_01_a_run_that_lost_the_lock_can_do_nothing_with_its_old_hold() -> None:
    lost = held_by_run()
    later = T0 + timedelta(seconds=121)
    taken = acquire_for_run(lost, run_named("R-2"), later, LEASE)
    assert isinstance(taken, Acquired)
    assert not is_current(taken.lock, lost.hold)
    assert renew(taken.lock, lost.hold, later, LEASE) == Lost()
    assert release(taken.lock, lost.hold, later) == Lost()
    assert hand_over(taken.lock, lost.hold, later) == Lost()


def test_rule_01_the_first_to_ask_is_the_first_to_get_a_running_ticket() -> None:
    asked = acquire_for_operator(held_by_run(), "ana", T0)
    assert isinstance(asked, TakeoverWanted)
    second = acquire_for_operator(asked.lock, "ben", T0)
    assert second == HeldBy(holder=person("ana"), since=T0)
    given = release(asked.lock, asked.lock.hold, T0)
    assert isinstance(given, HandedOver)
    assert given.lock.holder == person("ana")


def test_rule_01_a_dead_run_s_ticket_goes_to_the_person_who_asked_first() -> None:
    asked = acquire_for_operator(held_by_run(), "ana", T0)
    assert isinstance(asked, TakeoverWanted)
    dead = T0 + LEASE.length
    by_run = acquire_for_run(asked.lock, run_named("R-2"), dead, LEASE)
    by_other = acquire_for_operator(asked.lock, "ben", dead)
    for passed in (by_run, by_other):
        assert isinstance(passed, PassedOn)
        assert passed.lock.holder == person("ana")
        assert passed.lock.token == asked.lock.token + 1


def test_rule_11_a_late_renewal_still_counts_where_nobody_has_taken_over() -> None:
    lock = held_by_run()
    late = T0 + timedelta(seconds=500)
    kept = renew(lock, lock.hold, late, LEASE)
    assert isinstance(kept, Renewed)
    assert kept.lock.held(late)


def test_f91_a_lock_is_free_the_moment_its_lease_is_over() -> None:
    lock = held_by_run()
    assert lock.held(T0 + timedelta(seconds=119, milliseconds=999))
    assert not lock.held(T0 + timedelta(seconds=120))


def test_f91_held_since_is_not_changed_by_renewals() -> None:
    lock = held_by_run()
    for step in range(1, 6):
        kept = renew(lock, lock.hold, T0 + timedelta(seconds=40 * step), LEASE)
        assert isinstance(kept, Renewed)
        lock = kept.lock
    assert lock.since == T0
    assert lock.token == 1


def test_f95_work_of_three_leases_keeps_its_ticket_by_renewing() -> None:
    lock, now = held_by_run(), T0
    while now < T0 + 3 * LEASE.length:
        now += LEASE.length / 3
        assert isinstance(acquire_for_run(lock, run_named("R-2"), now, LEASE), HeldBy)
        kept = renew(lock, lock.hold, now, LEASE)
        assert isinstance(kept, Renewed)
        lock = kept.lock
    assert is_current(lock, held_by_run().hold)


def test_f55_between_a_release_and_the_next_holder_the_lock_is_simply_free() -> None:
    lock = held_by("ana")
    freed = release(lock, lock.hold, T0)
    assert isinstance(freed, Released)
    assert freed.ended == lock
    taken = acquire_for_run(freed.lock, run_named("R-1"), T0, LEASE)
    assert isinstance(taken, Acquired)
    assert taken.displaced is None


def test_f98_a_renewal_after_the_release_is_answered_with_lost() -> None:
    lock = held_by_run()
    freed = release(lock, lock.hold, T0)
    assert isinstance(freed, Released)
    assert renew(freed.lock, lock.hold, T0, LEASE) == Lost()
    assert release(freed.lock, lock.hold, T0) == Lost()


def test_f105_no_length_of_time_takes_a_ticket_from_a_person() -> None:
    lock = held_by("ana")
    much_later = T0 + timedelta(days=365)
    assert isinstance(
        acquire_for_run(lock, run_named("R-1"), much_later, LEASE), HeldBy
    )
    assert acquire_for_operator(lock, "ben", much_later) == HeldBy(
        holder=person("ana"), since=T0
    )


def test_rule_02_force_displaces_anyone_and_says_whom() -> None:
    lock = held_by("ana")
    taken = force(lock, "sup", T0)
    assert isinstance(taken, Acquired)
    assert taken.displaced == lock
    assert not is_current(taken.lock, lock.hold)
    assert force(taken.lock, "sup", T0) == AlreadyYours(lock=taken.lock)
