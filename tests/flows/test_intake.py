"""Arrivals: appended at once, once, and to the right ticket (rules 3, 4 and 12)."""

import asyncio
from dataclasses import replace

import pytest

from core.errors import UnknownTicket
from core.flows.giving_back import GiveBack, give_back
from core.flows.handoff import NotPossible, reply, take_over
from core.flows.intake import bring_in, receive
from core.journal import Escalated, Message, Refused, Thinking
from core.ticket import Arrival, Attachment, Origin, Status, TicketId
from core.turn import Stop
from store.transaction import SqlStore
from tests.flows.world import ANA, World
from tests.worlds.letters import letter
from tests.zoo import HOSTILE


async def statuses(world: World, *tickets: TicketId) -> list[Status]:
    rows = await world.store.read(lambda tx: tx.queue_rows(tickets))
    return [{r.ticket: r.status for r in rows}[t] for t in tickets]


async def test_rule_04_the_same_message_twice_is_stored_once(world: World) -> None:
    first = await world.writes("hi")
    world.arrived -= 1
    again = await world.writes("hi")
    assert (first.duplicate, again.duplicate) == (False, True)
    assert (again.ticket, again.seq) == (first.ticket, first.seq)
    assert len(await world.journal(first.ticket)) == 1


async def test_rule_04_the_same_message_at_the_same_instant_is_stored_once(
    world: World, store_url: str
) -> None:
    other = SqlStore.open(store_url)
    elsewhere = replace(world, store=other)
    ids = {"external_id": "<same@example.com>"}
    try:
        both = await asyncio.gather(
            *(w.writes("hi", **ids) for w in (world, elsewhere, world, elsewhere))
        )
    finally:
        await other.close()
    assert len({r.ticket for r in both}) == 1
    assert sorted(r.duplicate for r in both) == [False, True, True, True]


async def test_f110_the_same_text_under_another_id_is_another_message(
    world: World,
) -> None:
    first = await world.writes("hello?")
    await world.writes("hello?", first.ticket)
    assert len(await world.journal(first.ticket, Message)) == 2


async def test_f110_another_text_under_the_same_id_is_kept_and_flagged_once(
    world: World,
) -> None:
    first = await world.writes("hi")
    for _ in range(2):
        again = await world.writes("other", external_id="<m1@example.com>")
        assert again.duplicate
        assert again.ticket == first.ticket
    (flagged,) = await world.journal(first.ticket, Refused)
    assert "another text under the id of message #1" in flagged.body.what  # type: ignore[union-attr]
    told = await world.journal(first.ticket, Message)
    assert [e.body.text for e in told] == ["hi", "other"]  # type: ignore[union-attr]


async def test_f110_a_strangers_message_under_a_known_id_does_not_join(
    world: World,
) -> None:
    first = await world.writes("hi")
    other = await world.writes(
        "mine", external_id="<m1@example.com>", sender="else@example.com"
    )
    assert other.ticket != first.ticket
    (kept,) = await world.journal(other.ticket, Message)
    assert kept.body.named == first.ticket  # type: ignore[union-attr]


async def test_f48_five_messages_and_two_workers_are_one_answer(
    world: World, store_url: str
) -> None:
    ticket = await world.opened("m0")
    for n in range(1, 5):
        await world.writes(f"m{n}", ticket)
    other = SqlStore.open(store_url)
    elsewhere = replace(world, house=replace(world.house, store=other))
    try:
        stops = await asyncio.gather(world.runs(ticket), elsewhere.runs(ticket))
    finally:
        await other.close()
    assert sorted(map(str, stops)) == ["None", "answered"]
    (body,) = world.model.bodies
    assert all(f"m{n}" in str(body["messages"]) for n in range(5))
    assert len(await world.delivers()) == 1


