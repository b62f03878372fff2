"""A few tickets of an invented shop, for what is said in lines."""

from datetime import timedelta

from core.journal import Thinking
from core.ledger import ActionState
from core.ticket import JsonObject, RunId, agent
from core.turn import Stop
from tests.console.scenes import Scene
from tests.console.shown import NOW

COUNTS = {
    "human": 5,
    "approvals": 1,
    "mine": 1,
    "agent": 2,
    "waiting": 120,
    "all": 1204,
}


def kitchen() -> Scene:
    """The long one: helped twice, held by a person between, a refund proposed."""
    s = Scene(
        "T-40219",
        "Half of my kitchen arrived",
        "d.okoye@example.com",
        NOW - timedelta(days=2, hours=18, minutes=44),
    )
    s.asks(
        "Half of my kitchen came today, the other half has been “in transit” for a"
        " week. I want the delivery fee back, and the part that never came too."
    )
    s.later(seconds=4).run("R-9F31")
    s.triage("delivery", "high")
    s.calls(
        "find_customer",
        {"order_id": "SU-88421", "postcode": "2311"},
        '{"customer_id": "C-5512", "name": "Dana Okoye"}',
        took=0.2,
    )
    s.verified("C-5512", "Dana Okoye", "find_customer SU-88421, postcode 2311")
    s.later(seconds=3).calls(
        "track_parcel",
        {"order_id": "SU-88421", "part": 2},
        "with the carrier since 3 March, no scan since",
        took=0.9,
    )
    s.later(seconds=5).turns(6, 28_400, 1_200)
    s.acts("A-77K1", "refund_order", "12.90", ActionState.DONE)
    s.answers(
        "I'm sorry about the split delivery. The delivery fee of 12.90 EUR is on its"
        " way back to your card. I've asked a colleague about the missing part."
    )
    s.ends(Stop.ANSWERED)
    s.later(minutes=8).taken("Noor")
    s.later(minutes=4).writes(
        "Noor",
        "I called the carrier: part 2 should reach you on Thursday. You keep the"
        " refund of the fee either way.",
    )
    s.note(
        "Noor", "Do not offer the part's price again before Thursday.", for_agent=True
    )
    s.later(minutes=21).given_back("Noor")
    s.at = NOW - timedelta(minutes=4)
    s.asks("Nothing came. Please refund all of it as agreed.")
    s.later(seconds=5).run("R-A07C")
    thought = said("I look where part 2 is now.")
    s.turn(
        thought,
        used(s, "track_parcel", {"order_id": "SU-88421", "part": 2}, after=1),
    )
    s.add(agent(RunId(s.run_id)), Thinking(block=thought))
    s.calls(
        "track_parcel",
        {"order_id": "SU-88421", "part": 2},
        "carrier: lost between depots, claim opened",
        took=1.1,
    )
    s.turn(used(s, "get_order", {"order_id": "SU-88421"}))
    s.calls(
        "get_order",
        {"order_id": "SU-88421"},
        "tracking service timed out",
        wrong=True,
        took=2.0,
    )
    s.state(
        {
            "order": "SU-88421, part 2 of 2",
            "next": "refund part 2",
            "waits for": "a supervisor",
        }
    )
    s.proposes(
        "D-118",
        {
            "order_id": "SU-88421",
            "amount": "118.00",
            "currency": "EUR",
            "reason": "part 2 lost by the carrier",
        },
        "118.00",
        "money over 50.00",
    )
    s.ends(Stop.AWAITING_DECISION)
    return s


def said(text: str) -> JsonObject:
    """What the model says beside its calls."""
    return {"type": "text", "text": text}


def used(
    scene: Scene, name: str, arguments: JsonObject, *, after: int = 0
) -> JsonObject:
    """The model's call that is journaled next, or after so many entries."""
    call = f"call-{len(scene.entries) + after}"
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def parcel() -> Scene:
    """Yours, with a reply of the agent withheld."""
    s = Scene(
        "T-40231",
        "Parcel went to the wrong house",
        "j.brandt@example.com",
        NOW - timedelta(minutes=11),
    )
    s.asks("My parcel was left at number 14. I live at 41, as it says on the label.")
    s.run("R-B20E")
    s.calls(
        "find_customer",
        {"email": "j.brandt@example.com", "order_id": "SU-90110"},
        '{"customer_id": "C-7741", "name": "Jonas Brandt"}',
    )
    s.verified("C-7741", "Jonas Brandt", "find_customer SU-90110, same address")
    s.triage("delivery", "normal").turns(3, 8_200, 350)
    s.answers("Could you ask at number 14 first?", "withheld")
    s.ends(Stop.HANDED_OVER)
    s.later(minutes=2).taken("Noor")
    return s


def with_mira() -> Scene:
    """A colleague's."""
    s = Scene(
        "T-40198",
        "Chair leg missing from the box",
        "tomas@example.com",
        NOW - timedelta(minutes=31),
    )
    s.asks("One leg is missing.").run("R-E500")
    s.verified("C-1180", "Tomás Vidal", "find_customer SU-66120, postcode")
    s.ends(Stop.ANSWERED)
    s.later(minutes=19).taken("Mira")
    return s


def at_work(ticket: str, subject: str, claim: str, turn: int, name: str) -> Scene:
    """At the agent."""
    s = Scene(ticket, subject, claim, NOW - timedelta(seconds=8))
    s.asks("Please tell me where it is.").run(f"R-{ticket[-3:]}")
    if name:
        s.verified("C-3001", name, "find_customer, postcode")
    return s.turns(turn, 4_000, 200)
