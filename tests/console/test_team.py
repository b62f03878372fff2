"""The desk and others: colleagues, the agent, the whole house."""

from datetime import timedelta

from textual.pilot import Pilot

from console.app import HandoffApp
from console.live import meet
from console.screens.people import PeoplePanel
from console.screens.supervisor import SupervisorPanel
from console.widgets.queue import Queue
from core.flows.answer import Leaving
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import take_over
from core.journal import Note
from core.ports import Presence
from tests.console.counter import MIRA, Counter
from tests.console.shown import ME
from tests.console.steps import (
    app_on,
    desk_of,
    held,
    pane_text,
    press,
    screen_text,
    told,
    until,
)

WIDE = (160, 45)


async def read(pilot: Pilot[None], app: HandoffApp) -> None:
    """Waits until a ticket is read."""
    await until(pilot, lambda: desk_of(app).history is not None)


def pane_rows(app: HandoffApp) -> list[str]:
    """The screen's lines, up to the first border."""
    return [line.split("│")[0] for line in screen_text(app).splitlines()]


async def answered(pilot: Pilot[None], app: HandoffApp, text: str) -> None:
    """Answers the panel that is open with a line of text."""
    await until(pilot, lambda: app.screen is not desk_of(app))
    await until(pilot, lambda: app.screen.listening)
    await press(pilot, *text, "enter")
    await until(pilot, lambda: app.screen is desk_of(app))


