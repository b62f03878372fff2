"""A tool's arguments as a form: a line for each, made from the tool's own schema.

What is typed stays text until it is asked for; then each line becomes what its
schema wants. The form says at every letter what the policy makes of it, by the same
rule that is asked again when the verdict is stored.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input
from typing_extensions import override

from console.widgets.line_view import LineView
from console.widgets.one_line import OneLine
from console.widgets.spans import Line, fit, line
from core.cleanse import cleanse, one_line
from core.decision import Decision
from core.history import History
from core.policy import (
    Allow,
    Forbid,
    Judgement,
    NeedsDecision,
    NeedsIdentity,
    judge,
)
from core.ticket import Json
from core.tool import ToolCall, ToolSpec

_MOST = 40


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
    """

    name: str
    kind: str
    text: str
    value: Json
    present: bool
    hint: str = ""


def fields_of(arguments: Json, spec: ToolSpec | None) -> tuple[Field, ...]:
    """The lines of the form: what was proposed, then what the schema knows besides."""
    given = arguments if isinstance(arguments, Mapping) else {}
    schema = spec.input_schema.get("properties") if spec is not None else None
    known: Mapping[str, Json] = schema if isinstance(schema, Mapping) else {}
    names = [*given, *(n for n in known if n not in given)][:_MOST]
    return tuple(_field(name, given, known.get(name)) for name in names)


def _field(name: str, given: Mapping[str, Json], schema: Json) -> Field:
    said: Mapping[str, Json] = schema if isinstance(schema, Mapping) else {}
    value = given.get(name)
    kind = said.get("type")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    choices = said.get("enum")
    hint = str(kind or "")
    if isinstance(choices, list):
        hint = "one of " + ", ".join(str(c) for c in choices)
    return Field(
        name=name,
        kind=kind if isinstance(kind, str) else _kind_of(value),
        text=cleanse(text, limit=4000).replace("\n", " ") if name in given else "",
        value=value,
        present=name in given,
        hint=one_line(hint, 80),
    )


def _kind_of(value: Json) -> str:
    return "string" if isinstance(value, str) else ""


def value_of(field: Field, text: str) -> Json:
    """What a line of the form means.

    Raises:
        ValueError: It is not what the field takes; says which field.
    """
    if text == field.text:
        return field.value
    if field.kind == "string":
        return text
    if field.kind == "boolean" and text.casefold() in {"yes", "no"}:
        return text.casefold() == "yes"
    try:
        value: Json = json.loads(text)
    except ValueError:
        raise ValueError(f"{field.name}: not {_a(field.kind)}") from None
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
    """What the policy makes of new arguments, in one line."""
    if spec is None:
        return line(("the tool is not known yet: it is judged when stored", "dim"))
    match _judged(decision, arguments, spec, history):
        case Allow():
            return line(("✓ ", "ok"), ("within the policy", "ok"))
        case NeedsDecision(rule=rule, four_eyes=False):
            return line(("✓ ", "ok"), (f"yours to decide: {one_line(rule, 80)}", "ok"))
        case NeedsDecision(rule=rule):
            words = f"▲ {one_line(rule, 80)}: a second person must approve too"
            return line((words, "wait"))
        case NeedsIdentity(why=why) | Forbid(why=why):
            return line((f"✗ {one_line(why, 120)}", "harm"))


def foreseen_line(call: ToolCall, spec: ToolSpec, history: History) -> Line:
    """What the policy would make of a person's own call, in one line."""
    match judge(call, spec, history):
        case Allow():
            return line(("✓ ", "ok"), ("within the policy: it is done at once", "ok"))
        case NeedsDecision(rule=rule, four_eyes=four_eyes):
            who = "two supervisors decide" if four_eyes else "a supervisor decides"
            return line((f"▲ {who}: {one_line(rule, 80)}", "wait"))
        case NeedsIdentity(why=why) | Forbid(why=why):
            return line((f"✗ {one_line(why, 120)}", "harm"))


class ArgumentsForm(VerticalScroll):
    """The form."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 # Textual's word
        super().__init__(id=id, can_focus=False)
        self.fields: tuple[Field, ...] = ()

    async def show(self, fields: Sequence[Field], *, at: str | None = None) -> None:
        """Shows these lines, with the focus on the named one, or else the first."""
        self.fields = tuple(fields)
        await self.remove_children()
        rows: list[Vertical] = []
        for n, field in enumerate(self.fields):
            box = OneLine(
                field.text, placeholder=field.hint, compact=True, id=f"argument-{n}"
            )
            name = LineView([line((fit(one_line(field.name, 40), 15), "dim"))])
            rows.append(Vertical(name, box, classes="argument"))
        await self.mount(*rows)
        boxes = list(self.query(Input))
        names = [field.name for field in self.fields]
        if boxes:
            boxes[names.index(at) if at in names else 0].focus()

    @property
    def texts(self) -> list[str]:
        """What is written, line by line."""
        return [box.value for box in self.query(Input)]

    def arguments(self) -> dict[str, Json]:
        """What the form holds.

        Raises:
            ValueError: A line is not what its field takes.
        """
        return arguments_of(self.fields, self.texts)

    @override
    def compose(self) -> ComposeResult:
        yield from ()
