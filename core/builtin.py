"""The agent's own tools: they change only the ticket, in one transaction each."""

from core.ticket import JsonObject
from core.tool import FREE, ToolSpec

SET_TRIAGE = "set_triage"
UPDATE_STATE = "update_state"
ESCALATE = "escalate"
WITHDRAW = "withdraw_decision"

CATEGORIES = (
    "delivery",
    "return",
    "refund",
    "damaged",
    "billing",
    "account",
    "product",
    "other",
)
PRIORITIES = ("low", "normal", "high", "urgent")


def _schema(required: list[str], **properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _builtin(name: str, description: str, schema: JsonObject) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        input_schema=schema,
        policy=FREE,
        builtin=True,
    )


BUILTINS = (
    _builtin(
        ESCALATE,
        "Hand the ticket to people and end your work on it. Use it when you are "
        "unsure, when the request is outside your tools, or when the buyer asks for "
        "a person. Never promise a colleague without calling it.",
        _schema(
            ["reason", "tried", "summary"],
            reason={"type": "string", "description": "Why people are needed."},
            tried={"type": "string", "description": "What you tried."},
            summary={"type": "string", "description": "What a colleague must know."},
            message_to_buyer={
                "type": "string",
                "description": "What the buyer is told now; leave out to say nothing.",
            },
        ),
    ),
    _builtin(
        SET_TRIAGE,
        "Set the ticket's category and priority, once. A follow-up keeps them; to "
        "change them on purpose, say change=true.",
        _schema(
            ["category", "priority"],
            category={"type": "string", "enum": list(CATEGORIES)},
            priority={"type": "string", "enum": list(PRIORITIES)},
            change={"type": "boolean"},
        ),
    ),
    _builtin(
        UPDATE_STATE,
        "Amend your working state on this ticket (order, what was agreed, what you "
        "wait for) by a JSON merge patch. Colleagues read it.",
        _schema(["patch"], patch={"type": "object"}),
    ),
    _builtin(
        WITHDRAW,
        "Withdraw a proposal that still waits for a supervisor's decision.",
        _schema(
            ["decision", "why"],
            decision={"type": "string"},
            why={"type": "string"},
        ),
    ),
)
"""All of them, in the order in which the model is shown them."""
