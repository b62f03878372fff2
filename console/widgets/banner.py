"""The most important line of the program: who has this ticket, and what it waits for.

It is the only solid colour on the screen besides a decision: accent for yours, amber
for what waits for a person, red for harm; an agent at work, a colleague or nobody
are quiet.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from console.measures import count, span_of, when
from console.widgets.sight import Sight
from console.widgets.spans import EMPTY, Line, Span, clip, ends, line, width_of
from console.wording import asleep_until, what_waits
from core.cleanse import one_line
from core.standing import Standing, status
from core.ticket import Status, TicketId

Keys: TypeAlias = tuple[tuple[str, str], ...]
"""Command and what it does, the most important first."""

HANGS = timedelta(seconds=45)
"""A model call that has lasted longer may never be answered: people should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """A take-over that this console has asked for.

    Attributes:
        ticket: Of which ticket.
        since: When it was asked.
    """

    ticket: TicketId
    since: datetime


def banner_line(
    ticket: TicketId,
    standing: Standing,
    sight: Sight,
    *,
    workers: int,
    taking: Taking | None = None,
) -> Line:
    """The banner in exactly the width: words at the left, keys at the right."""
    name = one_line(ticket, 40)
    said = _said(name, standing, sight, workers)
    if taking is not None and taking.ticket == ticket and standing.held_by != sight.me:
        waited = span_of(sight.now - taking.since)
        said = _Said(role="solid-yours", symbol="◐", words=_stopping(sight, waited))
    left, right = EMPTY, EMPTY
    for words, keys in said.tries(name):
        left, right = line((words, said.role)), _keys(keys, said.role, sight)
        if width_of(left) + width_of(right) + 3 <= sight.width:
            break
    return clip(ends(left, (*right, Span(" ", said.role)), sight.width), sight.width)


