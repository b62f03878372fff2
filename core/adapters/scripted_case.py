"""Where a matter stands, as far as a request tells: the scripted model's picture of it.

Made from `scripted_reader.Reading` alone. What colleagues said comes from the facts in
the request; what is not among them can't be in an answer, and what is there is in it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from core.adapters.scripted_reader import Call, Reading
from core.adapters.scripted_words import Named, named, wish
from core.ticket import Json, JsonObject

_BOOKKEEPING = frozenset(
    {"set_triage", "update_state", "escalate", "withdraw_decision"}
)
_READS = frozenset(
    {
        "find_customer",
        "get_order",
        "list_orders",
        "track_parcel",
        "check_voucher",
        "get_policy_text",
    }
)
_OPEN_WISHES = frozenset({"unknown", "thanks", "news", "recall"})

_HEAD = re.compile(
    r"^\[#(?P<seq>\d+), [^\]\n]+\] (?P<head>[^\n]+?)[:.]?$(?P<quoted>(?:\n> ?[^\n]*)*)",
    re.MULTILINE,
)
_WORDS = re.compile(
    r"Your colleague (?P<name>.+?) \(a person\) "
    r"(?P<way>answered the buyer|left a note for you)"
)
_VERIFIED = re.compile(
    r"The buyer is verified as "
    r"(?:(?P<name>.+) \(customer (?P<id>\S+)\)|(?P<bare>\S+)) by"
)
_VERDICT = re.compile(
    r"(?P<state>approved|rejected|decided) the proposal (?P<id>\S+) \((?P<tool>\w+)\)"
)
_CAME_TO = re.compile(
    r"\S+ \((?P<tool>\w+)\) (?P<how>was carried out|failed|was not carried out)"
)
_BACK = re.compile(r"took the message #(?P<seq>\d+) back unsent")
_USED = re.compile(r"used the tool (?P<tool>\w+)$")
_PROPOSED = re.compile(r"Proposed as (\S+?);")


def _json_object(text: str) -> Mapping[str, Json]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact: its line and what it quotes."""

    head: str
    quoted: str
    at: int
    seq: int

    def data(self) -> Mapping[str, Json]:
        """Give the quoted JSON object; empty when it is none."""
        return _json_object(self.quoted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What a colleague said: to the buyer, or in a note to the agent."""

    name: str
    text: str
    to_buyer: bool
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a proposal; `state` is approved, rejected or expired."""

    state: str
    quoted: str
    at: int

    def arguments(self) -> Mapping[str, Json]:
        """Give the arguments that were approved; empty when none are quoted."""
        return _json_object(self.quoted)


# without slots: cached properties need a place
@dataclass(frozen=True, kw_only=True)
class Case:
    """A matter as the request shows it."""

    reading: Reading

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What Handoff tells, oldest first."""
        return tuple(
            Fact(
                head=found["head"],
                quoted=re.sub(r"^> ?", "", found["quoted"].strip(), flags=re.MULTILINE),
                at=voice.at,
                seq=int(found["seq"]),
            )
            for voice in self.reading.said_by("house")
            for found in _HEAD.finditer(voice.text)
        )

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """What colleagues said and did not take back, oldest first."""
        backs = (_BACK.search(fact.head) for fact in self.facts)
        unsaid = {int(back["seq"]) for back in backs if back is not None}
        return tuple(
            Word(
                name=found["name"],
                text=fact.quoted,
                to_buyer=found["way"].startswith("answered"),
                at=fact.at,
            )
            for fact in self.facts
            if (found := _WORDS.match(fact.head)) and fact.seq not in unsaid
        )

    @cached_property
    def answered_at(self) -> int:
        """The place of the agent's last words to the buyer; -1 when there are none."""
        said = self.reading.said_by("agent")
        return said[-1].at if said else -1

    @cached_property
    def fresh_words(self) -> tuple[Word, ...]:
        """What colleagues told the buyer since the agent last answered."""
        return tuple(w for w in self.words if w.to_buyer and w.at > self.answered_at)

    @cached_property
    def new(self) -> str:
        """What the buyer wrote since our side last dealt with the matter."""
        ends = [word.at for word in self.words if word.to_buyer]
        ends += [fact.at for fact in self.facts if "has given it back" in fact.head]
        ends += [call.at for call in self.reading.called("escalate")]
        said = self.reading.said_by("buyer", since=max([self.answered_at, *ends]))
        return "\n".join(voice.text for voice in said)

    @cached_property
    def all(self) -> str:
        """All that the buyer wrote, oldest first."""
        return "\n".join(voice.text for voice in self.reading.said_by("buyer"))

    @cached_property
    def named(self) -> Named:
        """What the buyer's words name, the subject first."""
        return named("\n".join([self.subject, self.all]))

    @cached_property
    def subject(self) -> str:
        """The ticket's subject."""
        return "\n".join(voice.text for voice in self.reading.said_by("heading"))

    @cached_property
    def new_wish(self) -> str:
        """What the new words want; a colleague's note wants it where they are none."""
        notes = [w for w in self.words if not w.to_buyer and w.at > self.answered_at]
        if not self.new and notes:
            return wish(notes[-1].text)
        return wish(self.new)

    @cached_property
    def wish(self) -> str:
        """What the buyer wants: now, or else the last thing that was wanted."""
        if self.new_wish not in _OPEN_WISHES:
            return self.new_wish
        for voice in reversed(self.reading.said_by("buyer")):
            if (found := wish(voice.text)) not in _OPEN_WISHES:
                return found
        meant = wish(self.subject)
        return self.new_wish if meant in _OPEN_WISHES else meant

    @cached_property
    def order(self) -> str | None:
        """The order that the buyer named last."""
        return self.named.orders[-1] if self.named.orders else None

    @cached_property
    def revoked(self) -> bool:
        """Whether a person took the verified identity back."""
        told = [f.head for f in self.facts if "identity" in f.head or _verified(f)]
        taken = ("revoked the buyer's identity", "identity is in question")
        return bool(told) and any(words in told[-1] for words in taken)

    @cached_property
    def customer(self) -> "JsonObject | None":
        """Who the buyer is verified to be, as `customer_id` and `name`."""
        if self.revoked:
            return None
        for fact in reversed(self.facts):
            if found := _verified(fact):
                who = found["id"] or found["bare"]
                return {"customer_id": who, "name": found["name"] or ""}
        for call in reversed(self.reading.called("find_customer")):
            if call.result and not call.is_error and "customer_id" in call.data():
                return call.data()
        return None

    def tried(self, tool: str, **arguments: str) -> Call | None:
        """Give the last call of a tool with these arguments among its own."""
        for call in reversed(self.reading.called(tool)):
            if all(call.input.get(name) == value for name, value in arguments.items()):
                return call
        return None

    @cached_property
    def consequential(self) -> Call | None:
        """The last call that was to change something in the shop."""
        reads = _READS | _BOOKKEEPING
        acts = [call for call in self.reading.calls if call.name not in reads]
        return acts[-1] if acts else None

    @cached_property
    def all_told(self) -> bool:
        """Whether the buyer adds nothing to a matter that was looked up and told."""
        if not self.new or self.new_wish != "unknown" or named(self.new).any():
            return False
        worked = [c for c in self.reading.calls if c.name not in _BOOKKEEPING]
        if not worked or worked[-1].at > self.answered_at:
            return False
        last = worked[-1]
        open_yet = last.is_error or proposal(last) or turned_down(last) is not None
        return not open_yet

    def by_colleague(self, tool: str) -> bool:
        """Tell whether a colleague has used this tool on the matter."""
        used = [_USED.search(fact.head) for fact in self.facts]
        return any(found is not None and found["tool"] == tool for found in used)

    def verdict(self, call: Call) -> Verdict | None:
        """What was decided of a call that waits, or None as long as nothing was."""
        proposed = proposal(call)
        for fact in reversed(self.facts):
            found = _VERDICT.search(fact.head)
            if found is not None and found["id"] == proposed:
                state = {"decided": "expired"}.get(found["state"], found["state"])
                return Verdict(state=state, quoted=fact.quoted, at=fact.at)
        return None

    def outcome(self, tool: str) -> tuple[Fact, bool] | None:
        """What an approved call of a tool came to, and whether it was carried out."""
        for fact in reversed(self.facts):
            found = _CAME_TO.match(fact.head)
            if found is not None and found["tool"] == tool:
                return fact, found["how"] == "was carried out"
        return None


def _verified(fact: Fact) -> "re.Match[str] | None":
    return _VERIFIED.match(fact.head)


def proposal(call: Call) -> str | None:
    """The id of the decision that a call's result says it waits for, or None."""
    found = _PROPOSED.search(call.result or "")
    return found.group(1) if found else None


def ran_out(call: Call) -> bool:
    """Whether nobody decided on a proposed call in time."""
    result = call.result or ""
    return result.startswith("Not done: nobody decided") or (
        result.startswith("Not done: the approval of") and "has expired" in result
    )


def turned_down(call: Call) -> str | None:
    """Why a proposed call was not done: the reason, "" for none given, None if not."""
    result = call.result or ""
    if "the proposal was rejected" in result:
        return result.partition("Reason: ")[2]
    if result.startswith("Not done: "):
        return ""
    return None
