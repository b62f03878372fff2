"""The desk of the pictures: Sundry's buyers, on a morning that stands still.

The buyers, their subjects and their words are the demo's own (`story_data`). What the
agent and the people did is written here, since a picture needs a ticket that has been
through everything; ids and times are fixed, so that a picture only changes when the
look does.
"""

from datetime import timedelta

from console.demo.story_data import TALES, Tale
from core.journal import Thinking
from core.ledger import ActionState
from core.ports import Pause
from core.ticket import JsonObject, RunId, TicketId, agent
from core.turn import Stop
from tests.console.scene_store import SceneStore
from tests.console.scenes import Scene
from tests.console.shown import NOW

DECIDED = TicketId("T-97H5DXC")
HELD = TicketId("T-TZAMEYV")
AT_WORK = TicketId("T-1JNBCQN")

STOPPED = Pause(by="Sam", why="wrong voucher terms in the prompt", at=NOW)

CANNED = {
    "ask the carrier": (
        '---\nstate: {"waits_for": "carrier"}\nnote: asked the carrier\n'
        "release: queue\n---\n"
        "I asked the carrier where your shelves are and write by Thursday."
    ),
    "bank asked": "Hello {name},\n\nI asked the bank and write by Thursday.",
    "refund done": "Your money for {order} is on its way back.",
    "sorry, late": "I am sorry. I look after your shelves myself from now on.",
}

_TALES = {tale.key: tale for tale in TALES}


def sundry() -> SceneStore:
    """All tickets, by harm, as a store that can be looked at."""
    scenes = [
        charged_twice(),
        angry(),
        doubt(),
        lawyer(),
        with_mira(),
        at_work(AT_WORK, "desk-neighbour", 3, "Hugo Lindqvist"),
        at_work("T-P47C1NG", "kettle-address", 1, ""),
        answered("T-357TAZG", "mug-broken", "Tomasz Wrona", 2),
        answered("T-D5H58CN", "rug-cancel", "Marguerite Aubin", 3),
        answered("T-XKHCEMV", "voucher-expired", "", 20),
        answered("T-W0PC3S8", "tray-arabic", "", 26),
        answered("T-6FD4QW8", "iceland", "", 45),
        resolved("T-9BWZZFV", "planter-where", "Darragh Keane"),
    ]
    counts = {"human": 3, "approvals": 1, "mine": 1, "agent": 2, "waiting": 5}
    run = RunId("R-A07C")
    return SceneStore(
        scenes,
        counts | {"all": len(scenes)},
        nearby=(("Mira", TicketId("T-JEV3XWE"), "typing"), ("Sam", DECIDED, "looks")),
        records={run: scenes[0].record(run)},
    )


def _scene(ticket: str, tale: Tale, ago: timedelta) -> Scene:
    scene = Scene(ticket, tale.subject, tale.sender, NOW - ago)
    return scene.asks(tale.said[0].text)


def charged_twice() -> Scene:
    """The long one: answered, held by a person for a while, a refund proposed."""
    tale = _TALES["charged-twice"]
    order = {"order_id": "SU-48204"}
    s = _scene(DECIDED, tale, timedelta(days=2, hours=18, minutes=44))
    s.later(seconds=4).run("R-9F31").triage("billing", "normal")
    s.calls(
        "find_customer",
        {"order_id": "SU-48204", "postcode": "20253"},
        '{"customer_id": "C-1004", "name": "Jonas Ehlert"}',
        took=0.2,
    )
    s.verified("C-1004", "Jonas Ehlert", "find_customer SU-48204, postcode 20253")
    paid = '{"status": "delivered", "total": "556.00", "charges": 2}'
    s.later(seconds=3).calls("get_order", order, paid, took=0.9)
    s.later(seconds=5).turns(4, 18_400, 620)
    s.answers(
        "Hello Jonas, I see both charges of 556.00 EUR. I have asked a colleague to"
        " look at the second one."
    )
    s.ends(Stop.ANSWERED)
    s.later(minutes=8).taken("Noor")
    s.later(minutes=4).writes(
        "Noor",
        "The second charge is only reserved so far. If it has not gone by Thursday,"
        " you get it back from us.",
    )
    s.note("Noor", "Refund it if the bank still holds it on Thursday.", for_agent=True)
    s.later(minutes=21).given_back("Noor")
    s.at = NOW - timedelta(minutes=4)
    s.asks(tale.said[1].text)
    s.later(seconds=5).run("R-A07C")
    thought = {"type": "text", "text": "I look whether the second charge still stands."}
    s.turn(thought, used(s, "get_order", order, after=1))
    s.add(agent(RunId(s.run_id)), Thinking(block=thought))
    s.calls("get_order", order, paid, took=1.1)
    voucher = {"order_id": "SU-48204", "since": "9 March"}
    s.turn(used(s, "list_refunds", voucher))
    s.calls("list_refunds", voucher, "the bank did not answer", wrong=True, took=2.0)
    s.state({"order": "SU-48204", "wants": "refund", "waits for": "a supervisor"})
    s.proposes(
        "D-118",
        {
            "order_id": "SU-48204",
            "amount": "556.00",
            "currency": "EUR",
            "reason": "charged twice, the second charge still stands",
        },
        "556.00",
        "money over 50.00",
    )
    return s.ends(Stop.AWAITING_DECISION)


