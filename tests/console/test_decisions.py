"""A decision's card: nothing is decided by accident, and everything on purpose."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pytest
from textual import events

from console import shapes_work
from console.app import HandoffApp
from console.commands.decide import _listed as listing
from console.plain import decisions as text_of_decisions
from console.screens import decision, panel
from console.screens.arguments import ArgumentsForm
from console.screens.decision import DecisionPanel
from console.screens.palette import PalettePanel
from console.widgets.composer import Composer
from console.widgets.queue import Queue
from console.widgets.spans import plain
from core.decision import Operator, Rejected, Role, Verdict
from core.flows.supervise import decide
from core.ticket import TicketId
from core.tool import Approve, Consequence, ToolPolicy, ToolSpec
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME
from tests.console.steps import (
    WIDE,
    app_on,
    card_opened,
    desk_of,
    press,
    screen_text,
    shown,
    sitting,
    stored,
    told,
    until,
)

SAM = Operator(name="Sam", role=Role.SUPERVISOR)

REFUND = ToolSpec(
    name="refund_order",
    description="",
    input_schema={
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "amount": {"type": "string"},
            "reason": {"type": "string"},
        },
    },
    policy=ToolPolicy(
        consequence=Consequence.MONEY,
        approve=Approve.OVER,
        approve_over=Decimal(50),
        amount="amount",
    ),
)


async def state(counter: Counter, ticket: TicketId) -> str:
    """How the ticket's decision stands."""
    return (await stored(counter.store, ticket)).decisions[0].state.value


def card(app: HandoffApp) -> str:
    """What the open card shows."""
    return plain(app.screen.query_one("#card").lines)


async def test_rule_06_the_opening_key_and_a_quick_y_approve_nothing(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "DEAF", 3600.0)  # however slow the machine is
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: "refund 118.00 EUR" in screen_text(app))
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a", "y", "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await until(pilot, lambda: app.screen.read_whole)
        await press(pilot, "y")
        decisions = (await stored(counter.store, ticket)).decisions
        assert decisions[0].state.value == "pending"
        assert not app.screen.listening
        app.screen._listen()
        await press(pilot, "a", "t", "R")
        decisions = (await stored(counter.store, ticket)).decisions
        assert decisions[0].state.value == "pending"
        await press(pilot, "y")
        await until(pilot, lambda: "D-1 approved" in told(app))
        assert (await stored(counter.store, ticket)).decisions[
            0
        ].state.value == "approved"


async def test_f08_rule_06_a_spoofed_long_card_must_have_been_read_to_its_end(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    reason = "ok\n\nAmount: 1.00\u202e" + "x" * 3000
    await counter.proposes(ticket, {"order_id": "O-1", "reason": reason})
    async with sitting(counter.store, (80, 24)) as (pilot, app):
        await card_opened(pilot, app)
        shown_card = screen_text(app)
        assert "118.00 EUR" in shown_card
        assert "\\u202e" in shown_card
        assert not any(
            ln.strip(" │").startswith("Amount") for ln in shown_card.split("\n")
        )
        await press(pilot, "y")
        assert (await stored(counter.store, ticket)).decisions[
            0
        ].state.value == "pending"
        await press(pilot, "G")
        await until(pilot, lambda: app.screen.read_whole)
        await press(pilot, "y")
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: desk_of(app).pending() is None)
        assert (await stored(counter.store, ticket)).decisions[
            0
        ].state.value == "approved"


async def test_rule_06_a_newer_message_comes_onto_the_open_card(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await counter.writes("No, keep it!", ticket=ticket)
        await until(pilot, lambda: "STALE" in card(app))
        await until(pilot, lambda: "No, keep it!" in card(app))


async def test_rule_06_who_may_not_decide_is_told_who_does(counter: Counter) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store, me=MIRA) as (pilot, app):
        await card_opened(pilot, app)
        await until(pilot, lambda: app.screen.read_whole)
        keys = plain(app.screen.query_one("#panel-keys").lines)
        assert keys == "a supervisor decides   esc close"
        await press(pilot, "y", "e", "x")
        assert not app.screen.asking
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
    (pending,) = (await stored(counter.store, ticket)).decisions
    both = replace(pending, four_eyes=True, first=ME.name)
    await counter.store.write(lambda tx: tx.save_decision(both))
    async with sitting(counter.store) as (pilot, app):
        await card_opened(pilot, app)
        await until(pilot, lambda: app.screen.read_whole)
        keys = plain(app.screen.query_one("#panel-keys").lines)
        assert keys.startswith("you approved; another person must too   esc close")
        assert keys.endswith("x reject")
        await press(pilot, "y", "e")
        assert not app.screen.asking
        assert app.screen is not desk_of(app)
    assert await state(counter, ticket) == "pending"


