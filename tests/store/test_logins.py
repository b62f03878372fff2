"""On PostgreSQL an operator is a database login, and plain SQL is no way around."""

from dataclasses import replace

import psycopg
import pytest

from core.decision import (
    Approved,
    FirstOfTwo,
    NotAllowed,
    Operator,
    Rejected,
    Role,
)
from core.errors import StoreUnreachable
from core.flows.amend import verify
from core.flows.handoff import reply, take_over
from core.flows.operate import Proposed, use_tool
from core.flows.people import (
    Changed,
    add,
    admit_worker,
    disable,
    enable,
    give_role,
)
from core.flows.person import Done, NotPossible
from core.flows.run import work
from core.flows.supervise import decide
from core.journal import IdentityChanged
from core.lock import Acquired
from core.turn import Stop
from tests.flows.world import REFUNDS, World
from tests.store.logins import (
    ADMIN,
    APPROVE,
    BOT,
    EVE,
    LONGEST,
    MAX,
    MIA,
    REJECT,
    opened,
    plainly,
    waits,
)
from tests.worlds.postgres import Cluster

FORGERIES = {
    "approve": "UPDATE decisions SET state = 'approved', decided_by = session_user,"
    " decided_at = now()",
    "for another": "UPDATE decisions SET state = 'approved', decided_by = 'mia'",
    "execute": "UPDATE decisions SET state = 'executed'",
    "first": "UPDATE decisions SET first = session_user",
    "reject": "UPDATE decisions SET state = 'rejected', decided_by = session_user",
    "arguments": "UPDATE decisions SET final_input = '{}'",
    "proposal": "UPDATE decisions SET document = '{}'",
    "object": "UPDATE decisions SET object = 'O-9'",
    "eyes": "UPDATE decisions SET four_eyes = NOT four_eyes",
    "insert": "INSERT INTO decisions SELECT id || 'x', ticket_id, 'approved',"
    " proposed_at, proposed_by, four_eyes, document, first, session_user, now(),"
    " final_input, hash, why FROM (SELECT *, 'h' AS hash FROM decisions) d",
    "for the boss": "INSERT INTO decisions SELECT id || 'x', ticket_id, 'pending',"
    " proposed_at, 'mia', four_eyes, document, NULL, NULL, NULL, 'null', NULL, NULL"
    " FROM decisions",
    "delete": "DELETE FROM decisions",
    "role": "UPDATE operators SET role = 'supervisor'",
    "people": "INSERT INTO operators VALUES ('x', 'supervisor', false)",
    "history": "UPDATE journal SET text = 'never said'",
    "forget": "DELETE FROM journal",
    "empty": "TRUNCATE journal",
    "ledger": "DELETE FROM action_events",
    "resume": "INSERT INTO house_acts VALUES (99, now(), session_user, 'resumed',"
    " NULL, '')",
    "as another": "INSERT INTO house_acts VALUES (99, now(), 'mia', 'resumed', NULL,"
    " '')",
    "replies": "INSERT INTO canned VALUES ('hello', 'Yo', session_user, now())",
    "role change": "SET ROLE mia",
    "trigger": "ALTER TABLE decisions DISABLE TRIGGER ALL",
}


async def test_rule_06_a_login_without_the_right_settles_nothing_by_plain_sql(
    house: World, logins: str
) -> None:
    await waits(house)
    refused = {}
    with plainly(logins, EVE) as eve:
        for name, forgery in FORGERIES.items():
            try:
                eve.execute(forgery)  # type: ignore[arg-type]
            except psycopg.errors.InsufficientPrivilege as no:
                refused[name] = str(no)
            eve.rollback()
        fake = "CREATE TEMP TABLE operators AS SELECT session_user::text AS name,"
        eve.execute(f"{fake} 'supervisor' AS role, false AS disabled")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            eve.execute(FORGERIES["approve"])
    assert set(refused) == set(FORGERIES)
    assert "only a supervisor settles a decision" in refused["approve"]


