"""What a run's own tool calls say against letting the agent go on (rule 15).

A model that asks for a tool which there is not, or with arguments that are no
arguments, has lost its way, and one that makes the same call for the same result, or
whose calls keep failing, is stuck: the buyer is better served by a person. What only
breaks a tool's schema is told to the model, which may ask again.

A call that the rules refused has not failed: nothing was tried. The model is told why
and may do otherwise; if it asks on and on for what it may not have, that is the reason
that people read, with the rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.cleanse import one_line
from core.decision import canonical
from core.journal import Entry, Refused, ToolCalled, ToolReturned
from core.limits import Limits
from core.ticket import ActorKind
from core.turn import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A call of the run that has its result; `rule` is why it was refused, or None."""

    call: ToolCalled
    result: ToolReturned
    rule: str | None = None

    @property
    def alike(self) -> tuple[str, str, str]:
        """The same for the same call with the same result."""
        given, told = canonical(self.call.input), canonical(self.result.content)
        return self.call.name, given, told


def trouble(journal: Iterable[Entry], run: Run, limits: Limits) -> str | None:
    """Why people should go on, in one line, or None where nothing speaks for it."""
    made = _made(journal, run)
    known = {tool.get("name") for tool in run.tools}
    for call in (m.call for m in made):
        if call.name not in known:
            return f"the agent asked for a tool that there is not: {_name(call)}"
        if not isinstance(call.input, Mapping):
            return f"the agent called {_name(call)} without named arguments"
    last = made[-limits.same_call :]
    if len(last) == limits.same_call and len({m.alike for m in last}) == 1:
        return "the agent made the same call again and again with the same result"
    refused = _refused(made, limits)
    if refused is not None:
        return refused
    tried = [m for m in made if m.rule is None][-limits.failures :]
    if len(tried) == limits.failures and all(m.result.is_error for m in tried):
        return f"{limits.failures} tool calls of the agent failed in a row"
    return None


def _refused(made: Sequence[_Made], limits: Limits) -> str | None:
    """Whether the agent asks on and on for what the rules refuse."""
    if not made or made[-1].rule is None:
        return None
    last, times = made[-1], limits.failures
    row = [m for m in made[-times:] if m.rule is not None]
    same = [m for m in made if (m.call.name, m.rule) == (last.call.name, last.rule)]
    why = f"the last, {_name(last.call)}: {one_line(last.rule or '', 200)}"
    if len(row) == times:
        return f"{times} tool calls of the agent in a row were refused, {why}"
    if len(same) >= times:
        return f"{times} tool calls of the agent were refused by one rule, {why}"
    return None


def _made(journal: Iterable[Entry], run: Run) -> list[_Made]:
    asked: dict[str, ToolCalled] = {}
    rules: dict[str, str] = {}
    made: list[_Made] = []
    for entry in journal:
        match entry.body:
            case ToolCalled() as call if (
                entry.actor.kind is ActorKind.AGENT and entry.actor.name == run.id
            ):
                asked[call.id] = call
            case Refused(call=str(refused), rule=rule):
                rules[refused] = rule
            case ToolReturned(id=call_id) as result if call_id in asked:
                made.append(
                    _Made(call=asked[call_id], result=result, rule=rules.get(call_id))
                )
            case _:
                pass
    return made


def _name(call: ToolCalled) -> str:
    return repr(one_line(call.name, 60))
