"""A decision as a card: what would be done, exactly, and what speaks for it.

The amount is the ledger's column and nothing else: whatever an argument says, it is
one field on its own lines, its controls visible (a reason can't paint a second
amount). What the buyer wrote after the proposal makes it stale and is shown.
"""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

from console.measures import count, money, span_of, when
from console.widgets.sight import Sight
from console.widgets.spans import (
    EMPTY,
    Line,
    Span,
    clip,
    cut,
    line,
    named,
    paragraph,
    wrap,
)
from console.wording import cannot_be_read, on_object_words
from core.cleanse import changed, cleanse, one_line
from core.decision import (
    READY,
    Decision,
    DecisionState,
    approvers,
    settled_words,
)
from core.history import History
from core.journal import Message, ToolCalled, ToolReturned
from core.ledger import OnObject, besides, by_currency
from core.ticket import Json

_COLUMN = 12
_VALUE = 4000

_INLINE = 4
"""Arguments that the desk shows without the card; of more it says how many."""


_RULE = 2
"""Lines that the rule may take there."""


def inline_lines(decision: Decision, history: History, sight: Sight) -> list[Line]:
    """The card in a few lines, for the desk."""
    lines = [_head(decision), *_damage(decision)]
    fields = _fields(decision.stands)
    settled = decision.state in READY
    most = _INLINE - 1 if settled and len(fields) > _INLINE else _INLINE
    lines += [_brief(*field, sight.width) for field in fields[:most]]
    if not settled and decision.stands != decision.input:
        lines.append(_changed_by(decision, "a shows what was proposed"))
    left = len(fields) - most
    if left > 0:
        lines.append(line((f"{'':<{_COLUMN}}and {left} more on the card", "wait")))
    if settled:
        lines += [*_verdict(decision, sight), _since(decision, history)]
        lines.append(to_carry_out(history, sight))
        return [clip(spans, sight.width) for spans in lines]
    lines += _rule(decision.rule, sight.width)
    lines.append(_since(decision, history))
    barred = barred_words(decision, sight)
    said = f"; {barred}" if barred else ": y approves there, e edits, x rejects"
    opens = Span(f" opens the card{said}", "dim", "decide")
    lines.append((Span(sight.keys["decide"], "key", "decide"), opens))
    return [clip(spans, sight.width) for spans in lines]


def barred_words(decision: Decision, sight: Sight) -> str:
    """Why the person can't approve what waits, in words, or ""."""
    return barred(decision, sight.me, supervisor=sight.supervisor)


def barred(decision: Decision, me: str, *, supervisor: bool) -> str:
    """As `barred_words`, of a person."""
    if not supervisor:
        return "a supervisor decides"
    if decision.four_eyes and decision.first == me:
        return "you approved; another person must too"
    if decision.proposed_by == me:
        return "you proposed it; another person must approve"
    return ""


def to_carry_out(history: History, sight: Sight, margin: str = "") -> Line:
    """Who carries out what is approved, and with which key."""
    holder = history.standing.held_by
    if holder == sight.me:
        key = Span(sight.keys["act"], "key", "act")
        return (Span(margin, "dim"), key, Span(_BY_ME, "dim"))
    if holder is not None:
        return line((f"{margin}{one_line(holder, 30)}, who holds it, can", "dim"))
    if history.standing.run is not None:
        return line((f"{margin}the agent, at work now, carries it out", "dim"))
    return line((f"{margin}the agent's next run carries it out", "dim"))


_BY_ME = " carries it out, once you have confirmed it"


def card_lines(
    decision: Decision, history: History, sight: Sight, *, on: str | None
) -> list[Line]:
    """The whole card; `on` is what it acts on, as it stands or as it is edited."""
    width = sight.width
    lines = [_head(decision), *_damage(decision), EMPTY]
    for name, value in _fields(decision.stands):
        lines += _field(name, value, width)
    lines += _other_than_proposed(decision, sight)
    lines.append(EMPTY)
    lines += _pair("rule", decision.rule, width)
    lines += _buyer(decision, history, width)
    read = Counter(filter(None, (_read(seq, history) for seq in decision.evidence)))
    parts = [name if times == 1 else f"{name} x{times}" for name, times in read.items()]
    lines += _pair("agent read", ", ".join(parts) or "nothing", width)
    lines += _also(decision, sight, on)
    lines += _verdict(decision, sight)
    lines += [_since(decision, history), *_newer(decision, history, width)]
    return lines