def _stopping(sight: Sight, waited: str) -> str:
    """What a take-over waits for: a tool's answer, or only the run."""
    if sight.tool is None:
        return f"Asking the agent to stop… {waited}"
    tool = one_line(sight.tool, 30)
    return f"Asking the agent to stop… {tool} is finished first, {waited}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a banner says.

    Attributes:
        role: The ground.
        symbol: One cell.
        words: In full.
        brief: The words that matter, where there is no room for all; "" for all.
        bare: The words without which there is nothing to say; "" for the brief ones.
        keys: What can be done about it.
    """

    role: str
    symbol: str
    words: str
    brief: str = ""
    bare: str = ""
    keys: Keys = ()

    def tries(self, name: str) -> list[tuple[str, Keys]]:
        """Words and the keys beside them, from the longest to the shortest.

        All keys are worth more than all words, and the ticket's name more than a
        second key.
        """
        least = self.bare or self.brief or self.words
        words, brief, named = (
            text if name in text else f"{name} · {text}"
            for text in (self.words, self.brief or self.words, least)
        )
        bare, keys = least, self.keys
        short = tuple((act, what.split()[0]) for act, what in keys)
        tries = [(words, keys), (brief, keys), (named, keys), (named, short)]
        tries += [(brief, keys[:1]), (named, keys[:1])]
        tries += [(bare, short), (bare, keys[:1])]
        return [(f" {self.symbol} {text}", shown) for text, shown in tries]


def _keys(keys: Keys, role: str, sight: Sight) -> Line:
    """The keys with what they do, each a span of its own."""
    return tuple(
        Span(f"{' · ' if n else ''}{sight.keys[act]} {what}", role, act)
        for n, (act, what) in enumerate(keys)
    )


_TAKE: Keys = (("take", "take over"),)


def _said(name: str, s: Standing, sight: Sight, workers: int) -> _Said:
    if s.held_by == sight.me and s.held_since is not None:
        return _mine(name, s, s.held_since, sight)
    if s.doubts:
        words = f"In doubt: {count(len(s.doubts), 'action')} without a known end"
        keys = () if s.held_by else _TAKE
        return _Said(
            role="solid-harm", symbol="!", words=words, brief="In doubt", keys=keys
        )
    if s.held_by is not None and s.held_since is not None:
        held = span_of(sight.now - s.held_since)
        at = when(s.held_since, sight.now, sight.zone)
        who = f"{one_line(s.held_by, 30)} holds it"
        words = f"{who} since {at} ({held}){sight.presence.get(s.held_by, '')}"
        return _Said(
            role="solid-quiet", symbol="□", words=words, brief=f"{who}, {held}"
        )
    if s.offered_to is not None:
        return _offered(name, s, sight)
    if s.pending:
        what = _proposal(s)
        return _Said(
            role="solid-wait",
            symbol="▲",
            words=f"Waiting for a decision: {what}",
            brief=f"Decision: {what}",
            bare=f"Decide: {what}",
            keys=(("decide", "card"), *_TAKE),
        )
    return _free(s, sight, workers)


def _offered(name: str, s: Standing, sight: Sight) -> _Said:
    by = one_line(s.offered_by or "a colleague", 30)
    if s.offered_to == sight.me:
        return _Said(
            role="solid-yours",
            symbol="▲",
            words=f"{by} offers you {name} · the agent is silent",
            brief=f"{by} offers you {name}",
            bare=f"{name} is offered to you",
            keys=(("take", "accept"), ("decline", "decline")),
        )
    to = one_line(s.offered_to or "", 30)
    mine = s.offered_by == sight.me
    verb = "You offer" if mine else f"{by} offers"
    words = f"{verb} it to {to}{sight.presence.get(s.offered_to or '', '')}"
    return _Said(
        role="solid-wait",
        symbol="▲",
        words=words,
        brief=f"Offered to {to}",
        keys=(("take", "take it back"),) if mine else _TAKE,
    )


def _mine(name: str, s: Standing, since: datetime, sight: Sight) -> _Said:
    at = when(since, sight.now, sight.zone)
    caught = f" · {len(s.withheld)} withheld" if s.withheld else ""
    give = ("give_back", "give back")
    keys: Keys = (give,)
    least = caught
    if caught:
        keys = (("withheld", "look"), give)
    elif s.ready:
        what = sight.approved or "an action"
        caught = f" · approved: {what}"
        least = f" · {what.partition(' ')[2] or what} approved"
        keys = (("act", "carries it out"), give)
    return _Said(
        role="solid-yours",
        symbol="■",
        words=f"YOU HOLD {name} since {at} · the agent is silent{caught}",
        brief=f"YOU HOLD {name} since {at}{caught}",
        bare=f"YOU HOLD {name}{least}",
        keys=keys,
    )


def _free(s: Standing, sight: Sight, workers: int) -> _Said:
    if sight.stopped is not None:
        return _paused(f"PAUSED {sight.stopped}")
    if s.paused is not None:
        since = sight.paused_at
        at = "" if since is None else f"{when(since, sight.now, sight.zone)} "
        return _paused(f"PAUSED here {at}by {one_line(s.paused, 120)}")
    match status(s):
        case Status.AGENT:
            return _working(s, sight)
        case Status.NEEDS_HUMAN:
            return _Said(
                role="solid-wait",
                symbol="▲",
                words=f"Needs a person: {one_line(s.with_people or 'asked for', 120)}",
                brief="Needs a person",
                keys=_TAKE,
            )
        case Status.QUEUED:
            role, words = "solid-agent", "The agent is next"
            if not workers:
                role, words = "solid-wait", "For the agent, but no agent is running"
            if s.ready:
                return _next_run(role, words, sight)
        case Status.RESOLVED:
            return _Said(role="solid-quiet", symbol="✓", words="Resolved", keys=_TAKE)
        case _:
            lost = f" · {count(len(s.undelivered), 'reply', 'replies')} not delivered"
            lost = lost if s.undelivered else ""
            if s.snoozed_until is not None:
                return _asleep(s.snoozed_until, lost, sight)
            words, role = f"Waiting for the buyer{lost}", "solid-quiet"
    return _Said(role=role, symbol="○", words=words, keys=_TAKE)


def _asleep(until: str, lost: str, sight: Sight) -> _Said:
    said = asleep_until(until, sight.now, sight.zone, brief=False)
    words = f"{said[0].upper()}{said[1:]}{lost}"
    return _Said(
        role="solid-quiet",
        symbol="○",
        words=f"{words} · a message of the buyer wakes it",
        brief=words,
        keys=_TAKE,
    )


def _next_run(role: str, words: str, sight: Sight) -> _Said:
    what = sight.approved or "an action"
    return _Said(
        role=role,
        symbol="○",
        words=f"{words} · approved: {what}; its next run carries it out",
        brief=f"{words} · approved: {what}",
        bare=f"Approved: {what}",
        keys=_TAKE,
    )


def _paused(words: str) -> _Said:
    by = words.partition(": ")[0]
    return _Said(role="solid-wait", symbol="‖", words=words, brief=by, keys=_TAKE)


def _working(s: Standing, sight: Sight) -> _Said:
    if s.wanted_by is not None:
        who = "you" if s.wanted_by == sight.me else one_line(s.wanted_by, 30)
        return _Said(
            role="solid-quiet", symbol="◐", words=f"The agent stops for {who}…"
        )
    if sight.asked is not None and sight.now - sight.asked[1] > HANGS:
        turn, since = sight.asked
        long = span_of(sight.now - since)
        return _Said(
            role="solid-wait",
            symbol="▲",
            words=f"No answer from the model for {long} (turn {turn})",
            brief=f"No answer for {long}",
            keys=_TAKE,
        )
    took = "" if s.run_since is None else f", {span_of(sight.now - s.run_since)}"
    return _Said(
        role="solid-agent",
        symbol="●",
        words=f"The agent is working (turn {s.run_turn or 1}{took})",
        brief=f"The agent works{took}",
        keys=_TAKE,
    )


def _proposal(s: Standing) -> str:
    tool = next(iter(s.pending.values()))[0] or ""
    amount = what_waits(s)
    if amount == tool:
        return one_line(tool, 30)
    return f"{one_line(tool.split('_')[0], 20)} {amount}"
