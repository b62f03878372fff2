"""Buyer, agent, people and supervisors in any order: what must hold after each step."""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from core.decision import Approved, Overridden, Verdict
from core.flows.giving_back import GiveBack, GivenBack, give_back
from core.flows.handoff import Done, note, reply, take_over
from core.flows.replay import Same, replay
from core.flows.supervise import decide, expire
from core.flows.withheld import discard_withheld, send_withheld
from core.history import History
from core.journal import IdentityChanged
from core.lock import Acquired
from core.standing import Standing, fold
from core.ticket import ActorKind, TicketId, operator
from store.transaction import SqlStore
from tests.flows.test_crash import dies, lease_runs_out
from tests.flows.world import (
    ANA,
    BEN,
    BY_KEY,
    FIND,
    LOOKUP,
    REFUNDS,
    SUP,
    World,
    calls,
    world_on,
)
from tests.worlds.brains import Reply, calls_in, content_of

PEOPLE = st.sampled_from([ANA, BEN, SUP])
WORDS = st.sampled_from(
    ["hello", "refund 20", "refund 80", "refund twice", "a person please", "thanks"]
)


def brain(body: dict[str, Any]) -> Reply:
    """Answers results with words, and words by what they ask for."""
    last = next(m for m in reversed(body["messages"]) if m["role"] == "user")
    blocks = content_of(last)
    asked = len(calls_in(body))
    if any(b["type"] == "tool_result" for b in blocks):
        return Reply(text=f"That is what I could do ({asked}).")
    words = " ".join(b["text"] for b in blocks if b["type"] == "text")
    wanted = {"order_id": f"O-{asked}", "amount": "20.00"}
    if "person" in words:
        why = {"reason": "asked", "tried": "", "summary": "s"}
        return calls(("escalate", {**why, "message_to_buyer": "One moment."}))
    if "twice" in words:
        large = {**wanted, "amount": "90.00"}
        return calls(("refund_order", large), ("refund_order", wanted))
    if "80" in words:
        return calls(("refund_order", {**wanted, "amount": "80.00"}))
    if "20" in words:
        return calls(("find_customer", {"order_id": "O-1"}), ("refund_order", wanted))
    return Reply(text=f"Hello ({asked}).")


_READY = {"approved", "overridden"}