def also_on_it(
    decision: Decision, sight: Sight, on: str | None
) -> tuple[OnObject, ...]:
    """What else was done, or waits, on an object, on this ticket or another."""
    return besides(sight.on_objects.get(on or "", ()), decision.id)


def stale_lines(history: History) -> list[Line]:
    """That the buyer wrote since a reply was begun, with what they wrote last."""
    lines: list[Line] = [
        line(("Written before the buyer's last message", "wait-strong")),
        EMPTY,
    ]
    said = [e.body for e in history.journal if e.seq == history.newest_buyer_seq()]
    for body in said:
        if isinstance(body, Message):
            text = cleanse(body.text.strip(), limit=600, lines=8)
            lines += paragraph(text, 64, "buyer", indent=2)
    return [*lines, EMPTY, line("It would go out as an answer to that too.")]


def newer_messages(decision: Decision, history: History) -> list[tuple[int, Message]]:
    """What the buyer wrote after the agent had read for its proposal."""
    return [
        (e.seq, e.body)
        for e in history.journal
        if isinstance(e.body, Message)
        and e.body.direction == "in"
        and e.seq > decision.based_on
    ]


def _head(decision: Decision) -> Line:
    amount = money(*decision.moves)
    shown = ((f" {amount} ", "solid-wait"), (" ", "text")) if amount else ()
    return line(
        *shown,
        (one_line(decision.tool, 40), "strong"),
        (f"  {one_line(decision.id, 24)}", "dim"),
    )


def _damage(decision: Decision) -> list[Line]:
    if decision.unreadable is None:
        return []
    return [line((cannot_be_read(decision), "harm"))]


def _fields(arguments: Json) -> list[tuple[str, str]]:
    if not isinstance(arguments, Mapping):
        return [("arguments", json.dumps(arguments, ensure_ascii=False))]
    return [
        (str(n), v if isinstance(v, str) else json.dumps(v, ensure_ascii=False))
        for n, v in arguments.items()
    ]


def _other_than_proposed(decision: Decision, sight: Sight) -> list[Line]:
    """What the agent had asked for, where the first of two approved something else."""
    if decision.stands == decision.input:
        return []
    over = decision.state in READY or barred_words(decision, sight)
    more = "the agent had proposed" if over else "e and then ^s approve the same"
    lines = [_changed_by(decision, more)]
    before = dict(_fields(decision.input))
    for name, value in _fields(decision.stands):
        if before.get(name) != value:
            proposed = before.get(name, "nothing")
            lines += _pair("proposed", f"{name} = {proposed}", sight.width)
    return lines


def _changed_by(decision: Decision, more: str) -> Line:
    first = one_line(decision.first or decision.decided_by or "", 24)
    said = f"CHANGED by {first}; {more}"
    return line((f"{'':<{_COLUMN}}", "dim"), (said, "wait"))


def _verdict(decision: Decision, sight: Sight) -> list[Line]:
    """Who has approved it, or who must, and for how long it still waits."""
    width = sight.width
    if decision.decided_at is not None and decision.state in READY:
        at = when(decision.decided_at, sight.now, sight.zone)
        by = approvers(decision)
        begun = decision.id in sight.begun
        state = "begun, no answer yet" if begun else "not carried out yet"
        return _pair("approved", f"by {by} {at}, {state}", width)
    if decision.state is not DecisionState.PENDING:  # a colleague settled it meanwhile
        said = settled_words(decision)
        if decision.decided_at is not None:
            said += f" {when(decision.decided_at, sight.now, sight.zone)}"
        return _pair("settled", said, width)
    lines: list[Line] = []
    if decision.four_eyes:
        said = (
            f"{decision.first} approved; another person must too"
            if (decision.first)
            else "two different people must approve"
        )
        lines += _pair("four eyes", said, width)
    left = decision.expires_at - sight.now
    ends = f"expires in {span_of(left)}" if left > timedelta(0) else "expired"
    since = when(decision.proposed_at, sight.now, sight.zone)
    return [*lines, *_pair("waits", f"since {since}, {ends}", width)]