async def test_rule_03_a_message_is_stored_while_a_person_holds(world: World) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    seq = (await world.writes("more", ticket)).seq
    chart = await world.chart(ticket)
    assert chart.standing.last_buyer_seq == seq
    assert len(chart.standing.unanswered) == 2


async def test_rule_03_a_reply_covers_only_what_its_author_had_seen(
    world: World,
) -> None:
    ticket = await world.opened()
    await take_over(world.store, ticket, ANA)
    seen = (await world.chart(ticket)).standing.last_seq
    later = await world.writes("wait, one more thing", ticket)
    await reply(world.store, ticket, ANA, "done", seen=seen)
    unanswered = (await world.chart(ticket)).standing.unanswered
    assert [seq for seq, _ in unanswered] == [later.seq]
    await give_back(world.store, ticket, ANA, GiveBack(to="agent"))
    assert await world.due() == (ticket,)


# To which ticket


async def test_an_answer_to_our_mail_joins_its_ticket(world: World) -> None:
    ticket = await world.opened()
    await world.runs(ticket)
    (sent,) = await world.delivers()
    joined = await world.writes("thanks", in_reply_to=sent["message_id"])
    by_reference = await world.writes(
        "and?", references=("<m1@example.com>", "<unknown@example.com>")
    )
    assert joined.ticket == ticket == by_reference.ticket


async def test_a_new_subject_or_the_same_address_opens_a_new_ticket(
    world: World,
) -> None:
    first, second = await world.opened(), await world.opened()
    assert first != second


async def test_f28_a_stranger_s_mail_goes_to_people_and_not_into_the_ticket(
    world: World,
) -> None:
    ticket = await world.opened()
    forged = {"sender": "eve@example.com", "references": ("<m1@example.com>",)}
    by_reference = await world.writes("send me the money", **forged)
    by_name = await world.writes("it is me", ticket, sender="eve@example.com")
    assert ticket not in {by_reference.ticket, by_name.ticket}
    assert len(await world.journal(ticket, Message)) == 1
    assert await statuses(world, by_reference.ticket, by_name.ticket) == (
        [Status.NEEDS_HUMAN] * 2
    )
    assert await world.due() == (ticket,)


async def test_f28_an_unknown_ticket_number_is_a_stranger_s(world: World) -> None:
    received = await world.writes("about T-NONE", TicketId("T-NONE"))
    assert received.ticket != "T-NONE"
    assert await statuses(world, received.ticket) == [Status.NEEDS_HUMAN]


async def test_f35_who_was_in_copy_may_write_and_the_buyer_s_stays_the_buyer_s(
    world: World,
) -> None:
    first = await world.writes("hi", cc=("Friend@Example.com", "staff@shop.example"))
    friend = await world.writes("me too", first.ticket, sender="friend@example.com")
    assert friend.ticket == first.ticket
    entries = await world.journal(first.ticket, Message)
    assert [e.body.direction for e in entries] == ["in", "in"]  # type: ignore[union-attr]
    assert entries[1].actor.name == "friend@example.com"
    assert await world.due() == (first.ticket,)


async def test_what_was_attached_is_described(world: World) -> None:
    file = Attachment(name="../../x\x00.png", type="image/png", size=3)
    received = await world.writes("", attachments=(file,), subject="")
    (entry,) = await world.journal(received.ticket, Message)
    assert entry.body.attachments == (  # type: ignore[union-attr]
        {"name": "../../x\x00.png", "type": "image/png", "size": 3},
    )
    assert await world.runs(received.ticket) is Stop.ANSWERED


@pytest.mark.parametrize("name", HOSTILE)
async def test_rule_12_hostile_text_is_kept_as_it_came(world: World, name: str) -> None:
    text = HOSTILE[name]
    received = await world.writes(text, subject=text, sender="b\x00\ud800@example.com")
    (entry,) = await world.journal(received.ticket, Message)
    assert entry.body.text == text  # type: ignore[union-attr]
    assert await world.runs(received.ticket) is Stop.ANSWERED


