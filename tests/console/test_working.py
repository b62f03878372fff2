"""What a holder does at the desk besides writing: the same rules as everywhere else."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from textual.pilot import Pilot

from console.app import HandoffApp
from console.screens.arguments import ArgumentsForm
from console.screens.card import CarryOutPanel
from console.widgets.one_line import OneLine
from core.decision import Decision, Operator, Role, Verdict
from core.flows.amend import verify
from core.flows.house import Hands
from core.flows.supervise import decide
from core.ledger import ActionState
from core.ticket import TicketId
from core.tool import ToolSpec
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.console.steps import (
    Numbered,
    desk_of,
    held,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)
from tests.console.test_colleagues import C1, picked
from tests.console.test_team import answered
from tests.flows.world import Gate, Shop

APPROVE = Verdict(kind="approve", why="", input=None, seen=None)
SAM = Operator(name="Sam", role=Role.SUPERVISOR)


@dataclass
class Bench:
    """A desk whose tools are a shop that counts."""

    counter: Counter
    shop: Shop = field(default_factory=Shop)

    async def tools(self) -> Mapping[str, ToolSpec]:
        return {spec.name: spec for spec in await self.shop.specs()}

    @asynccontextmanager
    async def hands(self) -> AsyncIterator[Hands]:
        yield Hands(store=self.counter.store, tools=self.shop, ids=Numbered(last=90))

    @asynccontextmanager
    async def holding(
        self, *, verified: bool = True
    ) -> AsyncIterator[tuple[Pilot[None], HandoffApp, TicketId]]:
        """Noor holds a ticket at her desk."""
        ticket = await self.counter.writes("My money!")
        services = {"tools": self.tools, "hands": self.hands}
        async with sitting(self.counter.store, **services) as (pilot, app):
            await shown(pilot, app, ticket)
            await held(pilot, app)
            if verified:
                await verify(self.counter.store, ticket, ME, C1)
            await press(pilot, "escape")
            yield pilot, app, ticket

    async def approved(
        self, pilot: Pilot[None], app: HandoffApp, ticket: TicketId
    ) -> Decision:
        """What Noor proposed at the desk and Sam approved."""
        store = self.counter.store
        await store.write(lambda tx: tx.save_operator(SAM))
        await press(pilot, "A")
        await picked(pilot, app, "refund_order")
        await filled_in(pilot, app, order_id="O-1", amount="80.00")
        await until(pilot, lambda: "a supervisor decides" in told(app))
        (proposed,) = (await stored(store, ticket)).decisions
        await decide(store, proposed.id, APPROVE, SAM, ())
        await until(pilot, lambda: "A carries it out" in screen_text(app))
        return proposed


async def filled_in(pilot: Pilot[None], app: HandoffApp, **given: str) -> None:
    """Fills the tool's form in and uses the tool."""
    await until(pilot, lambda: app.screen.query("#argument-0"))
    await until(pilot, lambda: app.screen.listening)
    for value in given.values():
        await press(pilot, *value, "enter")
    await press(pilot, "ctrl+s")


async def test_rule_05_a_tool_is_used_from_the_desk_by_policy_and_ledger(
    counter: Counter,
) -> None:
    bench = Bench(counter)
    async with bench.holding() as (pilot, app, ticket):
        await press(pilot, "A")
        await picked(pilot, app, "refund_order")
        await until(pilot, lambda: "order_id, amount are missing" in screen_text(app))
        await filled_in(pilot, app, order_id="O-1", amount="20.00")
        await until(pilot, lambda: "refund_order is done" in told(app))
    (action,) = (await stored(counter.store, ticket)).actions
    assert (action.state, action.by.name) == (ActionState.DONE, ME.name)
    assert action.identity == "c-1"
    assert bench.shop.effects == 1


async def test_rule_06_what_needs_a_decision_is_proposed_and_executed_from_the_desk(
    counter: Counter,
) -> None:
    bench = Bench(counter)
    async with bench.holding() as (pilot, app, ticket):
        proposed = await bench.approved(pilot, app, ticket)
        await press(pilot, "A")
        await picked(pilot, app, proposed.id)
        await until(pilot, lambda: isinstance(app.screen, CarryOutPanel))
        await until(pilot, lambda: "y carry it out" in screen_text(app))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "y")
        await until(pilot, lambda: "refund_order is done" in told(app))
    history = await stored(counter.store, ticket)
    assert history.decisions[0].state.value == "executed"
    assert bench.shop.effects == 1


async def test_rule_06_what_was_approved_is_shown_whole_and_enter_never_carries_it_out(
    counter: Counter,
) -> None:
    bench = Bench(counter)
    async with bench.holding() as (pilot, app, ticket):
        proposed = await bench.approved(pilot, app, ticket)
        await counter.writes("Please wait with that.", ticket=ticket)
        await until(pilot, lambda: "STALE" in screen_text(app))
        await press(pilot, "A")
        await picked(pilot, app, proposed.id)
        await until(pilot, lambda: isinstance(app.screen, CarryOutPanel))
        panel = app.screen
        panel.listening = False
        await press(pilot, "y")  # too early: the panel is deaf
        assert app.screen is panel
        panel.listening = True
        shown_text = screen_text(app)
        for part in ("80.00", "refund_order", "“O-1”", "STALE", "by Sam"):
            assert part in shown_text
        await press(pilot, "enter")
        await until(pilot, lambda: not isinstance(app.screen, CarryOutPanel))
    history = await stored(counter.store, ticket)
    assert history.decisions[0].state.value == "approved"
    assert bench.shop.effects == 0


