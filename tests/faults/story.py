"""What a buyer, an agent, a shop and a supervisor do: small, and the same each time.

The agent's brain decides from the request alone. What people do, they do at a given
place (`happens`): after a tool's effect or a delivery, within the worker's process,
or between two workers; each time it is done as often as the place is passed, since
all of it may be done twice (rule 4 and 6).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.wiring import RandomIds
from core.decision import Operator, Role, Verdict
from core.flows import intake, supervise
from core.ports import Store
from core.ticket import TicketId
from core.tool import FREE, ToolSpec
from tests.faults import shop
from tests.worlds.brains import Brain, Call, Reply, calls_in, text_of
from tests.worlds.letters import letter

SUP = Operator(name="sup", role=Role.SUPERVISOR)
ORDER = {"order_id": "W-1"}
REFUND = {**ORDER, "amount": "20.00"}
LESS = {**ORDER, "amount": "15.00"}
MOVED = {**ORDER, "address": "12 Elm Street"}
TICKET = TicketId("T-0000001")

CONFIG = """
[agent]
model = "claude-sonnet-5-5"
prompt = "prompt.md"
lease = "{lease}"
[tools.find_order]
establishes_identity = "matched_order"
customer = "customer"
[tools.change_address]
consequence = "reversible"
object = "order_id"
idempotency = "key"
timeout = "5s"
[tools.refund_order]
consequence = "money"
approve = "always"
object = "order_id"
amount = "amount"
identity = true
idempotency = "key"
timeout = "5s"
[tools.send_label]
consequence = "reversible"
timeout = "5s"
[channels.mail]
kind = "jsonl"
path = "replies.jsonl"
[[tool_servers]]
name = "shop"
command = {command}
env = {{ {env} }}
"""


class FixedIds:
    """One ticket, always of the same name (`core.ports.Ids`)."""

    def new(self, prefix: str) -> str:
        """The name."""
        return TICKET if prefix == "T" else RandomIds().new(prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One ticket's story.

    Attributes:
        name: For messages.
        brain: The agent's.
        happens: What people do at a place: `said N` is the buyer's N-th message,
            `approve` and `override` a supervisor's verdict.
        said: The buyer's messages; the first opens the ticket.
        replies: What the buyer is told, in order.
        effects: What happens in the shop, in order: tool and arguments.
        people: Whether it ends with people.
        doubtful: A tool that may not be tried again: cut between its intent and its
            result, the story ends with people instead.
    """

    name: str
    brain: Brain
    said: tuple[str, ...]
    replies: tuple[str, ...]
    effects: tuple[tuple[str, Mapping[str, Any]], ...]
    happens: Mapping[str, str] = field(default_factory=dict)
    people: bool = False
    doubtful: str | None = None


def write_config(folder: Path, *, lease: str) -> Path:
    """The configuration of a worker in this folder."""
    (folder / "prompt.md").write_text("Help the buyer.\n")
    env = shop.environment(folder / "books.jsonl")
    pairs = ", ".join(f"{k} = {json.dumps(v)}" for k, v in env.items())
    command = json.dumps(shop.command())
    path = folder / "handoff.toml"
    path.write_text(CONFIG.format(lease=lease, command=command, env=pairs))
    return path


async def says(
    store: Store, text: str, number: int, ticket: TicketId | None = TICKET
) -> intake.Received:
    """The buyer's message of that number; said twice it is stored once."""
    opened = ticket if number > 1 else None
    arrival = letter(f"<m{number}@example.com>", text, opened)
    return await intake.receive(store, FixedIds(), arrival)


async def happens(story: Story, place: str, store: Store) -> bool:
    """Does what people do at this place; says whether there was anything to do."""
    what = story.happens.get(place)
    match what.split() if what is not None else []:
        case ["said", number]:
            text = story.said[int(number) - 1]
            return not (await says(store, text, int(number))).duplicate
        case ["approve"]:
            return await _decide(store, "approve")
        case ["override"]:
            return await _decide(store, "override")
        case ["reject"]:
            return await _decide(store, "reject")
        case _:
            return False


