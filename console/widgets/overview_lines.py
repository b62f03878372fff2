"""The house in a few lines, and who has what."""

from collections.abc import Sequence
from decimal import Decimal

from console.manner import number
from console.measures import count, money, span_of, sums_words
from console.overview import Overview
from console.widgets.sight import Sight
from console.widgets.spans import Line, Span, clip, cut, fit, line, named, width_of
from console.wording import doing, proposal_words, stopped_words
from core.cleanse import one_line
from core.history import QueueRow

_COLUMN = 13
_SUMS = 4


def overview_lines(seen: Overview, sight: Sight) -> list[Line]:
    """Workers, ages, approvals, troubles, money, people."""
    lines: list[Line] = []
    for name, words, role in (
        _agent(seen),
        _workers(seen),
        _ages(seen),
        _approvals(seen),
        *_approved(seen),
        _doubts(seen),
        _undelivered(seen),
        _moved(seen),
        _spent(seen),
        _people(seen, sight),
    ):
        lines += named(name, words, sight.width, role=role, column=_COLUMN)
    return lines


def _agent(seen: Overview) -> tuple[str, str, str]:
    stopped = stopped_words(seen.pause)
    if stopped is not None:
        return "agent", f"‖ PAUSED {stopped}", "wait"
    return "agent", f"● may work · {count(len(seen.runs), 'ticket')} now", "text"


def _workers(seen: Overview) -> tuple[str, str, str]:
    alive = [w for w in seen.workers if w.alive]
    gone = [w for w in seen.workers if not w.alive]
    words = f"{len(alive)} alive"
    if gone:
        last = max(gone, key=lambda w: w.seen_at)
        ago = span_of(seen.now - last.seen_at)
        words += (
            f" · {len(gone)} gone, last seen {ago} ago on {one_line(last.host, 30)}"
        )
    return "workers", words, "text" if alive else "wait"


def _ages(seen: Overview) -> tuple[str, str, str]:
    needs = seen.counts.get("human", 0)
    since = [r.standing.ours_since or r.updated_at for r in seen.waiting]
    words = f"{needs:,} need a person"
    if since:
        words += f", the oldest for {span_of(seen.now - min(since))}"
    agent, buyers = seen.counts.get("agent", 0), seen.counts.get("waiting", 0)
    words += f"; {agent:,} at the agent, {buyers:,} wait for the buyer"
    return "queue", words, "wait" if needs else "text"


def _approvals(seen: Overview) -> tuple[str, str, str]:
    if not seen.decisions:
        return "approvals", "none waits", "text"
    first = min(seen.decisions, key=lambda d: d.expires_at)
    sums = [money(*d.moves) for d in seen.decisions if d.amount]
    moneyless = len(seen.decisions) - len(sums)
    if len(sums) > _SUMS:
        sums = [*sums[:_SUMS], "…"]
    elif sums and moneyless:
        sums.append(f"{moneyless} without an amount")
    more = f": {', '.join(sums)}" if sums else ""
    left = span_of(first.expires_at - seen.now)
    many = len(seen.decisions)
    verb = "waits" if many == 1 else "wait"
    words = f"{many} {verb}{more}; the next expires in {left}"
    return "approvals", words, "wait"


def _approved(seen: Overview) -> list[tuple[str, str, str]]:
    """What is approved and not carried out yet, where there is any."""
    shown = [f"{one_line(d.ticket, 24)} {proposal_words(d)}" for d in seen.approved]
    if len(shown) > _SUMS:
        shown = [*shown[:_SUMS], "…"]
    words = f"{len(seen.approved)} not carried out yet: {', '.join(shown)}"
    return [("approved", words, "wait")] if shown else []


def _doubts(seen: Overview) -> tuple[str, str, str]:
    names = [r.ticket for r in (*seen.waiting, *seen.held) if r.standing.doubts]
    shown = ", ".join(one_line(n, 24) for n in dict.fromkeys(names))
    return "in doubt", shown or "nothing", "harm" if names else "text"


def _undelivered(seen: Overview) -> tuple[str, str, str]:
    lost = seen.undelivered
    shown = ", ".join(
        one_line(r.ticket, 24) + (" (withheld)" if r.state == "withheld" else "")
        for r in lost[:6]
    )
    words = f"{count(len(lost), 'reply', 'replies')}: {shown}" if lost else "nothing"
    return "undelivered", words, "harm" if lost else "text"


def _moved(seen: Overview) -> tuple[str, str, str]:
    parts = [f"{one_line(n, 30)} {sums_words(v)}" for n, v in seen.moved.items()]
    return "money today", "; ".join(parts) or "none moved", "text"


def _spent(seen: Overview) -> tuple[str, str, str]:
    spent = seen.spent
    words = count(spent.runs, "run")
    if spent.runs == 0 or spent.unknown < spent.runs:  # what is not known is not 0
        cost = number(spent.cost_usd.quantize(Decimal("0.01")))
        words = f"{cost} USD, {words}"
    if spent.unknown:
        words += f" · the cost of {spent.unknown:,} is not known"
    return "model today", words, "text"


def _people(seen: Overview, sight: Sight) -> tuple[str, str, str]:
    parts = []
    for p in seen.presences:
        who = "you" if p.operator == sight.me else one_line(p.operator, 30)
        at = f" at {one_line(p.ticket, 24)}" if p.ticket else ""
        parts.append(f"{who}{at}{doing(p, p.ticket, seen.now)}")
    return "people", "; ".join(parts) or "nobody is at a console", "text"


def hold_line(row: QueueRow, seen: Overview, sight: Sight) -> Line:
    """One ticket and who has it since when."""
    s = row.standing
    if s.held_by is not None:
        mine = s.held_by == sight.me
        who, symbol = one_line(s.held_by, 14), "■" if mine else "□"
        since, role = s.held_since, "yours" if mine else "text"
    else:
        who, symbol, since, role = (
            f"agent, turn {s.run_turn or 1}",
            "●",
            s.run_since,
            "agent",
        )
    held = span_of(seen.now - since) if since is not None else ""
    there = {p.operator: doing(p, row.ticket, seen.now) for p in seen.presences}
    spans = line(
        (f"{symbol} {fit(who, 15)} ", role),
        (fit(one_line(row.ticket, 24), 10) + " ", "strong"),
        (fit(held, 12) + " ", "dim"),
    )
    presence = there.get(s.held_by or "", "")
    room = max(8, sight.width - 2 - width_of(spans) - len(presence))
    subject = cut(one_line(row.subject or "(no subject)", 60), room)
    whole = (*spans, *line((subject, "text"), (presence, "wait")))
    return clip(whole, max(20, sight.width - 2))


def hold_lines(rows: Sequence[QueueRow], seen: Overview, sight: Sight) -> list[Line]:
    """All of them, or that there are none."""
    if not rows:
        return [(Span("  Nobody holds a ticket, and the agent works on none.", "dim"),)]
    return [hold_line(row, seen, sight) for row in rows]