def _also(decision: Decision, sight: Sight, on: str | None) -> list[Line]:
    """What else moved, or is to move, on the same order: the facts, newest last."""
    found, name = also_on_it(decision, sight, on), one_line(on or "", 40)
    if on is not None and on != decision.acts_on and on not in sight.on_objects:
        unread = f"what there is on {name} is not read yet"
        return named("also", unread, sight.width, role="wait", column=_COLUMN)
    if not found:
        return []
    sums = by_currency((one.amount, one.currency) for one in found)
    total = ", ".join(money(v, k) for k, v in sums.items())
    head = f"already on {name}: {total}".rstrip(": ")
    lines = named("also", head, sight.width, role="wait-strong", column=_COLUMN)
    left = len(found) - _ALSO
    if left > 0:
        lines.append(line((f"{'':<{_COLUMN}}{left:,} more, and last", "wait")))
    for one in found[-_ALSO:]:
        said = on_object_words(one, decision, sight.now, sight.zone)
        lines += named("", said, sight.width, role="wait", column=_COLUMN)
    return lines


_ALSO = 5
"""What was done on the same order that the card names; of more it says how many."""


def _brief(name: str, value: str, width: int) -> Line:
    """One line of it; what is cut off shows as `…`."""
    shown = cut(one_line(value, 400), width - _COLUMN)
    return named(one_line(name, 11), shown, width, column=_COLUMN)[0]


def _rule(rule: str, width: int) -> list[Line]:
    """What asks for the decision: its last words may be that two people decide."""
    lines = _pair("rule", rule, width)
    if len(lines) <= _RULE:
        return lines
    rest = wrap(one_line(rule, 400), width - _COLUMN)[_RULE - 1 :]
    shown = cut(" ".join(rest), width - _COLUMN)
    return [*lines[: _RULE - 1], line((f"{'':<{_COLUMN}}{shown}", "text"))]


def _field(name: str, value: str, width: int) -> list[Line]:
    text = one_line(value, _VALUE)
    lines = named(one_line(name, 11), f"“{text}”", width, column=_COLUMN)
    if len(value) > _VALUE:
        left = f"{len(value) - _VALUE:,} more characters are not shown"
        lines.append(line((f"{'':<{_COLUMN}}{left}: handoff decisions --json", "wait")))
    if changed(value) or "\n" in value:
        margin = " " * _COLUMN
        lines.append(line((f"{margin}holds hidden characters or line ends", "wait")))
    return lines


def _pair(name: str, value: str, width: int) -> list[Line]:
    return named(name, one_line(value, 400), width, column=_COLUMN)


def _buyer(decision: Decision, history: History, width: int) -> list[Line]:
    """Who the buyer is now; loud where it was proposed for somebody else."""
    identity = history.standing.identity
    question = history.standing.identity_question
    if identity is not None:
        who = f"verified: {identity.name or ''} {identity.customer}".replace("  ", " ")
    else:
        who = "not verified" if question is None else f"IN QUESTION: {question}"
    lines = _pair("buyer", who, width)
    known = identity.customer if identity is not None else None
    if decision.identity not in {None, known}:
        said = (
            f"PROPOSED FOR {one_line(decision.identity or '', 60)}: won't be executed"
        )
        lines.append(line((f"{'':<{_COLUMN}}", "dim"), (said, "harm")))
    return lines


def _read(seq: int, history: History) -> str:
    entry = next((e for e in history.journal if e.seq == seq), None)
    if entry is None or not isinstance(entry.body, ToolReturned):
        return ""
    for other in history.journal:
        if isinstance(other.body, ToolCalled) and other.body.id == entry.body.id:
            return one_line(other.body.name, 30)
    return ""


def _since(decision: Decision, history: History) -> Line:
    newer = newer_messages(decision, history)
    if not newer:
        return line(
            (f"{'since':<{_COLUMN}}", "dim"), ("nothing new from the buyer", "ok")
        )
    said = f"STALE: {count(len(newer), 'newer message')} of the buyer"
    return line((f"{'since':<{_COLUMN}}", "dim"), (said, "harm"))


def _newer(decision: Decision, history: History, width: int) -> list[Line]:
    lines: list[Line] = []
    for _, message in newer_messages(decision, history):
        text = cleanse(message.text.strip(), limit=_VALUE, lines=100)
        lines += [EMPTY, *paragraph(text, width, "buyer", indent=2)]
    return lines