async def test_a_desk_starts_in_the_first_view_that_has_a_ticket(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    await counter.works(ticket)
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        assert desk_of(app).reads.view == "agent"
        await press(pilot, "1")
        await until(pilot, lambda: "Nothing needs a person" in screen_text(app))
        other = await counter.writes("Me too", subject="Second")
        await counter.store.write(lambda tx: tx.counts(ME.name))
        await until(pilot, lambda: desk_of(app).reads.counts.get("all") == 2)
        assert desk_of(app).reads.view == "human"
        assert other not in pane_text(app, "banner")


async def test_whisper_claim_and_pause_leave_the_agent_its_ticket(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    await counter.works(ticket)
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        await press(pilot, "W")
        await answered(pilot, app, "be [kind] to her")
        await until(pilot, lambda: "be [kind] to her" in screen_text(app))
        await press(pilot, "c")
        await until(pilot, lambda: "You look after it" in told(app))
        await press(pilot, "P")
        await answered(pilot, app, "a look first")
        await until(pilot, lambda: "stopped the agent here" in screen_text(app))
        history = await counter.store.read(lambda tx: tx.history(ticket))
        notes = [e.body for e in history.journal if isinstance(e.body, Note)]
        assert [(n.text, n.for_agent) for n in notes] == [("be [kind] to her", True)]
        assert history.standing.owner == ME.name
        assert history.standing.paused == "Noor: a look first"
        assert history.standing.run is not None


async def test_a_snoozed_ticket_sleeps_and_no_time_is_told(counter: Counter) -> None:
    ticket = await counter.writes("Where is it?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        await press(pilot, "z")
        await until(pilot, lambda: app.screen is not desk_of(app))
        await until(pilot, lambda: app.screen.listening)
        for text, wrong in (
            ("", "a time is needed"),
            ("soonish", "“soonish” is no time: 30m, 3h"),
            ("0m", "“0m” has passed"),
        ):
            await press(pilot, "ctrl+u", *text, "enter")
            await until(pilot, lambda words=wrong: words in screen_text(app))
        await press(pilot, "ctrl+u")
        await answered(pilot, app, "3h")
        await until(pilot, lambda: "It sleeps" in told(app))
        standing = await counter.store.read(lambda tx: tx.standing(ticket))
        assert standing.snoozed_until is not None
        await press(pilot, "6")
        await until(pilot, lambda: "asleep until" in screen_text(app))


async def test_who_has_lost_a_ticket_reads_of_the_draft_and_then_of_the_keys(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        await held(pilot, app)
        await press(pilot, "r", *"half a rep")
        drafts = desk_of(app).drafts
        await until(pilot, lambda: drafts.text(ticket, "reply") == "half a rep")
        taken = GiveBack(to="queue", forced=True, why="it waits")
        await give_back(counter.store, ticket, ME, taken)
        words = "Your draft is kept. Take it over to go on: t   note: n"
        await until(pilot, lambda: words in screen_text(app))


async def test_a_question_says_what_it_needs_and_is_answered_by_either_key(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        for key, answers, needed in (
            ("T", "enter", "a reason is needed"),
            ("W", "ctrl+s", "a text is needed"),
        ):
            await press(pilot, key)
            await until(pilot, lambda: app.screen is not desk_of(app))
            await until(pilot, lambda: app.screen.listening)
            await press(pilot, answers)
            await until(pilot, lambda words=needed: words in screen_text(app))
            if key == "T":
                await press(pilot, "escape")
        await press(pilot, *"be kind", "ctrl+s")
        await until(pilot, lambda: "The agent reads it" in told(app))
    journal = (await counter.store.read(lambda tx: tx.history(ticket))).journal
    assert [e.body.text for e in journal if isinstance(e.body, Note)] == ["be kind"]


async def test_a_supervisor_takes_a_ticket_away_with_a_reason(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    await take_over(counter.store, ticket, MIRA)
    seen = Presence(
        operator="Mira",
        ticket=ticket,
        doing="typing",
        active_at=(await counter.store.read(lambda tx: tx.now)),
        seen_at=(await counter.store.read(lambda tx: tx.now)),
    )
    await meet(counter.store, seen)
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: desk_of(app).reads.counts)
        await press(pilot, "6")
        await read(pilot, app)
        await until(pilot, lambda: "Mira holds it" in pane_text(app, "banner"))
        await until(pilot, lambda: "types now" in pane_text(app, "banner"))
        await press(pilot, "s")
        await until(pilot, lambda: isinstance(app.screen, SupervisorPanel))
        await until(pilot, lambda: app.screen.listening)
        await until(pilot, lambda: "Mira" in screen_text(app))
        await press(pilot, "T")
        await until(pilot, lambda: "Take T-1 away" in screen_text(app))
        await answered(pilot, app, "she is ill")
        await until(pilot, lambda: "YOU HOLD T-1" in pane_text(app, "banner"))
        await until(pilot, lambda: "she is ill" in screen_text(app))


async def test_the_agent_is_stopped_and_started_everywhere(counter: Counter) -> None:
    await counter.writes("Where is it?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        for words, keys in (
            ("PAUSED by Noor: a bad prompt", (*"a bad prompt", "enter")),
            ("no agent is running", ("y",)),
        ):
            await press(pilot, "s")
            await until(pilot, lambda: isinstance(app.screen, SupervisorPanel))
            await until(pilot, lambda: app.screen.listening)
            await press(pilot, "P")
            await until(pilot, lambda: not isinstance(app.screen, SupervisorPanel))
            await until(pilot, lambda: app.screen.listening)
            await press(pilot, *keys)
            await until(pilot, lambda words=words: words in pane_text(app, "banner"))


async def test_what_comes_to_a_person_is_told_and_takes_no_focus(
    counter: Counter,
) -> None:
    mine = await counter.writes("First.", subject="First")
    given = await counter.writes("Second.", subject="Second")
    asked = await counter.writes("Third.", subject="Third")
    await take_over(counter.store, mine, ME)
    await take_over(counter.store, given, MIRA)
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        desk = desk_of(app)
        await until(pilot, lambda: desk.reads.mine is not None)
        await press(pilot, "6")
        await until(pilot, lambda: desk.query_one(Queue).view == "all")
        desk.go_to(asked)
        await until(pilot, lambda: desk.history and desk.history.ticket.id == asked)
        await press(pilot, "n", *"thinking")
        await give_back(counter.store, given, MIRA, GiveBack(to=ME.name))
        await until(pilot, lambda: f"{given} is offered to you" in told(app))
        await counter.writes("Hello again?", ticket=mine)
        await until(pilot, lambda: f"{mine}: the buyer wrote" in told(app))
        await counter.proposes(asked, {"order_id": "O-1"})
        await until(pilot, lambda: f"{asked} waits for a decision" in told(app))
        row = next(s for s in pane_rows(app) if mine in s)
        assert "•" in row
        assert desk.pane() == "composer"
        assert desk.query_one("#editor").text == "thinking"
        assert desk.ticket() == asked


async def test_f108_one_version_of_a_reply_that_is_taken_back_is_left(
    counter: Counter,
) -> None:
    ticket = await counter.writes("Where is it?")
    await take_over(counter.store, ticket, ME)
    app = app_on(counter.store, leaving=Leaving(hold_off=timedelta(minutes=1)))
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        await until(pilot, lambda: "YOU HOLD" in pane_text(app, "banner"))
        await press(pilot, "r", *"oops", "ctrl+s")
        await until(pilot, lambda: "Sends in" in screen_text(app))
        await press(pilot, "u")
        await until(pilot, lambda: "Taken back" in told(app))
        await until(pilot, lambda: desk_of(app).query_one("#editor").text == "oops")
        history = await counter.store.read(lambda tx: tx.history(ticket))
        assert [r.state for r in history.outbox] == ["discarded"]
        await press(pilot, "r", *" no", "ctrl+s")
        await until(pilot, lambda: not desk_of(app).query_one("#editor").text)
        history = await counter.store.read(lambda tx: tx.history(ticket))
        states = {r.text: r.state for r in history.outbox}
        assert states == {"oops": "discarded", "oops no": "queued"}


async def test_people_are_added_and_disabled_by_a_supervisor(counter: Counter) -> None:
    await counter.writes("Where is it?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        for keys in (("n", *"[bo]", "enter"), ("d", "y")):
            await press(pilot, "O")
            await until(pilot, lambda: isinstance(app.screen, PeoplePanel))
            await until(pilot, lambda: app.screen.listening)
            await press(pilot, keys[0])
            await until(pilot, lambda: not isinstance(app.screen, PeoplePanel))
            await until(pilot, lambda: app.screen.listening)
            await press(pilot, *keys[1:])
            await until(pilot, lambda: app.screen is desk_of(app))
        await until(pilot, lambda: "works here no more" in told(app))
        people = await counter.store.read(lambda tx: tx.operators())
        assert {p.name: p.disabled for p in people} == {
            "Mira": True,
            "Noor": False,
            "[bo]": False,
        }


async def test_who_disables_themselves_reads_that_it_is_them(counter: Counter) -> None:
    await counter.writes("Where is it?")
    app = app_on(counter.store)
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot, app)
        await press(pilot, "O")
        await until(pilot, lambda: isinstance(app.screen, PeoplePanel))
        await until(pilot, lambda: app.screen.listening)
        await press(pilot, "j", "d")  # Mira, Noor
        await until(pilot, lambda: "y disables Noor" in screen_text(app))
        assert "What they hold goes back to the queue" in screen_text(app)
        assert "That is you" in screen_text(app)