def used(
    scene: Scene, name: str, arguments: JsonObject, *, after: int = 0
) -> JsonObject:
    """The model's call that is journaled next, or after so many entries."""
    call = f"call-{len(scene.entries) + after}"
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def angry() -> Scene:
    """Yours, with a reply of the agent withheld."""
    tale = _TALES["shelf-angry"]
    s = _scene(HELD, tale, timedelta(minutes=11))
    s.run("R-B20E").triage("delivery", "high").turns(3, 8_200, 350)
    s.answers("Could you tell me the postcode of the order?", "withheld")
    s.ends(Stop.HANDED_OVER)
    s.later(minutes=2).taken("Noor")
    return s.later(minutes=4).asks(tale.said[1].text)


def approved(store: SceneStore) -> None:
    """Mira lets a refund be carried out on the ticket that one holds."""
    s = next(scene for scene in store.scenes if scene.ticket == HELD)
    s.verified("C-1009", "Rui Falcato", "find_customer SU-48209, postcode 1200-054")
    refund = {
        "order_id": "SU-48209",
        "amount": "144.00",
        "currency": "EUR",
        "reason": "two weeks late",
    }
    s.later(minutes=1).proposes("D-121", refund, "144.00", "money over 50.00")
    s.later(minutes=1).decides("Mira")


def doubt() -> Scene:
    """A refund of which nobody knows whether it happened."""
    s = _scene("T-GBE7XAS", _TALES["vase"], timedelta(minutes=14))
    s.run("R-C001")
    s.verified("C-1008", "Sanna Koskela", "find_customer SU-48208, postcode 00100")
    s.acts("A-81M4", "refund_order", "46.00", ActionState.IN_DOUBT)
    return s.ends(Stop.ESCALATED)


def lawyer() -> Scene:
    """Handed to people."""
    s = _scene("T-K1QQXQZ", _TALES["sofa-lawyer"], timedelta(minutes=22))
    s.run("R-D410").escalated(
        "legal or press",
        "nothing yet",
        "Wish: refund; order SU-48210. The sofa has a broken frame; 890.00 EUR by"
        " Friday, or a lawyer takes over.",
    )
    return s.ends(Stop.ESCALATED)


def with_mira() -> Scene:
    """A colleague's."""
    s = _scene("T-JEV3XWE", _TALES["lamp-flickers"], timedelta(minutes=31))
    s.run("R-E500")
    s.verified("C-1019", "Élodie Marchetti", "find_customer SU-48221, postcode")
    return s.ends(Stop.ANSWERED).later(minutes=19).taken("Mira")


def at_work(ticket: str, tale: str, turn: int, name: str) -> Scene:
    """At the agent."""
    s = _scene(ticket, _TALES[tale], timedelta(seconds=8)).run(f"R-{ticket[-4:]}")
    if name:
        s.verified("C-1012", name, "find_customer SU-48213, postcode 411 38")
    return s.turns(turn, 4_000, 200)


def answered(ticket: str, tale: str, name: str, hours: int) -> Scene:
    """For its buyer."""
    s = _scene(ticket, _TALES[tale], timedelta(hours=hours)).run(f"R-{ticket[-4:]}")
    if name:
        s.verified("C-1002", name, "find_customer, postcode")
        s.answers(f"Hello {name.split()[0]}, it is done.")
    else:
        s.answers("Could you tell me the postcode of the order?")
    return s.ends(Stop.ANSWERED)


def resolved(ticket: str, tale: str, name: str) -> Scene:
    """Finished."""
    s = answered(ticket, tale, name, 70).taken("Mira")
    return s.given_back("Mira", "resolved")