# Imported conversations


TALK = [
    {"role": "user", "content": "Where is O-1?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "t1", "name": "get_order", "input": {"id": "1"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "shipped"},
            {"type": "image", "source": {"type": "url", "url": "https://example.com"}},
        ],
    },
    {"role": "assistant", "content": "It was shipped."},
]


async def test_a_finished_conversation_becomes_a_resolved_ticket(world: World) -> None:
    brought = await bring_in(
        world.store, world.house.ids, source_id="c1", subject=None, messages=TALK
    )
    again = await bring_in(
        world.store, world.house.ids, source_id="c1", subject=None, messages=TALK
    )
    assert again.duplicate
    assert again.ticket == brought.ticket
    chart = await world.chart(brought.ticket)
    assert chart.ticket.origin is Origin.IMPORTED
    assert chart.ticket.subject == "Where is O-1?"
    assert [e.kind for e in chart.journal] == [
        *("message", "message", "tool_call", "tool_result", "thinking", "message"),
        "lock",
    ]
    assert await statuses(world, brought.ticket) == [Status.RESOLVED]
    assert await world.due() == ()
    assert chart.standing.unanswered == chart.standing.on_their_way == ()
    assert len(await world.journal(brought.ticket, Thinking)) == 1


async def test_an_imported_ticket_is_never_the_agent_s(world: World) -> None:
    brought = await bring_in(
        world.store, world.house.ids, source_id="c1", subject="s", messages=TALK
    )
    ticket = brought.ticket
    await take_over(world.store, ticket, ANA)
    back = await give_back(world.store, ticket, ANA, GiveBack(to="agent"))
    assert isinstance(back, NotPossible)
    await give_back(world.store, ticket, ANA, GiveBack(to="resolved"))
    await world.store.write(lambda tx: tx.add_participants(ticket, ["b@example.com"]))
    await world.writes("again", ticket, sender="b@example.com")
    assert await world.due() == ()
    assert await world.runs(ticket) is None
    assert len(await world.journal(ticket, Escalated)) == 1


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "system", "content": "x"}],
        [{"role": "user"}],
        [{"role": "user", "content": 7}],
        [{"role": "user", "content": ["x"]}],
        [{"role": "user", "content": [{"type": "text"}]}],
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]}],
    ],
)
async def test_a_bad_conversation_is_refused_whole_with_one_line(
    lite: World, messages: list[dict[str, object]]
) -> None:
    good = [{"role": "user", "content": "hi"}] if messages else []
    with pytest.raises(ValueError, match="message") as raised:
        await bring_in(
            lite.store,
            lite.house.ids,
            source_id="c1",
            subject=None,
            messages=[*good, *messages],  # type: ignore[list-item]
        )
    assert "\n" not in str(raised.value)
    assert await lite.store.read(lambda tx: tx.counts("ana"))
    assert not await lite.store.read(lambda tx: tx.arrived("import", "c1"))


async def test_an_unknown_ticket_is_said_to_be_none(lite: World) -> None:
    with pytest.raises(UnknownTicket):
        await take_over(lite.store, TicketId("T-NONE"), ANA)
    with pytest.raises(UnknownTicket):
        await lite.chart(TicketId("T-NONE"))


async def test_arrivals_from_two_processes_leave_no_gap(
    world: World, store_url: str
) -> None:
    ticket = await world.opened()
    other = SqlStore.open(store_url)
    try:
        arrivals = [
            receive(
                store,
                world.house.ids,
                _message(ticket, f"<{who}{n}@example.com>"),
            )
            for n in range(10)
            for who, store in (("a", world.store), ("b", other))
        ]
        seqs = [r.seq for r in await asyncio.gather(*arrivals)]
    finally:
        await other.close()
    assert sorted(seqs) == list(range(2, 22))


def _message(ticket: TicketId, external_id: str) -> Arrival:
    return letter(external_id, "hi", ticket, subject="")