async def _decide(store: Store, kind: str) -> bool:
    history = await store.read(lambda tx: tx.history(TICKET))
    pending = [d for d in history.decisions if d.state.value == "pending"]
    for decision in pending:
        verdict = Verdict(
            kind=kind,  # type: ignore[arg-type]
            input=LESS if kind == "override" else None,
            why="as agreed",
            seen=history.newest_buyer_seq(),
        )
        await supervise.decide(store, decision.id, verdict, SUP, (_refunds(),))
    return bool(pending)


def _refunds() -> ToolSpec:
    properties = {name: {"type": "string"} for name in REFUND}
    schema = {"type": "object", "properties": properties, "required": list(REFUND)}
    return ToolSpec(
        name="refund_order", description="", input_schema=schema, policy=FREE
    )


def _asked(body: dict[str, Any]) -> list[str]:
    return [use["name"] for use, _ in calls_in(body)]


def long_brain(body: dict[str, Any]) -> Reply:
    """Looks up, moves, proposes, looks again, answers, and calls a person."""
    asked, told = _asked(body), text_of(body)
    if "find_order" not in asked:
        triage = {"category": "refund", "priority": "normal"}
        return _calls(("set_triage", triage), ("find_order", ORDER))
    if "change_address" not in asked:
        return _calls(("change_address", MOVED), ("refund_order", REFUND))
    if "check_stock" not in asked:
        return _calls(("check_stock", ORDER))
    if LONG.said[2] in told:
        given = {"reason": "asked for a person", "tried": "all", "summary": "done"}
        return _calls(("escalate", given | {"message_to_buyer": PERSON}))
    return Reply(text=ALL_DONE if "refund_order done" in told else "not refunded yet")


def verdict_brain(body: dict[str, Any]) -> Reply:
    """Proposes, and answers once the verdict is known."""
    asked, told = _asked(body), text_of(body)
    if "find_order" not in asked:
        return _calls(("find_order", ORDER), ("refund_order", REFUND))
    if "refund_order done" in told:
        return Reply(text="We have refunded a part.")
    return Reply(text="We can't refund it." if "rejected" in told else "It waits.")


def label_brain(body: dict[str, Any]) -> Reply:
    """Sends a label, which no key protects."""
    if "send_label" not in _asked(body):
        return _calls(("send_label", ORDER))
    return Reply(text="The label is on its way.")


def _calls(*asked: tuple[str, Mapping[str, Any]]) -> Reply:
    return Reply(calls=[Call(name=name, input=given) for name, given in asked])


PERSON = "Somebody will write to you."
ALL_DONE = "The address is changed and the money is on its way."

LONG = Story(
    name="long",
    brain=long_brain,
    said=("Please refund W-1.", "And it goes to 12 Elm Street.", "A human, please."),
    replies=(ALL_DONE, PERSON),
    effects=(("change_address", MOVED), ("refund_order", REFUND)),
    happens={
        "tool change_address": "said 2",
        "tool check_stock": "approve",
        "delivered": "said 3",
    },
    people=True,
)
OVERRIDDEN = Story(
    name="overridden",
    brain=verdict_brain,
    said=("Please refund W-1.",),
    replies=("We have refunded a part.",),
    effects=(("refund_order", LESS),),
    happens={"idle": "override"},
)
REJECTED = Story(
    name="rejected",
    brain=verdict_brain,
    said=("Please refund W-1.",),
    replies=("We can't refund it.",),
    effects=(),
    happens={"idle": "reject"},
)
LABEL = Story(
    name="label",
    brain=label_brain,
    said=("Please send a label.",),
    replies=("The label is on its way.",),
    effects=(("send_label", ORDER),),
    doubtful="send_label",
)
STORIES = (LONG, OVERRIDDEN, REJECTED, LABEL)