class Hall:
    """One store for all examples; each has a ticket of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.stack = AsyncExitStack()
        self.store = SqlStore.open(f"sqlite:///{self.folder / 'store.db'}")
        opened = world_on(self.store, self.folder, brain)
        self.world: World = self.loop.run_until_complete(
            self.stack.enter_async_context(opened)
        )

    def close(self) -> None:
        self.loop.run_until_complete(self.stack.aclose())
        self.loop.run_until_complete(self.store.close())
        self.loop.close()


class AnyOrder(RuleBasedStateMachine):
    """One ticket and everybody who may touch it."""

    hall: Hall
    tools = (FIND, LOOKUP, BY_KEY)

    def __init__(self) -> None:
        super().__init__()
        self.world = self.hall.world
        self.world.shop.specs_now = self.tools
        self.world.shop.lose = 0
        self.effects = self.world.shop.effects
        self.allowed = self.words = 0
        self.ticket: TicketId = self._does(self.world.opened("hello"))
        verified = IdentityChanged(
            verified=True, customer="c-1", name=None, method="m", evidence="e"
        )
        self._does(
            self.world.store.write(
                lambda tx: tx.append(self.ticket, operator("ana"), verified)
            )
        )

    def _does(self, what: Any) -> Any:
        return self.hall.loop.run_until_complete(asyncio.wait_for(what, 10))

    @property
    def chart(self) -> History:
        found: History = self._does(self.world.chart(self.ticket))
        return found

    # Everybody's moves

    @rule(words=WORDS)
    def the_buyer_writes(self, words: str) -> None:
        self._does(self.world.writes(words, self.ticket))

    @rule()
    def the_agent_runs(self) -> None:
        self._does(self.world.runs(self.ticket))

    @rule(at=st.integers(1, 14), after=st.booleans())
    def the_agent_dies_in_the_middle(self, at: int, after: bool) -> None:
        self._does(dies(self.world, self.ticket, at=at, after=after))

    @rule()
    def time_goes_by(self) -> None:
        self._does(lease_runs_out(self.world, self.ticket))
        self._does(self.world.time_goes_by_in_the_outbox())

    @rule()
    def an_answer_will_get_lost(self) -> None:
        self.world.shop.lose = 1

    @rule()
    def the_mail_goes_out(self) -> None:
        before = self._sent()
        held = self.chart.standing.held_by is not None
        self._does(self.world.delivers())
        new = self._sent()[len(before) :]
        assert not held or all(m["author"]["kind"] == "operator" for m in new)

    @rule(who=PEOPLE, forced=st.booleans())
    def somebody_takes_it(self, who: Any, forced: bool) -> None:
        taken = self._does(take_over(self.world.store, self.ticket, who, forced=forced))
        assert (
            not isinstance(taken, Acquired) or self.chart.standing.held_by == who.name
        )

    @rule(who=PEOPLE)
    def somebody_replies(self, who: Any) -> None:
        held = self.chart.standing.held_by
        self.words += 1  # the same words twice are refused
        words = f"word {self.words}"
        said = self._does(reply(self.world.store, self.ticket, who, words))
        assert isinstance(said, Done) == (held == who.name)

    @rule(who=PEOPLE, for_agent=st.booleans())
    def somebody_leaves_a_note(self, who: Any, for_agent: bool) -> None:
        due = self.chart.standing.due
        self._does(
            note(self.world.store, self.ticket, who, "NOTE", for_agent=for_agent)
        )
        assert self.chart.standing.due == due

    @rule(
        who=PEOPLE,
        to=st.sampled_from(["agent", "queue", "resolved", "ben"]),
        carry_on=st.booleans(),
    )
    def somebody_gives_it_back(self, who: Any, to: str, carry_on: bool) -> None:
        how = GiveBack(to=to, carry_on=carry_on)
        given = self._does(give_back(self.world.store, self.ticket, who, how))
        if isinstance(given, GivenBack) and to == "agent":
            s = self.chart.standing
            assert s.due or not (carry_on or s.unanswered or s.ready)

    @rule(who=PEOPLE, send=st.booleans())
    def somebody_sees_to_what_was_withheld(self, who: Any, send: bool) -> None:
        for seq in self.chart.standing.withheld:
            store = self.world.store
            act = (
                send_withheld(store, self.ticket, who, seq, None)
                if send
                else discard_withheld(store, self.ticket, who, seq)
            )
            self._does(act)

    @rule(
        kind=st.sampled_from(["approve", "reject", "override"]),
        looked=st.booleans(),
        pick=st.integers(0, 9),
    )
    def a_supervisor_decides(self, kind: str, looked: bool, pick: int) -> None:
        chart = self.chart
        if (
            not chart.decisions
        ):  # no precondition: what happens at once comes out anyhow
            return
        found = chart.decisions[pick % len(chart.decisions)]
        given = {"order_id": found.object, "amount": "30.00"}
        verdict = Verdict(
            kind=kind,
            why="so",
            input=given if kind == "override" else None,
            seen=chart.standing.last_seq if looked else None,
        )
        outcome = self._does(
            decide(self.world.store, found.id, verdict, SUP, (REFUNDS,))
        )
        self.allowed += isinstance(outcome, Approved | Overridden)

    @rule()
    def the_clock_expires_proposals(self) -> None:
        self._does(expire(self.world.store))

    @rule(moves=st.lists(st.sampled_from(range(8)), min_size=2, max_size=4))
    def several_things_happen_at_once(self, moves: list[int]) -> None:
        world, ticket = self.world, self.ticket
        store = world.store
        at_once = (
            lambda: world.runs(ticket),
            lambda: world.writes("refund 20", ticket),
            lambda: take_over(store, ticket, ANA),
            lambda: take_over(store, ticket, SUP, forced=True),
            lambda: reply(store, ticket, ANA, "my word"),
            lambda: give_back(store, ticket, ANA, GiveBack(to="agent")),
            lambda: give_back(store, ticket, SUP, GiveBack(to="agent")),
            lambda: world.runs(ticket),
        )

        async def happen() -> None:
            await asyncio.gather(*(at_once[move]() for move in moves))

        self._does(happen())

    # What must hold

    def _sent(self) -> list[dict[str, Any]]:
        sent = self.world.delivered()
        return [m for m in sent if m["ticket"] == self.ticket]

    @invariant()
    def the_standing_is_the_fold_of_the_journal(self) -> None:
        chart = self.chart
        assert reduce(fold, chart.journal, Standing()) == chart.standing
        assert [e.seq for e in chart.journal] == list(range(1, len(chart.journal) + 1))

    @invariant()
    def the_standing_and_the_lock_say_the_same(self) -> None:
        chart = self.chart
        holder, s = chart.lock.holder, chart.standing
        by_person = holder is not None and holder.kind.value == "operator"
        assert s.held_by == (holder.name if holder and by_person else None)
        assert s.run == (holder.name if holder and not by_person else None)
        assert s.wanted_by == chart.lock.wanted_by

    @invariant()
    def no_message_is_lost(self) -> None:
        chart, s = self.chart, self.chart.standing
        somebody_has_it = chart.lock.holder is not None or s.with_people is not None
        somebody_has_it = somebody_has_it or s.offered_to is not None
        seen_to = somebody_has_it or s.due or s.pending or s.resolved
        assert not s.unanswered or seen_to, "a message waits for nobody"
        assert not s.ready or somebody_has_it or s.due

    @invariant()
    def nothing_is_sent_twice(self) -> None:
        ids = [m["message_id"] for m in self._sent()]
        assert len(ids) == len(set(ids))

    @invariant()
    def actions_happen_once(self) -> None:
        chart = self.chart
        done = [a for a in chart.actions if a.state.value == "done"]
        keys = [a.key for a in chart.actions]
        assert len(keys) == len(set(keys))
        assert len([a for a in done if a.decision is not None]) <= self.allowed
        assert len(done) <= self.world.shop.effects - self.effects <= len(keys)

    @invariant()
    def decisions_and_standing_say_the_same(self) -> None:
        chart = self.chart
        states = {d.id: d.state.value for d in chart.decisions}
        pending = {d for d, state in states.items() if state == "pending"}
        ready = {
            d for d, state in states.items() if state in {"approved", "overridden"}
        }
        assert set(chart.standing.pending) == pending
        assert set(chart.standing.ready) == ready

    @invariant()
    def a_person_s_hold_has_kept_the_agent_silent(self) -> None:
        held = None
        for entry in self.chart.journal:
            body = entry.body
            if entry.kind == "lock":
                change = body.change  # type: ignore[union-attr]
                by_person = body.holder.get("kind") == "operator"  # type: ignore[union-attr]
                if by_person and change in {"acquired", "handed_over", "forced"}:
                    held = entry.seq
                if change in {"released", "expired"}:
                    held = None
            spoke = entry.kind in {"message", "tool_call"}
            assert not (held and spoke and entry.actor.kind is ActorKind.AGENT)

    def teardown(self) -> None:
        """In the end the agent, left alone, comes to an end."""
        self.world.shop.lose = 0
        self.time_goes_by()
        for _ in range(8):
            if self.ticket not in self._does(self.world.due()):
                break
            self._does(self.world.runs(self.ticket))
        assert self.ticket not in self._does(self.world.due())
        for run in self.chart.runs:
            replayed = self._does(replay(self.world.store, run.id))
            assert replayed == Same(turns=len(run.turns))
        self._rests()

    def _rests(self) -> None:
        """Takes what is left out of the way of the next example."""

        def close(tx: Any) -> None:
            lock = tx.lock_of(self.ticket)
            tx.save_lock(replace(lock, holder=None, since=None, expires_at=None))

        self._does(self.world.store.write(close))


class AnyOrderWithoutKeys(AnyOrder):
    """The same with tools that take no idempotency key."""

    tools = (FIND, LOOKUP, REFUNDS)


def _play(machine: type[AnyOrder]) -> None:
    hall = Hall()
    machine.hall = hall
    case = machine.TestCase
    case.settings = settings(
        max_examples=8,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=set(Phase) - {Phase.explain},  # it would take longer than may be
    )
    try:
        case("runTest").debug()
    finally:
        hall.close()


def test_whatever_the_order_the_rules_hold() -> None:
    _play(AnyOrder)


def test_whatever_the_order_the_rules_hold_without_idempotency_keys() -> None:
    _play(AnyOrderWithoutKeys)
