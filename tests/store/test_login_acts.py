"""What people do all day works under their own logins, and only there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from core.decision import Approved, Operator
from core.flows.amend import amend_state, claim, set_triage, snooze, verify
from core.flows.answer import Leaving
from core.flows.canned import keep
from core.flows.drafts import save_draft
from core.flows.giving_back import GiveBack, GivenBack, give_back
from core.flows.handoff import note, reply, take_over
from core.flows.offer import decline
from core.flows.operate import Proposed, Used, execute_decision, use_tool
from core.flows.people import admit_worker, disable
from core.flows.person import Done
from core.flows.supervise import decide
from core.flows.switch import pause, resume
from core.flows.unsend import TakenBack, unsend
from core.flows.withheld import discard_withheld, send_withheld
from core.journal import IdentityChanged, Message
from core.lock import Acquired, HolderKind, TakeoverWanted
from core.ports import Presence
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import REFUNDS, Gate, World
from tests.store.logins import ADMIN, APPROVE, BOT, EVE, MIA, opened, plainly, waits
from tests.worlds.brains import answers

KNOWN = IdentityChanged(
    verified=True, customer="c-1", name=None, method="phone", evidence="called back"
)
LARGE = {"order_id": "O-9", "amount": "80.00"}
LATER = Leaving(hold_off=timedelta(hours=1))


@asynccontextmanager
async def sitting(url: str, *names: str) -> AsyncIterator[list[SqlStore]]:
    """A store for each login."""
    stores = [opened(url, name) for name in names]
    try:
        yield stores
    finally:
        for store in stores:
            await store.close()


def by(world: World, store: SqlStore) -> World:
    """The world as a worker under another login sees it."""
    return replace(world, store=store, house=replace(world.house, store=store))


async def test_a_day_of_an_agent_a_supervisor_and_a_worker_under_their_logins(
    house: World, logins: str
) -> None:
    assert await admit_worker(house.store, ADMIN, BOT) == ()
    async with sitting(logins, EVE.name, BOT) as (eve, bot):
        worker = by(house, bot)
        ticket = await worker.opened()
        assert await worker.runs(ticket) is Stop.ANSWERED
        assert isinstance(await take_over(eve, ticket, EVE), Acquired)
        caught = (await house.chart(ticket)).standing.withheld
        assert isinstance(
            await send_withheld(eve, ticket, EVE, caught[0], "It is."), Done
        )
        await worker.delivers()
        quick = await reply(eve, ticket, EVE, "Too quick.", leaving=LATER)
        assert isinstance(quick, Done)
        assert isinstance(await unsend(eve, ticket, EVE), TakenBack)
        await save_draft(eve, ticket, EVE, "reply", "Dear")
        await save_draft(eve, ticket, EVE, "reply", "")
        here = Presence(
            operator=EVE.name,
            ticket=ticket,
            doing="typing",
            active_at=house.house.clock.now(),
            seen_at=house.house.clock.now(),
        )
        for _ in range(2):
            await eve.write(lambda tx: tx.report_presence(here))
        assert [r["text"] for r in house.delivered()] == ["It is."]


async def test_a_ticket_s_facts_money_and_colleagues_under_the_logins(
    house: World, logins: str
) -> None:
    async with sitting(logins, EVE.name, MIA.name) as (eve, mia):
        ticket = await house.opened()
        await take_over(eve, ticket, EVE)
        for done in (
            await verify(eve, ticket, EVE, KNOWN),
            await note(mia, ticket, MIA, "Be kind.", for_agent=True),
            await set_triage(eve, ticket, EVE, "refund", "high"),
            await amend_state(eve, ticket, EVE, {"order": "O-9"}),
        ):
            assert isinstance(done, Done)
        hands = replace(house.house, store=eve)
        asked = await use_tool(hands, ticket, EVE, REFUNDS.name, LARGE)
        assert isinstance(asked, Proposed)
        said = await decide(mia, asked.decision.id, APPROVE, MIA, ())
        assert isinstance(said, Approved)
        done = await execute_decision(hands, ticket, EVE, asked.decision.id)
        assert isinstance(done, Used)
        forced = await take_over(mia, ticket, MIA, forced=True, why="mine")
        assert isinstance(forced, Acquired)
        back = await give_back(mia, ticket, MIA, GiveBack(to=EVE.name))
        assert isinstance(back, GivenBack)
        assert isinstance(await decline(eve, ticket, EVE), Done)
        assert isinstance(await claim(eve, ticket, EVE), Done)
        later = house.house.clock.now() + timedelta(hours=1)
        assert isinstance(await snooze(eve, ticket, EVE, later), Done)
        await by(house, eve).writes("Hello?", ticket, external_id="<hello>")
        assert isinstance(await pause(mia, MIA, "look"), Done)
        assert isinstance(await resume(mia, MIA), Done)
        await take_over(eve, ticket, EVE)
        await disable(mia, MIA, EVE.name)
        assert (await house.chart(ticket)).lock.holder is None
    assert house.shop.effects == 1


async def test_a_run_under_a_worker_s_login_hands_over_and_a_dead_one_is_followed(
    house: World, logins: str
) -> None:
    await admit_worker(house.store, ADMIN, BOT)
    async with sitting(logins, EVE.name, BOT) as (eve, bot):
        worker = by(house, bot)
        gate = house.model.gate = Gate()
        ticket = await worker.opened()
        running = asyncio.ensure_future(worker.runs(ticket))
        await gate.reached.wait()
        assert isinstance(await take_over(eve, ticket, EVE), TakeoverWanted)
        assert await asyncio.wait_for(running, 10) is Stop.HANDED_OVER
        lock = (await house.chart(ticket)).lock
        assert lock.holder is not None
        assert lock.holder.name == EVE.name
        await discard_withheld(eve, ticket, EVE, 1)


async def test_a_worker_may_run_under_a_person_s_login(
    house: World, logins: str
) -> None:
    async with sitting(logins, EVE.name) as (eve,):
        ticket = await waits(by(house, eve))
        found = await house.decision(ticket)
        await decide(house.store, found.id, APPROVE, ADMIN, ())
        worker = by(house, eve)
        assert await worker.runs(ticket) is Stop.ANSWERED
        assert len(await worker.delivers()) == 1
    assert house.shop.effects == 1


async def test_f40_a_colleague_s_reply_by_another_way_is_their_hold_whoever_brings_it(
    house: World, logins: str
) -> None:
    await admit_worker(house.store, ADMIN, BOT)
    async with sitting(logins, EVE.name, MIA.name, BOT) as (eve, mia, bot):
        worker = by(house, bot)
        for store, author in ((bot, EVE), (eve, MIA), (eve, EVE)):
            ticket = await worker.opened()
            assert await worker.runs(ticket) is Stop.ANSWERED
            await by(house, store).writes(
                "I have called you.",
                ticket,
                outgoing=True,
                author=author.name,
                external_id=f"<{ticket}@example.com>",
            )
            chart = await house.chart(ticket)
            assert chart.lock.holder is not None
            assert (chart.lock.holder.kind, chart.lock.holder.name) == (
                HolderKind.OPERATOR,
                author.name,
            )
            assert [r.state for r in chart.outbox] == ["withheld"]
            (said,) = [
                e
                for e in chart.journal
                if isinstance(e.body, Message) and e.body.text == "I have called you."
            ]
            assert said.actor.name == author.name
            await worker.writes("Thank you.", ticket)
            assert await worker.runs(ticket) is None
            own = mia if author is MIA else eve
            assert isinstance(await reply(own, ticket, author, "Welcome."), Done)
    assert house.delivered() == []


FORGED = {
    "a hold": "UPDATE locks SET holder_kind = 'operator', holder_name = session_user,"
    " token = token + 1",
    "no hold": "UPDATE locks SET holder_kind = NULL, holder_name = NULL",
    "an old token": "UPDATE locks SET token = 0",
    "a reply": "INSERT INTO outbox SELECT message_id || 'x', ticket_id, seq,"
    " 'operator', session_user, channel, recipient, subject, 'Forged', covers,"
    " 'queued', state_at, 1, created_at, NULL, 0, NULL, NULL, NULL, NULL FROM outbox",
    "a colleague's reply": "INSERT INTO outbox SELECT message_id || 'x', ticket_id,"
    " seq, 'operator', 'mia', channel, recipient, subject, 'Forged', covers,"
    " 'queued', state_at, 1, created_at, NULL, 0, NULL, NULL, NULL, NULL FROM outbox",
    "the agent's reply": "INSERT INTO outbox SELECT message_id || 'x', ticket_id, seq,"
    " 'agent', 'R-1', channel, recipient, subject, 'Forged', covers, 'queued',"
    " state_at, 1, created_at, NULL, 0, NULL, NULL, NULL, NULL FROM outbox",
    "other words": "UPDATE outbox SET text = 'Forged'",
    "another buyer": "UPDATE outbox SET recipient = 'eve@example.com'",
    "what was withheld": "UPDATE outbox SET state = 'queued', waits = 1",
    "a discard": "UPDATE outbox SET state = 'discarded'",
    "an action": "INSERT INTO actions SELECT 'A-x', ticket_id, 'k', 'c', NULL, 't',"
    " '{}', NULL, NULL, NULL, NULL, 1, NULL, 'operator', session_user, now()"
    " FROM locks",
    "an unapproved action": "INSERT INTO actions SELECT 'A-x', ticket_id, 'k', 'c',"
    " id, 't', '{}', NULL, NULL, NULL, NULL, 1, NULL, 'agent', 'R-1', now()"
    " FROM decisions",
    "an end of an action": "INSERT INTO action_events SELECT id, 99, ticket_id, now(),"
    " 'done', 'operator', session_user, 'null', 'seen' FROM actions",
    "a colleague's note": "INSERT INTO journal SELECT ticket_id, 999, now(),"
    " 'operator', 'mia', 'note', NULL, '{\"text\": \"x\"}' FROM locks",
    "a colleague's force": "INSERT INTO journal SELECT ticket_id, 999, now(),"
    " 'operator', 'mia', 'lock', NULL, '{\"change\": \"forced\"}' FROM locks",
    "a verdict": "INSERT INTO journal SELECT ticket_id, 999, now(), 'operator',"
    " session_user, 'decision', NULL, '{\"state\": \"approved\"}' FROM locks",
    "the system's verdict": "INSERT INTO journal SELECT ticket_id, 999, now(),"
    " 'system', 'x', 'decision', NULL, '{\"state\": \"rejected\"}' FROM locks",
    "a colleague's draft": "INSERT INTO drafts SELECT ticket_id, 'mia', 'reply',"
    " 'Forged', 1, now() FROM locks",
    "their draft changed": "UPDATE drafts SET text = 'Forged'",
    "their draft taken": "UPDATE drafts SET operator = session_user",
    "their draft gone": "DELETE FROM drafts",
    "a colleague there": "INSERT INTO presence VALUES ('mia', NULL, 'idle', now(),"
    " now())",
    "a proposal": "INSERT INTO decisions SELECT id || 'x', ticket_id, 'pending',"
    " proposed_at, 'R-1', false, document, NULL, NULL, NULL, 'null', NULL, NULL"
    " FROM decisions",
    "another address": "UPDATE tickets SET claim = 'eve@example.com'",
    "rules changed": "UPDATE rules SET tools = '{}'",
    "a text of the team": "UPDATE canned SET text = 'Forged'",
    "a path of her own": "SET search_path = mine, public; UPDATE locks SET token = 0",
}


async def _hers(house: World, mia: SqlStore) -> None:
    """Two tickets that Mia holds, with all that could be forged on them."""
    asked = await waits(house)
    house.model.brain = answers("It is on its way.")
    answered = await house.opened()
    await house.runs(answered)
    for ticket in (asked, answered):
        assert isinstance(await take_over(mia, ticket, MIA), Acquired)
    small = {"order_id": "O-3", "amount": "5.00"}
    hands = replace(house.house, store=mia)
    assert isinstance(await use_tool(hands, asked, MIA, REFUNDS.name, small), Used)
    await reply(mia, asked, MIA, "Soon.")
    await save_draft(mia, asked, MIA, "reply", "Dear")
    await keep(mia, MIA, "hello", "Hello.")


async def test_rule_06_an_agent_s_login_forges_nothing_by_plain_sql(
    house: World, logins: str
) -> None:
    refused: dict[str, str] = {}
    async with sitting(logins, MIA.name) as (mia,):
        await _hers(house, mia)
        with plainly(logins, EVE) as eve:
            for name, forgery in FORGED.items():
                try:
                    eve.execute(forgery)  # type: ignore[arg-type]
                except psycopg.errors.InsufficientPrivilege as no:
                    refused[name] = str(no)
                eve.rollback()
    assert sorted(set(FORGED) - set(refused)) == []
    assert "only a supervisor ends the hold of another" in refused["a hold"]
    assert "never changes" in refused["other words"]


async def test_rule_01_not_even_who_holds_a_ticket_forges_on_it_by_plain_sql(
    house: World, logins: str
) -> None:
    free = {"a hold", "no hold", "a reply", "a discard", "what was withheld"}
    free |= {"an action", "an end of an action"}
    refused = set()
    async with sitting(logins, EVE.name) as (eve,):
        asked = await waits(house)
        await take_over(eve, asked, EVE)
        with plainly(logins, EVE) as plain:
            for name in set(FORGED) - free:
                try:
                    plain.execute(FORGED[name])  # type: ignore[arg-type]
                except psycopg.errors.InsufficientPrivilege:
                    refused.add(name)
                plain.rollback()
    empty = {"a colleague's reply", "the agent's reply", "other words"}
    empty |= {"another buyer", "their draft changed", "their draft taken"}
    empty |= {"their draft gone", "a text of the team"}
    assert sorted(set(FORGED) - free - refused - empty) == []


async def test_f71_who_was_disabled_does_nothing_by_plain_sql_with_grants_left(
    house: World, logins: str
) -> None:
    async with sitting(logins, MIA.name) as (mia,):
        await _hers(house, mia)
    gone = replace(MIA, disabled=True)
    await house.store.write(lambda tx: tx.save_operator(gone))
    tries = ("a reply", "an action", "no hold", "a text of the team", "a proposal")
    with plainly(logins, MIA) as plain:
        for name in tries:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                plain.execute(FORGED[name])  # type: ignore[arg-type]
            plain.rollback()


async def test_a_worker_s_login_is_no_person_by_plain_sql_either(
    house: World, logins: str
) -> None:
    await admit_worker(house.store, ADMIN, BOT)
    as_a_person = {"a hold", "a reply", "a colleague's reply", "other words"}
    as_a_person |= {"what was withheld", "an action", "a colleague's note", "a verdict"}
    refused = set()
    async with sitting(logins, MIA.name) as (mia,):
        await _hers(house, mia)
        with plainly(logins, Operator(name=BOT, role=EVE.role)) as bot:
            for name in as_a_person:
                try:
                    bot.execute(FORGED[name])  # type: ignore[arg-type]
                except psycopg.errors.InsufficientPrivilege:
                    refused.add(name)
                bot.rollback()
    assert sorted(as_a_person - refused) == []