async def test_a_decision_is_rejected_with_a_reason_only(counter: Counter) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await card_opened(pilot, app)
        await press(pilot, "x", "enter")
        assert isinstance(app.screen, DecisionPanel)
        await until(pilot, lambda: "a reason is needed" in screen_text(app))
        await press(pilot, *"[/] y %s {x}", "ctrl+s")
        await until(pilot, lambda: "D-1 rejected" in told(app))
        decision = (await stored(counter.store, ticket)).decisions[0]
        assert (decision.state.value, decision.why) == ("rejected", "[/] y %s {x}")


async def test_an_override_without_its_tool_is_refused_in_one_line(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await card_opened(pilot, app)
        await press(pilot, "e")
        form = app.screen.query_one(ArgumentsForm)
        await until(pilot, lambda: form.texts == ["O-1"])
        await until(pilot, lambda: "judged when stored" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "can't be reached to check" in screen_text(app))
        assert form.texts == ["O-1"]
        assert (await stored(counter.store, ticket)).decisions[
            0
        ].state.value == "pending"


async def test_an_override_is_a_form_that_says_what_the_policy_makes_of_it(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})

    async def tools() -> Mapping[str, ToolSpec]:
        return {"refund_order": REFUND}

    app = app_on(counter.store, tools=tools)
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await until(pilot, lambda: app.screen.listening and app.screen.spec)
        await press(pilot, "e")
        form = app.screen.query_one(ArgumentsForm)
        await until(pilot, lambda: form.texts == ["O-1", "118.00", ""])
        await until(pilot, lambda: "yours to decide" in screen_text(app))
        await press(pilot, "end", "backspace", "x")
        await until(pilot, lambda: "not a positive amount" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "not a positive amount" in told(app))
        assert form.texts == ["O-1", "118.0x", ""]
        await press(pilot, *["backspace"] * 6, *"18.5")
        await until(pilot, lambda: "within the policy" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "approved with changed arguments" in told(app))
        decision = (await stored(counter.store, ticket)).decisions[0]
        assert decision.final_input == {"order_id": "O-1", "amount": "18.5"}


async def test_a_card_says_what_another_ticket_did_or_wants_on_the_same_order(
    counter: Counter,
) -> None:
    here, other = await counter.writes("I want it back."), await counter.writes("Me.")
    await counter.proposes(here, {"order_id": "O-1", "amount": "118.00"})
    await counter.proposes(other, {"order_id": "O-1"}, amount="40.00", name="D-2")
    async with sitting(counter.store) as (pilot, app):
        await card_opened(pilot, app)
        await until(pilot, lambda: "already on O-1: 40.00 EUR" in card(app))
        waits = f"40.00 EUR waits for a decision on {other}"
        assert waits in " ".join(card(app).split())
        await until(pilot, lambda: app.screen.read_whole)
        third = await counter.writes("And me.")
        await counter.proposes(third, {"order_id": "O-1"}, amount="2.50", name="D-3")
        await until(pilot, lambda: "already on O-1: 42.50 EUR" in card(app))
        await press(pilot, "escape")
    listed, _, also = await counter.store.read(lambda tx: listing(tx, every=False))
    told_by = shapes_work.decision(listed[0], None, also["D-1"])["on_object"]
    assert [one["ticket"] for one in told_by] == [other, third]
    assert f"also: 40.00 EUR refund_order pending D-2 on {other}" in text_of_decisions(
        listed, also
    )


async def test_a_form_that_names_another_order_says_what_there_is_on_that_one(
    counter: Counter,
) -> None:
    here, other = await counter.writes("I want it back."), await counter.writes("Me.")
    await counter.proposes(here, {"order_id": "O-12", "amount": "118.00"}, on="O-12")
    await counter.proposes(other, {"order_id": "O-1"}, amount="40.00", name="D-2")
    async with sitting(counter.store) as (pilot, app):
        await shown(pilot, app, here)
        await card_opened(pilot, app)
        assert "already on" not in card(app)
        await press(pilot, "e")
        form = app.screen.query_one(ArgumentsForm)
        await until(pilot, lambda: form.texts == ["O-12", "118.00"])
        await press(pilot, "shift+tab", "end", "backspace")
        await until(pilot, lambda: "already on O-1: 40.00 EUR" in card(app))
        await press(pilot, "backspace")
        await until(pilot, lambda: "already on" not in card(app))
        await press(pilot, "1", "2", "escape")
        await until(pilot, lambda: not app.screen.asking)
        assert "already on" not in card(app)