async def test_rule_06_an_agent_s_own_console_can_t_settle_either(
    house: World, logins: str
) -> None:
    ticket = await waits(house)
    found = await house.decision(ticket)
    store = opened(logins, EVE.name)
    try:
        outcome = await decide(store, found.id, APPROVE, EVE, (REFUNDS,))
        assert isinstance(outcome, NotAllowed)
        # a patched console that claims the right is told no by the database
        with pytest.raises(StoreUnreachable, match="only a supervisor settles"):
            await store.write(
                lambda tx: tx.save_decision(
                    replace(found, state=found.state.APPROVED, decided_by=EVE.name)
                )
            )
        assert isinstance(await take_over(store, ticket, EVE), Acquired)
        assert isinstance(await reply(store, ticket, EVE, "I look at it."), Done)
        assert isinstance(await add(store, EVE, "x", Role.AGENT), NotPossible)
    finally:
        await store.close()
    assert (await house.decision(ticket)).state is found.state


async def test_rule_06_a_supervisor_s_login_settles_in_its_own_name_only(
    house: World, logins: str
) -> None:
    ticket = await waits(house)
    found = await house.decision(ticket)
    with plainly(logins, MIA) as mia:
        for name in ("for another", "execute", "proposal", "eyes", "delete"):
            who = FORGERIES[name].replace("'mia'", "'max'")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                mia.execute(who)  # type: ignore[arg-type]
            mia.rollback()
    store = opened(logins, MIA.name)
    try:
        approved = await decide(store, found.id, APPROVE, MIA, (REFUNDS,))
        assert isinstance(approved, Approved)
        back = await decide(store, found.id, REJECT, MIA, (REFUNDS,))
        assert isinstance(back, Rejected)
        with plainly(logins, MIA) as mia, pytest.raises(psycopg.Error):
            mia.execute(FORGERIES["approve"])  # type: ignore[arg-type]
    finally:
        await store.close()


async def test_f15_four_eyes_are_two_logins(house: World, logins: str) -> None:
    ticket = await waits(house, "600.00")
    found = await house.decision(ticket)
    first, second = opened(logins, MIA.name), opened(logins, MAX.name)
    alone = (
        "UPDATE decisions SET state = 'approved', decided_by = session_user,"
        " first = 'max', final_hash = 'h'"
    )
    try:
        with plainly(logins, MIA) as mia, pytest.raises(psycopg.Error):
            mia.execute(alone)  # type: ignore[arg-type]
        one = await decide(first, found.id, APPROVE, MIA, (REFUNDS,))
        assert isinstance(one, FirstOfTwo)
        with (
            plainly(logins, MIA) as mia,
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="two different"),
        ):
            mia.execute(FORGERIES["approve"])  # type: ignore[arg-type]
        two = await decide(second, found.id, APPROVE, MAX, (REFUNDS,))
        assert isinstance(two, Approved)
    finally:
        await first.close()
        await second.close()


async def test_f15_nobody_approves_their_own_by_console_core_or_plain_sql(
    house: World, logins: str
) -> None:
    ticket = await house.opened()
    store = opened(logins, MIA.name)
    hands = replace(house.house, store=store)
    try:
        await take_over(store, ticket, MIA)
        known = IdentityChanged(
            verified=True, customer="c-1", name=None, method="phone", evidence="called"
        )
        await verify(store, ticket, MIA, known)
        wanted = {"order_id": "O-1", "amount": "80.00"}
        asked = await use_tool(hands, ticket, MIA, REFUNDS.name, wanted)
        assert isinstance(asked, Proposed)
        name = asked.decision.id
        assert isinstance(
            await decide(store, name, APPROVE, MIA, (REFUNDS,)), NotAllowed
        )
        less = replace(APPROVE, kind="override", input=wanted)
        assert isinstance(await decide(store, name, less, MIA, (REFUNDS,)), NotAllowed)
        with (
            plainly(logins, MIA) as mia,
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="own proposal"),
        ):
            mia.execute(FORGERIES["approve"])  # type: ignore[arg-type]
    finally:
        await store.close()
    assert house.shop.effects == 0


