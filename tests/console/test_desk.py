"""The desk on a real store: what a person does, and what happens meanwhile."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from textual import events
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from console.app import HandoffApp
from console.keytable import COMMANDS
from console.live import Chart
from console.screens.arguments import ArgumentsForm
from console.screens.ask import SurePanel
from console.screens.decision import DecisionPanel
from console.screens.desk import Desk
from console.screens.give_back import GiveBackPanel
from console.screens.overlays import HelpPanel, LeavePanel, PalettePanel
from console.screens.withheld import WithheldPanel
from console.widgets.composer import Composer
from console.widgets.queue import Queue
from console.widgets.spans import plain
from console.widgets.timeline import Timeline
from core.errors import StoreUnreachable
from core.flows.handoff import reply, take_over
from core.history import History
from core.ports import Transaction
from core.ticket import TicketId
from core.tool import Approve, Consequence, ToolPolicy, ToolSpec
from store.transaction import SqlStore
from tests.console.counter import MIRA, Counter
from tests.console.scenes import ME
from tests.console.steps import (
    app_on,
    desk_of,
    pane_text,
    press,
    screen_text,
    told,
    until,
)

T = TypeVar("T")

WIDE = (200, 50)

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


async def shown(pilot: Pilot[None], app: HandoffApp, ticket: str) -> None:
    """Waits until a ticket is on the desk."""
    await until(pilot, lambda: ticket in pane_text(app, "banner"), f"{ticket} shown")
    await until(
        pilot,
        lambda: (
            desk_of(app).history is not None
            and desk_of(app).history.ticket.id == ticket
        ),
        f"{ticket} read",
    )


async def all_view(pilot: Pilot[None], app: HandoffApp) -> None:
    """Goes to the view of everything."""
    await until(pilot, lambda: desk_of(app).reads.counts)
    await press(pilot, "6")
    await until(pilot, lambda: desk_of(app).query_one(Queue).view == "all", "view 6")
    await until(pilot, lambda: desk_of(app).ticket() is not None, "a ticket")


async def stored(counter: Counter, ticket: TicketId) -> History:
    return await counter.store.read(lambda tx: tx.history(ticket))


async def held(pilot: Pilot[None], app: HandoffApp) -> None:
    """Takes the ticket over that is shown."""
    await press(pilot, "t")
    await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"), "held")
    await until(pilot, lambda: desk_of(app).query_one(Composer).has_class("-open"))


def row_text(queue: Queue, y: int) -> str:
    """A row of the queue."""
    return plain([queue.line_at(y)])


def card(app: HandoffApp) -> str:
    """What the open card shows."""
    return plain(app.screen.query_one("#card").lines)


def test_every_command_of_the_table_does_something() -> None:
    for command in COMMANDS:
        if not command.id.startswith("view:"):
            assert callable(getattr(Desk, f"_do_{command.id}"))


async def test_a_person_takes_a_ticket_writes_and_gives_it_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("My lamp came broken.")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r")
        await until(pilot, lambda: desk_of(app).pane() == "composer")
        await press(pilot, *"tRaq?:1")
        assert desk_of(app).query_one(Composer).text == "tRaq?:1"
        assert app.screen is desk_of(app)
        await press(pilot, "ctrl+s")
        await until(
            pilot, lambda: "to the buyer, unverified · ○ queued" in screen_text(app)
        )
        history = await stored(counter, ticket)
        assert [r.text for r in history.outbox] == ["tRaq?:1"]
        assert desk_of(app).query_one(Composer).text == ""
        await until(pilot, lambda: not desk_of(app).drafts.unsent)
        await press(pilot, "escape", "R")
        await until(pilot, lambda: isinstance(app.screen, GiveBackPanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "tab", *"be kind", "enter")
        await until(pilot, lambda: "YOU HOLD" not in pane_text(app, "banner"))
        history = await stored(counter, ticket)
        assert history.lock.holder is None
        await until(pilot, lambda: "be kind" in screen_text(app))


async def test_rule_02_a_run_is_asked_to_stop_and_what_it_said_is_withheld(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is my parcel?")
    hold = await counter.works(ticket)
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: "agent is working" in pane_text(app, "banner"))
        await press(pilot, "t")
        await until(pilot, lambda: "Asking the agent to stop" in screen_text(app))
        await counter.answers(hold, "It is on its way.")
        await counter.hands_over(ticket)
        await until(pilot, lambda: isinstance(app.screen, WithheldPanel))
        await until(pilot, lambda: "It is on its way." in screen_text(app))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "d")
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: "discarded" in screen_text(app))
        history = await stored(counter, ticket)
        assert [r.state for r in history.outbox] == ["discarded"]
        assert history.standing.held_by == ME.name


async def test_a_colleagues_ticket_is_refused_and_named(counter: Counter) -> None:
    ticket = await counter.writes("Hello?")
    await take_over(counter.store, ticket, MIRA)
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: "Mira holds it" in pane_text(app, "banner"))
        await shown(pilot, app, ticket)
        await press(pilot, "t", "r", "R")
        await press(pilot, "n", *"seen", "ctrl+s")
        await until(pilot, lambda: "only colleagues see it" in screen_text(app))
        assert (await stored(counter, ticket)).standing.held_by == "Mira"


async def test_rule_06_the_opening_key_and_a_quick_y_approve_nothing(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1", "amount": "118.00"})
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: "Waiting for a decision" in screen_text(app))
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a", "y", "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "a", "t", "R")
        decisions = (await stored(counter, ticket)).decisions
        assert decisions[0].state.value == "pending"
        await until(pilot, lambda: app.screen.read_whole)
        await press(pilot, "y")
        await until(pilot, lambda: "D-1 approved" in told(app))
        assert (await stored(counter, ticket)).decisions[0].state.value == "approved"


async def test_rule_06_a_long_card_must_have_been_read_to_its_end(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    reason = "ok\n\nAmount: 1.00\u202e" + "x" * 3000
    await counter.proposes(ticket, {"order_id": "O-1", "reason": reason})
    app = app_on(counter.store)
    async with app.run_test(size=(80, 24)) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await until(pilot, lambda: app.screen.listening)
        shown_card = screen_text(app)
        assert "118.00 EUR" in shown_card
        assert "\\u202e" in shown_card
        assert not any(
            ln.strip(" │").startswith("Amount") for ln in shown_card.split("\n")
        )
        await press(pilot, "y")
        assert (await stored(counter, ticket)).decisions[0].state.value == "pending"
        await press(pilot, "G")
        await until(pilot, lambda: app.screen.read_whole)
        await press(pilot, "y")
        await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: desk_of(app).pending() is None)
        assert (await stored(counter, ticket)).decisions[0].state.value == "approved"


async def test_rule_06_a_newer_message_comes_onto_the_open_card(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await counter.writes("No, keep it!", ticket=ticket)
        await until(pilot, lambda: "STALE" in card(app))
        await until(pilot, lambda: "No, keep it!" in card(app))


async def test_a_decision_is_rejected_with_a_reason_only(counter: Counter) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "x", "enter")
        assert isinstance(app.screen, DecisionPanel)
        await press(pilot, *"[/] y %s {x}", "enter")
        await until(pilot, lambda: "D-1 rejected" in told(app))
        decision = (await stored(counter, ticket)).decisions[0]
        assert (decision.state.value, decision.why) == ("rejected", "[/] y %s {x}")


async def test_an_override_without_its_tool_is_refused_in_one_line(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: desk_of(app).pending() is not None)
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, DecisionPanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "e")
        form = app.screen.query_one(ArgumentsForm)
        await until(pilot, lambda: form.texts == ["O-1"])
        await until(pilot, lambda: "judged when stored" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "can't be reached to check" in told(app))
        assert (await stored(counter, ticket)).decisions[0].state.value == "pending"


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
        await press(pilot, "enter", "end", "backspace", "x")
        await until(pilot, lambda: "not a positive amount" in screen_text(app))
        await press(pilot, *["backspace"] * 6, *"18.5")
        await until(pilot, lambda: "within the policy" in screen_text(app))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "approved with changed arguments" in told(app))
        decision = (await stored(counter, ticket)).decisions[0]
        assert decision.final_input == {"order_id": "O-1", "amount": "18.5"}


async def test_what_happens_elsewhere_comes_by_itself_and_steals_nothing(
    counter: Counter,
) -> None:
    first = await counter.writes("One.", subject="First")
    for n in range(30):
        await counter.writes(f"line {n}", ticket=first)
    app = app_on(counter.store)
    async with app.run_test(size=(120, 30)) as pilot:
        await all_view(pilot, app)
        await shown(pilot, app, first)
        await held(pilot, app)
        await press(pilot, "r", *"half a thought", "escape", "g")
        timeline = desk_of(app).query_one(Timeline)
        await until(pilot, lambda: timeline.scroll_offset.y == 0)
        for n in range(3):
            await counter.writes(f"more {n}", ticket=first)
        second = await counter.writes("Two.", subject="Second")
        await until(pilot, lambda: "3 new below" in screen_text(app))
        await until(pilot, lambda: second in screen_text(app))
        assert timeline.scroll_offset.y == 0
        assert desk_of(app).ticket() == first
        assert desk_of(app).query_one(Composer).text == "half a thought"
        await press(pilot, "G")
        await until(pilot, lambda: "more 2" in screen_text(app))


async def test_f113_drafts_of_reply_and_note_come_back_after_a_restart(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await held(pilot, app)
        await press(pilot, "r", *"R", "escape", "n", *"N", "escape")

        drafts = desk_of(app).drafts
        await until(pilot, lambda: drafts.saved and drafts.text(ticket, "note"))
        kept = {(d.mode, d.text) for d in (await stored(counter, ticket)).drafts}
        assert kept == {("reply", "R"), ("note", "N")}
    again = app_on(counter.store)
    async with again.run_test(size=WIDE) as pilot:
        await all_view(pilot, again)
        await until(pilot, lambda: desk_of(again).query_one(Composer).text == "R")
        await press(pilot, "n")
        await until(pilot, lambda: desk_of(again).query_one(Composer).text == "N")


async def test_f136_what_the_operator_types_is_never_parsed(counter: Counter) -> None:
    await counter.writes("Hello?", subject="[/] brackets")
    app = app_on(counter.store)
    async with app.run_test(size=(120, 30)) as pilot:
        await all_view(pilot, app)
        await press(pilot, "slash", *"[/]", "enter")
        await until(pilot, lambda: "/ [/]" in screen_text(app))
        await until(pilot, lambda: "[/] brackets" in screen_text(app))
        await press(pilot, "slash", *"[red {x} %s", "enter")
        await until(pilot, lambda: "Nothing matches" in screen_text(app))
        await press(pilot, "escape")
        await until(pilot, lambda: desk_of(app).reads.filter == "")
        await press(pilot, "colon", *"[/x", "escape")
        assert app.screen is desk_of(app)


async def test_an_empty_store_shows_the_ways_in_and_fills_by_itself(
    counter: Counter,
) -> None:
    app = app_on(counter.store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "handoff demo" in screen_text(app))
        ticket = await counter.writes("The first one.")
        await until(pilot, lambda: not desk_of(app).has_class("-empty"))
        await press(pilot, "6")
        await until(pilot, lambda: ticket in screen_text(app))


async def test_help_palette_views_and_leaving_are_one_key_away(
    counter: Counter,
) -> None:
    await counter.writes("Hello?")
    app = app_on(counter.store)
    async with app.run_test(size=(120, 40)) as pilot:
        await all_view(pilot, app)
        await held(pilot, app)
        await press(pilot, "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpPanel))
        await press(pilot, "escape", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, PalettePanel))
        await press(pilot, *"dark or", "enter")
        await until(pilot, lambda: app.theme == "handoff-light")
        await until(pilot, lambda: desk_of(app).reads.counts.get("mine") == 1)
        await press(pilot, "q")
        await until(pilot, lambda: isinstance(app.screen, LeavePanel))
        await until(pilot, lambda: app.screen.listening)
        await until(pilot, lambda: "Holds stay" in screen_text(app))
        await press(pilot, "escape")
        assert app.screen is desk_of(app)


async def test_resizing_keeps_ticket_scroll_and_draft(counter: Counter) -> None:
    await counter.writes("One.")
    ticket = await counter.writes("Two.")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await until(pilot, lambda: desk_of(app).query_one(Queue).total == 2)
        await press(pilot, "G")
        await shown(pilot, app, ticket)
        await held(pilot, app)
        await press(pilot, "r", *"draft")
        for size in ((80, 24), (120, 40), (60, 15), (200, 55)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.size == size)
        assert desk_of(app).ticket() == ticket
        assert desk_of(app).query_one(Composer).text == "draft"
        assert ticket in pane_text(app, "banner")


async def test_fast_typing_keeps_its_order(counter: Counter) -> None:
    await counter.writes("Hello?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await held(pilot, app)
        await press(pilot, "r")
        await press(pilot, "b", "a", "backspace", "c", "left", "x")
        assert desk_of(app).query_one(Composer).text == "bxc"


async def test_what_is_typed_right_after_a_key_is_text_and_no_command(
    counter: Counter,
) -> None:
    ticket = await counter.writes("I want my money back.")
    await counter.proposes(ticket, {"order_id": "O-1"})
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
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
        history = await stored(counter, ticket)
        assert history.lock.holder is None
        assert history.decisions[0].state.value == "pending"


@dataclass
class Unplugged:
    """A real store whose line can be cut."""

    store: SqlStore
    cut: bool = False
    follows: int = 0

    async def read(self, look: Callable[[Transaction], T]) -> T:
        self._line()
        return await self.store.read(look)

    async def write(self, transact: Callable[[Transaction], T]) -> T:
        self._line()
        return await self.store.write(transact)

    async def follow(self) -> AsyncIterator[frozenset[TicketId]]:
        self._line()
        async for tickets in self.store.follow():
            yield tickets
            self._line()

    def _line(self) -> None:
        if self.cut:
            raise StoreUnreachable("desk.db can't be reached")


async def test_f96_a_lost_store_keeps_the_text_refuses_acts_and_comes_back(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Hello?")
    line = Unplugged(counter.store)
    app = app_on(line)
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await held(pilot, app)
        line.cut = True
        await counter.writes("Are you there?", ticket=ticket)
        await until(pilot, lambda: "OFFLINE" in screen_text(app))
        await until(pilot, lambda: "desk.db can't be reached" in screen_text(app))
        await press(pilot, "r", *"kept", "ctrl+s", "escape", "R")
        await until(pilot, lambda: "nothing was changed" in told(app))
        assert app.screen is desk_of(app)
        assert desk_of(app).query_one(Composer).text == "kept"
        line.cut = False
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: "OFFLINE" not in screen_text(app))
        await until(pilot, lambda: "Are you there?" in screen_text(app))
        assert desk_of(app).query_one(Composer).text == "kept"
        await until(pilot, lambda: desk_of(app).drafts.saved)
        await press(pilot, "r", "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, SurePanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "y")
        await until(pilot, lambda: "Stored" in told(app))
        assert [r.text for r in (await stored(counter, ticket)).outbox] == ["kept"]


async def test_the_row_stays_under_the_cursor_when_the_list_sorts_anew(
    counter: Counter,
) -> None:
    tickets = [await counter.writes("?", subject=f"Nr {n}") for n in range(40)]
    app = app_on(counter.store)
    async with app.run_test(size=(120, 30)) as pilot:
        await all_view(pilot, app)
        queue = desk_of(app).query_one(Queue)
        await until(pilot, lambda: queue.total == 40)
        await press(pilot, *"jjjjjj")
        chosen = queue.cursor
        row = queue.cursor_at - queue.scroll_offset.y
        before = queue.cursor_at
        for ticket in tickets[:4]:
            await take_over(counter.store, ticket, MIRA)
            await reply(counter.store, ticket, MIRA, "Here it is.")
        await until(pilot, lambda: queue.cursor_at != before, "sorted anew")
        assert queue.cursor == chosen
        assert queue.cursor_at - queue.scroll_offset.y in {row, queue.cursor_at}
        assert chosen in pane_text(app, "banner")
        queue.to_row(0 if queue.cursor_at > 15 else 30)
        await until(pilot, lambda: not queue.in_sight, "scrolled away")
        await press(pilot, "t")
        await until(pilot, lambda: "was out of sight" in told(app))
        await until(pilot, lambda: queue.in_sight)
        assert (await stored(counter, chosen)).lock.holder is None


async def test_a_taken_ticket_keeps_its_row_its_draft_and_its_place_on_the_screen(
    counter: Counter,
) -> None:
    ticket, other = [await counter.writes("?", subject=f"Nr {n}") for n in range(2)]
    app = app_on(counter.store)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        queue = desk_of(app).query_one(Queue)
        await until(pilot, lambda: queue.view == "agent" and queue.total == 2)
        await shown(pilot, app, ticket)
        width = queue.inner_width
        await held(pilot, app)
        await until(pilot, lambda: "now in mine" in row_text(queue, 0))
        assert ticket in row_text(queue, 0)
        assert other in row_text(queue, 1)
        assert queue.ground_at(0) == "cursor"
        desk_of(app).tell("A notice")
        await until(pilot, lambda: [t for t in app.screen.query(Toast) if t.region])
        places = [toast.region for toast in app.screen.query(Toast)]
        writes = desk_of(app).query_one(Composer).region
        assert not [p for p in places if p.overlaps(writes) or p.bottom > 4]
        await press(pilot, "r", *"half", "enter", "enter", "escape")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "half" in screen_text(app), "the draft's first line")
        await pilot.resize_terminal(120, 30)
        await press(pilot, "escape", "j")
        await until(pilot, lambda: queue.cursor == other)
        assert (queue.total, queue.cursor_at, queue.inner_width) == (1, 0, width)
        assert ticket not in row_text(queue, 0)


@dataclass
class Torn(Unplugged):
    """A real store of which one ticket can't be read."""

    torn: str = ""

    async def read(self, look: Callable[[Transaction], T]) -> T:
        value = await self.store.read(look)
        if isinstance(value, Chart) and value.history.ticket.id == self.torn:
            raise KeyError("a field")
        return value


async def test_a_ticket_that_cant_be_read_never_shows_another_ones_text(
    counter: Counter,
) -> None:
    good = await counter.writes("A text of the first.", subject="First")
    bad = await counter.writes("A text of the second.", subject="Second")
    app = app_on(Torn(counter.store, torn=bad))
    async with app.run_test(size=WIDE) as pilot:
        await all_view(pilot, app)
        await shown(pilot, app, good)
        await until(pilot, lambda: desk_of(app).query_one(Queue).total == 2)
        await press(pilot, "j")
        await until(pilot, lambda: bad in pane_text(app, "banner"))
        await until(pilot, lambda: "failed" in told(app))
        await until(pilot, lambda: "A text of the first" not in screen_text(app))
        await press(pilot, "k")
        await until(pilot, lambda: "A text of the first" in screen_text(app))