async def test_rule_07_without_a_verified_buyer_the_form_says_so_and_nothing_is_done(
    counter: Counter,
) -> None:
    bench = Bench(counter)
    async with bench.holding(verified=False) as (pilot, app, ticket):
        await press(pilot, "A")
        await picked(pilot, app, "refund_order")
        await until(pilot, lambda: app.screen.query("#argument-0"))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, *"O-1", "enter", *"20.00")
        await until(pilot, lambda: "the buyer is not verified yet" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(
            pilot, lambda: screen_text(app).count("the buyer is not verified yet") > 1
        )
        assert app.screen.query_one(ArgumentsForm).texts[:2] == ["O-1", "20.00"]
    assert (await stored(counter.store, ticket)).actions == ()
    assert bench.shop.effects == 0


async def test_f03_a_doubt_is_settled_at_the_desk_on_evidence(counter: Counter) -> None:
    bench = Bench(counter, Shop(lose=1))
    async with bench.holding() as (pilot, app, ticket):
        await press(pilot, "A")
        await picked(pilot, app, "refund_order")
        await filled_in(pilot, app, order_id="O-1", amount="20.00")
        await until(pilot, lambda: "is in doubt" in told(app))
        (action,) = (await stored(counter.store, ticket)).actions
        await until(pilot, lambda: desk_of(app).here().doubts)
        await press(pilot, "d")
        await until(pilot, lambda: action.key[:20] in screen_text(app))
        await picked(pilot, app, f"did {action.id}")
        await answered(pilot, app, "seen on [their] list")
        await until(pilot, lambda: "is settled" in told(app))
    (action,) = (await stored(counter.store, ticket)).actions
    assert action.state is ActionState.DONE
    assert action.events[-1].evidence == "seen on [their] list"


async def test_rule_07_who_the_buyer_is_is_recorded_and_revoked_at_the_desk(
    counter: Counter,
) -> None:
    async with Bench(counter).holding(verified=False) as (pilot, app, ticket):
        await press(pilot, "i")
        await picked(pilot, app, "record")
        await until(pilot, lambda: "Which customer" in screen_text(app))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, *"c-7", "enter")
        await until(pilot, lambda: "What shows that it is c-7?" in screen_text(app))
        await answered(pilot, app, "called back")
        await until(pilot, lambda: "The buyer is verified" in told(app))
        await until(pilot, lambda: "VERIFIED  c-7" in screen_text(app))
        await press(pilot, "i")
        await picked(pilot, app, "revoke")
        await until(pilot, lambda: "Why is nobody" in screen_text(app))
        await answered(pilot, app, "another voice")
        await until(pilot, lambda: "UNVERIFIED" in screen_text(app))
    standing = (await stored(counter.store, ticket)).standing
    assert standing.identity is None
    assert standing.identity_question == "Noor revoked it"


async def test_triage_and_state_are_set_right_at_the_desk(counter: Counter) -> None:
    async with Bench(counter).holding() as (pilot, app, ticket):
        await press(pilot, "m")
        await picked(pilot, app, "billing")
        await until(pilot, lambda: "How urgent is billing?" in screen_text(app))
        await picked(pilot, app, "urgent")
        await until(pilot, lambda: "billing, urgent" in told(app))
        for text in ("order = SU-1", '{"waits_for": [1]}'):
            await press(pilot, "M")
            await answered(pilot, app, text)
        await press(pilot, "M")
        await until(pilot, lambda: app.screen is not desk_of(app))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, *"nonsense", "enter")
        await until(pilot, lambda: "no field = value" in screen_text(app))
        assert app.screen.query_one(OneLine).value == "nonsense"
    standing = (await stored(counter.store, ticket)).standing
    assert standing.triage == ("billing", "urgent")
    assert standing.task_state == {"order": "SU-1", "waits_for": [1]}


async def test_rule_06_a_card_says_that_its_call_is_begun_and_not_answered(
    counter: Counter,
) -> None:
    bench = Bench(counter)
    async with bench.holding() as (pilot, app, ticket):
        proposed = await bench.approved(pilot, app, ticket)
        await until(pilot, lambda: "not carried out yet" in screen_text(app))
        gate = bench.shop.gate = Gate()
        await press(pilot, "A")
        await picked(pilot, app, proposed.id)
        await until(pilot, lambda: "y carry it out" in screen_text(app))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "y")
        await gate.reached.wait()
        await press(pilot, "escape")
        await until(pilot, lambda: "begun, no answer yet" in screen_text(app))
        gate.opened.set()
        await until(pilot, lambda: "refund_order is done" in told(app))


async def test_a_tool_is_offered_with_the_first_line_of_what_it_does(
    counter: Counter,
) -> None:
    bench = Bench(counter)
    said = "\n  Pay back what was charged.\n\n  Args:\n    amount: How much."
    bench.shop.specs_now = tuple(
        replace(spec, description=said) for spec in bench.shop.specs_now
    )
    async with bench.holding() as (pilot, app, _):
        await press(pilot, "A")
        await until(pilot, lambda: "Pay back what was charged." in screen_text(app))
        assert "Args" not in screen_text(app)
