"""A tool's arguments as a form: a line for each, made from the tool's own schema.

What is typed stays text until it is asked for; then each line becomes what its
schema wants. The form says at every letter what the policy makes of it, by the same
rule that is asked again when the verdict is stored.

A value that a line can't show as it is, too long or with characters that nobody sees,
has no line to write in: it is kept whole. Line ends show as `⏎` and stay line ends.

Amounts are shown in the person's manner, so a number may be written with their own
decimal sign, where that has one reading only: `42,50`, never `1,234`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input
from typing_extensions import override

from console.manner import MANNER
from console.measures import count, money
from console.widgets.line_view import LineView
from console.widgets.one_line import OneLine
from console.widgets.spans import Line, fit, line
from core.cleanse import one_line
from core.decision import Decision
from core.fitting import choice_words, kind_words, types_of
from core.history import History
from core.money import meant, with_point
from core.policy import (
    Allow,
    Forbid,
    Judgement,
    NeedsDecision,
    NeedsIdentity,
    amount_of,
    judge,
    text_argument,
)
from core.ticket import Json
from core.tool import ToolCall, ToolSpec

_MOST = 40
"""Arguments that have a line; more are kept as they are."""

_LONGEST = 4000
"""Characters of a value that can be changed in its line."""

_LINE_END = "⏎"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One argument.

    Attributes:
        name: As the tool calls it.
        kind: Its JSON type, or "" where the schema says none.
        text: As it is shown at first.
        value: What it was at first; kept whole while the text is not changed.
        present: Whether it was given at all.
        hint: What may be written.
        number: Whether it is one, whatever its type: the amount may be a text.
        kept: Why it has no line to write in, in words, or "".
    """

    name: str
    kind: str
    text: str
    value: Json
    present: bool
    hint: str = ""
    number: bool = False
    kept: str = ""


def fields_of(
    arguments: Json, spec: ToolSpec | None, *, amount: str | None = None
) -> tuple[Field, ...]:
    """The lines of the form: what was proposed, then what the schema knows besides.

    Args:
        arguments: What was proposed.
        spec: The tool, once it is known.
        amount: The argument that holds the amount, where that is known without it.
    """
    given = arguments if isinstance(arguments, Mapping) else {}
    schema = spec.input_schema.get("properties") if spec is not None else None
    known: Mapping[str, Json] = schema if isinstance(schema, Mapping) else {}
    unsaid = [name for name in known if name not in given]
    names = [*given, *unsaid[: max(0, _MOST - len(given))]]
    amount = amount if spec is None else spec.policy.amount
    required = spec.input_schema.get("required") if spec is not None else None
    needed = required if isinstance(required, list) else []
    return tuple(
        _field(n, given, known.get(n), amount=n == amount, needed=n in needed)
        for n in names
    )


def _field(
    name: str,
    given: Mapping[str, Json],
    schema: Json,
    *,
    amount: bool,
    needed: bool,
) -> Field:
    said: Mapping[str, Json] = schema if isinstance(schema, Mapping) else {}
    value, types = given.get(name), types_of(said)
    kind = types[0] if len(types) == 1 else _kind_of(value)
    choices = said.get("enum")
    hint = choice_words(choices) if isinstance(choices, list) else _hint(types)
    if needed:
        hint = f"{hint}, needed" if hint else "needed"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    as_line = _as_line(text)
    long = count(len(text), "character")
    return Field(
        name=name,
        kind=kind,
        text=(as_line or one_line(text, 60)) if name in given else "",
        value=value,
        present=name in given,
        hint=one_line(hint, 80),
        number=amount or kind in {"number", "integer"},
        kept=f"kept as it is, {long}" if as_line is None and name in given else "",
    )


def _hint(types: tuple[str, ...]) -> str:
    return "yes or no" if types == ("boolean",) else kind_words(types)


def _as_line(text: str) -> str | None:
    """The text on a line from which it can be had back, or None."""
    as_line = text.replace("\n", _LINE_END)
    whole = len(text) <= _LONGEST and one_line(as_line, _LONGEST) == as_line
    return as_line if whole and _LINE_END not in text else None


def _kind_of(value: Json) -> str:
    return "string" if isinstance(value, str) else ""


def value_of(field: Field, text: str) -> Json:
    """What a line of the form means.

    Raises:
        ValueError: It is not what the field takes; says which field.
    """
    if text == field.text:
        return field.value
    if field.number:
        text = with_point(text.strip(), MANNER.get().point)
    if field.kind == "string":
        return text.replace(_LINE_END, "\n")
    if field.kind == "boolean" and text.casefold() in {"yes", "no"}:
        return text.casefold() == "yes"
    try:
        value: Json = json.loads(text)
    except ValueError:
        hint = meant(text) if field.number else None
        raise ValueError(f"{field.name}: {hint or f'not {_a(field.kind)}'}") from None
    return value


def _a(kind: str) -> str:
    named = {"number": "a number", "integer": "a whole number", "boolean": "yes or no"}
    return named.get(kind, "JSON")


