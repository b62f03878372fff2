"""The most important line of the program: who has this ticket, and what it waits for.

It is the only solid colour on the screen besides a decision: accent for yours, amber
for what waits for a person, red for harm; an agent at work, a colleague or nobody
are quiet.
"""

from dataclasses import dataclass
from datetime import datetime

from console.widgets.sight import Sight
from console.widgets.spans import Line, Span, clip, ends, line, width_of
from console.wording import count, span_of, what_waits, when
from core.cleanse import one_line
from core.standing import Standing, status
from core.ticket import Status, TicketId


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
    role, said, keys = _said(ticket, standing, sight, workers)
    symbol, _, words = said.partition(" ")
    if ticket not in words:
        words = f"{ticket} · {words}"
    if taking is not None and taking.ticket == ticket and standing.held_by != sight.me:
        waited = span_of(sight.now - taking.since)
        role, keys = "solid-yours", ()
        symbol, words = "◐", f"{ticket} · Asking the agent to stop… {waited}"
    left = line((f" {symbol} {words}", role))
    right = _keys(keys, role)
    while right and width_of(left) + width_of(right) + 2 > sight.width:
        right = right[:-1]
    return clip(ends(left, (*right, Span(" ", role)), sight.width), sight.width)


def _keys(keys: tuple[tuple[str, str, str], ...], role: str) -> Line:
    """The keys with what they do, each a span of its own."""
    return tuple(
        Span(f"{' · ' if n else ''}{key} {what}", role, act)
        for n, (key, act, what) in enumerate(keys)
    )


_ROOMY = 70
"""Width from which the banner says both."""

_TAKE = (("t", "take", "take over"),)


def _said(
    ticket: TicketId, s: Standing, sight: Sight, workers: int
) -> tuple[str, str, tuple[tuple[str, str, str], ...]]:
    if s.held_by == sight.me and s.held_since is not None:
        at = when(s.held_since, sight.now, sight.zone)
        words = f"■ YOU HOLD {ticket} since {at}"
        if not s.withheld or sight.width >= _ROOMY:
            words += " · the agent is silent"
        if s.withheld:
            return (
                "solid-yours",
                f"{words} · {len(s.withheld)} withheld",
                (("w", "withheld", "look"), ("R", "give_back", "give back")),
            )
        return "solid-yours", words, (("R", "give_back", "give back"),)
    if s.doubts:
        words = f"! In doubt: {count(len(s.doubts), 'action')} without a known end"
        return "solid-harm", words, () if s.held_by else _TAKE
    if s.held_by is not None and s.held_since is not None:
        held = span_of(sight.now - s.held_since)
        at = when(s.held_since, sight.now, sight.zone)
        words = f"□ {one_line(s.held_by, 30)} holds it since {at} ({held})"
        return "solid-quiet", words, ()
    if s.pending:
        words = f"▲ Waiting for a decision: {_proposal(s)}"
        return "solid-wait", words, (("a", "decide", "card"), *_TAKE)
    return _free(s, sight, workers)


def _free(
    s: Standing, sight: Sight, workers: int
) -> tuple[str, str, tuple[tuple[str, str, str], ...]]:
    if s.paused is not None:
        return "solid-wait", f"‖ PAUSED: {one_line(s.paused, 120)}", _TAKE
    match status(s):
        case Status.AGENT:
            if s.wanted_by is not None:
                who = "you" if s.wanted_by == sight.me else one_line(s.wanted_by, 30)
                return "solid-quiet", f"◐ The agent stops for {who}…", ()
            took = (
                "" if s.run_since is None else f", {span_of(sight.now - s.run_since)}"
            )
            words = f"● The agent is working (turn {s.run_turn or 1}{took})"
            return "solid-agent", words, _TAKE
        case Status.NEEDS_HUMAN:
            reason = one_line(s.with_people or "asked for", 120)
            return "solid-wait", f"▲ Needs a person: {reason}", _TAKE
        case Status.QUEUED:
            if workers:
                return "solid-agent", "○ The agent is next", _TAKE
            return "solid-wait", "○ For the agent, but no agent is running", _TAKE
        case Status.RESOLVED:
            return "solid-quiet", "✓ Resolved", _TAKE
        case _:
            lost = f" · {count(len(s.undelivered), 'reply', 'replies')} not delivered"
            words = f"○ Waiting for the buyer{lost if s.undelivered else ''}"
            return "solid-quiet", words, _TAKE


def _proposal(s: Standing) -> str:
    tool = next(iter(s.pending.values()))[0] or ""
    amount = what_waits(s)
    if amount == tool:
        return one_line(tool, 30)
    return f"{one_line(tool.split('_')[0], 20)} {amount}"