async def test_what_is_typed_right_after_a_key_is_text_and_no_command(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await until(pilot, lambda: desk_of(app).pending() is not None)
        for character in "nakt":
            app.post_message(events.Key(character, character))
        composer = desk_of(app).query_one(Composer)
        await until(pilot, lambda: composer.text == "akt", "typed")
        app.post_message(events.Key("escape", None))
        await until(pilot, lambda: desk_of(app).pane() == "timeline")
        for key, character in (("slash", "/"), ("q", "q"), ("a", "a"), ("t", "t")):
            app.post_message(events.Key(key, character))
        await until(pilot, lambda: desk_of(app).query_one("#find").value == "qat")
        app.post_message(events.Key("escape", None))
        await until(pilot, lambda: desk_of(app).pane() == "timeline")
        for key, character in (("colon", ":"), ("d", "d"), ("a", "a"), ("r", "r")):
            app.post_message(events.Key(key, character))
        await until(pilot, lambda: isinstance(app.screen, PalettePanel))
        await until(
            pilot, lambda: [b.value for b in app.screen.query("#panel-find")] == ["dar"]
        )
        history = await stored(counter.store, ticket)
        assert history.lock.holder is None
        assert history.decisions[0].state.value == "pending"


async def three_proposals(counter: Counter) -> list[TicketId]:
    """Three tickets with a refund each that waits for a verdict."""
    tickets = []
    for n in (1, 2, 3):
        tickets.append(await counter.writes("I want my money back."))
        asked = {"order_id": f"O-{n}", "amount": "118.00"}
        await counter.proposes(tickets[-1], asked, name=f"D-{n}")
    return tickets


async def test_rule_06_after_a_verdict_the_next_card_comes_up_and_has_to_be_looked_at(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await three_proposals(counter)
    monkeypatch.setattr(decision, "LOOK", 60)
    async with sitting(counter.store) as (pilot, app):
        await press(pilot, "2")
        await until(pilot, lambda: desk_of(app).query_one(Queue).total == 3)
        order = [desk_of(app).query_one(Queue).places.at(y) for y in range(3)]
        await shown(pilot, app, order[0])
        await card_opened(pilot, app)
        await until(pilot, lambda: app.screen.read_whole)
        await press(pilot, "y")
        await until(pilot, lambda: card_of(app) == order[1], "the next card")
        await until(pilot, lambda: app.screen.listening and app.screen.read_whole)
        await press(pilot, "y")
        await until(pilot, lambda: "look first" in screen_text(app))
        assert await state(counter, order[1]) == "pending"
        monkeypatch.setattr(decision, "LOOK", 0.01)
        await press(pilot, "x")
        await until(pilot, lambda: app.screen.typing)
        await press(pilot, *"no", "enter")
        await until(pilot, lambda: card_of(app) == order[2], "the last card")
        await until(pilot, lambda: app.screen.listening and app.screen.read_whole)
        await until(pilot, lambda: not app.screen.unseen)
        await press(pilot, "y")
        await until(pilot, lambda: "D-3 approved" in told(app))
        stand = [await state(counter, t) for t in order]
        assert stand == ["approved", "rejected", "approved"]


async def test_no_card_comes_up_for_who_went_on_or_looks_at_another_view(
    counter: Counter,
) -> None:
    tickets = await three_proposals(counter)
    async with sitting(counter.store) as (pilot, app):
        for ticket, way, goes_on in (
            (tickets[0], ("2",), "g"),
            (tickets[1], ("6", "j"), ""),
        ):
            await press(pilot, way[0])
            await until(pilot, lambda: desk_of(app).query_one(Queue).cursor is not None)
            await press(pilot, *way[1:])
            await shown(pilot, app, ticket)
            await until(pilot, lambda: desk_of(app).pending() is not None)
            before = len(told(app))
            await card_opened(pilot, app)
            await until(pilot, lambda: app.screen.read_whole)
            await press(pilot, "y", *goes_on)
            await until(pilot, lambda b=before: "approved" in told(app)[b:])
            assert desk_of(app)._next_card is None
            assert app.screen is desk_of(app)


def card_of(app: HandoffApp) -> TicketId | None:
    """The ticket whose card is open."""
    panel = app.screen
    return panel.decision.ticket if isinstance(panel, DecisionPanel) else None


async def test_f16_a_card_that_a_colleague_settled_says_so_and_that_esc_closes_it(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store, size=(80, 24)) as (pilot, app):
        await card_opened(pilot, app)
        assert "expires in" in card(app)
        await press(pilot, "x", *"too much")
        verdict = Verdict(kind="reject", why="no", input=None, seen=None)
        await counter.store.write(lambda tx: tx.save_operator(SAM))
        came = await decide(counter.store, "D-1", verdict, SAM, ())
        assert isinstance(came, Rejected), came
        await until(pilot, lambda: "settled     rejected by Sam" in card(app))
        assert "expires in" not in card(app)
        said = "▸ esc Close    already rejected by Sam"
        keys = app.screen.query_one("#panel-keys")
        await until(pilot, lambda: plain(keys.lines).startswith(said))
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is desk_of(app))


async def test_a_reason_that_was_begun_outlasts_a_look_elsewhere(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    async with sitting(counter.store) as (pilot, app):
        await card_opened(pilot, app)
        await press(pilot, "x", *"too ", "escape", "x", *"much", "escape", "escape")
        await until(pilot, lambda: app.screen is desk_of(app))
        await card_opened(pilot, app)
        await press(pilot, "x", *" now", "enter")
        await until(pilot, lambda: "D-1 rejected" in told(app))
        assert desk_of(app).reasons == {}
    assert (await stored(counter.store, ticket)).decisions[0].why == "too much now"
