"""The two things that the scripted model can do in a turn, and how it hands over."""

from dataclasses import dataclass
from typing import TypeAlias

from core.adapters import scripted_letters as letters
from core.adapters.scripted_case import Case
from core.ticket import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """An answer to the buyer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A tool call."""

    name: str
    input: JsonObject


Step: TypeAlias = "Say | Use"


def hand_over(case: Case, reason: str) -> tuple[Step, ...]:
    """Give the call that hands the ticket to people, with what they must know."""
    done = case.consequential
    tried = f"{done.name}: {(done.result or '')[:120]}" if done else "nothing yet"
    about = f"order {case.order}" if case.order else "no order named"
    given: dict[str, Json] = {
        "reason": reason,
        "tried": tried,
        "summary": f"Wish: {case.wish}; {about}. {letters.quoted(case.new, 200)}",
        "message_to_buyer": letters.handed_over(case),
    }
    return (Use(name="escalate", input=given),)
