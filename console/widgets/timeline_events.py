"""How thin entries of a timeline look: what changed hands, was decided or done."""

from console.measures import clock_time, money
from console.widgets.spans import EMPTY, Line, line, paragraph
from console.widgets.timeline_items import Item
from console.widgets.timeline_values import Reader
from console.wording import identity_change, stop_words
from core.cleanse import cleanse, one_line
from core.journal import (
    ActionChanged,
    DecisionChanged,
    Entry,
    Escalated,
    IdentityChanged,
    LockChanged,
    RunChanged,
)


def identity_lines(entry: Entry, body: IdentityChanged, reader: Reader) -> list[Line]:
    """The buyer was verified, or no longer is."""
    at = clock_time(entry.at, reader.zone)
    if body.contradicts is not None:
        said = identity_change(body)
        return [line((f"? {at} {said} ", "wait-strong"), (how_known(body), "dim"))]
    if not body.verified:
        return [
            line(
                (f"? {at} verification withdrawn ", "wait"),
                (one_line(body.evidence, 160), "dim"),
            )
        ]
    who = one_line(body.name or body.customer or "", 60)
    how = f"{one_line(body.customer or '', 30)} · {one_line(body.method, 40)}"
    return [line((f"✓ {at} verified {who} ", "ok"), (how, "dim"))]


def how_known(body: IdentityChanged) -> str:
    """What an identity rests on, in one line."""
    return one_line(body.evidence, 160)


def decision_lines(item: Item, body: DecisionChanged, reader: Reader) -> list[Line]:
    """A decision was proposed, settled or executed."""
    entry = item.entry
    name = f"{one_line(body.decision, 24)} "
    what = f"{one_line(body.tool, 30)} {money(body.amount, body.currency)}".strip()
    at = clock_time(entry.at, reader.zone)
    by = one_line(entry.actor.name, 24)
    why = f": {one_line(body.why, 160)}" if body.why else ""
    match body.state:
        case "pending" if body.why is not None:
            said = f"approved by {by}, {at}, one more must approve it"
            return [
                line(
                    ("▲ Decision ", "wait-strong"),
                    (name, "wait-strong"),
                    (f"{what} {said}", "dim"),
                )
            ]
        case "pending":
            return [
                line(
                    ("▲ Decision ", "wait-strong"),
                    (name, "wait-strong"),
                    (f"{what} · {one_line(body.rule, 80)} · {at}", "dim"),
                )
            ]
        case "executed" if item.failed_action:
            return [
                line(
                    ("✗ Decision ", "harm"),
                    (name, "harm"),
                    (f"{what} executed, failed, {at}", "dim"),
                )
            ]
        case "executed":
            return [
                line(
                    ("✓ Decision ", "ok"),
                    (name, "ok"),
                    (f"{what} executed, {at}", "dim"),
                )
            ]
        case "approved" | "overridden":
            said = "approved" if body.state == "approved" else "approved with changes"
            return [
                line(
                    ("✓ Decision ", "ok"),
                    (name, "ok"),
                    (f"{what} {said} by {by}, {at}{why}", "dim"),
                )
            ]
        case _:
            return [
                line(
                    ("✗ Decision ", "dim"),
                    (name, "dim"),
                    (f"{what} {one_line(body.state, 20)} · {by}, {at}{why}", "dim"),
                )
            ]


def action_lines(entry: Entry, body: ActionChanged, reader: Reader) -> list[Line]:
    """A ledger row moved."""
    at = clock_time(entry.at, reader.zone)
    what = f"{one_line(body.tool, 30)} {money(body.amount, body.currency)}".strip()
    known = f" · {one_line(body.evidence, 160)}" if body.evidence else ""
    match body.state:
        case "in_doubt":
            return [
                line(
                    (f"! In doubt: {what} ", "harm"),
                    (f"{one_line(body.action, 24)} · {at}{known}", "dim"),
                )
            ]
        case "done":
            return [
                line(
                    (f"✓ {what} done ", "ok"),
                    (f"{one_line(body.action, 24)} · {at}{known}", "dim"),
                )
            ]
        case state:
            return [line((f"· {at} {what} {one_line(state, 20)}{known}", "faint"))]


def lock_lines(item: Item, body: LockChanged, reader: Reader) -> list[Line]:
    """Somebody took the ticket, let it go or asked for it."""
    at = clock_time(item.entry.at, reader.zone)
    name = str(body.holder.get("name", ""))
    who = "you" if name == reader.me else one_line(name, 30)
    match body.change:
        case "acquired" | "handed_over" | "forced":
            lasting = ", still held" if item.open_end else ""
            why = one_line(body.why or "", 400)
            forced = " · taken by force" if body.change == "forced" else ""
            return [
                line(
                    (f"■ Held by {who} ", "yours"),
                    (f"from {at}{lasting}{forced}", "dim"),
                ),
                *(paragraph(why, reader.width, "dim", indent=2) if why else []),
            ]
        case "released":
            to = {
                "agent": "to the agent",
                "queue": "to the queue",
                "resolved": "resolved",
                "free": "",
            }.get(body.to or "", f"to {one_line(body.to or '', 30)}")
            said = "Resolved" if body.to == "resolved" else f"Given back {to}".strip()
            if body.to == item.entry.actor.name:
                said = "Taken away"
            since = "" if body.since is None else " · the human stretch ends"
            return [line((f"■ {said} ", "yours"), (f"{at}{since}", "dim")), EMPTY]
        case "offered":
            by = one_line(item.entry.actor.name, 30)
            return [line((f"▲ {at} {by} offers it to {who}", "wait"))]
        case "declined":
            why = f": {one_line(body.why, 160)}" if body.why else ""
            return [line((f"✗ {at} {who} declined it{why}", "wait"))]
        case "wanted":
            asks = "asked to take over" if body.until is None else "asks no longer"
            return [line((f"◐ {at} {who} {asks}", "yours-quiet"))]
        case _:
            return [line((f"· {at} the run's lease ran out: {who}", "dim"))]


def run_line(body: RunChanged, at: str, detail: str) -> Line:
    """A run started, or ended other than by an answer."""
    name = one_line(body.run, 24)
    if body.change == "started":
        return line((f"{at} run {name}{detail}", "faint"))
    stop = stop_words(body.stop or "")
    role = "dim" if body.stop == "escalated" else "harm"
    return line((f"{at} run {name} ", "faint"), (stop, role))


def escalated_lines(entry: Entry, body: Escalated, reader: Reader) -> list[Line]:
    """The ticket was handed to people, with why and what was tried."""
    at = clock_time(entry.at, reader.zone)
    lines = [
        line(
            (f"▲ Handed to people: {one_line(body.reason, 160)} ", "wait-strong"),
            (at, "dim"),
        )
    ]
    if body.summary.strip() != body.reason.strip():
        lines += paragraph(cleanse(body.summary), reader.width, "text", indent=2)
    if body.tried:
        tried = f"tried: {cleanse(body.tried)}"
        lines += paragraph(tried, reader.width, "dim", indent=2)
    return [*lines, EMPTY]