async def test_f16_a_demotion_counts_for_a_login_at_once(
    house: World, logins: str
) -> None:
    ticket = await waits(house)
    with plainly(logins, MIA) as mia:
        mia.execute("SELECT 1")
        demoted = await give_role(house.store, ADMIN, MIA.name, Role.AGENT)
        assert isinstance(demoted, Changed)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            mia.execute(FORGERIES["approve"])  # type: ignore[arg-type]
    assert (await house.decision(ticket)).decided_by is None


async def test_a_worker_s_login_runs_the_agent_and_is_no_person(
    house: World, logins: str
) -> None:
    assert await admit_worker(house.store, ADMIN, BOT) == ()
    ticket = await waits(house)
    found = await house.decision(ticket)
    await decide(house.store, found.id, APPROVE, ADMIN, (REFUNDS,))
    store = opened(logins, BOT)
    elsewhere = replace(house, store=store, house=replace(house.house, store=store))
    try:
        over = await work(elsewhere.house, ticket, house.feed, house.stopping)
        assert over is not None
        assert over.stop is Stop.ANSWERED
        assert len(await elsewhere.delivers()) == 1
        assert not await store.read(lambda tx: tx.busy())
    finally:
        await store.close()
    assert house.shop.effects == 1
    assert (await house.decision(ticket)).state.value == "executed"


async def test_a_supervisor_who_may_not_grant_is_told_what_has_to_be_run(
    house: World, logins: str, postgres: Cluster
) -> None:
    store = opened(logins, MIA.name)
    try:
        added = await add(store, MIA, BOT, Role.SUPERVISOR)
    finally:
        await store.close()
    assert isinstance(added, Changed)
    assert added.to_run[0] == 'CREATE ROLE "bot" LOGIN'
    assert all(s.startswith("GRANT ") for s in added.to_run[1:])
    with psycopg.connect(logins, autocommit=True) as admin:
        for statement in added.to_run:
            admin.execute(statement)  # type: ignore[arg-type]
    again = opened(logins, BOT)
    try:
        bot = Operator(name=BOT, role=Role.SUPERVISOR)
        moved = await give_role(again, bot, MIA.name, Role.AGENT)
        assert isinstance(moved, Changed)
    finally:
        await again.close()


async def test_f71_who_was_disabled_reads_nothing_more_until_enabled(
    house: World, logins: str
) -> None:
    await house.opened()
    look = "SELECT count(*) FROM journal"
    with plainly(logins, EVE) as eve:
        assert eve.execute(look).fetchone() is not None
        eve.rollback()
        await disable(house.store, ADMIN, EVE.name)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            eve.execute(look)
        eve.rollback()
        await enable(house.store, ADMIN, EVE.name)
        assert eve.execute(look).fetchone() is not None


async def test_the_owner_of_the_tables_keeps_their_rights_as_an_agent(
    house: World, logins: str
) -> None:
    moved = await give_role(house.store, MIA, ADMIN.name, Role.AGENT)
    assert isinstance(moved, Changed)
    assert moved.to_run == ()
    assert isinstance(await add(house.store, MIA, BOT, Role.AGENT), Changed)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("é" * 32, "at most 63 bytes; this has 64"),
        ("public", "keeps the name public for itself"),
        ("none", "keeps the name none"),
        ("pg_eve", "keeps the name pg_eve"),
    ],
)
async def test_a_name_that_is_no_login_of_its_own_is_refused_in_one_line(
    house: World, name: str, why: str
) -> None:
    refused = [
        await add(house.store, ADMIN, name, Role.AGENT),
        await admit_worker(house.store, ADMIN, name),
    ]
    people = await house.store.read(lambda tx: tx.operators())
    acts = await house.store.read(lambda tx: tx.house_acts())
    for said in refused:
        assert isinstance(said, NotPossible)
        assert why in said.why
        assert "\n" not in said.why
    assert name not in {o.name for o in people}
    assert [(a.act, a.whom) for a in acts[-2:]] == [("refused", name)] * 2


async def test_a_login_of_63_bytes_works_under_its_own_name(
    house: World, logins: str
) -> None:
    added = await add(house.store, ADMIN, LONGEST, Role.AGENT)
    assert isinstance(added, Changed)
    store = opened(logins, LONGEST)
    try:
        assert await store.read(lambda tx: tx.login()) == LONGEST
    finally:
        await store.close()