def arguments_of(fields: Sequence[Field], texts: Sequence[str]) -> dict[str, Json]:
    """The arguments that the form holds; a line that is empty and was, is left out.

    Raises:
        ValueError: A line is not what its field takes; says which.
    """
    return {
        field.name: value_of(field, text)
        for field, text in zip(fields, texts, strict=True)
        if text or field.present
    }


def forbidden(
    decision: Decision, arguments: Json, spec: ToolSpec | None, history: History
) -> str | None:
    """Why new arguments can't be approved at all, or None."""
    match None if spec is None else _judged(decision, arguments, spec, history):
        case NeedsIdentity(why=why) | Forbid(why=why):
            return one_line(why, 120)
        case _:
            return None


def _judged(
    decision: Decision, arguments: Json, spec: ToolSpec, history: History
) -> Judgement:
    call = ToolCall(id=decision.call, name=decision.tool, input=arguments)
    return judge(call, spec, history)


def judged_line(
    decision: Decision, arguments: Json, spec: ToolSpec | None, history: History
) -> Line:
    """What the policy makes of new arguments; long, so whoever shows it wraps it."""
    if spec is None:
        return line(("the tool is not known yet: it is judged when stored", "dim"))
    match _judged(decision, arguments, spec, history):
        case Allow():
            return line((f"✓ {_read(spec, arguments)}within the policy", "ok"))
        case NeedsDecision(rule=rule, four_eyes=False):
            yours = f"yours to decide: {one_line(rule, 400)}"
            return line((f"✓ {_read(spec, arguments)}{yours}", "ok"))
        case NeedsDecision(rule=rule):
            words = f"{one_line(rule, 400)}: a second person must approve too"
            return line((f"▲ {_read(spec, arguments)}{words}", "wait"))
        case NeedsIdentity(why=why) | Forbid(why=why):
            return line((f"✗ {one_line(why, 400)}", "harm"))


def _read(spec: ToolSpec, arguments: Json) -> str:
    """The amount as it was read, before what is said of it: nobody has to guess."""
    currency = text_argument(spec.policy.currency, arguments)
    amount = money(amount_of(spec.policy, arguments), currency)
    return f"{amount}, " if amount else ""


def foreseen_line(call: ToolCall, spec: ToolSpec, history: History) -> Line:
    """What the policy would make of a person's own call, as `judged_line`."""
    match judge(call, spec, history):
        case Allow():
            done = f"{_read(spec, call.input)}within the policy: it is done at once"
            return line((f"✓ {done}", "ok"))
        case NeedsDecision(rule=rule, four_eyes=four_eyes):
            who = "two supervisors decide" if four_eyes else "a supervisor decides"
            read = _read(spec, call.input)
            return line((f"▲ {read}{who}: {one_line(rule, 400)}", "wait"))
        case NeedsIdentity(why=why) | Forbid(why=why):
            return line((f"✗ {one_line(why, 400)}", "harm"))


class ArgumentsForm(VerticalScroll):
    """The form."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 # Textual's word
        super().__init__(id=id, can_focus=False)
        self.fields: tuple[Field, ...] = ()
        self._boxes: dict[str, Input] = {}

    async def show(self, fields: Sequence[Field], *, at: str | None = None) -> None:
        """Shows these lines, with the focus on the named one, or else the first."""
        self.fields = tuple(fields)
        shown = self.fields[:_MOST]
        await self.remove_children()
        self._boxes = {
            field.name: OneLine(
                field.text, placeholder=field.hint, compact=True, id=f"argument-{n}"
            )
            for n, field in enumerate(shown)
            if not field.kept
        }
        await self.mount(*[self._row(field) for field in shown])
        left = len(self.fields) - len(shown)
        if left:
            words = f"and {left} more, kept as they are"
            await self.mount(Vertical(LineView([line((words, "dim"))])))
        first = next(iter(self._boxes.values()), None)
        box = self._boxes.get(at or "", first)
        if box is not None:
            box.focus()

    def _row(self, field: Field) -> Vertical:
        name = LineView([line((fit(one_line(field.name, 40), 15), "dim"))])
        if not field.kept:
            return Vertical(name, self._boxes[field.name], classes="argument")
        value = LineView([line((f" {field.kept}: ", "wait"), (field.text, "dim"))])
        value.add_class("-kept")
        return Vertical(name, value, classes="argument")

    @property
    def focused(self) -> str | None:
        """The name of the line that somebody is in."""
        boxes = zip(self.fields, self.query(Input), strict=False)  # none at first
        return next((field.name for field, box in boxes if box.has_focus), None)

    @property
    def texts(self) -> list[str]:
        """What is written, line by line."""
        boxes = self._boxes
        return [
            boxes[field.name].value if field.name in boxes else field.text
            for field in self.fields
        ]

    def arguments(self) -> dict[str, Json]:
        """What the form holds.

        Raises:
            ValueError: A line is not what its field takes.
        """
        return arguments_of(self.fields, self.texts)

    @override
    def compose(self) -> ComposeResult:
        yield from ()
